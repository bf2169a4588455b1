"""The tables' arithmetic: impossible entries, counts, grids, the repeated table, delta, contradictions."""

from __future__ import annotations

import math
import os
import re
import statistics
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.exact.printed_tables import deviations, discrepancies, wins
from reference.experiments.printed import (
    DELTA_TABLES,
    DELTA_TEXT,
    ENTRIES,
    GRID_TABLES,
    GRID_TEXT,
    ROWS_DECLARED,
    RUNS,
    PrintedEntry,
    distinct_entries,
    entry,
)

# --- E.sd -----------------------------------------------------------------------------------------------------


def extremal_numbers(mean, count=RUNS):
    """Return numbers in [0, 1] that attain the largest variance: ones, what is left of the sum, zeros."""
    full = math.floor(count * mean)
    rest = [count * mean - full] if full < count else []
    return [Fraction(1)] * full + rest + [Fraction(0)] * (count - full - len(rest))


def variance(numbers, convention):
    return statistics.pvariance(numbers) if convention == "n" else statistics.variance(numbers)


@given(
    st.lists(st.fractions(0, 1, max_denominator=50), min_size=2, max_size=12),
    st.sampled_from(deviations.CONVENTIONS),
)
def test_no_numbers_exceed_the_largest_variance(numbers, convention):
    mean = statistics.mean(numbers)
    found = variance(numbers, convention)
    assert found <= deviations.largest_variance(mean, len(numbers), convention)
    assert found <= deviations.largest_variance(mean, len(numbers), convention, None)


@given(st.fractions(0, 1, max_denominator=1000), st.integers(2, 15), st.sampled_from(deviations.CONVENTIONS))
def test_largest_variance_is_attained(mean, count, convention):
    numbers = extremal_numbers(mean, count)
    assert len(numbers) == count
    assert all(0 <= number <= 1 for number in numbers)
    assert statistics.mean(numbers) == mean
    assert variance(numbers, convention) == deviations.largest_variance(mean, count, convention)


def test_largest_variance_of_all_grid_points_is_the_formula():
    """Every triple on a grid of sixths, exhausted."""
    best = {}
    for numbers in product([Fraction(k, 6) for k in range(7)], repeat=3):
        mean = statistics.mean(numbers)
        best[mean] = max(best.get(mean, Fraction(0)), statistics.pvariance(numbers))
    assert best == {mean: deviations.largest_variance(mean, 3, "n") for mean in best}


@given(st.fractions(0, 1, max_denominator=97), st.fractions(0, 1, max_denominator=97), st.integers(2, 12))
def test_largest_variance_over_an_interval_is_never_exceeded_inside(one, other, count):
    low, high = min(one, other), max(one, other)
    most = deviations.largest_variance_between(low, high, count)
    for k in range(21):
        assert deviations.largest_variance(low + (high - low) * Fraction(k, 20), count) <= most


IMPOSSIBLE = {
    ("adult", "0.1", "pdfc"),
    ("adult", "1", "pflr"),
    ("adult", "1", "pdfc"),
    ("us", "0.01", "pdfc"),
    ("us", "0.1", "pdfc"),
}


@pytest.mark.parametrize("convention", deviations.CONVENTIONS)
@pytest.mark.parametrize("rounding", deviations.ROUNDINGS)
def test_five_entries_are_impossible_and_four_however_they_were_rounded(convention, rounding):
    found = {
        (one.entry.data, one.entry.epsilon, one.entry.mechanism)
        for one in deviations.impossible_entries(convention, rounding)
    }
    assert found == (IMPOSSIBLE if rounding == "nearest" else IMPOSSIBLE - {("us", "0.1", "pdfc")})


def test_impossible_entries_need_more_runs():
    one = entry(2, "us", "0.01", "pdfc")
    # 0.0335/0.0035 squared is 91.6: sqrt(n) times the mean must reach the deviation
    assert deviations.runs_needed(one) == 92
    assert not deviations.judge(one, count=92).impossible
    assert deviations.judge(one, count=91).impossible
    assert deviations.runs_needed(one, most=91) is None


@pytest.mark.parametrize("one", distinct_entries(), ids=lambda one: one.name)
def test_possible_entries_have_ten_numbers_that_print_so(one):
    """The null control: for each entry that is not called impossible, numbers with that mean and deviation."""
    judged = deviations.judge(one)
    if judged.impossible:
        assert (one.data, one.epsilon, one.mechanism) in IMPOSSIBLE
        return
    # move from equal numbers towards the extreme ones until the deviation is the printed one
    mean = min(one.exact_mean + deviations.unit(one.mean) / 2, Fraction(1))
    extreme = extremal_numbers(mean)
    spread = float(statistics.stdev(extreme))
    share = min(1.0, float(one.exact_deviation) / spread)
    numbers = [float(mean) + share * (float(value) - float(mean)) for value in extreme]
    assert min(numbers) >= 0
    assert max(numbers) <= 1
    assert abs(statistics.mean(numbers) - float(one.exact_mean)) <= 0.0005 + 1e-12
    assert abs(statistics.stdev(numbers) - float(one.exact_deviation)) <= 0.0005 + 1e-12


def test_rounded_statistics_of_real_runs_are_never_called_impossible():
    """The null control with printed numbers: 4,000 sets of ten runs, many of them nearly all zero."""
    rng = np.random.default_rng(5)
    for _ in range(4000):
        runs = rng.beta(0.2, 3.0, size=RUNS) * (rng.random(RUNS) < rng.random())
        for convention, ddof in (("n", 0), ("n - 1", 1)):
            made = PrintedEntry(2, "us", "1", "pdfc", f"{runs.mean():.3f}", f"{runs.std(ddof=ddof):.3f}", 0)
            assert not deviations.judge(made, convention).impossible


def test_an_inflated_deviation_is_called_impossible():
    """The broken control: every possible entry fires once its deviation is four times its mean and more."""
    for one in distinct_entries():
        inflated = replace(one, deviation=f"{4 * float(one.mean) + 0.01:.3f}")
        assert deviations.judge(inflated).impossible


def test_upper_bound_matters_for_large_means_only():
    made = PrintedEntry(2, "us", "1", "pdfc", "0.950", "0.300", 0)
    assert deviations.judge(made).impossible
    assert not deviations.judge(made, upper=None).impossible
    assert {one.entry.name for one in deviations.impossible_entries()} == {
        one.name for one in distinct_entries() if deviations.judge(one, upper=None).impossible
    }


# --- E.wins ---------------------------------------------------------------------------------------------------


def test_wins_are_most_in_some_readings_only():
    counts = {name: (found.wins, found.cases, found.is_most) for name, found in wins.readings().items()}
    assert counts["all sixteen comparisons together"] == (9, 16, True)
    assert counts["PDFC alone"] == (5, 8, True)
    assert counts["ADFC alone"] == (4, 8, False)
    assert counts["both at once"] == (4, 8, False)
    assert counts["on Adult, both"] == (1, 8, False)
    assert counts["on US, both"] == (8, 8, True)
    assert counts["ADFC alone, repeated rows counted twice"] == (8, 12, True)
    assert counts["PDFC alone, without impossible entries"] == (2, 4, False)


def test_a_tie_is_no_win():
    baseline = entry(2, "us", "1", "pflr")
    tied = replace(baseline, mechanism="pdfc")
    found = wins.count(["pdfc"], [baseline, tied])
    assert (found.wins, found.ties, found.losses) == (0, 1, 0)
    assert not found.is_most
    assert found.could_be_most
    better = replace(tied, mean="0.068")
    assert wins.count(["pdfc"], [baseline, better]).is_most


# --- E.grid, E.dup, E.delta, E.contra -------------------------------------------------------------------------


def test_grids_of_epsilon_disagree_and_equal_grids_would_not():
    found = discrepancies.grid_readings()
    assert not found["agree"]
    assert found["only_in_text"] == ["10^(-3/2)", "10^(1/2)"]
    assert found["only_in_tables"] == []
    assert found["missing_from_an_even_grid_of_the_text"] == ["10^(-1/2)"]
    assert found["epsilons_of_an_even_grid"] == ROWS_DECLARED
    same = discrepancies.grid_readings(("-2", "-1", "0", "1"), GRID_TABLES, 4)
    assert same["agree"]
    assert same["missing_from_an_even_grid_of_the_text"] == []
    with pytest.raises(ValueError, match="not a power of ten"):
        discrepancies.exponent("0.03")


def test_table_one_repeats_table_two_and_a_changed_digit_is_seen():
    found = discrepancies.duplicated_rows()
    assert found["table_1_adds_nothing"]
    assert (found["entries_of_table_1"], found["equal_there"]) == (16, 16)
    changed = tuple(replace(one, mean="0.002") if one is ENTRIES[2] else one for one in ENTRIES)
    found = discrepancies.duplicated_rows(changed)
    assert not found["table_1_adds_nothing"]
    assert found["different_there"] == [["us", "0.01", "pdfc"]]


def test_delta_has_two_even_readings():
    each, total = discrepancies.delta_readings()
    assert each.total.lower == Fraction("0.001999")
    assert total.total.lower == Fraction("0.001")
    kept = Fraction(999, 1000)
    assert (1 - total.delta_s.upper) ** 2 <= kept <= (1 - total.delta_s.lower) ** 2
    assert total.delta_s.upper - total.delta_s.lower < Fraction(1, 10**15)
    for epsilon in ("0.01", "1", "10"):
        found = discrepancies.sigma_between_delta_readings(Fraction(epsilon))
        # a smaller delta_s needs more noise, here by a few parts in a hundred
        assert 1 < found.lower <= found.upper < Fraction(106, 100)
        assert found.upper - found.lower < Fraction(1, 10**12)


def test_rows_of_the_baseline_do_not_depend_on_epsilon_and_others_do():
    assert discrepancies.constant_rows("lr")
    assert not discrepancies.constant_rows("pdfc")


# --- Against the source ---------------------------------------------------------------------------------------


def source_lines() -> list[str]:
    path = os.environ.get("CFM_PAPER")
    if not path or not Path(path).is_file():
        pytest.skip("TRANSCRIPTION NOT COMPARED: set CFM_PAPER to the paper's LaTeX source")
    return Path(path).read_text(encoding="utf-8").split("\n")


def test_transcribed_entries_are_those_of_the_source():
    lines = source_lines()
    found, table, data = [], 0, ""
    for number, line in enumerate(lines, start=1):
        table += line.startswith("\\begin{table}")
        data = next((name for name in ("US", "Adult") if f"multirow{{7}}*{{$\\textit{{{name}}}$}}" in line), data)
        cells = re.findall(r"([0-9.]+)\s*\\pm\s*([0-9.]+)", line)
        if table and cells:
            epsilon = re.search(r"&\s*\$([0-9.]+)\s*\$", line).group(1)
            found += [
                PrintedEntry(table, data.lower(), epsilon, mechanism, mean, deviation, number)
                for mechanism, (mean, deviation) in zip(("lr", "pflr", "pdfc", "adfc"), cells, strict=True)
            ]
    assert tuple(found) == ENTRIES


def test_transcribed_grids_are_those_of_the_source():
    lines = source_lines()
    sets = re.findall(r"\\epsilon=\\\{(.*?)\\\}\$|\\delta =\\\{(.*?)\\\}\$", lines[349])
    epsilons, deltas = (next(filter(None, one)) for one in sets)
    assert tuple(str(Fraction(value)) for value in re.findall(r"10\^\{(.*?)\}", epsilons)) == GRID_TEXT
    assert tuple(re.findall(r"10\^\{(.*?)\}", deltas)) == DELTA_TEXT
    assert f"{RUNS} independent runs" in lines[349]
    for number in (317, 335, 368, 390):
        assert "delta=10^{-3}" in lines[number - 1]
    assert Fraction(DELTA_TABLES) == Fraction(1, 1000)
    assert sum("multirow{7}" in line for line in lines) == 3


def test_quoted_words_stand_in_their_lines():
    lines = source_lines()
    for contradiction in discrepancies.CONTRADICTIONS:
        for number, words in contradiction.places:
            assert words in lines[number - 1], (number, words)
