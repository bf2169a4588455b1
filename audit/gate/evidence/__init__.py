"""The gate of `audit.evidence`."""
