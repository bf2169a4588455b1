"""Records what reaches the noise of Python code on two neighbouring data sets, and compares."""

from __future__ import annotations

from audit.subjects.recorder.compare import NoiseClaim, RecorderFinding, examine
from audit.subjects.recorder.patches import NoiseFunction, recording
from audit.subjects.recorder.tape import Tape

__all__ = ["NoiseClaim", "NoiseFunction", "RecorderFinding", "Tape", "examine", "recording"]
