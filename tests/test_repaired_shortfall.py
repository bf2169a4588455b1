"""A fit that stops short of its slack says so, and what it refused to pay."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from reference.budgets import Budget
from reference.common.documents import plain
from reference.common.exit_codes import EXIT_FINE
from reference.domain import Domain
from reference.domain.attributes import OneHot
from reference.domain.file import DomainFile
from reference.domain.markers import Marker
from reference.records import Records, encode_table
from reference.repaired import algorithm, guessed, repaired_logistic, shortfall, threshold
from reference.repaired.advice import probe_warnings
from reference.repaired.algorithm import noisy_share
from reference.repaired.classifier import RepairedClassifier, StoppedShortWarning
from reference.repaired.model import Model
from reference.repaired.released import RepairedRelease
from reference.repaired.shortfall import (
    CHANCE,
    DEAR,
    Shortfall,
    _beyond,
    costs_of,
    doubt_of,
    shortfall_of,
)
from reference.repaired.spent import GROUP_COUNT
from reference.repaired.threshold import Probe, Root
from tests.command_lines import reference
from tests.test_repaired_ends import BUDGET, difference, towns, workers

SAID = "stopped short of slack 0: a difference between groups of about"


COLUMNS = ("decides", "other", "job1", "job2", "job3")


def linked(seed: int, *, shown: bool, n: int = 4000) -> dict[str, list]:
    """Return raw columns where the one that decides the label is the one that hints at the group.

    Where the group is shown, another column has it, too.
    """
    random = np.random.default_rng(seed)
    z = (random.random(n) < 0.4).astype(int)
    decides = np.clip(random.integers(0, 6, n) + z * (random.random(n) < 0.3), 0, 5)
    other = np.where(random.random(n) < 0.7 * shown, z, random.integers(0, 6, n))
    jobs = random.integers(0, 6, (3, n))
    score = (decides - 2.5) * 0.8 + np.array([0.1, 0.15, 0.2]) @ (jobs - 2.5)
    y = (random.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    columns = dict(zip(COLUMNS, (decides, other, *jobs), strict=True)) | {"y": y, "z": z}
    return {name: one.tolist() for name, one in columns.items()}


DECLARED = DomainFile(
    attributes=tuple(OneHot(name, tuple(range(6))) for name in COLUMNS),
    label=Marker("y"),
    group=Marker("z"),
)


def encoded(table: dict[str, list]) -> Records:
    return encode_table(DECLARED.domain, table)


def shortfalls(*, shown: bool) -> list[Shortfall | None]:
    found = []
    for seed in range(5):
        records = encoded(linked(seed, shown=shown))
        model = repaired_logistic(records, BUDGET, fairness="demographic_parity", rng=seed)
        one = shortfall_of(model, records.domain, 0.0)
        assert one is None or abs(one.difference - difference(model, records)) < 4 * one.noise
        found.append(one)
    return found


def test_a_shortfall_is_found_with_the_price_that_was_refused(monkeypatch):
    found = [one for one in shortfalls(shown=False) if one is not None]
    assert len(found) == 5
    for one in found:
        assert one.limit == pytest.approx(guessed.FREE_PRICE)
        assert one.refused is not None
        assert one.refused > one.limit
        assert SAID in str(one)
        assert "probes justified 0.5 points of accuracy" in str(one)
    # the null control: a column shows the group, and parity is reached
    assert shortfalls(shown=True) == [None] * 5
    # no limit of the last unit: what the whole would cost is
    monkeypatch.setattr(guessed, "FREE_PRICE", math.inf)
    whole = [str(one) for one in shortfalls(shown=False) if one is not None and one.limit is not None]
    assert whole
    assert all("its last point would cost more than 2 points of accuracy" in one for one in whole)
    # where what was refused is no fairer by its estimate, the price did not decide
    with monkeypatch.context() as patch:
        patch.setattr(shortfall, "_missed", lambda *_: 0.0)
        assert [one for one in shortfalls(shown=False) if one is not None and one.limit is not None] == []
    # the broken control: no limit at all, so that none is blamed
    monkeypatch.setattr(threshold, "WORTH", 1e6)
    assert [one for one in shortfalls(shown=False) if one is not None and one.limit is not None] == []


@pytest.mark.parametrize(("at_parity", "least", "most"), [(True, 0.0, 3 * CHANCE), (False, 0.9, 1.0)])
def test_noise_alone_looks_like_a_shortfall_as_seldom_as_stated(at_parity, least, most):
    """Four probes of a straight curve; the model ends at the crossing, or where .05 is left."""
    random, said, repeats = np.random.default_rng(0), 0, 400
    for _ in range(repeats):
        probes = [Probe(m, 0.2 - 0.2 * m + random.normal(0, 0.01), 0.01) for m in (0.0, 0.9, 1.1, 1.02)]
        root = Root(probes, 0.0, lambda m: 0.2 - 0.2 * m)
        estimate, variance = root.estimate(root.best() if at_parity else 0.75)
        said += _beyond(Shortfall(abs(estimate), math.sqrt(variance), 0.0), 1)
    assert least <= said / repeats <= most


def test_the_largest_of_many_pairs_needs_more():
    one = Shortfall(0.03, 0.01, 0.0)
    assert _beyond(one, 1)
    assert not _beyond(one, 36)
    assert not _beyond(one, 0)
    assert not _beyond(one._replace(slack=0.01), 1)


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalised_odds"])
def test_three_guessed_groups_say_what_is_left(fairness):
    said = []
    for seed in range(4):
        records = towns("plain", seed)
        model = repaired_logistic(records, Budget(10, "1e-5"), fairness=fairness, rng=seed)
        found = shortfall_of(model, records.domain, 0.0)
        if found is not None:
            said.append(str(found))
        assert shortfall_of(model, records.domain, 1.0) is None
    most = "a point" if fairness == "equalised_odds" else "0.5 points"
    assert any(f"would cost more than {most} of accuracy" in one for one in said)


def test_no_shortfall_without_fairness():
    records = workers(0, shown=True)
    assert shortfall_of(repaired_logistic(records, BUDGET, rng=0), records.domain, 0.0) is None


# --- What the noise of the group's share adds -------------------------------------------------------------------


def unequal(seed: int, share: float, n: int = 4000) -> Records:
    """Return records of a group of this share that one column shows, and that is chosen more often."""
    random = np.random.default_rng(seed)
    z = (random.random(n) < share).astype(int)
    home = np.where(random.random(n) < 0.6, 5 * z, random.integers(0, 6, n))
    jobs = random.integers(0, 6, (4, n))
    score = 0.5 * (home - 2.5) + 0.3 * (jobs.sum(axis=0) - 10) - 1.5
    y = (random.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    table = dict(zip(COLUMNS, (home, *jobs), strict=True)) | {"y": y, "z": z}
    return encode_table(DECLARED.with_(keep_group=True).domain, {k: v.tolist() for k, v in table.items()})


def test_probes_of_a_model_that_chooses_everybody_are_as_noisy_as_said():
    """Every difference is 0; the error of zbar moves all probes of a fit alike."""
    base, said, alone = unequal(0, 0.3, 1000), [], []
    records = Records(base.domain, base.x, np.ones(len(base)), base.z)
    for seed in range(40):
        model = repaired_logistic(records, BUDGET, fairness="demographic_parity", rng=seed)
        (first, *_), chosen = model.probes, replace(model, multiplier=0.0).predict(records.x, records.z)
        assert chosen.mean() > 0.95
        said.append(first.difference / math.hypot(first.noise, model.noise_of_share))
        alone.append(first.difference / first.noise)
    assert 0.7 < np.std(said) < 1.4
    # the broken control: without the share's noise
    assert np.std(alone) > 1.7


SMALL_BUDGET, SMALL_N = Budget(4, "1e-5"), 16_000


def left(share: float) -> tuple[float, list[Model]]:
    """Return the mean difference that four fits leave between a group of this share and the rest."""
    found, models = [], []
    for seed in range(4):
        records = unequal(seed, share, SMALL_N)
        models.append(repaired_logistic(records, SMALL_BUDGET, fairness="demographic_parity", rng=seed))
        found.append(difference(models[-1], records))
    return float(np.mean(found)), models


def cut_at(least: Fraction) -> Callable[..., Fraction]:
    """Return a share that is kept this far from 0 and 1, however small its noise is."""
    return lambda *call: min(1 - least, max(least, noisy_share(*call)))


@pytest.mark.parametrize("share", [0.03, 0.05, 0.97])
def test_a_group_of_a_few_percent_is_made_fair(monkeypatch, share):
    found, models = left(share)
    assert found < 0.04
    assert all(model.noise_of_probes < 0.03 for model in models)
    # the broken control: a share that counts as a sixteenth
    monkeypatch.setattr(algorithm, "noisy_share", cut_at(Fraction(1, 16)))
    assert left(share)[0] > 0.08


def test_groups_of_one_half_are_fitted_as_with_any_cut(monkeypatch):
    found, models = left(0.5)
    monkeypatch.setattr(algorithm, "noisy_share", cut_at(Fraction(1, 16)))
    cut, others = left(0.5)
    assert found == cut < 0.02
    assert [one.multiplier for one in models] == [one.multiplier for one in others]


@pytest.mark.parametrize("delta", ["1e-5", "0"])
@pytest.mark.parametrize(("share", "epsilon"), [(0.0, "1"), (1.0, "1"), (0.3, "0.001")])
def test_a_share_is_as_far_from_0_and_1_as_its_noise_deviates(share, epsilon, delta):
    """An empty group, or one that noise hides, is cut: its probes are finite, and said to be noise."""
    records, cut = unequal(1, share, 1000), 0
    for seed in range(6):
        model = repaired_logistic(records, Budget(epsilon, delta), fairness="demographic_parity", rng=seed)
        (count,) = (one for one in model.spent if one.what == GROUP_COUNT)
        deviation = count.scale * (1 if model.delta else math.sqrt(2)) / 1000
        nearest = float(min(model.zbar, 1 - model.zbar))
        assert nearest > min(1 / 16, deviation) - 1e-9
        assert np.isfinite([model.multiplier, *(value for probe in model.probes for value in probe)]).all()
        assert shortfall_of(model, records.domain, 0.0) is None
        if nearest < min(1 / 16, deviation) + 1e-6:
            cut += 1
            assert model.noise_of_share >= 0.5
            assert "difference between groups" in probe_warnings(model.noise_of_probes)[0]
    assert cut


@pytest.mark.parametrize(("delta", "seed"), [("1e-5", 11), ("1e-5", 191), ("0", 144)])
def test_an_empty_group_misses_no_slack_though_early_probes_choose_few(monkeypatch, delta, seed):
    """The noise of zbar moves each probe by how many are chosen there, not by how many are in the end."""
    records = unequal(1, 0.0, 1000)
    model = repaired_logistic(records, Budget("1", delta), fairness="demographic_parity", rng=seed)
    assert shortfall_of(model, records.domain, 0.0) is None
    # the broken control: the end alone
    last = replace(model, probes=())
    end = shortfall._most_of_share(last, records.domain)
    monkeypatch.setattr(shortfall, "_most_of_share", lambda *_: end)
    assert shortfall_of(model, records.domain, 0.0) is not None


# --- Doubts -----------------------------------------------------------------------------------------------------

DOUBTED = "probes cannot show that groups are at most 0.03 apart: noise may leave a difference of about"


def lawyers(seed: int, n: int = 12_000) -> Records:
    """Return records of whom nearly all pass, with a column that tells the group."""
    random = np.random.default_rng(seed)
    z = (random.random(n) < 5 / 6).astype(int)
    marks = {
        f"c{i}": np.clip(random.integers(0, 6, n) - (random.random(n) < 0.5) * (1 - z), 0, 5) for i in range(3)
    }
    y = random.random(n) < 1 / (1 + np.exp(-sum(marks.values()) * 0.5))
    domain = Domain(tuple(OneHot(name, tuple(range(6))) for name in marks), "y", "z", keep_group=True)
    return encode_table(domain, {name: one.tolist() for name, one in marks.items()} | {"y": y * 1.0, "z": z})


def judged(fits: list[tuple[Model, float]], domain: Domain) -> tuple[int, int]:
    """Return in how many fits a difference above .03 went unmentioned, and a doubt was said."""
    silent = doubts = 0
    for model, apart in fits:
        doubt = doubt_of(model, domain, 0.0)
        said = doubt is not None or bool(probe_warnings(model.noise_of_probes))
        said |= shortfall_of(model, domain, 0.0) is not None
        assert doubt is None or doubt.startswith(DOUBTED)
        silent, doubts = silent + (apart > shortfall.APART and not said), doubts + (doubt is not None)
    return silent, doubts


def test_what_probes_cannot_show_is_said(monkeypatch):
    records = lawyers(0)

    def fits(epsilon: str, repeats: int) -> list[tuple[Model, float]]:
        models = [
            repaired_logistic(records, Budget(epsilon, "1e-5"), fairness="demographic_parity", rng=seed)
            for seed in range(repeats)
        ]
        return [(model, difference(model, records)) for model in models]

    loud, quiet = fits("0.4", 12), fits("10", 3)
    assert judged(loud, records.domain) == (0, 12)
    # the null control: enough is spent, and every fit is as fair as it is silent
    assert judged(quiet, records.domain) == (0, 0)
    assert max(apart for _, apart in quiet) < shortfall.APART
    # the broken control: a forecast without its noise
    monkeypatch.setattr(shortfall, "DOUBT", 1.0)
    assert judged(loud, records.domain)[0] > 0


def test_where_noise_drowns_probes_a_release_says_what_may_be_left():
    """The noise of probes alone is often less than the difference."""
    records, less = lawyers(0), 0
    for seed, epsilon in itertools.product(range(4), ("0.05", "0.1")):
        model = repaired_logistic(records, Budget(epsilon, "1e-5"), fairness="demographic_parity", rng=seed)
        about = {"slack": Fraction(0), "noise": "hardened", "seeded": False}
        said = RepairedRelease.of(model, DomainFile.of(records.domain), **about).noise_warnings[0]
        most = said.partition("and may leave a difference of about ")[2].partition(":")[0]
        assert difference(model, records) <= float(most) <= 1
        less += model.noise_of_probes < difference(model, records)
    # the broken control
    assert less


# --- What users see ---------------------------------------------------------------------------------------------


def estimator(**options) -> RepairedClassifier:
    return RepairedClassifier(domain=DECLARED, group_at_prediction=False, random_state=0, **options)


def fitted(*, shown: bool) -> RepairedClassifier:
    table = linked(0, shown=shown)
    columns = {name: table[name] for name in COLUMNS}
    return estimator().fit(columns, table["y"], sensitive_features=table["z"])


def test_the_estimator_warns_at_the_fit_and_after_tuning():
    with pytest.warns(StoppedShortWarning, match=SAID):
        model = fitted(shown=False)
    assert [SAID in one for one in model.release_.warnings] == [True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loose = model.tuned("0.2")
        assert fitted(shown=True).release_.warnings == ()
    assert loose.release_.warnings == ()
    with pytest.warns(StoppedShortWarning, match="slack 0.01:"):
        loose.tuned("0.01")


def test_fit_and_card_say_it_in_a_line_and_advice_before(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "domain.json").write_text(json.dumps(plain(DECLARED)))
    for shown in (False, True):
        table = linked(0, shown=shown)
        lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
        (tmp_path / "table.csv").write_text("\n".join(lines))
        words = "fit --mechanism repaired --data table.csv --domain domain.json --seed 1 --test-share 0"
        assert reference(*words.split(), "--without-group", "--release", "release.json") == EXIT_FINE
        said = [line for line in capsys.readouterr().err.splitlines() if SAID in line]
        assert len(said) == (0 if shown else 1)
        assert reference("card", "release.json") == EXIT_FINE
        card = " ".join(capsys.readouterr().out.split())
        assert (SAID in card) is not shown
        assert all(line.removeprefix("warning: ") in card for line in said)
    words = "advise --domain domain.json --records 4000"
    for more, named in (("--without-group", "0.5"), ("--without-group --fairness equalised_odds", "1"), ("", "")):
        assert reference(*words.split(), *more.split()) == EXIT_FINE
        advice = " ".join(capsys.readouterr().out.split())
        assert (f"a fit pays at most {named} points of accuracy" in advice) is bool(named)
        assert ("stops short of the slack and says so" in advice) is bool(named)
        assert "Not forecast: the accuracy that fairness itself costs" in advice
    assert reference(*words.split(), "--fairness", "none") == EXIT_FINE
    assert "Not forecast" not in capsys.readouterr().out


@pytest.mark.parametrize("shown", [True, False])
def test_what_fairness_without_the_group_costs_is_forecast(shown):
    domain = DECLARED.domain.with_(keep_group=False)
    records = encode_table(domain, linked(1, shown=shown, n=20_000)).on_grid()
    fitted = repaired_logistic(records, Budget(20, "1e-5"), fairness="demographic_parity", noise="numpy", rng=1)

    def right(model: Model) -> float:
        return float((model.predict(records.x) == (records.y > 0)).mean())

    costs, free = {}, right(replace(fitted, multiplier=0.0))
    for multiplier in (0.0, 0.2, 0.5, 1.0, 2.0, 8.0):
        model = replace(fitted, multiplier=multiplier)
        costs[multiplier] = truth = free - right(model)
        said = costs_of(model, domain)
        assert truth < DEAR + 0.01 if said is None else float(said.split()[10]) == pytest.approx(truth, abs=0.02)
    # both answers were asked for
    assert costs[0.0] == 0
    assert max(costs.values()) > DEAR + 0.01
    # where the group is used nothing is guessed
    assert costs_of(replace(model, group_weights=None), domain) is None
