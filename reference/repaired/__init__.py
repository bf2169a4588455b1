"""The mechanism to use: logistic regression by noisy descent, and noisy thresholds for fairness.

`algorithm` shows the whole; `schedule` says what each release may spend, `sums` what is released and its exact
sensitivity, `curator` adds the noise and keeps the account.  `loss`, `descent`, `threshold` and `model` are
post-processing and cannot reach records.  Proofs: ``proofs/repaired.md``.
"""

from reference.repaired.algorithm import prepared, repaired_logistic, tolerated_slack
from reference.repaired.model import Model
from reference.repaired.schedule import Schedule, schedule_of, signal_of

__all__ = ["Model", "Schedule", "prepared", "repaired_logistic", "schedule_of", "signal_of", "tolerated_slack"]
