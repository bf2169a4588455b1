"""How good an auditor is, measured on the catalogue."""
