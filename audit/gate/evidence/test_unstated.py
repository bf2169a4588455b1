"""What nobody stated or checked is said to be so, in the text and in JSON: the claim, and the neighbours."""

from __future__ import annotations

import json

import pytest

from audit.epsilon_estimate import main
from audit.evidence.checks import neighbours_checked
from audit.evidence.estimation import Audit, carried_out
from audit.evidence.replay import replay
from audit.evidence.verify import verify
from audit.gate.evidence.verifying import run
from audit.gate.requests import asked, changed
from audit.subjects.adjacency import UNCHECKED
from audit.subjects.stated import NO_CLAIM

HERE = __name__
FEW = ["--draws", "2000", "--seed", "2"]


class Silent:
    """Claims nothing, and names no relation."""

    def inputs(self):
        return [0.0], [1.0]

    def sample(self, data, count, rng):
        return data[0] + rng.laplace(size=(count, 1))


class Claiming(Silent):
    """Claims something else than the default, and declares a relation and candidates."""

    claimed_epsilon = 2
    adjacency = "replace_one"

    def candidates(self):
        return [self.inputs(), ([0.0], [0.5])]


@pytest.mark.parametrize(
    ("words", "claims", "said"),
    [
        ([f"{HERE}:Silent"], 1, True),
        ([f"{HERE}:Silent", "--epsilon", "1"], 1, False),
        ([f"{HERE}:Claiming"], 2, False),
        (["laplace"], 1, False),
        (["pdfc", "--dimension", "2", "--records", "20"], 1, False),
    ],
)
def test_claim_that_nobody_states_is_said_to_be_the_default(words, claims, said, capsys):
    main([*words, *FEW, "--format", "json"])
    result = json.loads(capsys.readouterr().out)
    assert result["claimed_epsilon"] == claims
    assert (NO_CLAIM in result["notes"]) is said
    main([*words, *FEW])
    text = capsys.readouterr().out
    name = words[0]
    assert f"{name}: {'judged at' if said else 'claims'} ({claims}, 0)" in text
    assert (f"note: {NO_CLAIM}" in text) is said


def certificate(*words):
    (request,) = asked(*words, *FEW)
    return carried_out(Audit.of(request)).certificate("ideal")


def test_new_draws_repeat_that_nobody_states_a_claim(capsys, tmp_path):
    told = {}
    for name in ("Silent", "Claiming"):
        _, found = run(capsys, tmp_path, certificate(f"{HERE}:{name}"), "--fresh", "--seed", "1")
        (told[name],) = [check["detail"] for check in found["checks"] if check["name"] == "claim found"]
    assert told == {"Silent": NO_CLAIM, "Claiming": "the claim is stated in the request, or by the subject"}


@pytest.mark.parametrize(
    ("words", "how", "checked"),
    [
        ([f"{HERE}:Silent"], [], False),
        ([f"{HERE}:Silent"], ["--fresh", "--seed", "1"], False),
        ([f"{HERE}:Silent"], ["--replay"], False),
        # a statement of whoever ran the audit, until the subject is asked
        ([f"{HERE}:Claiming"], [], False),
        ([f"{HERE}:Claiming"], ["--fresh", "--seed", "1"], True),
        ([f"{HERE}:Claiming"], ["--replay"], True),
        (["laplace"], [], True),
    ],
)
def test_json_says_whether_anybody_checked_the_neighbours(words, how, checked, capsys, tmp_path):
    document = certificate(*words)
    code, found = run(capsys, tmp_path, document, *how)
    assert found["neighbours_checked"] is checked
    # that nobody checked changes no outcome
    (check,) = [check for check in found["checks"] if check["name"] == "neighbours"]
    assert check["holds"] is True
    assert code == {"holds": 0, "undecided": 3}[found["outcome"]]
    main([*words, *FEW, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["neighbours_checked"] is (document.neighbours != UNCHECKED)


def test_statement_on_neighbours_that_does_not_follow_is_not_checked():
    document = certificate("laplace")
    wrong = [check for check in verify(document) if check.name != "neighbours"]
    assert neighbours_checked(document, verify(document))
    assert not neighbours_checked(document, wrong)


def test_search_ended_early_is_replayed_at_the_claim_of_its_subject():
    (request,) = asked(f"{HERE}:Claiming", "--draws", "10000", "--seed", "2", "--search", "--max-seconds", "1000")
    found = carried_out(Audit.of(request))
    assert found.claimed == 2
    assert NO_CLAIM not in found.notes
    document = found.certificate("ideal")
    first = replay(document)[0]
    assert first.holds is True, first.detail
    # the broken control: another seed, on the same pair
    assert replay(changed(document, request={"seed": 3}))[0].holds is False
