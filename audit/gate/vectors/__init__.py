"""The gate of `audit.vectors`."""
