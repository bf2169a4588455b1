"""Files of releases: what is read, and what is bad input."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from audit.gate.proofs.releases import document, written
from audit.gate.running import program
from audit.proofs.releases.exported import exported, read_exported
from audit.proofs.releases.theorem import covered
from reference import datasets
from reference.accounting.release import release_document
from reference.budgets import Budget
from reference.common.errors import InputError, ReleaseFileError
from reference.common.exit_codes import EXIT_USAGE
from reference.noise import ENTROPY
from reference.registry import MECHANISMS

certify = program("certify")


def test_release_with_its_domain_is_read(tmp_path):
    file = tmp_path / "release.json"
    spec = MECHANISMS["functional"]
    release = spec.run(datasets.load(), Budget(1), spec.readings, rng=ENTROPY)
    file.write_text(json.dumps(release_document(release, datasets.shipped_domain("affairs"))))
    assert read_exported(file).setting.dimension == 7
    made = json.loads(file.read_text())
    fewer = {**made, "columns": made["columns"][:6], "readings": {**made["readings"], "dimension": 6}}
    with pytest.raises(ReleaseFileError, match="columns"):
        read_exported(written(tmp_path, fewer))
    other = {**made, "domain": {**made["domain"], "norm": "symmetric_ball"}}
    with pytest.raises(
        ReleaseFileError, match=r"domain\.norm must be unit_ball, the reading, not 'symmetric_ball'"
    ):
        read_exported(written(tmp_path, other))
    made["domain"]["attributes"][0]["from_data"] = True
    with pytest.raises(ReleaseFileError, match="read from the data"):
        read_exported(written(tmp_path, made))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "release_v2"}, "schema is 'release_v2', not 'release_v3'"),
        ({"mechanism": "repaired_pdfc"}, "mechanism must be one of lr"),
        ({"mechanism": "adfc"}, "noise.kind must be 'gaussian' for adfc"),
        ({"columns": ["a", "b"]}, "w must be one finite number for each of its columns"),
        ({"noise": {"kind": "laplace", "scale_s": 33.25, "scale_n": -1.0}}, "scale_n must be a positive number"),
        (
            {"noise": {"kind": "laplace", "scale_s": 33.25, "scale_n": "33"}},
            "a number is needed, not '33' \\(.*noise.scale_n",
        ),
        ({"noise": {"kind": "gaussian", "scale_s": 33.25, "scale_n": 33.25}}, "noise.kind must be 'laplace'"),
        ({"noise": {"kind": "laplace"}}, "the field 'scale_s' is missing \\(.*noise"),
        ({"x_s": "height"}, "x_s must be one of rate_marriage"),
        ({"columns": ["a"] * 7, "x_s": "a"}, "columns must be different names"),
        ({"columns": [1, 2, 3, 4, 5, 6, 7]}, "a text is needed, not 1 \\(.*columns.0."),
        ({"schema": "certificate_v4"}, "this is a certificate, not a release: `audit verify` reads it"),
        ({"mechanism": ["pdfc"]}, "a text is needed, not .'pdfc'. \\(.*mechanism"),
        ({"seeded": None}, "true or false is needed, not None \\(.*seeded"),
        ({"seeded": "false"}, "true or false is needed, not 'false' \\(.*seeded"),
        (
            {"noise": {"kind": "laplace", "scale_s": 10**400, "scale_n": 10**400}},
            "the number is too large for a float \\(.*noise.scale_s",
        ),
        (
            {"noise": {"kind": "laplace", "scale_s": 33.25, "scale_n": 33.25, "mean": [5.0]}},
            "noise must be described by kind, scale_s, scale_n, steps, not 'mean'",
        ),
        (
            {"budget": {"epsilon_s": "2", "epsilon_n": "1"}},
            "states \\(1, 0\\) for replace_one, and its budget gives",
        ),
        ({"budget": {"epsilon": "1"}}, "budget must be the parts that pdfc spends"),
        ({"readings": {"domain": "unit_ball"}}, "the field 'dimension' is missing \\(.*readings"),
    ],
)
def test_release_that_contradicts_itself_is_bad_input(affairs, tmp_path, change, message):
    file = written(tmp_path, {**document(affairs, "pdfc"), **change})
    with pytest.raises(ReleaseFileError, match=message):
        read_exported(file)
    assert certify([file]) == EXIT_USAGE
    assert not list(tmp_path.glob("*.v"))


@pytest.mark.parametrize("scale", ["NaN", "Infinity", "-Infinity", "1e400", "-0.0", "0"])
def test_scale_that_is_no_positive_number_is_bad_input(affairs, tmp_path, scale):
    file = tmp_path / "release.json"
    file.write_text(json.dumps(document(affairs, "functional")).replace("19.25", scale))
    with pytest.raises(ReleaseFileError, match=r"is not a JSON number|a positive number|a finite number"):
        read_exported(file)


def test_smallest_float_is_a_scale_and_is_too_small(affairs):
    made = document(affairs, "functional")
    made["noise"] |= {"scale_s": 5e-324, "scale_n": 5e-324}
    (comparison,) = covered(exported(made)).comparisons
    assert comparison.scale == Fraction(1, 2**1074)
    assert not comparison.holds


def test_field_that_is_there_twice_is_bad_input(affairs, tmp_path):
    # a reader that takes the first of the two would see another scale than is certified
    text = json.dumps(document(affairs, "functional"))
    file = tmp_path / "release.json"
    file.write_text(text.replace('"scale_n":', '"scale_n": 1e-9, "scale_n":'))
    with pytest.raises(ReleaseFileError, match="'scale_n' is given twice"):
        read_exported(file)


def test_epsilon_beside_the_exact_one_is_the_same(affairs):
    made = document(affairs, "pdfc")
    made["privacy"]["published"]["epsilon"] = 0.1
    with pytest.raises(InputError, match=r"epsilon must be 1\.0, as epsilon_exact, not 0\.1"):
        exported(made)


@pytest.mark.parametrize("name", ["epsilon_exact", "delta"])
def test_changed_statement_is_bad_input(affairs, name):
    made = document(affairs, "adfc")
    made["privacy"]["published"][name] = "0.0009"
    if name == "epsilon_exact":
        # the two epsilons agree, so only the formula can tell
        made["privacy"]["published"]["epsilon"] = 0.0009
    with pytest.raises(InputError, match=r"it states \("):
        exported(made)


def test_one_scale_is_one_number(affairs):
    made = document(affairs, "functional")
    made["noise"]["scale_s"] = 1.0
    with pytest.raises(InputError, match="as scale_n: functional has one scale"):
        exported(made)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("noise", "steps"), None, "noise.steps must be there with hardened noise"),
        (("noise", "steps"), 0, "noise.steps must be a positive number"),
        (("readings", "noise"), "numpy", "there with hardened noise, and with no other"),
        (("seeded",), True, "seeded must be false with hardened noise"),
    ],
)
def test_hardened_release_has_steps_and_no_seed(affairs, place, value, message):
    made = document(affairs, "functional", noise="hardened")
    assert exported(made).steps == 2**32
    *within, last = place
    inner = made[within[0]] if within else made
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    with pytest.raises(InputError, match=message):
        exported(made)


def test_release_without_privacy_is_bad_input(affairs):
    with pytest.raises(InputError, match="states no privacy and has none"):
        exported(document(affairs, "no_privacy"))
