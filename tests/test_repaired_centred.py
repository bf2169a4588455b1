"""Centred numbers in the symmetric ball: their encoding, what their signs cost, and what they gain."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from msgspec.structs import replace

from audit.proofs.releases.composed import _farthest, composed
from reference.budgets import Budget
from reference.commands import card
from reference.common.errors import (
    DeclarationError,
    NegativeEntryError,
    NormError,
    NotEncodedError,
    ReleaseFileError,
)
from reference.common.grid import DATA_STEPS
from reference.datasets.numeric_columns import NumericEncoder
from reference.domain import Domain
from reference.domain.attributes import Binned, Grouped, Numeric, OneHot, Ordinal
from reference.domain.binning import binned
from reference.domain.file import DomainFile, domain_file_of
from reference.domain.sql import moments_query
from reference.moments import Moments
from reference.readings import Readings
from reference.records import Records, check_matrix, encode_table
from reference.repaired import advice, descent, repaired_logistic, sums
from reference.repaired.classifier import RepairedClassifier
from reference.repaired.expected import drawn_records
from reference.repaired.released import RepairedRelease, load_repaired
from reference.repaired.scheduled import changes_of_counts
from reference.repaired.spent import Change
from reference.sensitivity import Declared, Setting, setting_of

AGE = Numeric("age", 20, 60, centred=True, missing=40)
HOURS = Numeric("hours", -0.1, 0.3, centred=True, clip=True)
JOB = OneHot("job", ("clerk", "cook"))
SIGNED = Domain((AGE, HOURS), "y", norm="symmetric_ball")
MIXED = Domain((AGE, JOB), "y", "z", norm="symmetric_ball", intercept=True, keep_group=True)
ENDS = {"age": [20, 60, 40, 50], "hours": [-0.1, 9, 0.1, 0.2], "y": [0, 1, 0, 1]}
BANDS = Binned("band", 0, 3, edges=(1, 2), missing="own_bin")
GRADE = Ordinal("grade", ("low", "mid", "high"))
TOWN = Grouped("town", {"north": ("a", "b"), "south": ("c",)})
WEIGHT = Numeric("weight", 0, 1)
KINDS = {"age": (20, 60), "hours": (-0.1, 0.3), "job": ("clerk", "cook"), "band": (0, 1, 2, None)}
KINDS |= {"grade": ("low", "mid", "high"), "town": ("a", "c"), "weight": (0, 1)}


def uncentred(one: Numeric) -> Numeric:
    return replace(one, centred=False)


def largest_change(records: Records) -> Fraction:
    """Return the largest squared change of the sums by label when one of the records replaces another."""
    rows = [sums.label_sums(x[None, :], np.array([t])) for x in records.x for t in (0.0, 1.0)]
    whole = np.array([[int(value * DATA_STEPS) for value in row] for row in rows])
    return max(Fraction(int(((whole - row) ** 2).sum(axis=1).max()), DATA_STEPS**2) for row in whole)


def corners(domain: Domain) -> Records:
    """Return a record of each combination of what every attribute goes to at most."""
    names = [one.name for one in domain.attributes]
    values = [KINDS[name] for name in names] + [range(domain.groups if domain.keep_group else 1)]
    columns = dict(zip([*names, "z"], zip(*itertools.product(*values), strict=True), strict=True))
    y = np.zeros(len(columns["z"]))
    table = {name: column for name, column in columns.items() if name != "z" or domain.group}
    return encode_table(domain, {**table, "y": y}).on_grid()


def test_bounds_are_encoded_as_minus_one_and_one_inside_the_norm():
    x = encode_table(SIGNED, ENDS).x
    f = SIGNED.column_factor
    assert x[:3].tolist() == [[-f, -f], [f, f], [0, pytest.approx(0)]]
    assert x[3] == pytest.approx([f / 2, f / 2])
    assert sum(Fraction(value) ** 2 for value in x[0]) <= 1
    missing = encode_table(SIGNED, {**ENDS, "age": [None, 60, 40, 50]}).x
    assert missing[0, 0] == 0.0, "the middle"
    assert check_matrix(SIGNED, x, ENDS["y"]).x.tolist() == x.tolist()
    plain = Domain((uncentred(AGE), uncentred(HOURS)), "y", norm="symmetric_ball")
    assert encode_table(plain, ENDS).x.min() == 0.0, "plain numbers stay in [0, 1]"


def test_a_negative_entry_is_admitted_in_centred_columns_only():
    assert MIXED.signed == (False, True, False, False, False)
    assert Domain.of_columns(["a", "b"], norm="symmetric_ball", with_group=False).signed == (True, True)
    assert Domain.of_columns(["a", "b"], with_group=False).signed == (False, False)
    row = encode_table(MIXED, {"age": [20], "job": ["cook"], "y": [1], "z": [1]}).x
    assert Records(MIXED, row, np.ones(1), np.ones(1)).x.min() < 0
    for column in (0, 2, 3, 4):
        moved = row.copy()
        moved[0, column] = -0.25
        with pytest.raises(NegativeEntryError):
            Records(MIXED, moved, np.ones(1), np.ones(1))
        with pytest.raises((NegativeEntryError, NotEncodedError)):
            check_matrix(MIXED, moved, np.ones(1), np.ones(1))


def test_centring_is_refused_where_signs_are_not_expected():
    for changes in ({"norm": "unit_ball"}, {"norm": "unit_box"}):
        with pytest.raises(DeclarationError, match="centred"):
            SIGNED.with_(**changes)
    with pytest.raises(DeclarationError, match="centred"):
        Domain((Numeric("a", 0, 1, centred=True),), "y", norm="symmetric_ball", prescaled=True)
    with pytest.raises(DeclarationError, match="centred"):
        Binned("a", 0, 1, centred=True)
    plain, declared = Domain((JOB,), "y", norm="symmetric_ball"), DomainFile.of(SIGNED)
    assert NumericEncoder.of(SIGNED) is None
    for use in (
        lambda file: Moments.zero(file.domain),
        lambda file: setting_of(file.domain, Readings()),
        lambda file: Declared(file.domain, Setting(2, "none", "symmetric_ball"), 0),
        lambda file: moments_query(file, "t", DATA_STEPS),
    ):
        use(DomainFile.of(plain))
        with pytest.raises(DeclarationError, match=r"centred .*the paper.*age"):
            use(declared)


@pytest.mark.parametrize(
    ("attributes", "layout", "stated"),
    [
        ((AGE, HOURS), {}, "4"),
        ((AGE, HOURS), {"intercept": True}, "8/3"),
        ((AGE, HOURS), {"intercept": True, "keep_group": True, "group_values": (1, 2, 3)}, "5/2"),
        ((AGE, HOURS, GRADE, BANDS, TOWN), {}, "13/5"),
        ((AGE, HOURS, WEIGHT, JOB), {"keep_group": True}, "12/5"),
        ((AGE,), {"keep_group": True}, "5/2"),
        ((AGE, BANDS), {"intercept": True, "keep_group": True}, "2"),
        ((AGE, WEIGHT, GRADE, JOB), {}, "2"),
        ((BANDS, JOB), {}, "2"),
    ],
)
def test_counts_change_by_what_is_stated_and_attain_it(attributes, layout, stated):
    """Exhaustive over the corners of what a domain encodes."""
    group = "z" if layout.get("keep_group") else None
    domain = Domain(attributes, "y", group, norm="symmetric_ball", **layout)
    bound = sums.label_sums_change(domain).l2_sensitivity_squared
    assert bound == Fraction(stated) == max(2, _farthest(domain)), "as certificates have it, too"
    # a file may state it, or what was stated once
    allowed = {one.l2_sensitivity_squared for one in changes_of_counts(domain)}
    assert allowed == ({bound, 4} if any(domain.signed) else {2})
    records = corners(domain)
    sums.require_encoded(records)
    assert Fraction(99999, 100000) * bound < largest_change(records) <= bound
    # the broken control: numbers that count as if they were not centred
    plain = domain.with_(attributes=tuple(uncentred(one) if one in (AGE, HOURS) else one for one in attributes))
    assert (largest_change(records) > sums.label_sums_change(plain).l2_sensitivity_squared) == (bound > 2)


def test_entries_that_would_change_counts_by_more_are_refused():
    assert sums.label_sums_change(MIXED).l2_sensitivity_squared == 2
    wide, moving = [[0.5, 0.75, 0, 0, 0], [0.5, -0.75, 0, 0, 0]], [[0, 0, 1, 0, 0], [0.5, 0.5, 0, 0.5, 0.5]]
    for entries in (wide, moving):
        records = Records(MIXED, np.array(entries), np.ones(2), np.ones(2))
        assert largest_change(records) > 2 or entries is moving
        with pytest.raises(NormError):
            sums.require_encoded(records)


def test_second_moments_of_signed_columns_are_right_between_attributes():
    random = np.random.default_rng(0)
    n = 4000
    table = {
        "age": random.uniform(20, 40, n),
        "job": random.choice(["clerk", "cook"], n),
        "y": random.integers(0, 2, n),
        "z": random.integers(0, 2, n),
    }
    records = encode_table(MIXED, table)
    counts = sums.label_sums(records.on_grid().x, records.y).astype(float)
    found = descent.independent_second_moments(counts, MIXED, n)
    truth = records.x.T @ records.x
    assert found[0, 1] == pytest.approx(truth[0, 1], rel=1e-3)
    assert found[0, 1] < 0
    apart = [(1, 2), (1, 3), (1, 4), (2, 4)]
    assert [found[at] / truth[at] for at in apart] == pytest.approx([1] * 4, abs=0.1)
    assert truth[1, 1] < found[1, 1] < n * MIXED.column_factor**2
    assert (np.linalg.eigvalsh(found) > -1e-9 * n).all()
    # sums beyond what records can have are cut at both ends
    far = descent.independent_second_moments(counts - 10 * n, MIXED, n)
    assert far[1, 1] == pytest.approx(n * MIXED.column_factor**2)
    # no sign, no change
    unsigned = MIXED.with_(attributes=(uncentred(AGE), JOB))
    assert (encode_table(unsigned, table).x == encode_table(unsigned.with_(norm="unit_ball"), table).x).all()
    assert (
        descent.independent_second_moments(counts, unsigned, n)
        == descent.independent_second_moments(counts, unsigned.with_(norm="unit_ball"), n)
    ).all()
    drawn = drawn_records(counts, MIXED, n).x
    assert drawn[:, 1].mean() == pytest.approx(records.x[:, 1].mean(), abs=0.02)
    assert drawn[:, [0, 2, 3, 4]].min() >= 0 > drawn[:, 1].min()


def made(n: int, seed: int, *, centred: bool) -> tuple[Records, Records]:
    """Return records to fit and to measure on: six numbers of linear effect, in the middle of their bounds."""
    random = np.random.default_rng(seed)
    values = random.normal(50, 12, (n + 8000, 6)).clip(0, 100)
    score = (values - 50) @ np.linspace(-0.1, 0.1, 6)
    table = {f"a{j}": values[:, j] for j in range(6)}
    table["y"] = random.random(len(values)) < 1 / (1 + np.exp(-score))
    attributes = tuple(Numeric(f"a{j}", 0, 100, centred=centred) for j in range(6))
    domain = Domain(attributes, "y", norm="symmetric_ball" if centred else "unit_ball", intercept=True)
    records = encode_table(domain, table)
    return records.take(slice(0, n)).on_grid(), records.take(slice(n, None))


def test_centred_numbers_are_learned_no_worse_than_plain_ones():
    gains = []
    for seed in range(6):
        right = []
        for centred in (True, False):
            records, held = made(2000, seed, centred=centred)
            w = repaired_logistic(records, Budget(1, "1e-5"), fairness="none", noise="numpy", rng=seed).w
            right.append(((held.x @ w > 0) == (held.y == 1)).mean())
        gains.append(right[0] - right[1])
    assert np.mean(gains) > 2 * np.std(gains, ddof=1) / np.sqrt(6) > 0


def test_a_release_of_centred_numbers_predicts_and_adds_up(tmp_path):
    document = {
        "schema": "domain_v1",
        "norm": "symmetric_ball",
        "attributes": [
            {"kind": "numeric", "name": "age", "lower": 20, "upper": 60, "centred": True, "missing": 40},
            {"kind": "numeric", "name": "hours", "lower": 0, "upper": 80},
        ],
        "label": {"column": "rich"},
    }
    declared = domain_file_of(document)
    assert binned(declared).attributes[0] == declared.attributes[0], "declared as centred, so without bins"
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"age": random.uniform(20, 60, 3000), "hours": random.uniform(0, 80, 3000)})
    frame.loc[::50, "age"] = np.nan
    rich = (frame.age > 40).astype(int)
    model = RepairedClassifier(domain=declared, fairness="none", epsilon=4, random_state=0).fit(frame, rich)
    assert model.score(frame, rich) > 0.9
    assert np.isfinite(model.coef_noise_).all()
    path = tmp_path / "release.json"
    model.release_.write(path)
    again = RepairedClassifier.from_release(path)
    assert (again.predict(frame) == model.predict(frame)).all()
    assert composed(load_repaired(path)).entries[0].needed == 3


def stated_once(squared: int) -> Callable[[Domain], Change]:
    """Return what fits might have taken for the sensitivities of counts."""
    exact = sums.label_sums_change
    return lambda domain: exact(domain)._replace(l2_sensitivity_squared=Fraction(squared))


def test_a_file_that_states_the_earlier_bound_is_read_and_certified(tmp_path, monkeypatch):
    """Wherever numbers were centred, files once stated 4, and had noise for it; less than is needed is refused."""
    domain = DomainFile.of(Domain((AGE, HOURS), "y", norm="symmetric_ball", intercept=True))
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"age": random.uniform(20, 60, 500), "hours": random.uniform(-0.1, 0.3, 500)})
    high = (frame.age > 40).astype(int)

    def fitted(squared: int | None) -> RepairedRelease:
        model = RepairedClassifier(domain=domain, fairness="none", epsilon=4, random_state=0)
        with monkeypatch.context() as patch:
            for place in (sums, advice) if squared else ():
                patch.setattr(place, "label_sums_change", stated_once(squared))
            return model.fit(frame, high).release_

    fitted(4).write(tmp_path / "release.json")
    earlier = load_repaired(tmp_path / "release.json")
    found = {one.what: one for one in composed(earlier).entries}["counts by label"]
    assert (found.change, found.needed) == (4, Fraction(8, 3))
    assert composed(earlier).holds
    assert card.facts_of(earlier)["epsilon"] == card.facts_of(fitted(None))["epsilon"]
    predicted = RepairedClassifier.from_release(tmp_path / "release.json").predict(frame)
    assert (predicted == high).mean() > 0.9
    # null control: what a fit states today is exact, its noise narrower
    today = composed(fitted(None))
    assert today.holds
    assert today.entries[0].change == today.entries[0].needed
    assert today.entries[0].scale / found.scale == pytest.approx((2 / 3) ** 0.5)
    # broken control
    with pytest.raises(ReleaseFileError, match="changes by other than the file states"):
        fitted(2)


def test_a_file_without_signs_pays_for_none(tmp_path):
    domain = DomainFile.of(Domain((uncentred(AGE), JOB), "y", norm="symmetric_ball"))
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"age": random.uniform(20, 60, 500), "job": random.choice(["clerk", "cook"], 500)})
    path = tmp_path / "release.json"
    model = RepairedClassifier(domain=domain, fairness="none", epsilon=4, random_state=0)
    model.fit(frame, (frame.age > 40).astype(int)).release_.write(path)
    assert composed(load_repaired(path)).entries[0].needed == 2
