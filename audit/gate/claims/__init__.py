"""The gate of `audit.claims`."""
