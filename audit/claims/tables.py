"""The paper's tables: impossible entries, who wins how often, and numbers and sentences with several readings."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from audit.claims.registry import Control, Finding, claim
from audit.enclosures import written
from audit.tables import deviations, discrepancies, wins
from reference.experiments.printed import ENTRIES, Entry, entry

RESULTS = "Section 'Results and Analysis'"
SETUP = "Section 'Simulation Setup'"

# --- E.sd -------------------------------------------------------------------------------------------------------


def is_impossible(made: Entry) -> bool:
    """Tell whether an entry is impossible under both conventions and any rounding."""
    return all(
        deviations.judge(made, convention, rounding).impossible
        for convention in deviations.CONVENTIONS
        for rounding in deviations.ROUNDINGS
    )


@claim(
    "E.sd",
    "risk differences as mean +- standard deviation of 10 runs",
    f"{SETUP}, 'Evaluation'; both tables",
    readings=(
        "standard deviation with n and with n - 1",
        "rounded to nearest, ties either way; and rounded in any way, cutting off included",
        "RD = |...| as defined: each run's value is in [0, 1]",
    ),
    symbols=("audit.tables.deviations", "reference.experiments.printed"),
    verdict="refuted",
    null=Control("US, epsilon 0.01, PFLR*: 0.037 +- 0.038", lambda: is_impossible(entry(2, "us", "0.01", "pflr"))),
    broken=Control(
        "US, epsilon 0.01, PDFC: 0.003 +- 0.034", lambda: is_impossible(entry(2, "us", "0.01", "pdfc"))
    ),
    paper_step="'conduct 10 independent runs' and 'RD = |...|'",
    why=(
        "ten nonnegative numbers with mean m have a standard deviation of at most 3 m (n) or sqrt(10) "
        "m (n - 1), reached "
        "when nine are 0; a difference that may be negative has no such limit"
    ),
    repaired="report the runs, or quantiles; if signed differences were averaged, say so",
    advice="do not build on these five entries",
)
def impossible_deviations() -> Finding:
    """List the impossible entries for every convention and rounding, with the runs that they would need."""
    found = {
        f"divided by {convention}, rounding {rounding}": [
            judged.to_json() for judged in deviations.impossible_entries(convention, rounding)
        ]
        for convention in deviations.CONVENTIONS
        for rounding in deviations.ROUNDINGS
    }
    refuted = all(found.values())
    return Finding("refuted" if refuted else "not refuted", "none", found)


# --- E.wins -----------------------------------------------------------------------------------------------------


def readings_disagree(entries: tuple[Entry, ...]) -> bool:
    """Tell whether "most" holds for one of PDFC, ADFC, both together and both at once, and not for another."""
    counts = [wins.count(["pdfc"], entries), wins.count(["adfc"], entries)]
    counts += [wins.count(wins.RIVALS, entries), wins.count_both(entries)]
    return len({found.is_most for found in counts}) > 1


def on_us() -> tuple[Entry, ...]:
    """Return table 1: US only."""
    return tuple(one for one in ENTRIES if one.table == 1)


def all_of_table_two() -> tuple[Entry, ...]:
    """Return table 2."""
    return tuple(one for one in ENTRIES if one.table == 2)


@claim(
    "E.wins",
    "PDFC and ADFC produce less risk difference than PFLR* in most cases of epsilon",
    f"{RESULTS}, paragraph on the tables",
    readings=(
        (
            "a case is a data set and an epsilon; most is more than half; a tie at three decimals is no "
            "win (there is none)"
        ),
        "each alone, all comparisons together, both at once, one data set",
    ),
    symbols=("audit.tables.wins", "reference.experiments.printed"),
    verdict="ambiguous",
    null=Control("US alone, where every comparison is won", lambda: readings_disagree(on_us())),
    broken=Control("both data sets", lambda: readings_disagree(all_of_table_two())),
    why=(
        "9 of 16 comparisons are won, all 8 on US and 1 of 8 on Adult; ADFC alone wins 4 of 8, and "
        "most would need 5; the "
        "repeated table turns 4 of 8 into 8 of 12"
    ),
    repaired="on US both win at every epsilon; on Adult PDFC wins at epsilon = 1 only and ADFC nowhere",
    advice="state the counts per data set",
)
def wins_over_pflr() -> Finding:
    """Count under every reading."""
    counts = wins.readings()
    verdicts = {found.is_most for found in counts.values()}
    verdict = "ambiguous" if len(verdicts) > 1 else "not refuted" if verdicts == {True} else "refuted"
    return Finding(verdict, "none", {name: found.to_json() for name, found in counts.items()})


# --- E.grid, E.dup ----------------------------------------------------------------------------------------------


@claim(
    "E.grid",
    "epsilon = {10^-2, 10^-1.5, 10^-1, 10^0, 10^0.5, 10^1}",
    f"{SETUP}, 'Evaluation'; both tables",
    readings=(
        "the text's six values",
        "the tables' four",
        "seven evenly spaced values, which the tables' source has room for",
    ),
    symbols=("audit.tables.discrepancies.grid_readings", "reference.experiments.printed"),
    verdict="ambiguous",
    null=Control(
        "twice the tables' grid",
        lambda: not discrepancies.grid_readings(("-2", "-1", "0", "1"))["agree"],
    ),
    broken=Control("the text's grid and the tables'", lambda: not discrepancies.grid_readings()["agree"]),
    why=(
        "the tables lack two of the text's values, and the text's even steps lack 10^-0.5; the figures' "
        "values are not printed"
    ),
    advice="run the seven values and report all",
)
def grids() -> Finding:
    """Compare the grids."""
    found = discrepancies.grid_readings()
    return Finding("proved" if found["agree"] else "ambiguous", "none", found)


def repeats(entries: tuple[Entry, ...]) -> bool:
    """Tell whether table 1 adds nothing to table 2."""
    return bool(discrepancies.duplicated_rows(entries)["table_1_adds_nothing"])


def with_one_digit_changed() -> tuple[Entry, ...]:
    """Return the entries with one mean of table 1 changed in its last digit."""
    first = ENTRIES[1]
    return (ENTRIES[0], replace(first, mean="0.038"), *ENTRIES[2:])


@claim(
    "E.dup",
    "Table 1 (risk difference on US) and Table 2 (on two data sets), both called tab_result",
    "both tables",
    readings=("one experiment on US, printed twice", "two experiments with the same result to the last digit"),
    symbols=("audit.tables.discrepancies.duplicated_rows", "reference.experiments.printed"),
    verdict="ambiguous",
    null=Control("the tables with one digit of Table 1 changed", lambda: repeats(with_one_digit_changed())),
    broken=Control("the tables as printed", lambda: repeats(ENTRIES)),
    why=(
        "all sixteen entries of Table 1 stand in Table 2 again; the label is defined twice, so references "
        "mean the second"
    ),
    advice="count the US rows once",
)
def repeated_table() -> Finding:
    """Compare the two tables entry by entry."""
    found = discrepancies.duplicated_rows()
    return Finding("ambiguous" if found["table_1_adds_nothing"] else "proved", "none", found)


# --- E.delta, E.contra ------------------------------------------------------------------------------------------


def delta_readings_differ(delta: Fraction, slack: Fraction) -> bool:
    """Tell whether sigma_s differs between the two even readings of delta by more than a share, at epsilon = 1."""
    return discrepancies.sigma_between_delta_readings(Fraction(1), delta).lower > 1 + slack


@claim(
    "E.delta",
    "delta = 10^-3 in the captions, for a mechanism with delta_s and delta_n",
    "captions of both tables and of Figures 1 and 3; Algorithm 3",
    readings=(
        "delta_s = delta_n = 10^-3, total 1.999e-3",
        "total 10^-3, delta_s = delta_n = 1 - sqrt(1 - 10^-3)",
        "an uneven split, which the paper does not give",
    ),
    symbols=("audit.tables.discrepancies.delta_readings", "reference.budgets.SplitBudget"),
    verdict="ambiguous",
    null=Control(
        "at delta = 1e-300 the readings' sigmas agree within a hundredth",
        lambda: delta_readings_differ(Fraction("1e-300"), Fraction(1, 100)),
    ),
    broken=Control(
        "at delta = 1e-3 they differ by more", lambda: delta_readings_differ(Fraction("1e-3"), Fraction(1, 100))
    ),
    why=(
        "the total of Theorem 5 is twice the parts, nearly; the second reading's sigma is a few parts in "
        "a hundred larger"
    ),
    advice="say which of the two delta is, and the ratio epsilon_s/epsilon_n, which is not printed either",
)
def split_of_delta() -> Finding:
    """Enclose the parts, the totals and the ratio of sigmas under the two even readings."""
    ratios = {}
    for epsilon in ("0.01", "1", "10"):
        found = discrepancies.sigma_between_delta_readings(Fraction(epsilon))
        ratios[f"epsilon {epsilon}"] = written(found.lower, found.upper, 8)
    rows = [reading.to_json() for reading in discrepancies.delta_readings()]
    differ = delta_readings_differ(Fraction("1e-3"), Fraction(1, 100))
    return Finding(
        "ambiguous" if differ else "undecided", "none", {"readings": rows, "sigma, second over first": ratios}
    )


@claim(
    "E.contra",
    "the results as the text describes them",
    f"{RESULTS}; introduction; proofs",
    readings=("each sentence at its word",),
    symbols=("audit.tables.discrepancies",),
    verdict="ambiguous",
    null=Control("PDFC's rows, which depend on epsilon", lambda: discrepancies.constant_rows("pdfc")),
    broken=Control(
        "LR's rows, although every algorithm is said to change with epsilon",
        lambda: discrepancies.constant_rows("lr"),
    ),
    why="pairs of places that cannot both be taken at their word, with the lines of the source",
    advice="treat the numbers as the result and the sentences as comment",
)
def contradictions() -> Finding:
    """List the pairs of places, with the facts that a program can count."""
    adult = wins.count(wins.RIVALS, data="adult")
    evidence = {
        "pairs": [pair.to_json() for pair in discrepancies.CONTRADICTIONS],
        "LR's rows do not depend on epsilon": discrepancies.constant_rows("lr"),
        "comparisons that PFLR* wins on Adult": f"{adult.losses} of {adult.cases}",
    }
    contradicted = discrepancies.constant_rows("lr") and adult.losses > adult.wins
    return Finding("ambiguous" if contradicted else "undecided", "none", evidence)
