"""Distribution conformance: silent on our noise, fires on each broken one, with the power that it states."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction

import numpy as np
import pytest

from audit.conformance.distribution import check_samples, detectable, number_of_tests
from audit.gate.conformance.written import python_program
from audit.gate.running import program
from reference.coefficients import Coefficients, Layout
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED, EXIT_USAGE
from reference.noise import HardenedSampler, Noise, add_noise, draw
from reference.noise.grid import RELEASE_STEPS

LAYOUT = Layout(("a", "b"))
VALUES = np.array([1.0, -2.0, 3.0, 0.0, -0.5])
IN_S = LAYOUT.contains(0)
DRAWS = 3000

# settings of the two controls differ: in kind of noise, scales and seeds
STATED = {"laplace": Noise("laplace", 8.0, 3.0, IN_S), "gaussian": Noise("gaussian", 5.0, 2.0, IN_S)}


def samples(kind: str, *, seed: int = 11, noise: Noise | None = None, draws: int = DRAWS) -> np.ndarray:
    """Return draws of our mechanisms' noise, of another one than stated where it is given."""
    own = noise or STATED[kind]
    return add_noise(VALUES, own, draw(own, np.random.default_rng(seed), draws))


def rejected(kind: str, found: np.ndarray) -> set[str]:
    return {one.check for one in check_samples(found, VALUES, STATED[kind], 1e-4) if one.rejected}


@pytest.mark.parametrize("kind", STATED)
def test_noise_of_our_mechanisms_is_not_refuted(kind):
    assert rejected(kind, samples(kind)) == set()


@pytest.mark.parametrize("kind", STATED)
def test_hardened_noise_is_not_refuted(kind):
    """At a size of 1e-9: OpenDP takes no seed."""
    stated = STATED[kind]
    noise = Noise(kind, stated.scale_s, stated.scale_n, IN_S, RELEASE_STEPS)
    coefficients = Coefficients(LAYOUT, np.array([Fraction(v) for v in VALUES.tolist()], dtype=object))
    found = np.array([HardenedSampler().perturb(coefficients, noise).values for _ in range(200)])
    assert [one for one in check_samples(found, VALUES, stated, 1e-9) if one.rejected] == []


def gaussian_with(change: float) -> Noise:
    return Noise("gaussian", 5.0**change, 2.0**change, IN_S)


BROKEN = {
    "twice the scale": ("laplace", Noise("laplace", 16.0, 6.0, IN_S), {"scale", "tails", "shape"}),
    "sigma as variance": ("gaussian", gaussian_with(0.5), {"scale", "tails", "shape"}),
    "groups swapped": ("laplace", Noise("laplace", 3.0, 8.0, IN_S), {"scale", "tails", "shape"}),
    "gaussian for laplace": ("laplace", Noise("gaussian", 8.0, 3.0, IN_S), {"tails", "shape"}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_noise_is_refuted(name):
    kind, noise, expected = BROKEN[name]
    assert rejected(kind, samples(kind, seed=5, noise=noise)) >= expected


def test_cause_of_a_wrong_scale_is_named():
    found = check_samples(samples("gaussian", seed=5, noise=gaussian_with(0.5)), VALUES, STATED["gaussian"], 1e-4)
    said = [one.said for one in found if one.check == "scale"]
    assert all("sigma used as variance" in text for text in said)
    assert "2.2" in said[0]
    swapped = samples("laplace", noise=Noise("laplace", 3.0, 8.0, IN_S))
    said = [one.said for one in check_samples(swapped, VALUES, STATED["laplace"], 1e-4) if one.check == "scale"]
    assert "it is the noise of Phi_n" in said[0]


def test_shared_repeated_and_serial_noise_is_refuted():
    stated, rng = STATED["laplace"], np.random.default_rng(2)
    one = draw(stated, rng, DRAWS)
    shared = VALUES + stated.scales * one[:, :1]
    assert rejected("laplace", shared) == {"independence"}
    again = np.concatenate([samples("laplace", draws=DRAWS // 2)] * 2)
    assert "repetition" in rejected("laplace", again)
    # antithetic draws: each second one is the first one's mirror image
    mirrored = np.stack([one[: DRAWS // 2], -one[: DRAWS // 2]], axis=1).reshape(-1, 5)
    assert rejected("laplace", VALUES + stated.scales * mirrored) >= {"independence"}
    shifted = samples("laplace") + 0.5 * stated.scales
    assert "location" in rejected("laplace", shifted)


@pytest.mark.parametrize("kind", STATED)
def test_stated_power_and_size_are_reached(kind):
    """40 trials of one coefficient each: nine of ten find the stated factor, and hardly any the right noise."""
    limits = detectable(1000, 5, kind)
    stated = Noise(kind, 8.0, 3.0, IN_S)
    wide = Noise(kind, 8.0 * limits.scale_factor, 3.0 * limits.scale_factor, IN_S)
    found = [0, 0]
    for seed in range(8):
        for place, noise in enumerate((wide, stated)):
            drawn = add_noise(VALUES, noise, draw(noise, np.random.default_rng(seed), 1000))
            checks = check_samples(drawn, VALUES, stated)
            found[place] += sum(one.rejected for one in checks if one.check == "scale")
    assert found[0] >= 31
    assert found[1] <= 2
    assert detectable(4000, 5, kind).scale_factor < limits.scale_factor < 1.3
    assert number_of_tests(5) == 35


SAMPLER = """
import random, math
random.seed(3)
def unit(kind):
    if kind == "gaussian": return random.gauss(0, 1)
    return random.choice((-1, 1)) * -math.log(1 - random.random())
for c in cases():
    i = c["inputs"]
    scales = [float(i["scaleS" if m == "1" else "scaleN"]) for m in i["inS"]]
    values = [eval(v) for v in i["values"]]
    rows = [[v + FACTOR * s * unit(i["noise"]) for v, s in zip(values, scales)] for _ in range(int(i["count"]))]
    say(tcId=c["tcId"], samples=rows)
"""


@pytest.mark.parametrize(
    ("code", "exit_code", "verdict"),
    [
        (SAMPLER.replace("FACTOR", "1"), EXIT_FINE, "not refuted"),
        (SAMPLER.replace("FACTOR", "2"), EXIT_REFUTED, "refuted"),
        ("for c in cases(): say(tcId=c['tcId'], samples=[[1, 2]])", EXIT_REFUTED, "refuted"),
        ("for c in cases(): say(tcId=c['tcId'], skip='no noise')", EXIT_UNDECIDED, "undecided"),
        ("sys.exit(3)", EXIT_REFUTED, "refuted"),
    ],
)
def test_command_judges_what_a_program_draws(code, exit_code, verdict, capsys):
    arguments = [
        "conformance",
        "--samples",
        "1000",
        "--timeout",
        "60",
        "--significance",
        "0.001",
        "--format",
        "json",
    ]
    assert program()([*arguments, "--program", shlex.join(python_program(code))]) == exit_code
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == verdict
    assert {one["noise"] for one in document["noises"]} == {"laplace", "gaussian"}


def test_samples_in_text_and_bad_options(capsys):
    words = ["conformance", "--program", shlex.join(python_program(SAMPLER.replace("FACTOR", "2")))]
    assert program()([*words, "--samples", "400", "--timeout", "60"]) == EXIT_REFUTED
    out = " ".join(capsys.readouterr().out.split())
    assert "times too large" in out
    assert "found with power 0.9" in out
    for bad in (
        ["--samples", "5"],
        ["--samples", "400", "--significance", "2"],
        ["--samples", "400", "--only", "Scale"],
    ):
        assert program()([*words, *bad]) == EXIT_USAGE
