"""``python -m audit report``: what is true in the paper, as one HTML page that needs no network."""
