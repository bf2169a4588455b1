"""Exact numbers, errors, files, printable text."""
