"""Traces: every intermediate of one run, marked as not private; the run is the same as without a trace."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reference.accounting import NOT_PRIVATE
from reference.budgets import Budget, SplitBudget
from reference.coefficients import NoisyCoefficients
from reference.commands.trace import Trace, trace
from reference.common.documents import plain, read_file
from reference.common.errors import ReadingError
from reference.common.exit_codes import EXIT_FINE, EXIT_USAGE
from reference.datasets import Encoding, load
from reference.mechanisms import FAIR, PLAIN, adfc, functional, functional_noise, pdfc
from reference.minimiser import minimise
from reference.moments import Moments
from reference.noise import add_noise
from reference.objective import objective
from tests.file_commands import SMALL, Run

# on the box exact privacy takes no search
RECORDS = load("synthetic", Encoding(norm="unit_box"), records=60, dimension=3)
MOMENTS = Moments.of(RECORDS)
SPLIT = SplitBudget(1, 2, "1e-4", "1e-3")


def column(found: Trace, name: str) -> np.ndarray:
    """Return one number of every coefficient."""
    return np.array([getattr(one, name) for one in found.coefficients])


def check_steps(found: Trace, mechanism_readings) -> None:
    """Recompute each step of a trace from the one before it."""
    exact = objective(MOMENTS, mechanism_readings)
    assert (column(found, "exact") == exact.values).all()
    again = exact.values + column(found, "scale") * column(found, "unit_variate")
    assert column(found, "noisy") == pytest.approx(again, rel=1e-13)


def test_trace_of_pdfc_holds_every_step_of_the_same_run():
    budget = SplitBudget(1, 2)
    found, release = (
        trace(RECORDS, "pdfc", budget, FAIR, x_s=1, rng=7),
        pdfc(MOMENTS, budget, FAIR, x_s=1, rng=7),
    )
    assert (found.w, found.eigenvalues) == (release.w, release.noisy_eigenvalues)
    assert found.x_s == RECORDS.domain.columns[1]
    check_steps(found, FAIR)
    d = 3
    assert found.l1_sensitivity == d * d / 4 + 3 * d
    assert found.l2_sensitivity_squared is None
    # scales in and outside Phi_s
    assert set(column(found, "scale")[column(found, "in_s")]) == {11.25}
    assert set(column(found, "scale")[~column(found, "in_s")]) == {5.625}
    assert found.shift == pytest.approx(4 * np.sqrt(2) * 11.25)


def test_traces_of_other_mechanisms_replay_to_the_same_w():
    for name, budget, readings, function in (
        ("adfc", SPLIT, FAIR.with_(repair="trim"), adfc),
        ("functional", Budget(3), PLAIN, functional),
    ):
        x_s = {"x_s": 0} if name == "adfc" else {}
        release = function(MOMENTS, budget, readings, rng=3, **x_s)
        found = trace(RECORDS, name, budget, readings, rng=3, **x_s)
        assert (found.w, found.status) == (release.w, release.status)
        check_steps(found, readings)
        assert found.noise == release.noise.kind


def test_trace_of_hardened_noise_gives_variates_in_scales():
    found = trace(RECORDS, "pdfc", SplitBudget(1, 1), FAIR.with_(noise="hardened"), x_s=0)
    again = column(found, "exact") + column(found, "scale") * column(found, "unit_variate")
    assert column(found, "noisy") == pytest.approx(again, rel=1e-12)
    assert found.readings.noise == "hardened"


def test_recording_does_not_make_a_release_seeded_or_move_its_stream():
    unseeded = trace(RECORDS, "pdfc", SplitBudget(1, 1), FAIR, x_s=0)
    other = trace(RECORDS, "pdfc", SplitBudget(1, 1), FAIR, x_s=0)
    assert unseeded.w != other.w
    one, two = (trace(RECORDS, "pdfc", SplitBudget(1, 1), FAIR, rng=np.random.default_rng(5)) for _ in range(2))
    assert (one.w, one.x_s) == (two.w, two.x_s)
    assert one.w == pdfc(MOMENTS, SplitBudget(1, 1), FAIR, rng=np.random.default_rng(5)).w


@pytest.mark.parametrize("mechanism", ["lr", "no_privacy", "nothing"])
def test_trace_is_refused_where_no_noise_is_added(mechanism):
    with pytest.raises(ReadingError, match="adds noise"):
        trace(RECORDS, mechanism, Budget(1), PLAIN)


def test_fit_writes_the_trace_of_its_release(run: Run, tmp_path: Path) -> None:
    arguments = (
        *SMALL,
        "--domain",
        "unit_box",
        "--mechanism",
        "pdfc",
        "--seed",
        "4",
        "--x-s",
        "0",
        "--format",
        "json",
    )
    code, plain_out, err = run("fit", *arguments)
    assert (code, err) == (EXIT_FINE, "")
    code, out, err = run("fit", *arguments, "--trace", "trace.json")
    assert (code, err, out) == (EXIT_FINE, "", plain_out)
    found = read_file(tmp_path / "trace.json", Trace)
    assert found.note == NOT_PRIVATE
    assert list(found.w or ()) == json.loads(out)["w"]
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8")) == plain(found)
    # the minimiser on what the trace says gives the same w
    moments = found.moments
    assert moments.zbar == moments.sum_z / moments.n
    assert {"shift", "zero", "singular", "ball", "ties", "x_s"} <= set(found.choices)


def test_trace_needs_one_release_of_a_mechanism_with_noise(run: Run, tmp_path: Path) -> None:
    for arguments in (
        ("--mechanism", "lr"),
        ("--mechanism", "pdfc,adfc"),
        ("--mechanism", "pdfc", "--splits", "2"),
    ):
        code, _, err = run("fit", *SMALL, *arguments, "--trace", "trace.json")
        assert (code, "trace" in err) == (EXIT_USAGE, True)
    assert not (tmp_path / "trace.json").exists()


def test_coefficients_print_by_name_and_stay_out_of_reprs():
    exact = objective(MOMENTS, PLAIN)
    lines = str(exact).splitlines()
    assert "not private" in lines[0]
    assert [float(line.rpartition("= ")[2]) for line in lines[1:]] == exact.values.tolist()
    assert lines[1].startswith(f"w[{RECORDS.domain.columns[0]}] = ")
    assert "=" not in repr(exact)
    release = trace(RECORDS, "functional", Budget(1), PLAIN, rng=1)
    assert repr(release) == "Trace(functional: not private)"


def test_minimiser_on_traced_coefficients_gives_the_traced_w():
    found = trace(RECORDS, "functional", Budget(2), PLAIN, rng=9)
    noise = functional_noise(RECORDS.domain, Budget(2), PLAIN)
    exact = objective(MOMENTS, PLAIN)
    noisy = NoisyCoefficients(exact.layout, add_noise(exact.values, noise, column(found, "unit_variate")), noise)
    assert "noisy" in str(noisy)
    assert minimise(noisy, PLAIN).w == found.w
