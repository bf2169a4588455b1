"""Score an auditor on the catalogue."""
