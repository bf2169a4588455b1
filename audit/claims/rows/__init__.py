"""The rows of the ledger, a module a topic."""
