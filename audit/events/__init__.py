"""Events: what an auditor counts.  One file per kind of score, `families.py` for what is learned from draws."""

from audit.events.event import Event, event_from_json
from audit.events.families import EXACT, FAMILIES, IDEAL, proposals
from audit.events.protocol import BoolArray, FloatArray, Score, score_all
from audit.events.quantiser import Quantiser

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
