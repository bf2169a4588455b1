"""Fresh draws confirm a certificate, or find that it does not hold."""

from __future__ import annotations

import json
import math
import re
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import binom

from audit.auditor.distinguish import Terms, estimate
from audit.auditor.draws import CHUNK_VALUES
from audit.auditor.events import Event, Quantiser
from audit.auditor.events.scores import CoordinateScore
from audit.auditor.subject import SubjectError
from audit.bounds import Counts, epsilon_lower_bound
from audit.epsilon_estimate import main as audit_main
from audit.evidence.certificate import Certificate, StoredCurve, StoredPoint
from audit.evidence.fresh import FreshResult, fresh, fresh_checks, growing, too_fine
from audit.evidence.homogeneity import homogeneity
from audit.evidence.support import CHANCE, QUICK_TIMES, TIMES, bound_check, most_shown
from audit.evidence.verify import verify
from audit.gate.evidence.verifying import run
from audit.gate.requests import changed
from audit.gate.requests import verify_command as main
from audit.subjects.descriptions import CatalogueDescription, ImportDescription
from reference.common.documents import plain
from reference.common.numbers import text_below

pytestmark = pytest.mark.usefixtures("ball_arithmetic_once")


def test_fresh_draws_confirm_the_refutation_of_half_the_noise(right, capsys, tmp_path):
    code, result = run(capsys, tmp_path, right, "--fresh", "--seed", "1")
    assert (code, result["outcome"]) == (0, "holds")
    assert result["fresh"]["refuted"]
    # so many if the subject is quick
    assert result["fresh"]["counts"]["likely_draws"] == QUICK_TIMES * right.counts.likely_draws


@pytest.mark.parametrize(
    "changes",
    [{"likely_input": "both"}, {"threshold": None}, {"score": "coordinate", "coordinate": 9}, {"score": "omen"}],
)
def test_events_that_do_not_fit_are_bad_input_to_fresh_draws(right, capsys, tmp_path, changes):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(right.to_json() | {"event": plain(right.event) | changes}), encoding="utf-8")
    assert main([str(path), "--fresh", "--seed", "1"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: certificate: ")
    assert "at event" in error


def test_fresh_draws_are_too_few_to_confirm_is_undecided(right, capsys, tmp_path):
    code, result = run(capsys, tmp_path, right, "--fresh", "--seed", "1", "--draws", "20")
    assert (code, result["outcome"]) == (3, "undecided")


def test_fresh_draws_come_in_chunks_of_any_size(right, monkeypatch):
    monkeypatch.setattr("audit.auditor.draws.CHUNK_VALUES", 300)
    result = fresh(right, 1_000, np.random.default_rng(0))
    assert result.counts.likely_draws == 1_000
    assert 0 < result.counts.unlikely < result.counts.likely


TRUE_LOSS = 2.0
"""Of half the noise at 1: P(v >= 1) is 1/2 and exp(-2) / 2."""


def certificate_of_counts(right: Certificate, counts: Counts) -> Certificate:
    """Return a certificate with the bound that these counts of the event v >= 1 give."""
    event = {"score": "coordinate", "coordinate": 0, "relation": ">=", "threshold": 1.0, "likely_input": "right"}
    bound = epsilon_lower_bound(counts, 0.0, right.significance)
    quantised = {**event, "quantised_to": [2.0**-17]}
    return changed(right, event=quantised, counts=counts, epsilon_lower_bound=bound)


@pytest.mark.parametrize("counts", [Counts(108, 150, 0, 150), Counts(565, 1_050, 31, 1_050)])
def test_bound_of_few_chosen_draws_above_the_truth_does_not_hold(right, counts):
    """Counts that fresh ones do not contradict gave 3.5, and 2.4, where the loss is 2: the certificate held."""
    forged = certificate_of_counts(right, counts)
    assert forged.epsilon_lower_bound > TRUE_LOSS + 0.1
    for seed in range(3):
        found = fresh_checks(forged, fresh(forged, None, np.random.default_rng(seed)))
        (bound,) = [check for check in found if check.name == "stored bound"]
        assert bound.holds is False
        assert text_below(forged.epsilon_lower_bound, 6) in bound.detail
    # as many as certified do not tell, and say so
    (few,) = [one for one in fresh_checks(forged, fresh(forged, 150, np.random.default_rng(0))) if not one.holds]
    assert (few.name, few.holds) == ("stored bound", None)
    assert "too few to tell; --draws" in few.detail
    # the null control: counts near their means
    honest = certificate_of_counts(right, Counts(525, 1_050, 71, 1_050))
    assert all(check.holds for check in fresh_checks(honest, fresh(honest, None, np.random.default_rng(0))))


def test_bound_that_fresh_draws_do_not_reach_stands_with_both_numbers(right):
    document = changed(right, epsilon_lower_bound=TRUE_LOSS)
    counts = Counts(50_000, 100_000, 6_767, 100_000)
    check = bound_check(document, counts, epsilon_lower_bound(counts, 0.0, 0.05), most_shown(counts, 0.0))
    assert check.holds
    assert re.fullmatch(
        r"stored 2\.000000; 100,000 fresh draws on each input alone reach 1\.97\d*, which supports less "
        r"but does not contradict it: the event shows at most 2\.0\d*",
        check.detail,
    )
    # an event that the other input may never have shows any loss
    never = bound_check(document, Counts(9, 100_000, 0, 100_000), 0.9, most_shown(Counts(9, 10, 0, 10), 0.0))
    assert never.holds
    assert never.detail.endswith("contradict it")


@pytest.mark.parametrize("per_call", [1, 4])
def test_limit_on_an_event_errs_seldom_and_finds_inflated_bounds(per_call):
    """Power: of 100,000 draws each, nine of ten contradict a bound of half the noise above the truth by 0.1."""
    rng, runs, draws = np.random.default_rng(1), 200, 100_000
    probabilities = 0.5, 0.5 * math.exp(-TRUE_LOSS)

    def limit(likely: int, unlikely: int) -> float:
        # all outputs of a call are equal
        whole = [np.bincount([0, per_call], [draws // per_call - some, some]) for some in (likely, unlikely)]
        alone = Counts(likely, draws, unlikely, draws)
        return most_shown(alone if per_call == 1 else Counts.of_calls(*(one.astype(int) for one in whole)), 0.0)

    found = np.array([limit(*pair) for pair in rng.binomial(draws // per_call, probabilities, (runs, 2)).tolist()])
    assert (found < TRUE_LOSS).sum() <= binom.ppf(1 - 1e-6, runs, CHANCE)
    assert (found < TRUE_LOSS + (0.1 if per_call == 1 else 0.25)).mean() > 0.9
    # the broken control: the shares themselves, without a margin
    made = rng.binomial(draws, probabilities, size=(runs, 2))
    assert (np.log(made[:, 0] / made[:, 1]) < TRUE_LOSS).sum() > binom.ppf(1 - 1e-6, runs, CHANCE)


@pytest.mark.parametrize(("point", "holds"), [(1.9, True), (2.3, False)])
def test_points_of_a_curve_are_compared_with_what_their_events_show(right, point, holds):
    """A curve has the draws of its certificate, which a forger may choose."""
    counts = Counts(525, 1_050, 71, 1_050)
    document = certificate_of_counts(right, counts)
    stored = StoredPoint(
        delta=0.0, epsilon_lower_bound=point, relation=">=", threshold=1.0, likely_input="right", counts=counts
    )
    curve = StoredCurve(significance=document.significance, bound="joint", points=(stored,))
    document = changed(document, curve=curve)
    found = fresh_checks(document, fresh(document, None, np.random.default_rng(0)))
    assert [check.name for check in found if not check.holds] == ([] if holds else ["stored curve"])


def test_further_draws_of_a_slow_subject_end_by_the_clock(right, monkeypatch):
    monkeypatch.setattr("audit.evidence.support.QUICK", 0.0)
    counts = fresh(right, None, np.random.default_rng(0)).counts
    fewest = TIMES * right.counts.likely_draws
    assert fewest <= counts.likely_draws <= fewest * 17 / 16
    # the null control: all that are asked for are made
    assert fresh(right, 5_000, np.random.default_rng(0)).counts.likely_draws == 5_000


class Wide:
    """Laplace noise on 600 coordinates, one of which moves by 3."""

    largest: ClassVar[list[int]] = []

    def inputs(self):
        return 0.0, 3.0

    def sample(self, data, count, rng):
        self.largest.append(count)
        outputs = rng.laplace(size=(count, 600))
        outputs[:, 417] += data
        return outputs


def test_event_of_a_wide_output_is_drawn_afresh_in_chunks(tmp_path):
    """Its event is of a reduced output, which the certificate describes."""
    path = tmp_path / "wide.json"
    words = [f"{__name__}:Wide", "--epsilon", "1", "--draws", "4000", "--events", "coordinates", "--seed", "1"]
    assert audit_main([*words, "--out", str(path)]) == 1
    certificate = Certificate.read(path)
    assert certificate.event.reduced_to is not None
    Wide.largest.clear()
    result = fresh(certificate, 2_000, np.random.default_rng(0))
    assert result.refuted
    assert result.homogeneity > 1e-3
    assert max(Wide.largest) <= CHUNK_VALUES // 600
    # another coordinate kept: the event is another one
    reduction = plain(certificate.event.reduced_to)
    place = reduction["coordinates"].index(417)
    reduction["coordinates"] = [*reduction["coordinates"]]
    reduction["coordinates"][place] = 418 if 418 not in reduction["coordinates"] else 599
    other = changed(certificate, event=plain(certificate.event) | {"reduced_to": reduction})
    assert fresh(other, 2_000, np.random.default_rng(0)).homogeneity < 1e-6


def test_bits_are_no_event_of_the_ideal_mechanism(capsys, tmp_path):
    """A grid without steps would give the bits of numpy's noise out as a loss of the ideal mechanism."""
    path = tmp_path / "bits.json"
    words = ["laplace", "--draws", "20000", "--seed", "1", "--object", "implementation", "--out", str(path)]
    assert audit_main(words) == 1
    capsys.readouterr()
    honest = Certificate.read(path)
    assert run(capsys, tmp_path, honest, "--fresh", "--seed", "1")[0] == 0
    forged = changed(honest, judged="ideal", event=plain(honest.event) | {"quantised_to": [0.0]})
    assert [check.name for check in verify(forged) if not check.holds] == ["judged"]
    # a score that may look at quantised outputs: fresh draws show that the grid is none
    for steps, holds in (([0.0], False), ([2.0**-40], False), ([2.0**-17], True)):
        event = {
            "score": "coordinate",
            "coordinate": 0,
            "relation": ">=",
            "threshold": 1.0,
            "likely_input": "right",
        }
        result = fresh(changed(forged, event={**event, "quantised_to": steps}), 1_000, np.random.default_rng(1))
        grid = {check.name: check.holds for check in fresh_checks(forged, result)}["grid"]
        assert grid is holds


@pytest.mark.parametrize("law", ["standard_cauchy", "normal", "laplace", "standard_exponential"])
@pytest.mark.parametrize("size", [300, 100_000])
def test_grids_of_audits_are_not_called_too_fine(law, size):
    """In 200 grids each, also where the mean distance from the median does not settle."""
    rng = np.random.default_rng([size, 3])
    for _ in range(200 if size < 1_000 else 20):
        quantiser = Quantiser.of(*(getattr(rng, law)(size=(size, 1)) for _ in range(2)))
        left, right = (getattr(rng, law)(size=(1_000, 1)) for _ in range(2))
        assert (
            too_fine(Event(CoordinateScore(0), 0.0, True, "left", quantiser), left, right, 5 * size, 3 * size)
            == ()
        )
        finer = Quantiser(quantiser.steps / 2**12)
        if law != "standard_cauchy":
            assert too_fine(
                Event(CoordinateScore(0), 0.0, True, "left", finer), left, right, 5 * size, 3 * size
            ) == (0,)


class Rare:
    """Laplace noise now and then, else 0."""

    def __init__(self, share):
        self.share = share

    def inputs(self):
        return 0.0, 1.0

    def sample(self, data, count, rng):
        return np.where(rng.random((count, 1)) < self.share, rng.laplace(data, size=(count, 1)), 0.0)


@pytest.mark.parametrize("share", [0.005, 0.01, 0.1])
def test_a_grid_from_few_draws_of_rare_outputs_is_not_called_too_fine(share):
    """If a hundred outputs on either input were all 0, the audit left them as they are."""
    rng, subject = np.random.default_rng(0), Rare(share)
    outputs = [subject.sample(data, CHUNK_VALUES, rng) for data in subject.inputs()]
    left_alone = 0
    for seed in range(40):
        found = estimate(subject, Terms(draws=1_000, families=("coordinates",)), np.random.default_rng(seed))
        sizes = found.counts.likely_draws, found.draws - 2 * found.counts.likely_draws
        assert too_fine(found.event, *outputs, *sizes) == ()
        left_alone += not found.event.quantiser.steps[0]
    assert (left_alone > 0) is (share < 0.1)
    # a forged grid: such an audit saw another number, or it had none to see, which many draws rule out
    for step, certified in ((2.0**-40, 350), (0.0, 350 if share == 0.1 else 20_000)):
        forged = Event(CoordinateScore(0), 0.0, True, "left", Quantiser(np.array([step])))
        assert too_fine(forged, *outputs, certified, certified) == (0,)


def test_grids_of_the_largest_floats_are_not_called_too_fine():
    """The sum of two of them is infinite, and so is their median as numpy has it."""
    rng = np.random.default_rng(0)
    left, right = (rng.choice([-1.7e308, 1.7e308], size=(1_000, 1), p=[0.1, 0.9]) for _ in range(2))
    quantiser = Quantiser.of(left, right)
    for steps, found in ((quantiser.steps, ()), (quantiser.steps / 2**12, (0,))):
        event = Event(CoordinateScore(0), 0.0, True, "left", Quantiser(steps))
        assert too_fine(event, left, right, 5_000, 3_000) == found


@pytest.mark.parametrize(
    ("law", "step", "holds"),
    [
        ("laplace", -(2.0**-19), None),
        # null controls: the steps that an audit takes, steps no finer, and outputs whose steps must grow
        ("laplace", 2.0**-16, True),
        ("laplace", -(2.0**-16), True),
        ("standard_cauchy", -(2.0**-34), True),
    ],
)
def test_steps_that_grow_where_an_audit_has_even_ones_decide_nothing(right, law, step, holds):
    """Such a grid, not too fine anywhere by itself, shows 2^-20 of the scale: it was accepted."""
    rng = np.random.default_rng(1)
    with np.errstate(over="ignore"):
        drawn = [getattr(rng, law)(size=(100_000, 1)) for _ in range(2)]
        if law == "standard_cauchy":
            drawn = [np.exp(20 * side) for side in drawn]
    event = Event(CoordinateScore(0), 0.0, True, "left", Quantiser(np.array([step])))
    assert too_fine(event, *drawn, 70_000, 60_000) == ()
    counts = Counts(1_000, 70_000, 0, 70_000)
    found = FreshResult(counts, 3.0, True, True, 1.0, growing=growing(event, *drawn))
    (grid,) = [check for check in fresh_checks(right, found) if check.name == "grid"]
    assert grid.holds is holds


@pytest.mark.parametrize(
    ("verdict", "refuted", "clearly", "holds"),
    [
        ("refuted", True, True, True),
        ("refuted", True, False, True),
        ("refuted", False, False, None),
        ("not refuted", False, False, True),
        # the luck that a right certificate has as often as its significance says
        ("not refuted", True, False, None),
        ("not refuted", True, True, False),
    ],
)
def test_fresh_draws_contradict_a_verdict_only_clearly(right, verdict, refuted, clearly, holds):
    found = FreshResult(Counts(400, 1_000, 100, 1_000), 1.1, refuted, clearly, 1.0)
    (check,) = [one for one in fresh_checks(changed(right, verdict=verdict), found) if one.name == "fresh verdict"]
    assert check.holds is holds


@pytest.mark.parametrize(
    ("subject", "seeds", "clearly"), [("laplace", 20, False), ("laplace_half_noise", 3, True)]
)
def test_fresh_draws_contradict_clearly_where_twice_the_claim_is_lost(right, subject, seeds, clearly):
    described = CatalogueDescription(name=subject, parameters={"epsilon": 1.0})
    stored = changed(right, request={"subject": described})
    found = [fresh(stored, 1_000, np.random.default_rng(seed)).clearly for seed in range(seeds)]
    assert found == [clearly] * seeds


@pytest.mark.parametrize(("finer", "holds"), [(1, True), (2**9, False)])
@pytest.mark.parametrize("at_once", [False, True])
def test_no_number_of_draws_explains_a_grid_of_too_few_outputs(finer, holds, at_once):
    """A certificate that stated no draws but the certifying ones was accepted with a grid 2^9 times as fine."""
    rng = np.random.default_rng(2)
    drawn = rng.laplace(size=(2, 20_000, 1))
    grid = Quantiser(Quantiser.of(*drawn[:, :100]).steps / finer)
    event = Event(CoordinateScore(0), 0.0, True, "left", grid)
    for certified, selected in ((350, 2), (1_000, 2), (2, 2)):
        assert (too_fine(event, *drawn, certified, selected, at_once=at_once) == ()) is holds


def test_a_false_number_of_draws_allows_no_finer_grid():
    """Of many draws at once few certify; then their grid was made from many, and rare far outputs show in it."""
    rng, subject = np.random.default_rng(0), Rare(0.05)
    outputs = [subject.sample(data, CHUNK_VALUES, rng) for data in subject.inputs()]
    forged = Event(CoordinateScore(0), 0.0, True, "left", Quantiser(np.array([2.0**-57])))
    for certified, draws in ((350, 10**5), (350, 10**9), (100, 10**9)):
        selected = draws - 2 * certified
        near = [np.where(side == 0, 1e-16 * rng.integers(2, size=side.shape), side) for side in outputs]
        assert too_fine(forged, *near, certified, selected, at_once=True) == (0,)
        # the null control: so few of several stages may have seen none
        assert too_fine(forged, *near, certified, selected) == ()
    # honest ones: the share that chooses is the least from which the grid was made
    for seed in range(20):
        found = estimate(subject, Terms(draws=1_000, families=("coordinates",)), np.random.default_rng(seed))
        sizes = found.counts.likely_draws, found.draws - 2 * found.counts.likely_draws
        assert too_fine(found.event, *outputs, *sizes, at_once=True) == ()


class Listed(Wide):
    """Returns a list where an array is due."""

    def sample(self, data, count, rng):
        return [[0.0]] * count


def test_fresh_draws_that_are_no_arrays_are_bad_input(right):
    subject = ImportDescription(path=f"{__name__}:Listed")
    with pytest.raises(SubjectError, match="numpy array"):
        fresh(changed(right, subject=subject), 100, np.random.default_rng(0))


def test_a_file_that_is_not_there_and_fresh_draws_of_none_are_bad_input(right, capsys, tmp_path):
    assert main([str(tmp_path / "absent.json")]) == 2
    assert capsys.readouterr().err == (
        f"error: certificate: cannot be read: No such file or directory (file {tmp_path / 'absent.json'})\n"
    )
    (tmp_path / "none.json").write_text("[]", encoding="utf-8")
    assert main([str(tmp_path / "none.json")]) == 2
    right.write(tmp_path / "one.json")
    capsys.readouterr()
    for draws in ("0", "-5"):
        assert main([str(tmp_path / "one.json"), "--fresh", "--draws", draws]) == 2
        assert "draws" in capsys.readouterr().err


def test_homogeneity_errs_at_most_as_often_as_stated():
    """Exact over all counts of ten draws a side; a sixteenth of the p-value fires."""
    draws, law = 10, binom.pmf(np.arange(11), 10, 0.4)
    values = np.array(
        [[homogeneity(Counts(a, 10, 0, 10), Counts(b, 10, 0, 10)) for b in range(11)] for a in range(11)]
    )
    assert law @ (values <= 0.05) @ law <= 0.05
    assert law @ (values / 16 <= 0.05) @ law > 0.05
    assert homogeneity(Counts(0, draws, 0, draws), Counts(draws, draws, 0, draws)) < 1e-4
