"""One call: bounds from arrays, assertions on functions, and the pytest plugin, each with right and wrong ones."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from audit import assert_private, epsilon_lower_bound
from audit.auditor.events import Event
from audit.auditor.events.scores import CoordinateScore
from audit.auditor.subject import SubjectError
from audit.auditor.tally import CertifiedEvent
from audit.bounds import Counts
from audit.bounds import epsilon_lower_bound as epsilon_lower_bound_of
from audit.evidence import arrays
from audit.evidence.one_call import audited
from audit.evidence.words import barely_refuted
from audit.subjects.adjacency import _NEIGHBOURS, INCOMPARABLE, OF_FORM, UNCHECKED, require_neighbours
from reference.common.errors import ReadingError

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "one-call.md"


def noisy_sum(records, rng):
    return float(np.sum(records)) + rng.laplace()


class ManyAtOnce:
    """The same, many outputs at a time."""

    def sample(self, data, count, rng):
        return float(np.sum(data)) + rng.laplace(size=(count, 1))


@pytest.mark.parametrize("width", [1, 3])
def test_long_arrays_choose_on_more_rows_and_certify_on_others(monkeypatch, width):
    """From a million draws on an audit that draws may score further ones; of arrays these would certify, too."""
    rng = np.random.default_rng(0)
    left, right = (rng.laplace(place, size=(600_000, width)) for place in (0, 1 / width))
    used = []
    given = arrays._Given.chunks
    monkeypatch.setattr(arrays._Given, "chunks", lambda self, n, rows: used.append(rows) or given(self, n, rows))
    found = epsilon_lower_bound(left, right)
    assert 0.93 < found < 1
    assert found.counts.likely_draws <= 600_000 - sum(used)
    # a clear choice ends at its first look
    assert len(used) == (3 if width > 1 else 2)


def test_refutation_that_a_smaller_significance_would_not_give_has_advice():
    event = Event(CoordinateScore(0), 1.0, True, "left")

    def said(likely: int, significance: float, *, seeded: bool = True) -> str | None:
        counts = Counts(likely, 10_000, 1_000, 10_000)
        found = CertifiedEvent(event, counts, 1.0, counts, "joint")
        return barely_refuted(found, math.log(2), 0.0, significance, seeded=seeded)

    for likely in (2_150, 2_400):
        assert epsilon_lower_bound_of(Counts(likely, 10_000, 1_000, 10_000), 0.0, 0.05) > math.log(2)
    barely = said(2_150, 0.05)
    assert barely is not None
    assert barely.startswith("barely refuted: at significance 0.001 the claim would stand")
    assert "in up to 0.05 of all runs; repeat with another seed and more draws" in barely
    unseeded = said(2_150, 0.05, seeded=False)
    assert unseeded is not None
    assert unseeded.endswith("of all runs; repeat it with more draws")
    # the null controls: a clear refutation, and a small significance
    assert said(2_400, 0.05) is None
    assert said(2_150, 1e-4) is None


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_bound_from_arrays_is_near_and_below_the_truth(delta):
    rng = np.random.default_rng(1)
    found = epsilon_lower_bound(rng.laplace(0, 1, 60_000), rng.laplace(1, 1, 40_000), delta=delta)
    assert 0.9 < found < 1
    assert found.counts.likely_draws + found.counts.unlikely_draws < 100_000
    assert "output[0]" in found.event


def test_bound_from_equal_laws_is_zero_or_wrong_as_seldom_as_stated():
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng([3, seed])
        left, right = rng.normal(size=(2, 600))
        # sorted scores are shuffled before they are split
        wrong += epsilon_lower_bound(np.sort(left), right, seed=seed) > 0
    # above 9 of 60 has probability below 0.1 % at 5 %
    assert wrong <= 9


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (np.zeros(400), np.zeros(900), "at least 500"),
        (np.zeros((900, 2)), np.zeros(900), "left has 2 columns, right has 1"),
        (np.zeros((600, 600)), np.zeros((600, 600)), "at most 512"),
        (["a"] * 900, np.zeros(900), "real numbers"),
    ],
)
def test_what_is_no_sample_is_refused(left, right, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        epsilon_lower_bound(left, right)


@pytest.mark.parametrize("levels", [{"significance": 0.0}, {"significance": 1.0}, {"delta": -0.1}, {"delta": 1.0}])
def test_levels_out_of_range_are_refused_before_anything_is_learned(levels):
    (name,) = levels
    with pytest.raises(ValueError, match=f"{name} must be in"):
        epsilon_lower_bound(np.zeros(1_000), np.ones(1_000), **levels)


@pytest.mark.parametrize("mechanism", [noisy_sum, ManyAtOnce()])
def test_assertion_names_the_event_for_a_wrong_mechanism_only(mechanism):
    how = {"epsilon": 1, "adjacency": "replace_one", "draws": 20_000}
    found = assert_private(mechanism, [0.0, 1.0], [0.0, 0.0], **how)
    assert (found.verdict, found.notes) == ("not refuted", ())
    with pytest.raises(AssertionError, match=r"refuted: epsilon is at least 1\.\d+ .*\n  event: output\[0\]"):
        assert_private(mechanism, [0.0, 2.0], [0.0, 0.0], **how)


def test_undecided_is_no_success_unless_that_is_allowed():
    how = {"epsilon": 6, "draws": 1_000}
    with pytest.raises(AssertionError, match="undecided"):
        assert_private(ManyAtOnce(), [0.0], [1.0], **how)
    found = assert_private(ManyAtOnce(), [0.0], [1.0], allow_undecided=True, **how)
    assert found.verdict == "undecided"
    (note,) = found.notes
    assert note.startswith(f'{UNCHECKED}: pass adjacency="replace_one" or "add_or_remove_one"')


@pytest.mark.parametrize("adjacency", ["replace_one", None])
def test_attributes_of_a_finding_have_the_names_of_its_json(adjacency):
    found = assert_private(ManyAtOnce(), [0.0], [1.0], epsilon=1, draws=20_000, adjacency=adjacency)
    told = found.to_json()
    assert told == json.loads(json.dumps(told))
    as_attributes = {name: getattr(found, name) for name in told}
    assert as_attributes | {"claimed_delta": "0", "notes": list(found.notes)} == told
    assert found.neighbours_checked is (adjacency is not None)


def typed(data, rng):
    """Give one input away by the type alone: the value is a right one."""
    count = int(data[0]) + round(rng.laplace())
    return count if data[0] else float(count)


def clipped(data, rng):
    """Return a whole number or a float, as the value itself says."""
    return max(0, data[0] + rng.laplace())


def test_type_of_an_output_is_compared():
    how = {"epsilon": 1, "draws": 2_000, "adjacency": "replace_one", "allow_undecided": True}
    with pytest.raises(SubjectError, match="tells the inputs apart: float on left, int on right"):
        assert_private(typed, [0.0], [1.0], **how)
    found = assert_private(clipped, [0.0], [1.0], **how)
    assert found.notes == ("outputs have several types (float, int): only their values were compared",)
    assert assert_private(noisy_sum, [0.0], [1.0], **how).notes == ()


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (lambda row: row.reshape(2, 3), lambda row: row.reshape(3, 2), r"in shape \(2, 3\) on left"),
        (
            lambda row: row.reshape(2, 3).tolist(),
            lambda row: row.reshape(3, 2).tolist(),
            "list of 2 times list of",
        ),
        (lambda row: [*row, 3], lambda row: [*row, 3.0], "list of float and int on left, list of float on right"),
        (lambda row: (*row, 3), lambda row: (*row, 3), None),
        (lambda row: row.reshape(2, 3), lambda row: row.reshape(2, 3), None),
    ],
)
def test_form_of_an_output_is_compared(left, right, said):
    """What stands in an output, in which shape, may give an input away as its type does."""

    def formed(data, rng):
        return (right if data[0] else left)(rng.laplace(size=6))

    how = {"epsilon": 1, "draws": 2_000, "adjacency": "replace_one", "allow_undecided": True}
    if said is None:
        assert assert_private(formed, [0.0], [1.0], **how).notes == ()
        return
    with pytest.raises(SubjectError, match=f"tells the inputs apart: .*{said}"):
        assert_private(formed, [0.0], [1.0], **how)


@pytest.mark.parametrize("output", [{"sum": 1.5}, 1 + 2j, [1j, 0j]])
def test_output_of_several_numbers_that_is_no_array_is_refused_with_advice(output):
    with pytest.raises(SubjectError, match=r"; return the values as one array of real numbers$"):
        assert_private(lambda *_: output, [0], [1], epsilon=1, draws=2_000)
    # another one that is no number
    with pytest.raises(SubjectError, match="; number the outcomes"):
        assert_private(lambda *_: "yes", [0], [1], epsilon=1, draws=2_000)


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ([2**60, 2**60 + 1], "64-bit float"),
        (np.array([2**60, 2**60 + 1], dtype=np.uint64), "64-bit float"),
        ([np.ma.array([1.0], mask=[mark]) for mark in (False, True)], "mask would be lost"),
        ([np.longdouble(1), np.longdouble(1) + np.longdouble(2) ** -60], "bits would be lost"),
    ],
)
def test_output_that_loses_what_tells_inputs_apart_is_refused(outputs, said):
    with pytest.raises(SubjectError, match=said):
        assert_private(lambda data, _: outputs[data[0]], [0], [1], epsilon=1, draws=2_000)
    # the same outputs as arrays
    with pytest.raises(SubjectError, match=said):
        epsilon_lower_bound(
            *(np.ma.stack([one] * 600) if "mask" in said else np.array([one] * 600) for one in outputs)
        )


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ([[2**53, 0.5], [2**53 + 1, 0.5]], "64-bit float"),
        ([(-1, 2**63), (-1, 2**63 + 1)], "64-bit float"),
        ([[np.ma.array([1.0], mask=[mark]), [2.0]] for mark in (False, True)], "mask would be lost"),
    ],
)
def test_part_that_numpy_changes_beside_others_is_refused(outputs, said):
    with pytest.raises(SubjectError, match=said):
        assert_private(lambda data, _: outputs[data[0]], [0], [1], epsilon=1, draws=2_000)


@pytest.mark.parametrize(("label", "said"), [("b", None), ("c", "labelled a, c on left, Series labelled a, b")])
def test_labels_of_an_output_are_compared(label, said):
    pandas = pytest.importorskip("pandas")

    def labelled(data, rng):
        return pandas.Series(rng.laplace(size=2), index=["a", "b" if data[0] else label])

    how = {"epsilon": 1, "draws": 2_000, "adjacency": "replace_one", "allow_undecided": True}
    if said is None:
        assert assert_private(labelled, [0.0], [1.0], **how).notes == ()
        return
    with pytest.raises(SubjectError, match=said):
        assert_private(labelled, [0.0], [1.0], **how)


def test_output_that_is_no_number_is_named_in_short():
    with pytest.raises(SubjectError, match=r"not 1000.* \(401 characters\)") as refused:
        assert_private(lambda *_: 10**400, [0], [1], epsilon=1)
    assert len(str(refused.value)) < 400


class Codes:
    """Right randomised response, but for some codes among so many that hardly one occurs twice."""

    def sample(self, data, count, rng):
        kept = rng.random((count, 1)) < math.e / (1 + math.e)
        answers = np.where(kept, data[0], 1 - data[0])
        return np.where(rng.random((count, 1)) < 0.02, rng.integers(2, 10**8, (count, 1)), answers)


def test_undecided_says_why():
    with pytest.raises(
        AssertionError, match=r"undecided.*\n  0\.\d+ of the outputs have values too rare to be learned"
    ):
        assert_private(Codes(), [0], [1], epsilon=1, adjacency="replace_one")
    with pytest.raises(AssertionError, match=r"undecided.*\n  .* could not .* occurs in every output\n"):
        assert_private(lambda *_: 0.0, [0], [1], epsilon=1, draws=2_000)
    with pytest.raises(AssertionError, match=r"\n  .* only for a loss of .* or more; about [1-9][0-9,]*0 "):
        assert_private(ManyAtOnce(), [0.0], [0.001], epsilon=0.05, draws=2_000)
    # what the command says of such an audit
    with pytest.raises(AssertionError, match=r"could not have refuted a claim of 8; about 256,000 draws would"):
        assert_private(lambda data, rng: data[0] + rng.laplace(scale=1 / 8), [0.0], [1.0], epsilon=8, draws=1_000)


KEPT: dict[float, float] = {}


def sticky(data, _):
    """Return a private release that is repeated whenever somebody asks again."""
    if data[0] not in KEPT:
        KEPT[data[0]] = data[0] + float(np.random.default_rng().laplace())
    return KEPT[data[0]]


def test_noise_kept_before_the_audit_is_not_said_to_be_none():
    how = {"epsilon": 1, "adjacency": "replace_one", "draws": 2_000}
    KEPT.clear()
    # noise far out in a tail looks as if the other processes had another law
    with pytest.raises(SubjectError, match=r"drawn once and kept|another law there; draw all randomness again"):
        assert_private(sticky, [0.0], [1.0], **how)
    # now every copy of this process has it, too
    assert len(KEPT) == 2
    with pytest.raises(AssertionError, match="unless its noise was drawn and kept before this audit"):
        assert_private(sticky, [0.0], [1.0], **how)


def test_whole_numbers_that_floats_hold_are_audited():
    assert epsilon_lower_bound(np.full(600, 2**60), np.full(600, 2**60 + 2**20)) > 3


LONG = [0.0] * 2_000


def clipped_in_place(data, rng):
    np.clip(data, 0.0, 1.0, out=data)
    return noisy_sum(data, rng)


def test_mechanism_that_changes_its_input_is_named():
    with pytest.raises(SubjectError, match="changes its input"):
        assert_private(clipped_in_place, np.array([0.0, 3.0]), np.zeros(2), epsilon=1, draws=2_000)
    found = assert_private(clipped_in_place, np.array([0.0, 1.0]), np.zeros(2), epsilon=1, draws=2_000)
    assert found.verdict == "not refuted"


@pytest.mark.parametrize(
    "how", [{"draws": 2e4}, {"draws": 999}, {"seed": -1}, {"workers": 0}, {"significance": 2}], ids=str
)
def test_option_that_is_no_size_is_named(how):
    (name,) = how
    with pytest.raises(ReadingError, match=f"{name} must be"):
        assert_private(noisy_sum, [0.0], [1.0], epsilon=1, **how)


def test_claim_beyond_all_floats_is_refused_before_the_first_draw():
    with pytest.raises(ReadingError, match="epsilon must be at most 700 to be audited, not '800'"):
        assert_private(lambda _data, _rng: pytest.fail("drawn"), [0.0], [1.0], epsilon=800)


RECORDS = np.array([[0.0, 1.0], [2.0, 3.0]])


class NoiseForFourRecords:
    """Refreshed at every fourth call of the function only."""

    def __init__(self, scale):
        self.scale, self.calls, self.noise = scale, 0, 0.0

    def __call__(self, data, rng):
        if self.calls % 4 == 0:
            self.noise = rng.laplace(scale=self.scale)
        self.calls += 1
        return data + self.noise


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, "not refuted"), (0.5, "refuted")])
def test_noise_that_calls_share_is_named_and_audited_by_calls(scale, verdict):
    with pytest.raises(SubjectError, match=r"used again within a call.*outputs_per_call"):
        assert_private(NoiseForFourRecords(scale), 0.0, 1.0, epsilon=1, draws=80_000)
    found = audited(NoiseForFourRecords(scale), (0.0, 1.0), (1, 0), draws=80_000, outputs_per_call=8)
    assert found.verdict == verdict
    assert found.to_json()["bound"] == "cluster_betting"
    assert "in calls of 8" in str(found)


@pytest.mark.parametrize(
    ("left", "right", "relation", "neighbours"),
    [
        (RECORDS, RECORDS[::-1], "replace_one", False),
        (RECORDS, RECORDS * [[1, 1], [1, 2]], "replace_one", True),
        (RECORDS, RECORDS, "replace_one", True),
        (RECORDS, RECORDS + 1, "replace_one", False),
        (RECORDS, RECORDS[:1], "add_or_remove_one", True),
        (RECORDS[:1], RECORDS, "add_or_remove_one", True),
        (RECORDS, RECORDS[:1], "replace_one", False),
        ((RECORDS, np.array([0, 1])), (RECORDS, np.array([0, 0])), "replace_one", True),
        ((RECORDS, np.array([0, 1])), (RECORDS[::-1], np.array([0, 1])), "replace_one", False),
        ([1, "a"], [1, "b"], "replace_one", True),
        ([1, 0.0, 2], [np.int8(1), np.float64(0), 3.5], "replace_one", True),
        # integers and floats as one record of an array decides, and as each of a list, where nobody can tell
        (np.array([1, 0, 2]), np.array([1, 0, 2.5]), "replace_one", True),
        (np.array([1, 0, 2]), [1, 0, 3], "replace_one", True),
        (np.array([True, True]), np.array([1, 2]), "replace_one", True),
        ([True, True], [1, 2], "replace_one", None),
        ([1, 0, 2], [1.0, 0.0, 2.5], "replace_one", None),
        ([1, 2, 3], [1.0, 2.0], "add_or_remove_one", None),
        ([0.0, 0.0, 2], [-0.0, -0.0, 3], "replace_one", None),
        ([np.arange(4)] * 3, [np.arange(4).reshape(2, 2)] * 3, "replace_one", None),
        ([{1: 0}] * 2, [{True: 0}] * 2, "replace_one", None),
        (
            (np.array([1, 1]), np.array([True, True], object)),
            (np.ones(2), np.array([1, 1], object)),
            "replace_one",
            None,
        ),
        (np.ma.array([1, 2], mask=[False, False]), np.ma.array([1, 2], mask=[True, True]), "replace_one", False),
        (np.ma.array([1, 2], mask=[False, False]), np.ma.array([1, 2], mask=[False, True]), "replace_one", True),
        (np.zeros(2, dtype=[("a", int)]), np.zeros(2, dtype=[("b", int)]), "replace_one", None),
        ([1, 2, 3, 4], [1, 3, 4], "add_or_remove_one", True),
        ([1, 2, 3, 4], [1, 4, 3], "add_or_remove_one", False),
        ([1, 2, 3], [3, 2, 1], "add_or_remove_one", False),
        # as doubles the first records are equal; as numpy shows them those of the next three are
        ([2**53, 0], [2**53 + 1, 1], "replace_one", False),
        (np.array([2**53, 0]), np.array([2**53 + 1, 1]), "replace_one", False),
        ([{"x": np.array([1.0])}, 0], [{"x": np.array([1 + 1e-12])}, 1], "replace_one", False),
        ([LONG, 0], [[*LONG[:999], 1.0, *LONG[1_000:]], 1], "replace_one", False),
        ([np.array(LONG, dtype=object), 0], [np.arange(2_000).astype(object), 1], "replace_one", False),
        ([{"x": 1, "y": 2}, 0], [{"y": 2, "x": 1}, 1], "replace_one", True),
        (3.0, 4.0, lambda left, right: abs(left - right) <= 1, True),
        (3.0, 5.0, lambda left, right: abs(left - right) <= 1, False),
        (3.0, 4.0, np.less, True),
        (4.0, 3.0, np.less, False),
    ],
)
def test_neighbours_are_told_from_others(left, right, relation, neighbours):
    if neighbours is not False:
        assert require_neighbours(left, right, relation) == (None if neighbours else OF_FORM)
    else:
        with pytest.raises(SubjectError, match="not neighbours"):
            require_neighbours(left, right, relation)


@pytest.mark.parametrize("proved", [True, False])
def test_one_comparison_decides_and_is_noted(proved, monkeypatch):
    """It was made again for the note.  Null control: neighbours that are proved have none."""
    compared = []

    def compare(ours, others):
        compared.append((ours, others))
        return True, proved

    monkeypatch.setitem(_NEIGHBOURS, "replace_one", compare)
    found = audited(ManyAtOnce(), ([0.0], [1.0]), (1, 0), draws=2_000, adjacency="replace_one")
    assert len(compared) == 1
    assert found.notes.count(INCOMPARABLE) == (not proved)
    assert found.neighbours_checked is proved


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        ("replace_two", "adjacency"),
        (math.remainder, "failed"),
        ("replace_one", "one a row"),
        (lambda *_: "no", "True or False, not 'no'"),
        (lambda *_: None, "True or False, not None"),
    ],
)
def test_relation_that_decides_nothing_is_refused(relation, said):
    with pytest.raises((SubjectError, ReadingError), match=said):
        require_neighbours(1.0, 0.0, relation)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_documented_calls_run():
    asserted, bounded, canaries, traded, _ = blocks("python")
    exec(asserted, {})
    exec(canaries, {})
    exec(traded, {})
    names: dict[str, object] = {}
    exec(bounded, names)
    assert 0.9 < names["bound"] < 1


def test_package_is_light_and_declares_its_plugin():
    code = "import sys, audit, audit.evidence.pytest_plugin; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert 'cfm_audit = "audit.evidence.pytest_plugin"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
