"""The paper's figures and tables redone: which of their sentences hold on real data, and under which readings.

The numbers are means over seeded runs on random splits.  A comparison counts only beyond :data:`MARGIN`, and only
for these records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from audit.claims.registry import RESULTS, Control, Finding, claim, seed
from audit.exact.printed_tables import deviations
from reference.datasets import Encoding
from reference.experiments.exhibits import EXHIBITS, LR, SMALL_EPSILON, ExhibitDesign, points, points_of_line
from reference.experiments.printed import ENTRIES, PrintedEntry, distinct_entries, entry
from reference.experiments.runner import run_all
from reference.experiments.study import RunResult, RunSpec
from reference.experiments.summaries import FIRST_RUNS, Summary
from reference.experiments.variants import DEFAULT, VARIANTS, Variant

MARGIN = 0.005
"""Difference of mean accuracies below which neither of two mechanisms counts as better."""

SAME = 0.01
"""Difference of mean accuracies up to which two mechanisms count as equal: one record in a hundred."""

SMALL = ("0.01", "0.0316228", "0.1")
"""The high privacy regime: epsilon up to 0.1."""

ON_US = (DEFAULT, "box")
ON_ADULT = (DEFAULT, "box", "intercept_group", "covariance", "separate")
"""Variants that the checks of the figures run; docs/experiments.md has more."""

MORE_RUNS = 25
"""Runs of Figure 2, whose differences are small."""

Curves = Mapping[str, Mapping[str, float]]
"""Mean accuracy by line and by epsilon or delta; a line that depends on neither has one value everywhere."""

FIGURE_SYMBOLS = (
    "reference.experiments.exhibits",
    "reference.experiments.study",
    "reference.experiments.splits",
    "reference.experiments.variants",
    "audit.claims.rows.figures.curves",
)


def curves(exhibit: str, data: str, variant: Variant, splits: int = FIRST_RUNS) -> dict[str, dict[str, float]]:
    """Return the mean accuracies of an exhibit without LR, which no sentence below mentions.

    Parameters
    ----------
    exhibit, data : str
    variant : Variant
    splits : int
        Runs of each point.
    """
    chosen = EXHIBITS[exhibit]
    chosen = replace(chosen, lines={"": tuple(line for line in chosen.lines_on(data) if line != LR)})
    shown = points(chosen, ExhibitDesign(data, variant, splits=splits, seed=seed()))
    results = run_all([spec for point in shown for spec in point.specs])
    found: dict[str, dict[str, float]] = {}
    for point in shown:
        mean = Summary(tuple(results[spec] for spec in point.specs)).summary("accuracy")["mean"]
        if mean is None:
            raise ValueError("a run has no minimum: the readings have no repair")
        place = point.epsilon if chosen.axis == "epsilon" else point.delta
        for value in chosen.grid if place is None else (place,):
            found.setdefault(point.line.name, {})[value] = mean
    return found


# --- Sentences that given curves contradict -----------------------------------------------------------


def better(first: Mapping[str, float], second: Mapping[str, float], places: Sequence[str] | None = None) -> bool:
    """Return whether a line lies above another by more than the margin at every place."""
    return all(first[place] - second[place] > MARGIN for place in places or first)


def contradicted_by_figure_1(found: Curves) -> list[str]:
    """Return the sentences on Figure 1 that do not hold."""
    relaxed, functional, none = (found[name] for name in ("relaxed", "functional mechanism", "No-Privacy"))
    failing = []
    if not better(relaxed, functional, SMALL):
        failing.append("relaxed higher than the functional mechanism in the high privacy regime")
    if not all(abs(relaxed[place] - none[place]) <= SAME for place in relaxed if place not in SMALL):
        failing.append("relaxed the same as No-Privacy for epsilon > 0.1")
    return failing


def contradicted_by_figure_2(found: Curves) -> list[str]:
    """Return the sentences on Figure 2 that do not hold."""
    relaxed, functional = found["relaxed"], found["functional mechanism"]
    largest, smallest = max(relaxed, key=float), min(relaxed, key=float)
    failing = []
    if not relaxed[largest] - relaxed[smallest] > MARGIN:
        failing.append("relaxed lower when delta decreases")
    if not better(relaxed, functional):
        failing.append("the functional mechanism lower in all cases")
    return failing


def contradicted_by_figure_3(found: Curves) -> list[str]:
    """Return the sentences on Figure 3 that do not hold, for the lines that are there."""
    baseline, failing = found["PFLR*"], []
    for name, line in found.items():
        if name.startswith("ADFC") and not better(line, baseline):
            failing.append(f"{name} better than PFLR* in all privacy regimes")
        if name.startswith("PDFC") and not better(line, baseline, SMALL):
            failing.append(f"{name} better than PFLR* when epsilon is small")
        if name.startswith(("ADFC", "PDFC", "PFLR*")) and not rises(line):
            failing.append(f"{name} becomes higher as epsilon increases")
    return failing


def rises(line: Mapping[str, float]) -> bool:
    """Return whether a line is higher at its end than at its start, and nowhere falls by more than the margin."""
    values = [line[place] for place in sorted(line, key=float)]
    return values[-1] - values[0] > MARGIN and all(after >= before - MARGIN for before, after in pairwise(values))


def figure(
    exhibit: str,
    data: str,
    failing: Callable[[Curves], list[str]],
    names: Sequence[str],
    splits: int = FIRST_RUNS,
) -> tuple[str, dict[str, Any]]:
    """Return the verdict on a figure, and curves and contradicted sentences by variant."""
    evidence, verdicts = {}, set()
    for name in names:
        found = curves(exhibit, data, VARIANTS[name], splits)
        sentences = failing(found)
        verdicts.add(bool(sentences))
        evidence[name] = {
            "does not come out": sentences,
            "mean accuracy": {line: {at: round(mean, 4) for at, mean in of.items()} for line, of in found.items()},
        }
    verdict = "ambiguous" if len(verdicts) > 1 else "refuted" if verdicts == {True} else "not refuted"
    return verdict, evidence


def as_told(**lines: str) -> dict[str, dict[str, float]]:
    """Return curves over the figures' seven epsilons from accuracies in hundredths."""
    grid = EXHIBITS["fig1"].grid
    return {
        name.replace("_", " ").replace("PFLR", "PFLR*"): {
            at: int(value) / 100 for at, value in zip(grid, text.split(), strict=True)
        }
        for name, text in lines.items()
    }


FIGURE_1_AS_TOLD = {
    **as_told(relaxed="60 66 72 78 78 78 78", functional_mechanism="50 52 60 70 76 78 78"),
    "No-Privacy": dict.fromkeys(EXHIBITS["fig1"].grid, 0.78),
}
FIGURE_3_AS_TOLD = as_told(PFLR="60 62 66 70 74 77 78", PDFC="63 64 68 70 73 75 77", ADFC="66 68 72 75 78 80 81")


@claim(
    "Fig1",
    "Figure 1 shows accuracy against epsilon on US: the relaxed mechanism is above the functional one in the high "
    "privacy regime, and the same as No-Privacy for epsilon > 0.1.",
    f"{RESULTS}, paragraph on Figure 1",
    readings=(
        "NOT THE PAPER'S TABLE: 370,000 records of the American Community Survey 2024 stand for its extract",
        "above: by more than 0.005 at each epsilon up to 0.1; the same: within 0.01 at each epsilon above it",
        "unit ball (default) and box; ordinal codes without sex and intercept; shift and trim; means of 10 runs",
    ),
    symbols=(*FIGURE_SYMBOLS, "audit.claims.rows.figures.contradicted_by_figure_1"),
    verdict="ambiguous",
    needs=("us",),
    null=Control(
        "curves drawn as the text describes them", lambda: bool(contradicted_by_figure_1(FIGURE_1_AS_TOLD))
    ),
    broken=Control(
        "the same with the functional mechanism's curve in place of the relaxed one's",
        lambda: bool(
            contradicted_by_figure_1(
                {**FIGURE_1_AS_TOLD, "relaxed": FIGURE_1_AS_TOLD["functional mechanism"]},
            )
        ),
    ),
    why=(
        "On the box, which the constants need, the figure comes out. On the unit ball, which the paper states, "
        "entries are smaller by 1/sqrt(d) under the same noise, and the relaxed mechanism is below No-Privacy at "
        "epsilon = 0.316. There the first sentence holds or fails with the seed (it fails with 1 and 2); on the "
        "box it holds with each."
    ),
    repaired="Name the domain, the encoding and n, and say from which epsilon on.",
    advice="Do not expect No-Privacy's accuracy at epsilon slightly above 0.1.",
    rerun=("python -m reference experiments fig1 --variant default,box",),
    drawn=True,
)
def figure_1() -> Finding:
    """Redo Figure 1 under the readings that matter for it."""
    verdict, evidence = figure("fig1", "us", contradicted_by_figure_1, ON_US)
    return Finding(verdict, "none", evidence)


DELTAS_AS_TOLD = {
    "relaxed": {"1e-3": 0.70, "1e-4": 0.68, "1e-5": 0.67, "1e-6": 0.66, "1e-7": 0.65},
    "functional mechanism": dict.fromkeys(EXHIBITS["fig2"].grid, 0.55),
}


@claim(
    "Fig2",
    f"Figure 2 shows accuracy against delta on US at epsilon = {SMALL_EPSILON}: the relaxed mechanism falls with "
    "delta, and the functional mechanism is considerably lower in all cases.",
    f"{RESULTS}, paragraph on Figure 2",
    readings=(
        "NOT THE PAPER'S TABLE: 370,000 records of the American Community Survey 2024 stand for its extract",
        "lower: by more than 0.005 in the mean of 25 runs",
        "unit ball (default) and box; ordinal codes without sex and intercept; shift and trim",
    ),
    symbols=(*FIGURE_SYMBOLS, "audit.claims.rows.figures.contradicted_by_figure_2"),
    verdict="ambiguous",
    needs=("us",),
    null=Control(
        "curves drawn as the text describes them", lambda: bool(contradicted_by_figure_2(DELTAS_AS_TOLD))
    ),
    broken=Control(
        "the same with a relaxed mechanism that does not depend on delta",
        lambda: bool(
            contradicted_by_figure_2({**DELTAS_AS_TOLD, "relaxed": dict.fromkeys(EXHIBITS["fig2"].grid, 0.70)})
        ),
    ),
    why=(
        "On the box the figure comes out. On the unit ball both mechanisms are close to the majority class at "
        "this epsilon, and the relaxed one does not change with delta."
    ),
    repaired="Name the domain, the encoding and n.",
    advice="Compare with the majority class first: at epsilon = 0.01 there is little else to see.",
    rerun=("python -m reference experiments fig2 --variant default,box",),
    drawn=True,
)
def figure_2() -> Finding:
    """Redo Figure 2 under the readings that matter for it."""
    verdict, evidence = figure("fig2", "us", contradicted_by_figure_2, ON_US, MORE_RUNS)
    return Finding(verdict, "none", evidence)


@claim(
    "Fig3",
    "Figure 3 shows accuracy against epsilon on Adult: ADFC is continuously better than PFLR*, and PDFC is better "
    "when epsilon is small, for each x_s; the accuracy of each algorithm becomes higher as epsilon increases.",
    f"{RESULTS}, paragraph on Figure 3",
    readings=(
        "better, higher: by more than 0.005 in the mean of 10 runs",
        "PFLR* as far as the paper describes it; epsilon_s = epsilon_n; shift and trim",
        "three fairness terms; ball and box; with and without sex and an intercept; ordinal codes",
    ),
    symbols=(*FIGURE_SYMBOLS, "audit.claims.rows.figures.contradicted_by_figure_3"),
    verdict="refuted",
    needs=("data",),
    null=Control(
        "curves drawn as the text describes them", lambda: bool(contradicted_by_figure_3(FIGURE_3_AS_TOLD))
    ),
    broken=Control(
        "the same with PFLR*'s curve in place of ADFC's",
        lambda: bool(contradicted_by_figure_3({**FIGURE_3_AS_TOLD, "ADFC": FIGURE_3_AS_TOLD["PFLR*"]})),
    ),
    why=(
        "From epsilon = 0.1 on each of them predicts the majority class on most splits, so none is better than "
        "another, and none improves. Below 0.1 PDFC is not above PFLR*, because its published Delta_1 is larger. "
        "Which lines rise depends on the seed; with none of three seeds do the comparisons with PFLR* come out."
    ),
    repaired=(
        "On Adult, with ordinal codes, all three stay at or below the majority class's accuracy, or above it by "
        "less than 0.005."
    ),
    advice="Compare accuracies with the majority class first.",
    rerun=("python -m reference experiments fig3a --variant default,box,covariance,separate",),
    drawn=True,
)
def figure_3() -> Finding:
    """Redo the three panels of Figure 3: the first under several readings, the others under the default."""
    verdict, evidence = figure("fig3a", "adult", contradicted_by_figure_3, ON_ADULT)
    for panel in ("fig3b", "fig3c"):
        evidence[panel] = figure(panel, "adult", contradicted_by_figure_3, (DEFAULT,))[1][DEFAULT]
    return Finding(verdict, "none", evidence)


# --- E.literal --------------------------------------------------------------------------------------------------

GAIN = 0.01
"""Accuracy above the majority class that would count as a gain: one record in a hundred."""


def summaries(data: str, variant: Variant, lines: Sequence[str]) -> dict[tuple[str, str | None], Summary]:
    """Return ten runs of Table 2's lines, by mechanism and epsilon."""
    exhibit = EXHIBITS["table2"]
    chosen = tuple(line for line in exhibit.lines_on(data) if line.mechanism in lines)
    shown = points(
        replace(exhibit, lines={"": chosen}), ExhibitDesign(data, variant, splits=FIRST_RUNS, seed=seed())
    )
    results: dict[RunSpec, RunResult] = run_all([spec for point in shown for spec in point.specs])
    return {
        (point.line.mechanism, point.epsilon): Summary(tuple(results[spec] for spec in point.specs))
        for point in shown
    }


def never_gains(found: Mapping[tuple[str, str | None], Summary]) -> bool:
    """Return whether no mean accuracy exceeds the majority class's by GAIN."""
    gains = [summary.summary("gain_over_majority")["mean"] for summary in found.values()]
    return all(gain is None or gain <= GAIN for gain in gains)


def baseline_never_gains() -> bool:
    """Run the instrument on the method's own objective without noise and without the fairness term."""
    return never_gains(summaries("adult", VARIANTS["no_fairness"], ("no_privacy",)))


@claim(
    "E.literal",
    "The method as written gives an accurate and fair classifier.",
    "Section 'Performance Evaluation'; abstract",
    readings=(
        "Adult, PDFC and ADFC with x_s race, the tables' four epsilons, delta 1e-3, ten random splits",
        "the objective read as `absolute`, `covariance` or `separate`; unit ball, ordinal, shift and trim",
        f"accurate: a mean accuracy above the majority class's by more than {GAIN}",
    ),
    symbols=(*FIGURE_SYMBOLS[:-1], "audit.claims.rows.figures.summaries", "audit.claims.rows.figures.never_gains"),
    verdict="refuted",
    needs=("data",),
    null=Control(
        "the same objective without noise and without the fairness term, which does gain accuracy",
        baseline_never_gains,
    ),
    broken=Control(
        "PDFC and ADFC as written, which do not",
        lambda: never_gains(summaries("adult", VARIANTS[DEFAULT], ("pdfc", "adfc"))),
    ),
    why=(
        "The noise exceeds the coefficients at these budgets, and the sum that the proofs put for the fairness "
        "term pushes every weight down. Nearly everybody is predicted the majority class, with risk difference 0."
    ),
    repaired=(
        "Report the majority class and the positive rate beside accuracy and risk difference. On 370,000 records "
        "that stand for US, `covariance` and `separate` gain over the majority class at epsilon = 1 and 10, at a "
        "lower risk difference than LR's, and `absolute` never does. With one-hot columns and sex on the box, "
        "`separate` with noise for the exact sensitivity gains at epsilon = 10 on both, on Adult 0.029 +- 0.046, "
        "and `covariance` raises the risk difference (docs/experiments.md)."
    ),
    advice="A low risk difference at a positive rate near 0 is not evidence of fairness.",
    rerun=("python -m reference experiments table2 --data adult --variant default,covariance,separate",),
    drawn=True,
)
def literal_method() -> Finding:
    """Measure gain, positive rate and risk difference of PDFC and ADFC on Adult under each fairness term."""
    evidence, silent = {}, []
    for name in (DEFAULT, "covariance", "separate"):
        private = summaries("adult", VARIANTS[name], ("pdfc", "adfc"))
        silent.append(never_gains(private))
        both = {**private, **summaries("adult", VARIANTS[name], ("no_privacy",))}
        evidence[VARIANTS[name].fairness] = [
            {"mechanism": mechanism, "epsilon": epsilon, **_shown(summary)}
            for (mechanism, epsilon), summary in both.items()
        ]
    return Finding("refuted" if all(silent) else "undecided", "none", evidence)


def _shown(summary: Summary) -> dict[str, Any]:
    names = ("gain_over_majority", "positive_rate", "risk_difference")
    means = {name: summary.summary(name)["mean"] for name in names}
    return {
        **{name: None if mean is None else round(mean, 4) for name, mean in means.items()},
        "constant predictors": f"{summary.constant} of {len(summary.results)}",
    }


# --- Tables -----------------------------------------------------------------------------------------------------


def cannot_be(entries: Sequence[PrintedEntry]) -> bool:
    """Return whether a table has an entry that no ten risk differences can have, however rounded."""
    return any(deviations.impossible_entries(convention, "any", entries) for convention in deviations.CONVENTIONS)


def without_impossible() -> tuple[PrintedEntry, ...]:
    """Return table 2 without the entries that are impossible for a divisor of n."""
    names = {judged.entry.name for judged in deviations.impossible_entries("n", "nearest")}
    return tuple(one for one in distinct_entries() if one.name not in names)


PRINTED_LR = entry(2, "adult", "1", "lr")

NEAR = (Fraction(2, 100), Fraction(1, 100))
"""Largest distances of our mean and our deviation from the printed ones."""


def lr_comes_out(encoding: Encoding, splits: int, size: int | None = None) -> dict[str, bool]:
    """Return whether LR's risk difference on Adult, or on sub-samples of it, is near the printed one.

    Without digits, since the last ones of a fit depend on the machine; docs/experiments.md has them.
    """
    design = ExhibitDesign("adult", Variant("", "", encoding), splits=splits, seed=seed(), subset_size=size)
    (point,) = points_of_line(LR, "epsilon", EXHIBITS["table2"].grid, design)
    results = run_all(point.specs)
    found = Summary(tuple(results[spec] for spec in point.specs)).summary("risk_difference")
    printed = {"mean": PRINTED_LR.exact_mean, "std": PRINTED_LR.exact_deviation}
    return {
        name: value is not None and abs(value - float(printed[name])) <= float(slack)
        for (name, value), slack in zip(found.items(), NEAR, strict=True)
    }


@claim(
    "Tables",
    "The tables give the risk difference against epsilon on Adult and US, as mean and standard deviation of 10 "
    "runs.",
    "both tables",
    readings=(
        "RD = |...| as defined: each run's value is in [0, 1]; rounded in any way, divisor n or n - 1",
        "LR on Adult: ordinal codes, with an intercept and with sex among the features",
    ),
    symbols=(
        *FIGURE_SYMBOLS[:-1],
        "reference.experiments.printed",
        "audit.exact.printed_tables.deviations",
        "audit.claims.rows.figures.lr_comes_out",
    ),
    verdict="refuted",
    needs=("data",),
    null=Control("Table 2 without its five impossible entries", lambda: cannot_be(without_impossible())),
    broken=Control("both tables as printed", lambda: cannot_be(ENTRIES)),
    paper_step="'mean values and standard deviation values', 10 runs",
    why=(
        "Five entries have a deviation that ten nonnegative numbers of that mean cannot have (E.sd). LR's mean on "
        "Adult comes out; its deviation of 0.049 does so only on samples of about a thousand records."
    ),
    repaired="Our means and deviations stand beside the printed ones in docs/experiments.md.",
    advice="Do not compare with the printed tables; rerun the baseline.",
    rerun=("python -m reference experiments table2 --splits 50", "python -m audit claims --claim E.sd"),
    drawn=True,
)
def tables() -> Finding:
    """List the impossible entries, and measure LR on Adult and on sub-samples of it."""
    impossible = {
        f"divided by {convention}": [
            judged.entry.name for judged in deviations.impossible_entries(convention, "any")
        ]
        for convention in deviations.CONVENTIONS
    }
    nearest = Encoding(intercept=True, keep_group=True)
    few, many = FIRST_RUNS // 2, 5 * FIRST_RUNS
    evidence = {
        "impossible entries, rounded in any way": impossible,
        "LR on Adult, printed": f"{PRINTED_LR.mean} +- {PRINTED_LR.deviation}",
        "near": "mean within 0.02, std within 0.01",
        "ordinal, no intercept, no sex": lr_comes_out(Encoding(), few),
        "ordinal, intercept, sex": lr_comes_out(nearest, few),
        "the same on 500 records": lr_comes_out(nearest, many, 500),
        "the same on 1,000 records": lr_comes_out(nearest, many, 1000),
        "the same on 2,000 records": lr_comes_out(nearest, many, 2000),
    }
    return Finding("refuted" if all(impossible.values()) else "undecided", "none", evidence)
