"""The repaired mechanism as an OpenDP measurement, whose map is the exact account of its noise."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from reference.budgets import Budget
from reference.common.documents import plain
from reference.common.errors import DataError, ShapeError
from reference.common.files import json_text
from reference.common.numbers import RealLike, require_whole
from reference.datasets.from_file import encode_raw
from reference.domain import Domain
from reference.domain.file import DomainFile
from reference.noise.measurement import measurement_of
from reference.records import Records
from reference.repaired.advice import planned
from reference.repaired.algorithm import repaired_logistic, tolerated_slack
from reference.repaired.classifier import RepairedClassifier, raw_columns
from reference.repaired.released import RepairedRelease


def make_private_logistic_regression(
    domain: str | Path | DomainFile | Domain,
    records: int,
    *,
    epsilon: RealLike = 1,
    delta: RealLike = "1e-5",
    fairness: str | None = None,
    slack: RealLike = 0,
    group_at_prediction: bool = True,
) -> Any:
    """Return an OpenDP measurement of tables with this many records; it releases a `RepairedRelease`.

    A table is a DataFrame, a pyarrow Table or a mapping from name to values, label and group among them.

    The map takes the number of replaced records.  For one record it returns the release's statement; for k, what
    k times the shift of every release loses at the same delta.  Noise is hardened.

    Parameters
    ----------
    domain : path, DomainFile or Domain
    records : int
        Public: the change-one distance keeps it.
    epsilon, delta, slack, group_at_prediction
        As for :class:`reference.repaired.classifier.RepairedClassifier`.
    fairness : str, optional
        Demographic parity where the domain declares a group, unless given.

    Examples
    --------
    >>> import opendp.prelude as dp  # doctest: +SKIP
    >>> dp.enable_features("honest-but-curious")  # doctest: +SKIP
    >>> fit = make_private_logistic_regression("domain.json", 30_000)  # doctest: +SKIP
    >>> fit.map(1)  # doctest: +SKIP
    (1.0, 1e-05)
    """
    require_whole("records", records, 1)
    estimator = RepairedClassifier(
        domain=domain,
        epsilon=epsilon,
        delta=delta,
        fairness=fairness or RepairedClassifier.default_fairness(domain),
        slack=slack,
        group_at_prediction=group_at_prediction,
    )
    declared, budget, tolerated = estimator.declared, Budget(epsilon, delta), tolerated_slack(slack)
    account = planned(declared.domain, records, budget, estimator.fairness, hardened=True)

    def encoded(table: Any) -> Records:
        found = encode_raw(declared, raw_columns(declared, table))
        if len(found) != records:
            raise ShapeError(f"{len(found)} records where the measurement is of {records}")
        return found

    def belongs(table: Any) -> bool:
        try:
            return len(encoded(table)) == records
        except DataError:
            return False

    def release(table: Any) -> RepairedRelease:
        model = repaired_logistic(
            encoded(table), budget, fairness=estimator.fairness, slack=tolerated, noise="hardened"
        )
        return RepairedRelease.of(model, declared, slack=tolerated, noise="hardened", seeded=False)

    def loss(distance: int) -> tuple[Fraction, Fraction]:
        return account.epsilon_of(distance), budget.delta

    described = f"{records} records of {json_text(plain(declared))}"
    return measurement_of(described, belongs, release, loss, pure=not budget.delta)
