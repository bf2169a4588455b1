"""The gate of `audit.validity`."""
