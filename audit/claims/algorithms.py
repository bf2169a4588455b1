"""Rows on this topic."""
