"""Groups of more than two values, and equalised odds: sums over cells, thresholds by group, the whole program."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from reference.budgets import Budget
from reference.common.documents import plain
from reference.common.errors import DeclarationError, DomainFileError, GroupError, ReleaseFileError
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot
from reference.domain.file import DomainFile, domain_file_of
from reference.domain.markers import Marker
from reference.fairness.metrics import equalized_odds_difference, measures, risk_difference
from reference.moments import Moments
from reference.readings import Readings
from reference.records import Records, check_matrix, encode_table
from reference.repaired import algorithm, guessed, prepared, repaired_logistic, schedule, schedule_of, sums
from reference.repaired.advice import advise, planned
from reference.repaired.cells import Cells, Expected, fair_thresholds, sizes_of
from reference.repaired.classifier import RepairedClassifier
from reference.repaired.curator import unit_sigma
from reference.repaired.released import RepairedRelease, load_repaired
from reference.repaired.spent import CELL_COUNTS, CELL_PROBE
from reference.repaired.uncertainty import standard_errors
from reference.sensitivity import setting_of
from tests.command_lines import reference
from tests.test_repaired_fit import Recording, shares

BUDGET, PURE = Budget(1, "1e-5"), Budget(1)
TOWNS = ("north", "south", "isles")


def domain(groups: int = 3, *, keep: bool = True) -> Domain:
    """Return a domain whose group stands among the features, or is seen in where people live."""
    values = TOWNS if groups == 3 else ()
    attributes = (OneHot("job", tuple(range(6))), OneHot("home", tuple(range(4))), Numeric("age", 0, 100))
    return Domain(attributes, "y", "z", keep_group=keep, group_values=values)


def people(n: int, seed: int, groups: int = 3, *, keep: bool = True) -> Records:
    """Return records whose label depends on job, age and group; the last of three groups has a sixth of them."""
    random = np.random.default_rng(seed)
    z = random.choice(groups, n, p=[1 / 2, 1 / 3, 1 / 6] if groups == 3 else [2 / 3, 1 / 3])
    job, age = random.integers(0, 6, n), random.integers(0, 101, n)
    score = np.array([-2.0, -1.5, -1.0, 0.5, 1.5, 2.5])[job] + np.array([1.0, -0.5, -1.5])[z] + (age - 50) / 12
    y = (random.random(n) < 1 / (1 + np.exp(-score))).astype(float)
    home = np.where(random.random(n) < 0.7, z, 3)
    table = {"job": job.tolist(), "home": home.tolist(), "age": age, "y": y, "z": z}
    return encode_table(domain(groups, keep=keep), table)


# --- Sums ------------------------------------------------------------------------------------------------------


def largest_changes(release) -> tuple[Fraction, Fraction]:
    """Return the largest l1 and squared l2 distance of what two records add, over all cells and predictions."""
    alone = [release(np.array([c]), np.array([chosen])) for c in range(6) for chosen in (False, True)]
    moved = [
        [abs(a - b) for a, b in zip(one, other, strict=True)] for one, other in itertools.product(alone, alone)
    ]
    return max(sum(m, Fraction(0)) for m in moved), max(sum((v * v for v in m), Fraction(0)) for m in moved)


def test_sums_over_cells_attain_the_stated_sensitivities_and_no_more():
    found = largest_changes(lambda cell, _: sums.cell_counts(cell, 6))
    assert found == sums.CELL_COUNTS_CHANGE
    found = largest_changes(lambda cell, chosen: sums.cell_selections(cell, chosen, 6))
    assert found == sums.CELL_SELECTIONS_CHANGE


def test_numbers_of_chosen_records_change_by_more_than_stated():
    """The broken control: without the half the sums of two cells change by 1 each."""

    def chosen_records(cell, chosen):
        return [Fraction(int((chosen & (cell == c)).sum())) for c in range(6)]

    l1, l2_squared = largest_changes(chosen_records)
    assert l1 == 2 > sums.CELL_SELECTIONS_CHANGE.l1_sensitivity
    assert l2_squared == 2 > sums.CELL_SELECTIONS_CHANGE.l2_sensitivity_squared


def test_sums_over_cells_are_the_shares_that_they_stand_for():
    records = people(500, 1)
    cell, chosen = algorithm.cell_of(records, 6), np.random.default_rng(2).random(500) < 0.3
    sizes, selections = sums.cell_counts(cell, 6), sums.cell_selections(cell, chosen, 6)
    for c, (group, label) in enumerate(itertools.product(range(3), range(2))):
        members = (records.z == group) & (records.y == label)
        assert Fraction(1, 2) + selections[c] / sizes[c] == Fraction(
            int(chosen[members].sum()), int(members.sum())
        )


# --- The program ------------------------------------------------------------------------------------------------

KINDS = [(3, "demographic_parity"), (3, "equalised_odds"), (2, "equalised_odds")]

PROGRAMS = [
    *((*kind, budget, True) for kind, budget in itertools.product(KINDS, (BUDGET, PURE))),
    (3, "demographic_parity", BUDGET, False),
    (2, "equalised_odds", PURE, False),
]

USES = pytest.mark.parametrize("keep", [True, False], ids=["group used", "group guessed"])


def uncentred(cell, prediction, cells):
    """Return the number of chosen records of each cell: what a careless program would release."""
    return np.array([Fraction(int((prediction & (cell == c)).sum())) for c in range(cells)], dtype=object)


@pytest.mark.parametrize(("groups", "fairness", "budget", "keep"), PROGRAMS)
def test_neighbours_change_each_release_by_no_more_than_stated(monkeypatch, groups, fairness, budget, keep):
    """One transcript, neighbours that move between groups and labels: each exact change, and what all lose."""
    pairs = (people(60, 0, groups, keep=keep), groups, fairness, budget)
    most, spent, largest = changes_of_neighbours(monkeypatch, *pairs)
    power, allowed = (2, 1 / Fraction(unit_sigma(budget)) ** 2) if budget.delta else (1, budget.epsilon)
    for one in spent:
        stated = one.change.l2_sensitivity_squared if power == 2 else one.change.l1_sensitivity
        assert most[one.what] <= stated, one.what
    assert 0 < largest <= allowed
    # the statements of the cells are reached, so a smaller one would be seen
    assert most[CELL_COUNTS] == 2
    assert most[CELL_PROBE] == 1
    # the broken control: numbers of chosen records, with the noise of what is stated
    monkeypatch.setattr(algorithm.sums, "cell_selections", uncentred)
    most, spent, _ = changes_of_neighbours(monkeypatch, *pairs)
    assert most[CELL_PROBE] == 2


def changes_of_neighbours(monkeypatch, records, groups, fairness, budget):
    """Return the largest change of each release, l1 or squared l2, what was spent, and the largest loss of all."""

    def run(data, sampler):
        monkeypatch.setattr(algorithm, "sampler_of", lambda *_: sampler)
        return repaired_logistic(data, budget, fairness=fairness, rng=0)

    random, first, keep = np.random.default_rng(5), Recording(1), records.domain.keep_group
    spent = run(records, first).spent
    power = 2 if budget.delta else 1
    largest, most = Fraction(0), {one.what: Fraction(0) for one in spent}
    for _ in range(15):
        donor, at = people(1, int(random.integers(1 << 30)), groups, keep=keep), int(random.integers(60))
        x, y, z = records.x.copy(), records.y.copy(), records.z.copy()
        x[at], y[at], z[at] = donor.x[0], donor.y[0], donor.z[0]
        second = Recording(1, first.outputs)
        run(Records(records.domain, x, y, z), second)
        loss = Fraction(0)
        for one, before, after in zip(spent, first.exact, second.exact, strict=True):
            changes = [abs(Fraction(a) - Fraction(b)) ** power for a, b in zip(before, after, strict=True)]
            change = sum(changes, Fraction(0))
            most[one.what] = max(most[one.what], change)
            loss += change / Fraction(one.scale) ** power
        largest = max(largest, loss)
    return most, spent, largest


@USES
@pytest.mark.parametrize(("groups", "fairness"), KINDS)
def test_what_is_planned_is_what_is_spent_and_all_of_the_budget(groups, fairness, keep):
    records = people(300, 4, groups, keep=keep)
    model = repaired_logistic(records, BUDGET, fairness=fairness, rng=0)
    promised = planned(records.domain, 300, BUDGET, fairness, hardened=False)
    assert promised.spent == model.spent
    assert shares(schedule_of(records.domain, 300, BUDGET, fairness)) == 1
    assert advise(records.domain, 300, BUDGET, fairness).risk_difference_noise > 0.05


@USES
@pytest.mark.parametrize(("groups", "fairness"), KINDS)
@pytest.mark.parametrize("budget", [BUDGET, PURE])
def test_a_fit_is_as_fair_as_asked(monkeypatch, groups, fairness, budget, keep):
    train, test = prepared(people(24_000, 1, groups, keep=keep)), people(24_000, 2, groups, keep=keep)

    def measured(model):
        return measures(model.predict(test.x, test.z if keep else None), test.y, test.z, groups)

    name = "risk_difference" if fairness == "demographic_parity" else "equalized_odds_difference"
    for steps in (schedule.MOST_ROUNDS, 10):
        monkeypatch.setattr(schedule, "MOST_ROUNDS", steps)
        plain_one, fair = (
            measured(repaired_logistic(train, budget, fairness=f, rng=3)) for f in ("none", fairness)
        )
        assert fair[name] < min(plain_one[name], 0.04 if budget.delta else 0.06)
        assert fair["accuracy"] > plain_one["accuracy"] - 0.1
        assert 0.2 < fair["positive_rate"] < 0.8
    # the people were made for ten steps; after more the odds are more equal by themselves
    assert plain_one[name] > (0.2 if groups == 3 else 0.08) * (1 if keep else 0.3)


@USES
@pytest.mark.parametrize(("groups", "fairness"), KINDS)
@pytest.mark.parametrize("epsilon", ["0.001", "1", "100000"])
def test_a_release_comes_out_for_every_data_set(groups, fairness, epsilon, keep):
    records = people(40, 3, groups, keep=keep)
    only = np.flatnonzero((records.z == 0) & (records.y == 1))
    for few in (records.take(only), records.take(only[:1]), records):
        model = repaired_logistic(prepared(few), Budget(epsilon, "1e-5"), fairness=fairness, rng=0)
        assert np.isfinite(model.excess(records.x, records.z)).all()
        assert np.isfinite(standard_errors(model, records.domain)).all()


def test_another_slack_is_taken_after_the_release():
    train, test = people(24_000, 1), people(24_000, 2)
    model = repaired_logistic(train, BUDGET, fairness="demographic_parity", rng=3)
    looser = model.tuned(train.domain, 0.2)
    assert 0.1 < risk_difference(looser.predict(test.x, test.z), test.z, 3) < 0.25
    assert looser.spent == model.spent
    assert looser.tuned(train.domain, 0.0).cells == model.cells


def test_the_page_states_the_share_that_guessing_takes():
    said = " ".join((Path(__file__).parents[1] / "docs/repaired.md").read_text().split())
    shares = []
    for groups in (2, 3, 9):
        values = tuple(f"g{k}" for k in range(groups)) if groups > 2 else ()
        of = Domain((OneHot("job", tuple(range(6))),), "y", "z", group_values=values)
        found = set()
        for fairness in ("demographic_parity", "equalised_odds"):
            spent = schedule_of(of, 10_000, BUDGET, fairness)
            guessing = spent.group_models * spent.group_model
            found.add(guessing / (guessing + spent.label_model))
        shares.append(str(*found))
    wanted = "After counts and probes, guessing the group takes {} of what is left (2 groups), {} (3), {} (9)."
    assert wanted.format(*shares) in said


def test_fair_thresholds_are_found_on_known_curves():
    """Noiseless probes of curves that were expected wrongly: thresholds still choose equal shares."""
    random = np.random.default_rng(3)
    scores = (np.sort(random.normal(-1, 1, 4000)), np.sort(random.normal(1, 1, 4000)))
    thought = Expected(scores, np.array([0.0, -0.5, 0.3]), np.array([0.4, 0.3, 0.5]))
    true = thought._replace(added=np.array([0.3, -1.0, 0.1]))
    for odds, allowed in ((False, 0.005), (True, 0.03)):
        sizes = (10.0,) * (6 if odds else 3)
        cells = Cells(odds, sizes, (0.0,) * 3)
        for _ in range(4):
            rates = true.rates(np.array(cells.thresholds), odds=odds)
            cells = cells.after(rates.ravel(), np.full(rates.size, 1e-6))
            cells = Cells(odds, sizes, fair_thresholds(cells, thought, 0.0), cells.probes)
        assert np.ptp(true.rates(np.array(cells.thresholds), odds=odds), axis=0).max() < allowed
        assert cells.probes[-1].difference(3)[0] < 0.05
    assert sum(sizes_of(np.array([5.0, -3.0, 90.0]), 100)) == pytest.approx(100)


@pytest.mark.parametrize("seed", range(3))
def test_without_the_group_no_rule_with_the_same_rates_is_more_accurate(seed):
    """A linear program over all rules, randomised ones too; for other thresholds of one group it finds better."""
    random = np.random.default_rng(seed)
    likely, positive = random.dirichlet(np.ones(3), 30).T, random.random(30)

    def accuracies(thresholds, told):
        chosen = guessed.excess(positive - 0.5, likely, thresholds) > 0.0
        gained = 2 * positive - 1
        best = linprog(-gained, A_eq=told, b_eq=told @ chosen, bounds=(0, 1))
        return float(gained @ chosen), -best.fun

    ours, best = accuracies((0.2, -0.1, 0.05), likely)
    assert ours == pytest.approx(best, abs=1e-9)
    # the control: thresholds of groups whose rates are not kept
    ours, best = accuracies((0.2, -0.5, 0.5), likely[:1])
    assert ours < best - 1e-3


# --- Declarations -----------------------------------------------------------------------------------------------

FILE = DomainFile(
    attributes=(OneHot("job", ("a", "b")), Numeric("age", 0, 100, clip=True)),
    label=Marker("rich", one=("yes",), zero=("no",)),
    group=Marker("town", values=TOWNS),
    norm="unit_ball",
)


def table(n: int, seed: int) -> dict[str, list[object]]:
    random = np.random.default_rng(seed)
    town, job = random.integers(0, 3, n), random.integers(0, 2, n)
    rich = random.random(n) < 1 / (1 + np.exp(-2.0 * job - town + 2))
    return {
        "job": [("a", "b")[one] for one in job],
        "age": random.integers(0, 101, n).tolist(),
        "rich": [("no", "yes")[int(one)] for one in rich],
        "town": [TOWNS[one] for one in town],
    }


def test_a_domain_file_declares_more_than_two_groups():
    again = domain_file_of(plain(FILE))
    assert again == FILE
    kept = again.with_(keep_group=True).domain
    assert kept.columns[-3:] == ("town=north", "town=south", "town=isles")
    assert kept.column_factor == pytest.approx(1 / np.sqrt(3))
    assert FILE.with_(group=Marker("town", values=("n", "s"))).domain.groups == 2
    for group, said in (
        (Marker("town", values=("n", "s")), None),
        ({"column": "town", "values": ["n"]}, "two or more"),
        ({"column": "town", "values": ["n", "n", "s"]}, "distinct"),
        ({"column": "town", "values": ["n", "s", "w"], "one": ["n"], "zero": ["s"]}, "take the others away"),
        ({"column": "town", "values": None}, "not filled in"),
    ):
        if said is not None:
            with pytest.raises(DomainFileError, match=said):
                domain_file_of({**plain(FILE), "group": group})
    with pytest.raises(DomainFileError, match="two classes"):
        FILE.with_(label=Marker("rich", values=("a", "b", "c")))
    for values in (("a", "b"), ("a", "b", "b"), ("a", "b", "c")):
        with pytest.raises(DeclarationError):
            Domain.of_columns(["a"]).with_(group_values=values)


def test_the_papers_mechanisms_keep_two_groups():
    records = people(20, 0)
    for refused in (
        lambda: Moments.of(records),
        lambda: setting_of(records.domain, Readings("none")),
    ):
        with pytest.raises(DeclarationError, match="two values"):
            refused()


def test_records_of_many_groups_are_checked():
    records = people(20, 0)
    assert check_matrix(records.domain, records.x, records.y, records.z).z.tolist() == records.z.tolist()
    z = records.z.copy()
    z[4] = 3.0
    with pytest.raises(GroupError, match="row 4, column 'z', value 3"):
        Records(records.domain, records.x, records.y, z)


def test_metrics_of_many_groups():
    prediction = np.array([1, 0, 1, 1, 0, 0], dtype=bool)
    y, z = np.array([1.0, 0, 1, 0, 1, 0]), np.array([0.0, 0, 1, 1, 2, 2])
    assert risk_difference(prediction, z, 3) == 1
    assert risk_difference(prediction[:4], z[:4]) == 0.5
    assert risk_difference(prediction[:4], z[:4], 3) is None
    assert equalized_odds_difference(prediction[:4], y[:4], z[:4]) == 1
    assert equalized_odds_difference(prediction[:2], y[:2], z[:2]) is None


@pytest.mark.filterwarnings(
    "ignore:probes show", "ignore:noise hides", "ignore:probes cannot", "ignore:the fit stopped short"
)
@pytest.mark.filterwarnings("ignore:fairness without the group is dear")
@pytest.mark.parametrize("fairness", ["demographic_parity", "equalised_odds"])
def test_the_estimator_and_its_file_guess_the_group(tmp_path, fairness):
    columns = table(3000, 0)
    x = {name: columns[name] for name in ("job", "age")}
    model = RepairedClassifier(domain=FILE, fairness=fairness, group_at_prediction=False, random_state=1)
    model.fit(x, columns["rich"], sensitive_features=columns["town"])
    model.release_.write(tmp_path / "release.json")
    again = RepairedClassifier.from_release(tmp_path / "release.json")
    assert again.release_ == model.release_
    assert (again.predict(x) == model.predict(x)).all()
    assert len(model.release_.group_weights) == 3 * len(model.release_.w)
    assert again.tuned("0.3").release_.spent == model.release_.spent
    with pytest.raises(AttributeError, match="not linear"):
        _ = model.intercept_
    document = json.loads((tmp_path / "release.json").read_text())
    for weights in (None, document["group_weights"][:-1], document["w"]):
        (tmp_path / "broken.json").write_text(json.dumps({**document, "group_weights": weights}))
        with pytest.raises(ReleaseFileError, match="group_weights"):
            load_repaired(tmp_path / "broken.json")


@pytest.mark.filterwarnings(
    "ignore:probes show", "ignore:noise hides", "ignore:probes cannot", "ignore:the fit stopped short"
)
@pytest.mark.parametrize("fairness", ["demographic_parity", "equalised_odds"])
def test_the_estimator_takes_three_groups_and_its_file_predicts(tmp_path, fairness):
    columns = table(3000, 0)
    x = {name: columns[name] for name in ("job", "age")}
    model = RepairedClassifier(domain=FILE, fairness=fairness, random_state=1)
    model.fit(x, columns["rich"], sensitive_features=columns["town"])
    model.release_.write(tmp_path / "release.json")
    again = RepairedClassifier.from_release(tmp_path / "release.json")
    assert again.release_ == model.release_
    chosen = model.predict(x, sensitive_features=columns["town"])
    assert (again.predict(x, sensitive_features=columns["town"]) == chosen).all()
    assert again.tuned("0.3").release_.cells.thresholds != model.release_.cells.thresholds
    with pytest.raises(GroupError, match="'north' or 'south' or 'isles'"):
        model.predict(x, sensitive_features=["east"] * 3000)
    document = json.loads((tmp_path / "release.json").read_text())
    short = {**document["cells"], "thresholds": [0.0, 0.0]}
    less = [*document["spent"][:-1], {**document["spent"][-1], "l2_sensitivity_squared": 0.5}]
    other = [*document["spent"][:-1], {**document["spent"][-1], "what": "gradient"}]
    for change in ({"cells": None}, {"cells": short}, {"fairness": "none"}, {"spent": less}, {"spent": other}):
        (tmp_path / "broken.json").write_text(json.dumps({**document, **change}))
        with pytest.raises(ReleaseFileError, match=r"cells|spent"):
            load_repaired(tmp_path / "broken.json")
    # less than it lost, or than was released
    little = [{**one, "scale": one["scale"] / 2} for one in document["spent"]]
    exact = {**document["privacy"]["exact"], "epsilon": {"upper": "0.5"}}
    for change in (
        {"spent": []},
        {"spent": document["spent"][:-1]},
        {"spent": little},
        {"budget": {**document["budget"], "epsilon": "0.5"}},
        {"budget": {"epsilon": "1"}},
        {"privacy": {**document["privacy"], "exact": exact}},
        {"records": 0},
        {"cells": {**document["cells"], "sizes": [0.0 for _ in document["cells"]["sizes"]]}},
    ):
        (tmp_path / "broken.json").write_text(json.dumps({**document, **change}))
        with pytest.raises(ReleaseFileError, match=r"spent|budget|privacy|records|sizes"):
            load_repaired(tmp_path / "broken.json")
    assert isinstance(model.release_, RepairedRelease)


def test_three_commands_from_a_table_to_a_fair_model_and_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    columns = table(2000, 1)
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "domain.json").write_text(json.dumps(plain(FILE)))

    def run(line: str, code: int = EXIT_FINE) -> str:
        assert reference(*line.split()) == code
        found = capsys.readouterr()
        return found.out if code == EXIT_FINE else found.err

    for fairness in ("demographic_parity", "equalised_odds"):
        words = f"fit --mechanism repaired --data people.csv --domain domain.json --fairness {fairness} --seed 1"
        assert "equalized_odds_difference" in run(f"{words} --release release.json")
        assert run("predict --release release.json --data people.csv").count("\n") == 2001
        assert "groups by town (north, south, isles)" in run("card release.json")
        assert fairness in run(f"advise --domain domain.json --records 2000 --fairness {fairness}")
    assert "two values" in run("fit --mechanism pdfc --data people.csv --domain domain.json", EXIT_USAGE)
    described = json.loads(run("domain --describe --data people.csv --label rich --group town --bounds-from-data"))
    assert described["group"] == {"column": "town", "values": ["isles", "north", "south"], "from_data": True}
