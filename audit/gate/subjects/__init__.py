"""The gate of `audit.subjects`."""
