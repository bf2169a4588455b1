"""Events: what an auditor counts.  One file per kind of score, `families.py` for what is learned from draws."""

from audit.events.event import (
    BoolArray,
    Event,
    FloatArray,
    Quantiser,
    Score,
    event_from_json,
    score_all,
)
from audit.events.families import EXACT, FAMILIES, IDEAL, proposals

__all__ = [
    "EXACT",
    "FAMILIES",
    "IDEAL",
    "BoolArray",
    "Event",
    "FloatArray",
    "Quantiser",
    "Score",
    "event_from_json",
    "proposals",
    "score_all",
]
