"""The gate of `audit.proofs`."""
