"""The gate of `audit.exact`."""
