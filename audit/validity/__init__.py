"""The auditor audited: how often its bounds are above the truth."""
