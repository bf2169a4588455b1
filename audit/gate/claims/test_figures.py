"""The sentences on the figures, and the page of the experiments against the arithmetic of the tables."""

from __future__ import annotations

import re

import pytest

from audit.claims.rows import figures
from audit.exact.printed_tables.deviations import impossible_entries
from reference.experiments import pages
from reference.experiments.exhibits import EXHIBITS
from reference.experiments.study import OK, UNBOUNDED, RunResult
from reference.experiments.summaries import Summary
from reference.fairness import Metrics

GRID = EXHIBITS["fig1"].grid


def flat(value, **changes):
    return {**dict.fromkeys(GRID, value), **changes}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(0.80, 0.79, True), (0.80, 0.796, False), (0.80, 0.80, False), (0.79, 0.80, False)],
)
def test_better_is_beyond_the_margin_at_every_place(first, second, expected):
    assert figures.better(flat(first), flat(second)) is expected
    assert figures.better(flat(first, **{"0.1": 0.0}), flat(second)) is False


def test_each_sentence_on_figure_1_can_fail_alone():
    told = figures.FIGURE_1_AS_TOLD
    assert figures.contradicted_by_figure_1(told) == []
    low = {**told, "relaxed": {**told["relaxed"], "0.316228": 0.76}}
    (sentence,) = figures.contradicted_by_figure_1(low)
    assert sentence.startswith("relaxed the same as No-Privacy")
    equal = {**told, "functional mechanism": {**told["functional mechanism"], "0.01": 0.60}}
    (sentence,) = figures.contradicted_by_figure_1(equal)
    assert sentence.startswith("relaxed higher")


def test_each_sentence_on_figure_2_can_fail_alone():
    told = figures.DELTAS_AS_TOLD
    assert figures.contradicted_by_figure_2(told) == []
    (sentence,) = figures.contradicted_by_figure_2({**told, "relaxed": dict.fromkeys(told["relaxed"], 0.7)})
    assert sentence == "relaxed lower when delta decreases"
    close = {**told, "functional mechanism": dict.fromkeys(told["relaxed"], 0.65)}
    (sentence,) = figures.contradicted_by_figure_2(close)
    assert sentence == "the functional mechanism lower in all cases"


def test_each_sentence_on_figure_3_can_fail_alone():
    told = figures.FIGURE_3_AS_TOLD
    assert figures.contradicted_by_figure_3(told) == []
    for name, place, value, words in (
        ("PDFC", "0.01", 0.60, "PDFC better than PFLR"),
        ("PDFC", "1", 0.69, "PDFC becomes higher"),
    ):
        (sentence,) = figures.contradicted_by_figure_3({**told, name: {**told[name], place: value}})
        assert sentence.startswith(words)
    close = {
        **told,
        "PFLR*": {**told["PFLR*"], "0.316228": 0.745, "1": 0.745},
        "ADFC": {**told["ADFC"], "0.316228": 0.749},
    }
    (sentence,) = figures.contradicted_by_figure_3(close)
    assert sentence.startswith("ADFC better than PFLR")


def test_a_line_that_stays_or_falls_does_not_rise():
    assert figures.rises(dict(zip(GRID, (0.6, 0.61, 0.7, 0.7, 0.699, 0.7, 0.71), strict=True)))
    assert not figures.rises(flat(0.7))
    assert not figures.rises(dict(zip(GRID, (0.6, 0.9, 0.7, 0.7, 0.7, 0.7, 0.71), strict=True)))


def runs(*gains):
    return Summary(tuple(RunResult(OK, None, Metrics(0, 0, gain, 0, None, None, None, None)) for gain in gains))


def test_gain_counts_from_one_record_in_a_hundred():
    assert figures.never_gains({("pdfc", "1"): runs(0.005, 0.014)})
    assert not figures.never_gains({("pdfc", "1"): runs(0.0), ("adfc", "1"): runs(0.005, 0.016)})
    assert figures.never_gains({("pdfc", "1"): Summary((RunResult(UNBOUNDED, None, None),))})


def test_page_names_the_impossible_entries():
    page = (pages.PAGE.parent / "findings" / "impossible-entries.md").read_text(encoding="utf-8")
    names = {judged.entry.name for judged in impossible_entries()}
    assert names == {
        "table 2, adult, epsilon 0.1, pdfc",
        "table 2, adult, epsilon 1, pflr",
        "table 2, adult, epsilon 1, pdfc",
        "table 2, us, epsilon 0.01, pdfc",
        "table 2, us, epsilon 0.1, pdfc",
    }
    assert set(re.findall(r"table 2, \w+, epsilon [\d.]+, \w+", page)) == names
    always = [{judged.entry.name for judged in impossible_entries(divisor, "any")} for divisor in ("n", "n - 1")]
    assert always == [names - {"table 2, us, epsilon 0.1, pdfc"}] * 2
