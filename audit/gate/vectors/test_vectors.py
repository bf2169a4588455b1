"""The vectors: their files, their second source, and the broken variants that their flags kill."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import msgspec
import pytest

from audit import vectors
from audit.claims.registry import claims
from audit.conformance.exchange import UnreadableAnswerError, answer_of, case_line
from audit.vectors.answers import answer
from audit.vectors.build import REPLACED, case_of, mutated, note_of
from audit.vectors.cases import CASES
from audit.vectors.check import read_all, stale, static_problems
from audit.vectors.format import VectorCase, VectorFile, load
from audit.vectors.judge import is_right, number_of, passes, wrong_values
from audit.vectors.mutants import MUTANTS
from audit.vectors.pairs import measured
from audit.vectors.sources.balls import ball_supremum
from audit.vectors.sources.registry import TYPES
from audit.vectors.steps import Steps
from reference.accounting import published_adfc
from reference.budgets import Budget, SplitBudget
from reference.common.numbers import exact
from reference.mechanisms import adfc_noise, functional_noise, pdfc_noise, relaxed_functional_noise
from reference.objective import layout
from reference.readings import Readings
from reference.sensitivity import Setting, exact_l1, exact_l2_squared

FILES, UNREADABLE = read_all()

README = Path(vectors.__file__).with_name("README.md")


def every_nth(kind: str, step: int) -> list[int]:
    """Return places of cases, spread over a group type."""
    return list(range(TYPES.index(kind) % step, len(list(CASES[kind]())), step))


def test_files_are_well_formed_and_cover_what_they_declare():
    assert UNREADABLE == []
    assert list(static_problems(FILES, claims())) == []


def test_second_source_loads_nothing_of_reference():
    """Not by a back door either: a package that a source lies in may import more than the source does."""
    code = (
        "import importlib, pkgutil, sys, audit.vectors.sources as s\n"
        "for m in pkgutil.iter_modules(s.__path__): importlib.import_module(f'{s.__name__}.{m.name}')\n"
        "loaded = [m for m in sys.modules if m.split('.')[0] == 'reference']\n"
        "import reference\n"
        "print(loaded, 'reference' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[0] == "[] True"


@pytest.mark.parametrize("kind", TYPES)
def test_reference_passes_every_case(kind):
    for case in load(kind).cases:
        assert passes(case.right, measured(case.given, answer(Steps(), kind, case.given))), case.tc_id


@pytest.mark.parametrize("kind", TYPES)
def test_cases_are_what_their_source_and_the_variants_give_now(kind):
    """A spread of cases is made anew, flags included; all of them under `exhaustive`."""
    asked = list(CASES[kind]())
    committed = {case.tc_id: case for case in load(kind).cases}
    for place in every_nth(kind, 23):
        made = case_of(kind, place + 1, asked[place])
        assert committed[made.tc_id] == made


@pytest.mark.lengthy
def test_committed_files_are_what_is_generated_now():
    """All but the releases, which take longest: of these every fifth case.  `audit vectors check` makes all."""
    assert list(stale(kind for kind in TYPES if kind != "Release")) == []
    asked, committed = list(CASES["Release"]()), {case.tc_id: case for case in load("Release").cases}
    made = [case_of("Release", place + 1, asked[place]) for place in range(2, len(asked), 5)]
    assert [case for case in made if committed[case.tc_id] != case] == []


@pytest.mark.parametrize("kind", TYPES)
def test_flags_say_what_their_broken_variants_say_now(kind):
    assert load(kind).notes == {flag: note_of(flag) for flag in load(kind).notes}


SAMPLED = sorted(MUTANTS)[::12]


@pytest.mark.parametrize("flag", SAMPLED)
def test_variant_fails_its_cases_and_passes_cases_without_its_flag(flag):
    """Of each type every seventh case is asked, whether the variant replaces a step of it or not."""
    cases = [(kind, case) for kind in TYPES for case in load(kind).cases[::7] if kind != "Release"]
    for kind, case in cases:
        assert passes(case.right, mutated(flag, kind, case.given)) == (flag not in case.flags), case.tc_id


def survivors(flag: str, files: dict[str, VectorFile]) -> Iterator[str]:
    """Yield where a flag and its broken variant disagree: it must fail its cases and pass all others.

    Every case is asked, whether or not the variant replaces one of its steps.
    """
    kills = 0
    for kind, file in files.items():
        for case in file.cases:
            passed = passes(case.right, mutated(flag, kind, case.given))
            kills += not passed
            if passed == (flag in case.flags):
                yield f"{flag}: its variant {'passes' if passed else 'fails'} case {case.tc_id}"
    if not kills:
        yield f"{flag}: its variant passes every case"


@pytest.mark.exhaustive
@pytest.mark.parametrize("flag", sorted(MUTANTS)[::20])
def test_variant_passes_all_cases_without_its_flag_and_fails_all_with_it(flag):
    assert list(survivors(flag, FILES)) == []


def test_every_flag_has_a_case_that_its_variant_fails():
    for flag, mutant in MUTANTS.items():
        kind, case = next((kind, case) for kind in TYPES for case in load(kind).cases if flag in case.flags)
        assert not passes(case.right, mutated(flag, kind, case.given)), flag
        assert REPLACED[flag], flag
        description, effect = mutant.told()
        assert description.endswith((".", "!"))
        assert effect.endswith(".")


def with_case(file: VectorFile, **changes: object) -> VectorFile:
    """Return a file whose first case is changed."""
    first = file.test_groups[0]
    case = msgspec.structs.replace(first.tests[0], **changes)
    group = msgspec.structs.replace(first, tests=(case, *first.tests[1:]))
    return msgspec.structs.replace(file, test_groups=(group, *file.test_groups[1:]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tc_id": 5}, "is not between"),
        ({"tc_id": 5002}, "occurs 2 times"),
        ({"flags": ("NoSuchFlag",)}, "is not defined"),
        ({"result": "invalid"}, "is invalid and has an answer"),
    ],
)
def test_linter_fires_on_a_spoiled_file(changes, said):
    files = FILES | {"Scale": with_case(FILES["Scale"], **changes)}
    assert any(said in problem for problem in static_problems(files, claims()))


def test_check_says_where_the_reference_is_wrong(monkeypatch):
    monkeypatch.setattr(Steps, "laplace_scale", lambda *_: 1.0)
    said = list(stale(["Scale"]))
    assert len(said) == 1
    assert said[0].startswith("Scale: the reference answers ")


def test_linter_fires_on_gaps_and_unknown_claims():
    few = msgspec.structs.replace(FILES["Domain"], test_groups=FILES["Domain"].test_groups[:0])
    assert any("0 cases where 30" in problem for problem in static_problems(FILES | {"Domain": few}, claims()))
    assert any("T1, which is not a claim" in problem for problem in static_problems(FILES, ["T2"]))


def test_linter_fires_on_a_variant_that_survives():
    spoiled = with_case(FILES["Perturbation"], flags=())
    flag = FILES["Perturbation"].test_groups[0].tests[0].flags[0]
    assert list(survivors(flag, {"Perturbation": spoiled})) != []
    assert list(survivors(flag, {"Domain": FILES["Domain"]})) == [f"{flag}: its variant passes every case"]


def test_answers_pass_inside_an_enclosure_and_exactly_where_it_is_exact():
    ends = {"lo": "0.1", "hi": "1/8"}
    assert [is_right(ends, text) for text in ("1/9", 0.125, "0.13", "NaN", None, True)] == [True, True] + [
        False
    ] * 4
    assert is_right("27/4", 6.75)
    assert is_right("27/4", "6.75")
    assert not is_right("27/4", "6.7500000001")
    assert wrong_values({"x": ["1", "2"]}, {"x": ["1", "3"]}) == [("x[1]", "2", "3")]
    assert wrong_values({"x": ["1", "2"]}, {"x": ["1"]}) == [("x", ["1", "2"], ["1"])]
    assert passes(None, {"error": "anything"})
    assert not passes(None, {"w": "1"})


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["1e999999999 ", "1e\uff19\uff19\uff19\uff19\uff19\uff19\uff19\uff19\uff19", "1_0", "\uff11"]
)
def test_odd_text_is_no_number_and_is_not_computed(text):
    assert number_of(text) is None
    assert number_of(" 1e9 ") == 10**9


@pytest.mark.parametrize(
    ("line", "exchange"),
    [
        ('{"tcId": 1, "scale": 2, "scale": 3}', "json"),
        ('{"tcId": 1, "tcId": 2}', "json"),
        ("tcId=1\tscale=2\tscale=3", "flat"),
        ("tcId=1_0\tscale=2", "flat"),
        ("tcId=\uff11\tscale=2", "flat"),
    ],
)
def test_answer_that_says_two_things_is_no_answer(line, exchange):
    with pytest.raises(UnreadableAnswerError):
        answer_of(line.encode(), exchange)


def test_answer_that_says_one_thing_is_read():
    read = [answer_of(b'{"tcId": 1, "scale": "2"}', "json"), answer_of(b"tcId=1\tscale=2\r\n", "flat")]
    assert read == [(1, {"scale": "2"})] * 2


def test_public_accountant_is_wrong_by_half_and_the_truth_is_enclosed():
    """One Gaussian sum of sigma 1 at delta 1e-5: 9.997 when a record is replaced, 4.38 when one is added."""
    comment = "1 Gaussian releases of sigma 1, replace_one"
    case = next(case for case in load("Accounting").cases if case.comment == comment)
    assert case.right is not None
    assert 9.9972 < float(case.right["epsilon"]["lo"]) < float(case.right["epsilon"]["hi"]) < 9.9973
    assert "ReplaceOneAsAddOrRemove" in case.flags
    assert not passes(case.right, {"epsilon": "4.73"})


def test_steps_scale_noise_as_the_mechanisms_do():
    """The composition of the steps is the reference's own."""
    for case in load("Release").cases:
        inputs = case.given
        if case.result == "invalid":
            continue
        steps, readings = Steps(), Readings(fairness=inputs["fairness"], basis=inputs["basis"])
        domain = steps.domain(inputs)
        found = steps.scales(inputs, domain.dimension)
        number = {name: exact(name, inputs[name]) for name in inputs if name.startswith(("epsilon", "delta"))}
        if "xS" in inputs:
            budget = SplitBudget(number["epsilonS"], number["epsilonN"], number["deltaS"], number["deltaN"])
            make = pdfc_noise if inputs["mechanism"] == "pdfc" else adfc_noise
            noise = make(domain, budget, readings, int(inputs["xS"]))
            claimed = published_adfc(budget, domain.dimension, "replace_one")
            assert steps.claimed_epsilon(budget.epsilon_s, budget.epsilon_n, domain.dimension) == claimed.epsilon
            assert steps.claimed_delta(budget.delta_s, budget.delta_n) == claimed.delta
            assert (steps.in_s(layout(domain, readings), int(inputs["xS"])) == noise.in_s).all()
        else:
            single = functional_noise if inputs["mechanism"] == "functional" else relaxed_functional_noise
            noise = single(domain, Budget(number["epsilon"], number["delta"]), readings)
        assert found == (noise.scale_s, noise.scale_n)


def examples() -> Iterator[tuple[str, str]]:
    """Yield the cases that the README and the examples show, and their answers."""
    blocks = re.findall(r"```json\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    blocks.append(README.with_name("examples.jsonl").read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.splitlines()]
    yield from zip(lines[::2], lines[1::2], strict=True)


def test_examples_are_cases_and_right():
    committed = {case.tc_id: (kind, case) for kind in TYPES for case in load(kind).cases}
    shown = set()
    for asked, answered in examples():
        number, given = answer_of(answered.encode(), "json")
        kind, case = committed[number]
        assert asked.encode() + b"\n" == case_line(kind, case, "json")
        assert passes(case.right, measured(case.given, given)), number
        shown.add(kind)
    assert shown == set(TYPES)


def attaining(norm: str) -> VectorCase:
    """Return a case that asks for a pair of data sets."""
    comment = f"data sets that attain the supremum over the {norm}, l1, d = 2, absolute, replace_one"
    return next(case for case in load("Sensitivity").cases if case.comment.startswith(comment))


def test_pair_is_judged_by_what_it_attains():
    case = attaining("unit_ball")
    found = answer(Steps(), "Sensitivity", case.given)
    assert passes(case.right, measured(case.given, found))
    moved = {
        "another pair": found | {"yNeighbour": found["y"]},
        "a second record": found | {"y": ["1", *found["y"][1:]]},
        "outside": found
        | {"x": [["1", "1"], *found["x"][1:]], "xNeighbour": [["1", "1"], *found["xNeighbour"][1:]]},
        "too few": {name: value[1:] for name, value in found.items()},
        "no data": {"attained": "3", "encodable": "1", "neighbouring": "1"},
        "no number": found | {"x": [["NaN", "0"], *found["x"][1:]]},
        "no label": found | {"y": ["1/2", *found["y"][1:]]},
    }
    for name, wrong in moved.items():
        assert not passes(case.right, measured(case.given, wrong)), name


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("norm", ["unit_ball", "symmetric_ball"])
def test_records_that_climb_reach_what_the_reference_proves(norm, power):
    """The second source from below meets the reference from above: this is the supremum."""
    for fairness, adjacency in product(("none", "covariance", "separate"), ("replace_one", "add_or_remove_one")):
        setting = Setting(3, fairness, norm, adjacency, "monomial", Fraction(1), 4)
        inputs = {name: str(getattr(setting, name)) for name in ("dimension", "fairness", "norm", "adjacency")}
        inputs |= {"basis": "monomial", "fairnessWeight": "1", "records": "4"}
        upper = (exact_l1 if power == 1 else exact_l2_squared)(setting).upper
        assert float(upper) * (1 - 1e-7) <= ball_supremum(inputs, power) <= float(upper) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("0.47619056701660156", True),  # %.17g of the double, whose last digits are cut
        ("249661/524288", True),
        ("0.47619056701660", False),
        ("0.476191", False),
        ("1/3", False),
    ],
)
def test_double_printed_with_17_digits_is_that_double(text, right):
    assert is_right("249661/524288", text) is right
