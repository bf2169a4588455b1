"""A replay repeats an audit draw for draw: every edit that changes what was drawn or concluded is found."""

from __future__ import annotations

import copy
import itertools
import json
import random
import shlex
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest

from audit.auditor.deadline import Deadline
from audit.auditor.events import event_of, stored_event
from audit.auditor.events.mixed import Both
from audit.auditor.events.scores import LikelihoodRatioScore
from audit.auditor.subject import SubjectError
from audit.bounds import Counts, epsilon_lower_bound
from audit.evidence.certificate import Certificate, CertificateError
from audit.evidence.checks import Check, binding
from audit.evidence.copies import check_copies
from audit.evidence.estimation import Audit, carried_out
from audit.evidence.fresh import fresh
from audit.evidence.replay import replay
from audit.evidence.verify import choice, consistency, outcome
from audit.gate.evidence.verifying import run
from audit.gate.needs import exhaustively
from audit.gate.requests import asked, changed, verify_command
from audit.gate.subjects.written_programs import EXAMPLES
from audit.subjects.catalogue.gaussian import ClassicGaussian
from audit.subjects.catalogue.laplace import ScoredLaplace
from audit.subjects.descriptions import DescriptionError, rebuild
from audit.subjects.search import Vectors
from reference.common.documents import plain
from reference.common.errors import InputError

WORDS = {
    "refuted": "laplace_half_noise --draws 3000 --seed 2",
    "not refuted": "laplace --draws 3000 --seed 2",
    "rule": "laplace_half_noise --draws 3000 --seed 2 --until 0.5",
    "clock": "laplace --draws 2000 --seed 2 --max-seconds 100",
    "search": "laplace --draws 10000 --seed 2 --search",
    "curve": "laplace --draws 3000 --seed 2 --curve",
    "calls": "laplace_half_noise --draws 8000 --seed 2 --outputs-per-call 8",
    "own": "audit.gate.evidence.test_replay:OwnRelation --draws 2000 --seed 2 --epsilon 0.5",
    "mechanism": "pdfc --dimension 2 --records 20 --draws 2000 --seed 2 --epsilon 3",
    "program": f"--program '{sys.executable} {EXAMPLES / 'laplace.py'} 1' --draws 2000 --seed 2 --epsilon 1",
}


@cache
def written(name: str) -> Certificate:
    (request,) = asked(*shlex.split(WORDS[name]))
    return carried_out(Audit.of(request)).certificate("ideal")


def checked(document: Certificate) -> list[Check]:
    """Return all checks but the ball arithmetic, which has tests of its own."""
    checks = [*consistency(document), *binding(document)]
    if all(check.holds for check in checks):
        checks += replay(document)
    if document.request.max_seconds is not None:  # the clock's choice is undecided, whatever is edited
        return [one for one in checks if one.name != "choice"]
    waiting = choice(document)
    return checks if waiting is None or checks[-1].name == "choice" else [*checks, waiting]


@pytest.mark.parametrize("name", [name for name in WORDS if name not in ("own", "mechanism", "program")])
def test_replay_gives_the_same_certificate_whatever_ended_the_run(name):
    assert outcome(checked(written(name))) == "holds"
    document = written(name)
    (other,) = [one for one in replay(changed(document, request={"seed": 3})) if one.name == "replay"]
    assert other.holds is False


def test_replay_of_an_interrupted_run_ends_where_it_ended(monkeypatch):
    monkeypatch.setattr("audit.auditor.draws.CHUNK_VALUES", 100)
    made = []

    def stop(draws: int) -> None:
        made.append(draws)
        if len(made) == 3:
            raise KeyboardInterrupt

    (request,) = asked("laplace", "--draws", "20000", "--seed", "2")
    document = carried_out(Audit.of(request), progress=stop).certificate("ideal")
    assert document.draws < 20_000
    assert outcome(checked(document)) == "holds"


def test_replay_without_a_seed_is_refused_before_anything_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("audit.commands.verify.checked", lambda *_: pytest.fail("the checks were begun"))
    path = tmp_path / "certificate.json"
    changed(written("not refuted"), seeded=False).write(path)
    assert verify_command([str(path), "--replay"]) == 2
    error = capsys.readouterr().err
    assert "--replay cannot repeat these draws: the subject draws from another generator" in error
    assert error.count("\n") == 1


def leaves(document: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(document, dict) and document:
        for key, value in document.items():
            yield from leaves(value, (*place, key))
    elif isinstance(document, list) and document:
        yield from itertools.chain.from_iterable(leaves(value, (*place, k)) for k, value in enumerate(document))
    else:
        yield place


OTHERWISE = {
    "verdict": "undecided",
    "judged": "implementation",
    "object": "implementation",
    "method": "clopper_pearson",
    "bound": "joint",
    "likely_input": None,
    "relation": None,
    "until": 0.5,
    "max_seconds": 9.0,
    "epsilon": "2",
    "delta": "0.1",
    "curve": True,
    "claimed_delta": "0.001",
}
"""Values that another document of the schema could have; numbers, flags and other texts are changed by kind."""


def edited(document: Any, place: tuple[Any, ...]) -> Any:
    """Return a copy with one field changed to something else that is possible there."""
    copied = copy.deepcopy(document)
    *path, last = place
    part = copied
    for key in path:
        part = part[key]
    part[last] = _otherwise(part[last], last)
    return copied


def _otherwise(value: Any, name: Any) -> Any:
    swapped = {"left": "right", "right": "left", ">=": "<=", "<=": ">="}
    if isinstance(value, str) and value in swapped:
        return swapped[value]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return 2 * value + 1
    if isinstance(value, float):
        return value * 1.25 + 0.125
    other = OTHERWISE.get(name, f"{value} and more")
    return "clopper_pearson" if other == value else other


HARMLESS = {
    ("request", "bound"): "names the method that the choosing draws picked anyhow",
    ("request", "object"): "sets the exit code of the audit, and nothing that the certificate says",
    ("versions",): "says where it was made: a replay under other versions that comes out the same is as good",
}
"""Fields that no check finds, and why that is harmless; docs/verify.md leads here."""


WITHOUT_BOUND = {place: why for place, why in HARMLESS.items() if place != ("request", "bound")}

WHENEVER = "the bound holds whenever one stops, by which limit or by none"

OF_LIMITS = HARMLESS | {("request", "until"): WHENEVER, ("request", "max_seconds"): WHENEVER}

LISTED = {
    "calls": WITHOUT_BOUND,
    "rule": OF_LIMITS
    | {("request", "draws"): "the rule ended it in its first stage, which more draws leave as it is"},
    "clock": HARMLESS | {("request", "max_seconds"): WHENEVER},
    "program": HARMLESS
    | {
        ("request", "subject", "binary"): "in which form it answers",
        ("request", "subject", "timeout"): "how long somebody waits for an answer",
    },
    "mechanism": HARMLESS
    | {
        ("request", "subject", "budget", "delta"): "PDFC is pure: neither its claim nor its noise has a delta",
        ("judged",): "its bits show no more: one event was certified for both",
    },
}
"""Where other fields than usual are harmless."""


PAIRS = {
    (
        ("request", "curve"),
        ("judged",),
    ): "what the same audit with a curve writes of its bits, of which it has none",
}
"""Pairs of fields that no check finds, though it finds one of them alone, and why that is harmless."""


def harmless(place: tuple[Any, ...], known: Iterable[tuple[Any, ...]] = HARMLESS) -> bool:
    return any(place[: len(one)] == one for one in known)


def holds(document: Any) -> bool:
    try:
        return outcome(checked(Certificate.of(document))) == "holds"
    except (CertificateError, InputError, ValueError):
        return False


def single(name: str) -> tuple[Any, list[tuple[Any, ...]]]:
    document = json.loads(json.dumps(written(name).to_json()))
    places = [place for place in leaves(document) if place[-2:-1] != ("edges",)]
    # one of many events of a family, of many numbers of a list
    return document, [place for place in places if not (isinstance(place[-1], int) and place[-1] > 1)]


AT_ONCE = ("refuted", "not refuted", "calls")

AT_LENGTH = [pytest.param(name, marks=pytest.mark.lengthy) for name in WORDS if name not in AT_ONCE]


@pytest.mark.parametrize("name", [AT_ONCE[0], *exhaustively(*AT_ONCE[1:]), *AT_LENGTH])
def test_every_field_that_is_edited_is_found_or_listed(name):
    document, places = single(name)
    missed = [place for place in places if holds(edited(document, place))]
    listed = LISTED.get(name, HARMLESS)
    assert [place for place in missed if not harmless(place, listed)] == []
    # nothing stands on the list that is found
    assert {known for known in listed for place in missed if place[: len(known)] == known} == set(listed)


@pytest.mark.parametrize("few", [2, pytest.param(None, marks=pytest.mark.lengthy)], ids=["some", "all"])
@pytest.mark.parametrize("name", WORDS)
def test_pairs_of_fields_that_are_edited_are_found_or_listed(name, few):
    document, places = single(name)
    listed, pairs = LISTED.get(name, HARMLESS), list(itertools.combinations(places, 2))
    some = pairs if few is None else random.Random(name).sample(pairs, few)
    missed = [(one, other) for one, other in some if holds(edited(edited(document, one), other))]
    left = [pair for pair in missed if not all(harmless(place, listed) for place in pair)]
    assert [pair for pair in left if pair not in PAIRS] == []


def test_weak_event_honestly_counted_is_no_success(capsys, tmp_path):
    """Of half the noise, by an event that hardly differs on the two inputs: only repeating the choice tells."""
    right = written("not refuted")
    words = "laplace_half_noise --draws 3000 --seed 2"
    (request,) = asked(*words.split())
    weak = {
        "score": "coordinate",
        "coordinate": 0,
        "relation": ">=",
        "threshold": -0.45,
        "likely_input": "right",
        "quantised_to": [2.0**-17],
    }
    # P(v >= -0.45) is about .80 and .97: honest counts, a bound of .13; the sides exchanged give 0
    event = event_of(stored_event(weak))
    subject = rebuild(request.subject)
    rng = np.random.default_rng(5)
    found = [int(event.occurs(subject.sample(side, 1050, rng)).sum()) for side in subject.inputs()]
    counts = Counts(found[1], 1050, found[0], 1050)
    document = changed(
        right,
        request={"subject": request.subject, "mechanism": "laplace_half_noise"},
        event=weak,
        counts=counts,
        epsilon_lower_bound=epsilon_lower_bound(counts, 0.0, 0.05),
        verdict="undecided",
        share=1.0,
    )
    for words, code in (([], 3), (["--replay"], 1), (["--fresh", "--seed", "1"], 1)):
        assert run(capsys, tmp_path, document, *words)[0] == code
    # called "not refuted" the arithmetic finds it: such an event could not have refuted anything
    assert run(capsys, tmp_path, changed(document, verdict="not refuted"))[0] == 1


def test_choice_from_some_families_only_stays_undecided(capsys, tmp_path):
    (request,) = asked(*["laplace", "--draws", "3000", "--seed", "2", "--events", "coordinates"])
    document = carried_out(Audit.of(request)).certificate("ideal")
    assert run(capsys, tmp_path, document, "--replay")[0] == 3
    assert run(capsys, tmp_path, document, "--fresh", "--seed", "4")[0] == 0


@pytest.mark.parametrize(
    "function",
    [
        lambda outputs: np.cumsum(outputs[:, 0]),
        lambda outputs: outputs[:, 0] - outputs[:, 0].mean(),
        lambda outputs: outputs[:, 0] + (np.arange(len(outputs)) >= 7),
        lambda outputs: np.sort(outputs[:, 0]),
    ],
)
def test_likelihood_ratio_that_depends_on_other_rows_is_refused(function):
    outputs = np.random.default_rng(1).laplace(size=(500, 1))
    with pytest.raises(SubjectError, match="must not depend on the other outputs"):
        LikelihoodRatioScore(function)(outputs)
    assert len(LikelihoodRatioScore(lambda rows: 2 * rows[:, 0])(outputs)) == 500


class TellsSides:
    """Laplace noise of scale 1, and a ratio that for few outputs tells by the others which input they are of."""

    rare: ClassVar[float] = 1e-3

    def inputs(self):
        return 0.0, 1.0

    def sample(self, data, count, rng):
        return rng.laplace(data, size=(count, 1))

    def log_likelihood_ratio(self, outputs):
        values = outputs[:, 0]
        ratio = np.abs(values - 1) - np.abs(values)
        told = np.abs(values) * 7654.321 % 1 < self.rare
        return np.where(told, ratio + (10.0 if values.mean() < 0.5 else -10.0), ratio)


class TellsMoreSides(TellsSides):
    rare = 0.02


class TellsNone(TellsSides):
    """Null control: the right ratio."""

    rare = 0.0


TOLD = {
    "score": "likelihood_ratio",
    "relation": ">=",
    "threshold": 9.0,
    "likely_input": "left",
    "quantised_to": [2.0**-16],
}


@pytest.mark.parametrize("subject", [TellsSides, TellsMoreSides])
def test_ratio_that_tells_inputs_by_other_outputs_refutes_nothing(subject, capsys, tmp_path):
    """In calls for one input alone it would have the event hundreds of times on left, and never on right."""
    words = f"{__name__}:{subject.__name__} --epsilon 1 --draws 200000 --seed 1"
    (request,) = asked(*words.split())
    with pytest.raises(SubjectError, match="must not depend on the other outputs"):
        carried_out(Audit.of(request))
    (right,) = asked(*words.replace(subject.__name__, "TellsNone").split())
    document = carried_out(Audit.of(right)).certificate("ideal")
    assert document.verdict == "not refuted"
    counts = Counts(round(70_000 * subject.rare), 70_000, 0, 70_000)
    forged = changed(
        document,
        subject=request.subject,
        request={"subject": request.subject, "mechanism": request.mechanism},
        event=TOLD,
        counts=counts,
        epsilon_lower_bound=epsilon_lower_bound(counts, 0.0, 0.05),
        verdict="refuted",
    )
    for seed in range(5):
        with pytest.raises(CertificateError, match="must not depend on the other outputs"):
            fresh(forged, 20_000, np.random.default_rng(seed))
    for how in (["--fresh", "--seed", "1"], ["--replay"]):
        path = tmp_path / "forged.json"
        forged.write(path)
        assert verify_command([str(path), *how])
        assert "must not depend on the other outputs" in "".join(capsys.readouterr())
    rng, one = np.random.default_rng(2), subject()
    pairs = [tuple(one.sample(given, 500, rng) for given in one.inputs()) for _ in range(16)]
    with pytest.raises(SubjectError, match="must not depend on the other outputs"):
        check_copies(event_of(forged.event, one), counts, pairs)


@pytest.mark.parametrize("per_call", [1, 4])
def test_calls_of_a_ratio_mix_inputs_and_no_two_outputs_of_a_draw(per_call):
    left = np.arange(4000.0)[:, np.newaxis]
    calls = []

    def numbers(outputs):
        calls.append(outputs[:, 0])
        return outputs[:, 0]

    found = Both(left, -1 - left, lambda: np.random.default_rng(1), per_call).mixed(numbers)
    assert np.array_equal(found, [left[:, 0], -1 - left[:, 0]])
    assert len(calls) == 2 * per_call
    for call in calls:
        # 6 standard deviations
        assert abs((call >= 0).mean() - 0.5) < 3 / np.sqrt(len(call))
        draws = np.where(call >= 0, call, -1 - call) // per_call
        assert len(np.unique(draws)) == len(call)
    # the partner of an output, in the other call, is elsewhere
    assert not (calls[0] == -1 - calls[1]).any()


@pytest.mark.parametrize("subject", [ScoredLaplace(), ClassicGaussian()])
def test_right_ratio_is_the_same_in_whichever_call(subject):
    """Null control."""
    rng = np.random.default_rng(3)
    left, right = (subject.sample(given, 3000, rng) for given in subject.inputs())
    event = event_of(stored_event(TOLD | {"threshold": 0.5, "quantised_to": None}), subject)
    for per_call in (1, 3):
        scores = event.scores_of_both(Both(left, right, lambda: rng, per_call))
        assert np.array_equal(scores, [event.scores(left), event.scores(right)])
    assert 0 < event.within(scores[0]).mean() < 1


@pytest.mark.parametrize("note", ["none", {"draws": "1,000"}, {"draws": 10_000}])
def test_search_without_its_number_of_draws_is_refused(note):
    document = changed(written("search"), inputs={**written("search").inputs, "search": note})
    with pytest.raises(CertificateError, match="draws must be a whole number, less than all"):
        replay(document)


def test_pair_that_is_none_of_the_declared_domain_is_refused():
    (request,) = asked(*["laplace", "--draws", "10000", "--seed", "2", "--search"])
    searched = written("search").subject
    document = changed(
        written("search"), subject=type(searched)(subject=searched.subject, pair={"left": [0.0], "right": [5.0]})
    )
    assert request.search
    with pytest.raises(DescriptionError, match="not neighbours"):
        rebuild(document.subject)
    assert outcome([*binding(document)]) == "does not hold"


class OwnRelation:
    """Values in a list, one of which changes by 1."""

    adjacency: Any = "replace_one"
    right = (0.0, 1.0)

    def inputs(self):
        return [0.0, 0.0], list(self.right)

    def sample(self, data, count, rng):
        return rng.laplace(sum(data), size=(count, 1))


class WideByClock(OwnRelation):
    """Values in a list, and noise on as many coordinates as are screened; each output takes time."""

    seconds = 0.0

    def sample(self, data, count, rng):
        WideByClock.seconds += 1e-3 * count
        outputs = rng.laplace(size=(count, 40))
        outputs[:, 17] += sum(data)
        return outputs


def test_replay_of_a_screen_that_the_clock_ended_ends_where_it_ended(monkeypatch):
    """The event tells how many outputs screened: fewer than the 400 planned on each input."""
    for name, value in {"selection.WIDEST": 30, "selection.KEPT": 10, "events.reduction.KEPT": 10}.items():
        monkeypatch.setattr(f"audit.auditor.{name}", value)
    monkeypatch.setattr(Deadline, "now", staticmethod(lambda: WideByClock.seconds))
    words = ["--draws", "8000", "--epsilon", "3", "--events", "coordinates", "--seed", "1", "--max-seconds", "5"]
    (request,) = asked(f"{__name__}:WideByClock", *words)
    document = carried_out(Audit.of(request)).certificate("ideal")
    screened = document.event.reduced_to.screened
    assert 50 <= screened < 400
    assert 1_000 < document.draws < 8_000
    # another clock: it plays no part
    monkeypatch.setattr(Deadline, "now", staticmethod(lambda: 0.0))
    assert replay(document)[0].holds
    stored = plain(document.event)
    stored["reduced_to"] |= {"screened": screened + 1}
    assert replay(changed(document, event=stored))[0].holds is False


class NoNeighbours(OwnRelation):
    right = (2.0, 1.0)


def in_one_box(left: Any, right: Any) -> bool:
    return Vectors(2, norm="l1").holds((np.array(left), np.array(right)))


class NotOfOneBox(OwnRelation):
    adjacency: Any = staticmethod(in_one_box)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("OwnRelation", "replace_one, by the inputs"),
        ("NoNeighbours", None),
        ("NotOfOneBox", "by the subject's relation"),
    ],
)
def test_neighbours_of_a_subject_that_declares_them_are_checked(name, said):
    (request,) = asked(f"{__name__}:{name}", "--draws", "2000", "--seed", "1")
    if said is None:
        with pytest.raises(SubjectError, match="records 0 and 1 differ"):
            carried_out(Audit.of(request))
        return
    result = carried_out(Audit.of(request))
    assert result.neighbours == said
    document = result.certificate("ideal")
    assert all(check.holds for check in replay(document))
    forged = changed(document, neighbours="by a committee")
    assert [check.holds for check in replay(forged)] == [False]
