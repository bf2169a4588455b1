"""What a release states of its declared domain: judged by encodable pairs, beside the norm's."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest

from reference.accounting import PublishedStatementWarning, exact_privacy
from reference.budgets import Budget, SplitBudget
from reference.coefficients import Coefficients
from reference.common.errors import NegativeEntryError, NotEncodedError
from reference.datasets import Encoding, load
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot, Ordinal
from reference.mechanisms import adfc, functional, functional_noise, pdfc, relaxed_functional_noise
from reference.moments import Moments
from reference.noise import Noise
from reference.noise.grid import RELEASE_STEPS
from reference.objective import objective
from reference.readings import Readings
from reference.records import check_matrix, encode_table
from reference.registry import MECHANISMS
from reference.sensitivity import (
    Declared,
    ball_l1,
    ball_l1_few,
    declared_of,
    declared_supremum,
    exact_l1,
    setting_of,
)
from reference.sensitivity.rows import EncodedRow

FAIR = Readings(fairness="absolute")
APART = SplitBudget("10", "0.1", "5e-4", "5e-4")
MIXED = Domain(
    (Ordinal("rank", (0, 1, 2, 3)), Numeric("age", 17, 90), OneHot("job", ("a", "b", "c"))),
    "label",
    "group",
    intercept=True,
    keep_group=True,
)


def test_a_fit_calls_a_statement_false_only_by_encodable_rows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PublishedStatementWarning)
        release = adfc(Moments.of(load()), APART, FAIR, rng=0)
    exact, norm_domain = release.privacy.exact, release.privacy.norm_domain
    assert exact is not None
    assert norm_domain is not None
    assert (exact.verdict, norm_domain.verdict) == ("enclosed", "refuted")
    assert exact.epsilon.upper < norm_domain.epsilon.lower
    # where the rows fill the norm the same budgets are refuted
    with pytest.warns(PublishedStatementWarning):
        refuted = adfc(Moments.of(load("affairs", Encoding(norm="unit_box"))), APART, FAIR, rng=0)
    assert refuted.privacy.exact is not None
    assert refuted.privacy.exact.verdict == "refuted"


@pytest.mark.filterwarnings("ignore::reference.accounting.PublishedStatementWarning")
@pytest.mark.parametrize("name", ["functional", "pdfc", "adfc"])
@pytest.mark.parametrize("columns", [13, 30])
def test_a_fit_searches_no_patterns_pairs_or_points_in_many_columns(
    name: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The public rule that keeps it to some milliseconds: bounds in closed form instead of searches."""

    def searched(*_: object, **__: object) -> None:
        raise AssertionError("a search")

    monkeypatch.setattr(ball_l1._Problem, "few_patterns", searched)
    monkeypatch.setattr(ball_l1._Problem, "every_pattern", searched)
    monkeypatch.setattr(ball_l1_few, "ceiling", searched)
    domain = Domain.of_columns([f"x{column}" for column in range(columns)])
    records = check_matrix(domain, np.eye(columns), np.arange(columns) % 2, np.arange(columns) // 2 % 2)
    budget = Budget("10") if name == "functional" else SplitBudget("10", "1/7", *["5e-4"] * 2 * (name == "adfc"))
    for fairness, weight in (("absolute", "5"), ("covariance", "1/2")):
        readings = Readings(fairness, fairness_weight=Fraction(weight))
        made: Any = {"functional": functional, "pdfc": pdfc, "adfc": adfc}[name]
        ball_l1._solve.cache_clear()
        release = made(Moments.of(records), budget, readings, rng=0)
        assert release.privacy.exact is not None
        # the control: who asks for the narrow interval does search
        with pytest.raises(AssertionError, match="a search"):
            exact_l1(declared_of(domain, readings, s=0), Fraction(2), Fraction(1), "close")


@pytest.mark.parametrize("name", ["pdfc", "adfc"])
def test_what_is_counted_before_x_s_is_drawn_covers_every_choice(name: str) -> None:
    spec, budget = MECHANISMS[name], APART if name == "adfc" else SplitBudget("3", "1/3")
    counted = spec.promise(MIXED, budget, FAIR).exact
    found = [spec.promise(MIXED, budget, FAIR, s).exact for s in MIXED.selectable]
    assert counted is not None
    uppers = [exact.epsilon.upper for exact in found if exact is not None]
    assert counted.epsilon.upper == max(uppers) > min(uppers)


def data_sets(where: Declared, power: int, weights: tuple[Fraction, Fraction]) -> list[Moments]:
    """Return the exact moments of neighbours that attain the supremum before they are rounded to the grid."""
    rows, records = declared_supremum(where, power, *weights).rows, where.setting.records or 0

    def moments(last: EncodedRow | None) -> Moments:
        chosen = [rows.others] * (records - 1) + ([] if last is None else [last])
        values = [row.values(where.domain) for row in chosen]
        table: dict[str, list[Any]] = {name: [row[name] for row in values] for name in values[0]}
        return Moments.of(encode_table(where.domain, table), exact=True)

    return [moments(rows.before), moments(rows.after)]


def on_the_grid(coefficients: Coefficients) -> list[Fraction]:
    return [
        Fraction(floor(value * RELEASE_STEPS + Fraction(1, 2)), RELEASE_STEPS) for value in coefficients.values
    ]


@pytest.mark.parametrize("adjacency", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("fairness", ["none", "absolute", "covariance", "separate"])
@pytest.mark.parametrize("power", [1, 2])
def test_hardened_noise_encloses_rows_that_are_rounded_to_the_grid(
    fairness: str, adjacency: str, power: int
) -> None:
    readings = Readings(fairness=fairness, adjacency=adjacency, sensitivity="exact", noise="hardened")
    where = declared_of(MIXED, readings, records=9)
    one = Fraction(1)
    left, right = (on_the_grid(objective(side, readings)) for side in data_sets(where, power, (one, one)))
    change = sum((abs(a - b) ** power for a, b in zip(left, right, strict=True)), Fraction(0))
    if power == 1:
        noise = functional_noise(MIXED, Budget("2"), readings)
        scale = Fraction(noise.scale_n)
        exact = exact_privacy(where, noise, None, Fraction(0))
        assert exact.epsilon.lower <= change / scale <= exact.epsilon.upper <= 2
    else:
        noise = relaxed_functional_noise(MIXED, Budget("2", "1e-5"), readings)
        exact = exact_privacy(where, noise, None, Fraction("1e-5"))
        assert exact.rho is not None
        assert change / Fraction(noise.scale_n) ** 2 <= 2 * exact.rho
        assert exact.epsilon.upper <= 2


@pytest.mark.parametrize("norm", ["unit_ball", "unit_box"])
def test_rows_that_fill_the_norm_lose_no_more_than_the_norm(norm: str) -> None:
    one = Domain((Numeric("age", 17, 90),), "label", norm=norm)
    where = declared_of(one, Readings(fairness="none", noise="hardened"))
    for kind, delta in (("laplace", Fraction(0)), ("gaussian", Fraction("1e-5"))):
        if (kind, norm) != ("laplace", "unit_ball"):
            noise = Noise.uniform(kind, 50.0, 2, 1024)
            found, most = (exact_privacy(it, noise, None, delta).epsilon for it in (where, where.setting))
            assert 0 < found.upper <= most.upper


def test_an_exact_scale_is_that_of_the_declared_domain() -> None:
    readings = Readings(sensitivity="exact", noise="numpy")
    release = functional(Moments.of(load()), Budget(1), readings, rng=0)
    exact, norm_domain = release.privacy.exact, release.privacy.norm_domain
    assert exact is not None
    assert norm_domain is not None
    assert 1 - 1e-12 < float(exact.epsilon.upper) <= 1
    # a fit bounds the norm's loss, wider than on request
    domain = load().domain
    noise = functional_noise(domain, Budget(1), readings)
    enclosed = exact_privacy(setting_of(domain, readings), noise, None, Fraction(0)).epsilon
    assert norm_domain.epsilon.lower < enclosed.lower
    assert 1 < enclosed.lower <= enclosed.upper <= norm_domain.epsilon.upper <= enclosed.upper * Fraction(115, 100)


def test_a_scale_below_the_exact_one_breaks_its_statement() -> None:
    readings = Readings(sensitivity="exact", noise="hardened")
    where = declared_of(MIXED, readings, records=9)
    noise = functional_noise(MIXED, Budget("2"), readings)
    small = replace(noise, scale_n=noise.scale_n * 0.99, scale_s=noise.scale_s * 0.99)
    left, right = (
        on_the_grid(objective(side, readings)) for side in data_sets(where, 1, (Fraction(1), Fraction(1)))
    )
    change = sum((abs(a - b) for a, b in zip(left, right, strict=True)), Fraction(0))
    assert change / Fraction(small.scale_n) > 2
    assert exact_privacy(where, small, None, Fraction(0)).epsilon.lower > 2


def test_columns_of_one_kind_share_a_supremum() -> None:
    found = {
        s: declared_supremum(declared_of(MIXED, FAIR, s), 1, Fraction(3), Fraction(1)).supremum.upper
        for s in range(7)
    }
    assert found[3] == found[4] == found[5]
    # the intercept and ladders, columns of a block, the group
    assert found[0] == found[1] == found[2] > found[3] > found[6]


def encoded_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = [(rank, age, job) for rank in range(4) for age in (17, 53.5, 90) for job in ("a", "b", "c")]
    rank, age, job = (list(column) for column in zip(*rows, strict=True))
    group = [index % 2 for index in range(len(rows))]
    records = encode_table(MIXED, {"rank": rank, "age": age, "job": job, "label": group[::-1], "group": group})
    assert records.z is not None
    return records.x.copy(), records.y.copy(), records.z.copy()


def test_a_matrix_of_encoded_rows_is_taken_for_one() -> None:
    assert len(check_matrix(MIXED, *encoded_rows())) == 36


@pytest.mark.parametrize("column", range(7))
def test_a_matrix_with_an_entry_that_the_domain_does_not_encode_is_refused(column: int) -> None:
    x, y, z = encoded_rows()
    # a level between two, a number below the bounds, a half of a category or of the constant
    x[5, column] = -1e-9 if column == 2 else 0.1
    with pytest.raises((NotEncodedError, NegativeEntryError)) as caught:
        check_matrix(MIXED, x, y, z)
    # of a block its first column is named
    assert (caught.value.row, MIXED.columns.index(caught.value.column)) == (5, min(column, 3) if column < 6 else 6)
