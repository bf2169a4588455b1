"""Events: what an auditor counts.  One file per kind of score; `families.py` proposes scores from draws."""

from audit.auditor.events.event import Event, event_of
from audit.auditor.events.families import EXACT, FAMILIES, IDEAL, QUICK, proposals
from audit.auditor.events.protocol import Score, score_all
from audit.auditor.events.quantiser import Quantiser
from audit.auditor.events.stored import StoredEvent, stored_event

__all__ = [
    "EXACT",
    "FAMILIES",
    "IDEAL",
    "QUICK",
    "Event",
    "Quantiser",
    "Score",
    "StoredEvent",
    "event_of",
    "proposals",
    "score_all",
    "stored_event",
]
