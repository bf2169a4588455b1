"""The gate of `audit.conformance`."""
