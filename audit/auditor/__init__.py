"""From a subject to a certified bound: draws, events, the choice among them, the estimate."""
