"""Hardened releases of a few records."""

from __future__ import annotations

from tests.strategies import random_records

RECORDS = random_records(300, 5, 11)
