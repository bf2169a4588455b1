"""Exact numbers, errors, files, documents, printable text, worker processes."""
