"""The gate of `audit.bounds`."""
