"""Several rows per person: what the code computes moves by no more than is stated for K rows, and by that much."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from audit.exact.persons import largest_change
from audit.exact.privacy import judge_declared
from audit.exact.witnesses import witness
from audit.gate.exact.sensitivity_settings import written_out
from reference.accounting.ledger_file import CountedRelease, LedgerTerms
from reference.accounting.release_ledger import ReleaseLedger
from reference.budgets import Budget, SplitBudget
from reference.commands import counting
from reference.common.errors import ReadingError, UncountableReleaseError
from reference.common.exit_codes import EXIT_FINE, EXIT_UNDECIDED, EXIT_USAGE
from reference.datasets import SOURCES
from reference.domain import Domain
from reference.fairness import private_metrics as metrics
from reference.moments import Moments
from reference.noise.grid import RELEASE_STEPS, widened_l1
from reference.noise.hardened import on_steps
from reference.objective import layout, objective
from reference.readings import ADJACENCIES, FAIRNESS, Readings
from reference.records import Records, check_matrix
from reference.registry import MECHANISMS
from reference.repaired import sums
from reference.repaired.account import Account
from reference.repaired.advice import planned
from reference.sensitivity import Setting, exact_l1, exact_l2_squared, setting_of
from tests.command_lines import reference
from tests.fit_command import PRIVATE, SMALL, CommandLine
from tests.test_repaired_sums import DIRECTIONS, DOMAIN, RECORDS

ROWS = 3


def change(left: Records, right: Records, readings: Readings) -> list[Fraction]:
    """Return by how much the coefficients on the grid differ, as a hardened release computes them."""
    values = (objective(Moments.of(side, exact=True), readings).values for side in (left, right))
    both = [on_steps(side, RELEASE_STEPS) for side in values]
    return [Fraction(abs(a - b), RELEASE_STEPS) for a, b in zip(*both, strict=True)]


@pytest.mark.parametrize("norm", ["unit_box", "unit_ball"])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("fairness", FAIRNESS)
def test_the_code_moves_as_far_as_is_stated_and_no_farther(fairness, adjacency, norm):
    setting = Setting(2, fairness, norm, adjacency, rows_per_person=ROWS)
    readings = Readings(fairness, adjacency=adjacency, rows_per_person=ROWS)
    found = witness(setting, "l1")
    pair = [written_out(side) for side in (found.left, found.right)]
    assert abs(len(pair[0]) - len(pair[1])) == (0 if setting.replaces else ROWS)
    moved = sum(change(*pair, readings), Fraction(0))
    size = Fraction(layout(pair[0].domain, readings).size)
    stated = {
        rows: widened_l1(exact_l1(one), one, size, RELEASE_STEPS).upper
        for rows in (1, ROWS)
        for one in [setting_of(pair[0].domain, readings.with_(rows_per_person=rows))]
    }
    assert stated[ROWS] * Fraction(99, 100) < moved <= stated[ROWS]
    # the broken control: the statement for one row
    assert moved > stated[1] * Fraction(28, 10)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("fairness", FAIRNESS)
def test_no_small_data_sets_are_farther_apart_than_stated(fairness, adjacency):
    """All data sets of so many records that differ in two, by brute force."""
    for n in (3, 4) if adjacency == "add_or_remove_one" else (2, 3):
        found = largest_change(fairness, adjacency, n)
        one_row = exact_l1(Setting(1, fairness, "unit_box", adjacency, records=n)).upper
        assert one_row < found <= exact_l1(Setting(1, fairness, "unit_box", adjacency, rows_per_person=2)).upper
        if n % 2 == 0 or fairness == "none":
            stated = exact_l1(Setting(1, fairness, "unit_box", adjacency, records=n, rows_per_person=2))
            assert stated.lower <= found <= stated.upper
            assert (stated.lower == stated.upper) == (fairness == "none")


def test_numbers_of_records_that_are_not_proved_are_refused():
    for fairness, adjacency, records, says in (
        ("none", "replace_one", 2, "at least 3"),
        ("none", "add_or_remove_one", 3, "at least 4"),
        ("absolute", "replace_one", 10, "a multiple of 3"),
        ("absolute", "add_or_remove_one", 3, "at least 6"),
    ):
        with pytest.raises(ReadingError, match=says):
            Setting(2, fairness, "unit_ball", adjacency, records=records, rows_per_person=ROWS)
    for rows in (0, -1, True, 1.5, 10**10):
        with pytest.raises(ReadingError, match="rows_per_person"):
            Readings(rows_per_person=rows)


@pytest.mark.parametrize("sensitivity", ["published", "exact"])
@pytest.mark.parametrize("name", PRIVATE)
def test_scales_grow_and_the_privacy_is_the_persons(name, sensitivity):
    spec, domain = MECHANISMS[name], SOURCES["affairs"].domain("ordinal")
    delta = "1e-3" if spec.needs_delta else "0"
    budget = SplitBudget.equal(1, delta) if spec.split_budget else Budget(1, delta)
    one = spec.readings.with_(sensitivity=sensitivity, noise="hardened")
    several = one.with_(rows_per_person=ROWS)
    scales = [spec.noise(domain, budget, readings, 0).scale_n for readings in (one, several)]
    # the slack of the grid does not grow
    assert ROWS * (1 - 1e-6) < scales[1] / scales[0] <= ROWS
    promised = [spec.promise(domain, budget, readings, 0) for readings in (one, several)]
    assert promised[1].published is None
    upper = [float(promise.exact.epsilon.upper) for promise in promised]
    assert upper[1] == pytest.approx(upper[0], rel=1e-5)
    # the broken control: the noise for one row, told of persons
    own = str(Fraction(scales[0]) if not spec.needs_delta else exact_l2_squared(Setting(2)).upper)
    small = several.with_(sensitivity=own)
    if not spec.needs_delta:
        told = spec.promise(domain, budget, small, 0).exact.epsilon.upper
        assert float(told) == pytest.approx(ROWS * upper[0], rel=1e-5)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", ["functional", "adfc"])
def test_rows_that_a_domain_encodes_attain_what_is_stated(name, adjacency):
    """Three copies of real rows: their coefficients, as a release computes them, lose the exact epsilon."""
    spec, domain = MECHANISMS[name], SOURCES["affairs"].domain("ordinal")
    budget = SplitBudget.equal(1, "1e-3") if spec.split_budget else Budget(1)
    readings = spec.readings.with_(adjacency=adjacency, sensitivity="exact")
    one, several = (
        judge_declared(spec, domain, budget, readings.with_(rows_per_person=rows)) for rows in (1, ROWS)
    )
    assert several.witness.attains
    sides = [len(side) for side in (several.witness.neighbours.left, several.witness.neighbours.right)]
    assert abs(sides[0] - sides[1]) == (0 if adjacency == "replace_one" else ROWS)
    assert several.witness.loss == pytest.approx(one.witness.loss, rel=1e-6)
    assert several.verdict == one.verdict
    # scales are floats, rounded up
    assert float(several.exact.epsilon.upper) == pytest.approx(float(one.exact.epsilon.upper), rel=1e-12)


def test_gaussian_profiles_are_those_of_the_longer_shift():
    setting, noise = Setting(3, "absolute", rows_per_person=ROWS), Fraction(20)
    one = Setting(3, "absolute")
    for weight in (1 / noise**2, Fraction(7)):
        assert exact_l2_squared(setting, weight, weight).upper == 9 * exact_l2_squared(one, weight, weight).upper


@pytest.mark.parametrize(
    ("what", "stated"),
    [
        ("label_sums", sums.label_sums_change(DOMAIN)),
        ("gradient", sums.gradient_change(DOMAIN)),
        ("group_count", sums.GROUP_COUNT_CHANGE),
        ("imbalance", sums.imbalance_change(Fraction(1, 3))),
    ],
)
def test_sums_of_the_repaired_mechanism_move_as_stated(what, stated):
    """All pairs of encodable records, each with three copies, beside other records."""
    person, others = [np.repeat(np.arange(len(RECORDS)), ROWS).reshape(-1, ROWS), np.arange(0, len(RECORDS), 7)]
    largest_l1, largest_l2 = Fraction(0), Fraction(0)
    for w in DIRECTIONS[:2] if what == "gradient" else DIRECTIONS[:1]:

        def released(rows, w=w):
            x, y, z = RECORDS.x[rows], RECORDS.y[rows], RECORDS.z[rows]
            made = {
                "label_sums": lambda: sums.label_sums(x, y),
                "gradient": lambda: sums.gradient(x, y, w),
                "group_count": lambda: sums.group_count(z),
                "imbalance": lambda: sums.imbalance(z, x[:, 0] > 0, Fraction(1, 3)),
            }
            return made[what]()

        values = [released(np.concatenate([others, rows])) for rows in person]
        for one, other in itertools.combinations(values, 2):
            moved = [abs(a - b) for a, b in zip(one, other, strict=True)]
            largest_l1 = max(largest_l1, sum(moved, Fraction(0)))
            largest_l2 = max(largest_l2, sum((m * m for m in moved), Fraction(0)))
    allowed = stated.times(ROWS)
    nearly = Fraction(9999, 10000)
    assert allowed.l1_sensitivity * nearly < largest_l1 <= allowed.l1_sensitivity
    assert allowed.l2_sensitivity_squared * nearly < largest_l2 <= allowed.l2_sensitivity_squared
    # the broken control: the statement for one row
    assert largest_l1 > stated.times(ROWS - 1).l1_sensitivity


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_counts_of_private_metrics_move_as_stated(adjacency):
    domain = Domain.of_columns(["x"])

    def counts(kinds):
        y, z, chosen = (np.array(column) for column in zip(*kinds, strict=True))
        records = check_matrix(domain, np.zeros((len(y), 1)), y, z)
        return np.array(metrics._counts(chosen.astype(bool), records, adjacency))

    kinds, shared = list(itertools.product((0, 1), (0, 1), (0, 1))), [(1, 1, 1), (0, 0, 0)]
    sides = [counts([*shared, *[kind] * ROWS]) for kind in kinds]
    pairs = (
        itertools.combinations(sides, 2)
        if adjacency == "replace_one"
        else ((counts(shared), side) for side in sides)
    )
    stated = metrics.l1_sensitivity_of_counts(adjacency, with_group=True)
    assert max(int(np.abs(a - b).sum()) for a, b in pairs) == ROWS * stated


# --- Commands and ledgers ------------------------------------------------------------------------------------


@pytest.fixture(name="cli")
def _cli(capsys):
    return CommandLine(capsys)


def test_fit_states_draws_and_counts_for_persons(cli, tmp_path):
    pytest.importorskip("opendp")
    ledger, release = tmp_path / "people.jsonl", tmp_path / "release.json"
    reference("ledger", "create", str(ledger), "--data", "d", "--epsilon", "9", "--rows-per-person", "2")
    words = (*SMALL, "--mechanism", "functional", "--private-metrics", "1", "--ledger", str(ledger))
    code, _, err = cli.run(*words)
    assert (code, "1 row(s) per person says nothing about persons with 2" in err) == (EXIT_USAGE, True)
    code, out, _ = cli.run(*words, "--rows-per-person", "2", "--release", str(release), "--format", "json")
    assert code == EXIT_FINE
    found = json.loads(out)
    assert found["counted"] is True
    assert (
        found["readings"]["rows_per_person"] == json.loads(release.read_text())["readings"]["rows_per_person"] == 2
    )
    assert found["privacy"]["published"]["per_release"] is None
    # a person may have rows on both sides of the split
    assert found["private_metrics"]["splits"][0]["privacy"]["rows_per_person"] == 2
    assert found["private_metrics"]["splits"][0]["scale"] == 6
    fit = Fraction(found["privacy"]["exact"]["composed"]["epsilon_exact"])
    assert Fraction(found["private_metrics"]["composed_with_fit"]["exact"]["epsilon_exact"]) == fit + 1
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert [line["rows_per_person"] for line in lines] == [2, 2, 2]
    assert "rows_per_person" not in cli.json(*SMALL, "--mechanism", "functional", "--seed", "1")["readings"]


def test_json_says_whether_releases_are_counted(cli):
    for words in ((*SMALL, "--mechanism", "functional"), ("--mechanism", "repaired", "--data", "affairs")):
        assert cli.json(*words, "--seed", "1")["counted"] is False


@pytest.mark.parametrize(
    "words",
    ["estimate pdfc --rows-per-person 2", "experiments frontier --rows-per-person 2"],
)
def test_what_is_not_proved_is_refused_in_one_line(words, capsys):
    from audit.commands.family import command as audit
    from reference.commands.parsing import run

    first, *rest = words.split()
    code = run(audit, [first, *rest], name="audit") if first == "estimate" else reference(first, *rest)
    said = capsys.readouterr().err.strip().splitlines()
    assert (code, len(said)) == (EXIT_USAGE, 1)
    assert "No such option '--rows-per-person'" in said[0]


def test_a_release_for_persons_is_not_certified_as_one_for_records(cli, tmp_path, capsys):
    pytest.importorskip("opendp")
    from audit.commands.family import command as audit
    from audit.proofs.releases.exported import read_exported
    from reference.commands.parsing import run

    alone, persons = (tmp_path / f"{rows}.json" for rows in (1, 2))
    for path in (alone, persons):
        words = ("--mechanism", "functional", "--rows-per-person", path.stem, "--release", str(path))
        assert cli.run(*SMALL, *words)[0] == EXIT_FINE
    assert read_exported(alone).readings.rows_per_person == 1
    capsys.readouterr()
    assert run(audit, ["certify", str(persons)], name="audit") == EXIT_UNDECIDED
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("NO THEOREM")
    assert "neighbours that differ in one record, not in a person's 2" in said


def test_a_ledger_counts_statements_for_as_many_rows_or_more(tmp_path):
    terms = LedgerTerms.stated(
        data="d", adjacency="replace_one", epsilon=9, delta="1e-3", method="basic", rows_per_person=2
    )
    ledger = ReleaseLedger.create(tmp_path / "ledger.jsonl", terms)
    domain = DOMAIN.with_(keep_group=False, group=None)
    for rows in (1, 2, 3):
        account = planned(domain, 5000, Budget(1, "1e-5"), "none", hardened=True, rows_per_person=rows)
        if rows == 1:
            with pytest.raises(UncountableReleaseError, match="1 row"):
                ledger.reserve(account.counted(seeded=False))
        else:
            ledger.reserve(account.counted(seeded=False))
    assert [release.rows_per_person for release in ledger.releases] == [2, 3]
    assert "2 rows per person" in str(ledger)


@pytest.mark.parametrize("method", ["gdp", "zcdp"])
def test_ledgers_count_hardened_repaired_fits_by_their_shifts(method, tmp_path):
    name = tmp_path / "ledger.jsonl"
    ledger = ReleaseLedger(name, data="d", epsilon=9, delta="1e-5", method=method)
    domain = DOMAIN.with_(keep_group=False)
    account = planned(domain, 5000, Budget(1, "1e-5"), "demographic_parity", hardened=True)
    for _ in range(4):
        ledger.reserve(account.counted(seeded=False))
    spent = ledger.spent()
    # four times epsilon 1 at delta 1e-5 is twice the shift
    assert 2 < float(spent.epsilon) < 2.4
    if method == "gdp":
        assert 4 * account.loss < spent.squared_shift < 4 * account.loss * (1 + Fraction(1, 10**6))
    else:
        assert 2 * account.loss <= spent.rho < 2 * account.loss * (1 + Fraction(1, 10**12))
    # the broken control: half the noise is not counted as the whole
    half = Account(account.budget, tuple(one._replace(scale=one.scale / 2) for one in account.spent), True)
    assert half.grid_shift > Fraction(39, 10) * account.grid_shift


def test_a_ledger_that_counted_releases_for_different_persons_reports_them(tmp_path):
    ledger = ReleaseLedger(tmp_path / "ledger.jsonl", data="people", epsilon=5)
    for rows in (1, ROWS):
        privacy = counting._pure(Fraction(1), Readings(rows_per_person=rows))
        ledger.reserve(CountedRelease("metrics", "replace_one", privacy, rows_per_person=rows))
    assert "different numbers of rows" in ledger.report()
    assert ledger.spent().epsilon == 2
