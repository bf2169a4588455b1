"""Values that few data sets have: empty sides, ends of ranges, operands of another kind, texts too alike."""

from __future__ import annotations

import errno
import os
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb

from reference.accounting.statements import PrivacyStatement
from reference.budgets import SplitBudget
from reference.commands import card, endings, fit_text
from reference.commands.start import remedy, starting
from reference.common.documents import plain
from reference.common.errors import (
    DeltaError,
    GridError,
    MissingExtraError,
    MomentsTableError,
    NotANumberError,
    ParameterError,
    ReadingError,
    RunStoreError,
)
from reference.common.exit_codes import EXIT_UNDECIDED, EXIT_USAGE
from reference.common.extras import needed_for
from reference.common.numbers import Enclosure
from reference.datasets import Encoding
from reference.datasets.public_bins import public_domains
from reference.datasets.synthetic import Synthetic
from reference.domain.attributes import Binned
from reference.domain.markers import _numbers_of_distinct
from reference.domain.values import FEW, Coded, codes_of
from reference.experiments import outputs, pages, peers, printed, rfm, x_s
from reference.experiments.splits import SplitSpec
from reference.experiments.store import RunStore
from reference.experiments.study import OK, UNBOUNDED, RunResult, RunSpec
from reference.experiments.summaries import Summary
from reference.fairness import Metrics, evaluate
from reference.fairness.metrics import Tally, measures
from reference.fairness.private_metrics import _risk_difference
from reference.minimiser import _penalised_minimum
from reference.moments import Moments
from reference.noise.profile import (
    SMALLEST_DELTA,
    delta_of_shift,
    epsilon_of_shift,
    mills_ratio,
    normal_cdf,
    normal_pdf,
)
from reference.noise.scales import analytic_gaussian_sigma
from reference.registry import MECHANISMS
from reference.repaired.expected import expected_difference
from reference.sensitivity import Setting, exact_l2_squared
from tests.command_lines import reference
from tests.strategies import random_records

ZERO, ONE = Fraction(0), Fraction(1)
RECORDS = random_records(20, 2, 1)


# --- Numbers ----------------------------------------------------------------------------------------------------


def test_exact_enclosure_is_one_text_and_equals_no_other_kind():
    assert plain(Enclosure(ONE, ONE)) == "1"
    assert plain(Enclosure(ONE, 2 * ONE)) == {"lo": "1", "hi": "2"}
    assert plain(Enclosure(ZERO, ONE)) == {"upper": "1"}
    assert Enclosure(ONE, ONE) != 1


def test_profile_at_its_ends():
    assert delta_of_shift(ZERO, ONE) == Enclosure(ZERO, ZERO)
    assert delta_of_shift(ONE, Fraction(10**6)) == Enclosure(ZERO, SMALLEST_DELTA)
    assert mills_ratio(arb(1)).overlaps(normal_cdf(arb(-1)) / normal_pdf(arb(1)))
    for delta in (ZERO, ONE):
        with pytest.raises(DeltaError):
            epsilon_of_shift(ONE, delta)
        with pytest.raises(DeltaError):
            analytic_gaussian_sigma(ONE, ONE, delta)


def test_fairness_term_of_weight_zero_moves_nothing():
    found = [
        exact_l2_squared(Setting(3, name, "unit_ball", "add_or_remove_one", fairness_weight=ZERO), 2 * ONE, ONE)
        for name in ("absolute", "none")
    ]
    assert found[0].upper == found[1].upper == Fraction(17, 32)


def test_total_delta_below_what_its_parts_compose_to_is_refused():
    with pytest.raises(DeltaError, match="at least"):
        SplitBudget(1, 1, "0.1", "0.1", "0.1")


def test_rounded_epsilon_that_is_not_the_exact_one_is_refused():
    assert PrivacyStatement(ONE, ZERO, "replace_one", ("T3",), rounded=1.0).rounded == 1.0
    with pytest.raises(ReadingError, match=r"1\.0"):
        PrivacyStatement(ONE, ZERO, "replace_one", ("T3",), rounded=2.0)


def test_baseline_has_no_noise_and_states_nothing():
    spec: Any = MECHANISMS["lr"]
    assert not spec.private
    with pytest.raises(ReadingError, match="adds noise"):
        spec.noise(RECORDS.domain, None, spec.readings, 0)
    with pytest.raises(ReadingError, match="adds noise"):
        spec.formula(RECORDS.domain, None, spec.readings)
    assert spec.statement(RECORDS.domain, None, spec.readings, 0) is None


def test_minimum_with_a_group_term_in_the_null_space():
    """One curved direction and one flat one: c.u + u_0^2 + weight |g.u - tau|."""

    def minimum(linear: list[float], covariance: list[float], tau: float = 1.0) -> Any:
        flat, parts = np.array([True, False]), [np.array(one, dtype=float) for one in (linear, covariance)]
        return _penalised_minimum(np.array([1.0, 0.0]), *parts, flat, drop=False, weight=1.0, tau=tau)

    # what is linear in a flat direction has no minimum, but where the term holds it
    assert minimum([0, 1], [1, 0]) is None
    assert minimum([0, 0.5], [0, 1]).tolist() == [0, 1]
    assert minimum([0, 2], [0, 1]) is None
    # at the end of the multipliers, on the side that the term pushes to or not
    assert minimum([0, 1], [0, 1]).tolist() in ([0, 0], [0, 1])
    assert minimum([0, 1], [0, 1], tau=-1.0).tolist() in ([0, 0], [0, -1])
    assert minimum([0, 0], [0, 1]).tolist() == [0, 1]


# --- Columns and records ----------------------------------------------------------------------------------------


def test_column_of_few_values_is_sliced():
    part = Coded(["a", "b"], np.array([0, 1, -1]))[1:]
    assert list(part) == ["b", None]


@pytest.mark.parametrize("names", [range(FEW + 1), map(str, range(FEW + 1))], ids=["numbers", "texts"])
def test_meanings_of_many_values_are_looked_up(names):
    meaning = {name: 10 * place for place, name in enumerate(names)}
    first, *_, last = meaning
    other = -5 if isinstance(first, int) else "other"
    assert codes_of(np.array([last, other, first]), meaning).tolist() == [10 * FEW, -1, 0]


def test_bins_whose_ends_look_alike_are_named_in_full():
    names = Binned(name="a", lower=1.0, upper=2.0, edges=(1.00000001, 1.00000002)).columns
    assert len(set(names)) == 3
    assert names[0] == "a=[1.0, 1.00000001)"


def test_moments_add_up_to_nothing_else_and_floats_are_no_table():
    moments = Moments.of(RECORDS)
    for other in (moments, Tally.of([1.0, 1.0], RECORDS)):
        with pytest.raises(TypeError):
            other + 1
    with pytest.raises(GridError):
        moments.table()


def test_moments_are_read_from_whole_floats_and_no_others():
    exact = Moments.zero(RECORDS.domain, exact=True)
    table = {**exact.table(), "n": np.float64(3.0)}
    assert Moments.from_table(RECORDS.domain, table).n == 3
    for wrong in (3.5, 2.0**54, True, None, [1, 2], "3"):
        with pytest.raises(MomentsTableError):
            Moments.from_table(RECORDS.domain, {**table, "n": wrong})


def test_names_that_stand_for_nothing_are_refused():
    with pytest.raises(ReadingError, match="one of"):
        public_domains("nowhere")
    with pytest.raises(ReadingError, match="one of"):
        Encoding(encoding="two_hot")
    with pytest.raises(KeyError):
        printed.entry(1, "adult", "0.1", "nothing")


# --- Metrics ----------------------------------------------------------------------------------------------------


def test_metrics_without_groups_members_or_weights():
    prediction = np.array([True, False])
    assert set(measures(prediction, np.array([1.0, 0.0]), None)) == {"accuracy", "gain", "positive_rate"}
    for members in (np.array([True, True]), np.array([False, False])):
        assert expected_difference(np.array([1.0, -1.0]), np.array([1.0, 1.0]), members)(0.0) == 0.0
    with pytest.raises(ParameterError, match="unbounded"):
        evaluate(None, RECORDS)


def test_counts_of_parts_add_up_to_those_of_all():
    w, half = [1.0, -1.0], len(RECORDS) // 2
    parts = (RECORDS.take(np.arange(half)), RECORDS.take(np.arange(half, len(RECORDS))))
    whole, counted = Tally.of(w, RECORDS), Tally.over(w, parts)
    for name in ("n", "positives", "predicted", "correct"):
        assert getattr(counted, name) == getattr(whole, name) != getattr(Tally.of(w, parts[1]), name)


def test_difference_of_counts_that_are_exact_is_exact():
    """Positive and negative of either group: 3 of 4 against 1 of 4."""
    found = _risk_difference([Fraction(3), ONE, ONE, Fraction(3)], 0)
    assert (found.lower, found.estimate, found.upper) == (0.5, 0.5, 0.5)


def test_made_up_labels_follow_the_first_attribute_and_not_the_second():
    table = Synthetic("made up", records=400, dimension=2, seed=1).table().columns
    assert np.corrcoef(table["x0"], table["label"])[0, 1] > 0.2
    assert np.corrcoef(table["x1"], table["label"])[0, 1] < -0.2


def test_norm_that_is_declared_to_others_is_the_domains():
    assert peers.largest_norm(RECORDS) == 1.0
    assert peers.largest_norm(random_records(20, 4, 1, "unit_box")) == 2.0


def test_summaries_of_runs_without_a_minimum():
    none = Summary((RunResult(UNBOUNDED, None, None),))
    assert outputs.spread(none, "accuracy") == "–"
    assert outputs.notes(none) == "1 without minimum"
    assert rfm.cell_text({"word": "open", "mean_difference": None}) == "open: no minimum"
    assert rfm.equal_from([{"word": rfm.EQUAL, "epsilon": 1}, {"word": rfm.EQUAL, "epsilon": 2}]) == "1"
    assert x_s.correlation(np.ones(3), np.arange(3)) is None
    assert list(outputs.said_missing({"missing_data": "us", "data": "affairs"})) == [
        "us WAS ASKED FOR AND IS NOT THERE: this is affairs"
    ]


def test_split_that_leaves_one_side_empty_is_refused():
    with pytest.raises(ReadingError, match="both sides"):
        SplitSpec("affairs", test_share=0.001).rows(20)


def test_numbers_of_the_page_are_those_of_its_runs(monkeypatch):
    """Made-up runs: one in three has no minimum, the others one accuracy."""
    metrics = Metrics(0.123456, 0.5, -0.25, 0.5, 0.25, 0.75, 0.5, None)

    def made_up(specs, *_, **__):
        return {
            spec: RunResult(UNBOUNDED, None, None) if place % 3 == 0 else RunResult(OK, None, metrics)
            for place, spec in enumerate(dict.fromkeys(specs))
        }

    monkeypatch.setattr(pages, "run_all", made_up)
    for name in ("SPLITS", "FIRST", "DRAWS"):
        monkeypatch.setattr(pages, name, 3)
    document = pages.measure()
    assert {one["exhibit"] for one in document["exhibits"]} == set(pages.SHOWN_EXHIBITS)
    assert {one["subset_size"] for one in document["subsets"]} == set(pages.SUBSETS)
    assert [one["encoding"] for one in document["logistic_regression"]["adult"]] == list(pages.ENCODINGS)
    for found in document["subsets"]:
        assert (found["runs"], found["unbounded"], found["accuracy"]) == (3, 1, [0.1235, 0.0])
    for data in pages.DATA:
        assert {one["variant"] for one in document["variants"][data]} >= {"default"}
        assert {(one["without_minimum"], one["draws"]) for one in document["without_minimum"][data]} == {(1, 3)}
        assert all(
            0 < one["interval"][0] < 1 / 3 < one["interval"][1] for one in document["without_minimum"][data]
        )
    assert pages._spread([None, None]) == "–"


def test_runs_that_cannot_be_written_leave_nothing(tmp_path, monkeypatch):
    spec = RunSpec(SplitSpec("affairs"), "no_privacy", None, MECHANISMS["no_privacy"].readings)
    finished = [(spec, RunResult(UNBOUNDED, None, None))]
    with RunStore(tmp_path / "runs") as store:
        before = (tmp_path / "runs").read_bytes()
        write = os.write

        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        for broken, said in (
            (lambda handle, content: write(handle, content[:5]), "no space left"),
            (full, "No space"),
        ):
            monkeypatch.setattr(os, "write", broken)
            with pytest.raises(RunStoreError, match=said):
                store.add(finished)
            monkeypatch.undo()
            assert (tmp_path / "runs").read_bytes() == before
            assert spec not in store
        store.add(finished)
        assert spec in store
        store.close()


# --- Texts and endings of commands ------------------------------------------------------------------------------


def release(**fields: Any) -> Any:
    """Return what a text asks of a release."""
    privacy = SimpleNamespace(published=None, exact=SimpleNamespace(verdict="proved"))
    readings = SimpleNamespace(rows_per_person=1, sensitivity="published", noise="hardened")
    return SimpleNamespace(
        **{"status": OK, "w": (1.0,), "privacy": privacy, "readings": readings, "seeded": False, **fields}
    )


def fitted(*releases: Any) -> Any:
    return SimpleNamespace(releases=list(releases), constant_predictors=0)


def test_text_says_why_a_fit_states_nothing():
    several = SimpleNamespace(rows_per_person=2, sensitivity="published")
    stated = SimpleNamespace(published=PrivacyStatement(ONE, ZERO, "replace_one", ("T3",)), exact=None)
    x_s_in_an_attribute = "x_s is part of an attribute"
    some = fitted(release(), release(privacy=stated))
    assert fit_text._published(some) == f"none for some: {x_s_in_an_attribute}"
    assert fit_text._published(fitted(release())) == f"none: {x_s_in_an_attribute}"
    found = fit_text._published(fitted(release(readings=several)))
    assert found == "none: the paper's neighbours differ in one record"


def test_text_notes_false_statements_and_empty_models():
    false = SimpleNamespace(published=None, exact=SimpleNamespace(verdict="refuted"))
    found = fit_text._notes(fitted(release(privacy=false, w=(0.0,))))
    assert found == "PUBLISHED STATEMENT IS FALSE; w is 0 in 1 of 1"
    assert fit_text._notes(fitted(release())) == ""


def test_card_counts_a_persons_records_and_calls_a_promise_weak():
    facts = {
        "seeded": False,
        "delta": ZERO,
        "epsilon": Fraction(4),
        "rows_per_person": 3,
        "likelier_by": 54.6,
        "adjacency": "replace_one",
        "noise": "hardened",
        "budget_warnings": (),
    }
    said = " ".join(card._promised(facts))
    assert "records, up to 3, were used" in said
    assert said.endswith("An epsilon above 3 is a weak promise.")
    # exp(4) is 54.598, and a bound is rounded up
    assert "more than 54.6 times as likely" in said
    factors = {"0.01": "1.011", "1": "2.719", "1000": "1.971e+434"}
    for epsilon, bound in (factors | {"1e-40": "1.001", "3e6": "2.791e+1302883", "1e19": "Infinity"}).items():
        said = " ".join(card._promised({**facts, "epsilon": Fraction(epsilon)}))
        assert f"more than {bound} times as likely" in said
    assert "weak" not in " ".join(card._promised({**facts, "epsilon": ONE, "rows_per_person": 1}))


def test_missing_library_is_told_and_another_module_is_not():
    with pytest.raises(MissingExtraError, match="pyarrow"), needed_for("tables"):
        raise ModuleNotFoundError("no", name="pyarrow.csv")
    with pytest.raises(ModuleNotFoundError, match="no") as found, needed_for("tables"):
        raise ModuleNotFoundError("no", name="elsewhere")
    assert not isinstance(found.value, MissingExtraError)
    core = r"tables needs python-flint: pip install calibrated-\S*\w$"
    with pytest.raises(MissingExtraError, match=core), needed_for("tables"):
        raise ModuleNotFoundError("no", name="flint.types")


def test_start_without_a_library_ends_in_one_line(capsys, tmp_path):
    with pytest.raises(SystemExit) as ended, starting():
        raise ModuleNotFoundError("no", name="numpy.linalg")
    assert ended.value.code == EXIT_USAGE
    assert capsys.readouterr().err.startswith("error: numpy is not installed for this Python: use .venv/")
    assert remedy(tmp_path / "Makefile").startswith("pip install ")
    with pytest.raises(ModuleNotFoundError), starting():
        raise ModuleNotFoundError("no", name="reference.nowhere")
    with pytest.raises(SystemExit) as ended, starting():
        raise KeyboardInterrupt
    assert ended.value.code == EXIT_UNDECIDED


def test_full_disk_and_hidden_interruption_are_one_line(capsys, monkeypatch):
    monkeypatch.setattr(endings, "close_quietly", lambda: None)
    assert endings.failed(OSError(errno.ENOSPC, "No space left on device")) == EXIT_USAGE
    assert "cannot be written (No space left on device)" in capsys.readouterr().err
    hidden = RuntimeError("in a worker")
    hidden.__cause__ = KeyboardInterrupt()
    assert endings.failed(hidden) == EXIT_UNDECIDED
    assert capsys.readouterr().err.startswith("error: interrupted")


def test_entry_of_few_values_that_is_no_number_is_named():
    with pytest.raises(NotANumberError, match="not a number"):
        _numbers_of_distinct("a", Coded(["1", "x"], np.array([0, 1])))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("experiments fig1 --data affairs --from x", "left out: they are of"),
        ("experiments fig1 --data compas", "unless for the frontier"),
        ("experiments question_pages", "the folder into which"),
        ("experiments page", "needs a checkout"),
        ("fit --mechanism repaired --data nowhere", "nowhere"),
        ("fit --mechanism repaired --data affairs --splits 0", "at least 1"),
        ("fit --mechanism repaired --data affairs --test-share 1", "in [0, 1)"),
        ("fit --mechanism functional --data synthetic --epsilon 1e9", "--allow-large-epsilon"),
    ],
)
def test_line_is_refused_with_its_reason(line, said, capsys, monkeypatch, tmp_path):
    if "checkout" in said:
        monkeypatch.setattr(pages, "PAGE", tmp_path / "nowhere.md")
    assert reference(*line.split()) == EXIT_USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said in printed.err
