"""Tests of the reference implementation and of the project itself."""
