"""The gate of `audit.auditor`."""
