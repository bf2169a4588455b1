"""The gate: `pytest audit/` checks the audit itself, each check with a null and a broken control."""
