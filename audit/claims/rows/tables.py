"""The paper's tables: impossible entries, counts of wins, and numbers and sentences with several readings."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb

from audit.claims.registry import RESULTS, Control, Finding, claim
from audit.exact.enclosures import written
from audit.exact.printed_tables import deviations, discrepancies, wins
from reference.common.balls import FIRST_BITS, Ball, at_precision, ball, ends, working_precision
from reference.experiments.printed import ENTRIES, PrintedEntry, entry

SETUP = "Section 'Simulation Setup'"

# --- E.sd -------------------------------------------------------------------------------------------------------


def is_impossible(made: PrintedEntry) -> bool:
    """Return whether an entry is impossible under both conventions and any rounding."""
    return all(
        deviations.judge(made, convention, rounding).impossible
        for convention in deviations.CONVENTIONS
        for rounding in deviations.ROUNDINGS
    )


@claim(
    "E.sd",
    "The tables give risk differences as mean +- standard deviation of 10 runs.",
    f"{SETUP}, 'Evaluation'; both tables",
    readings=(
        "standard deviation with n and with n - 1",
        "rounded to nearest, ties either way; and rounded in any way, cutting off included",
        "RD = |...| as defined: each run's value is in [0, 1]",
    ),
    symbols=("audit.exact.printed_tables.deviations", "reference.experiments.printed"),
    verdict="refuted",
    null=Control(
        "PFLR*'s entry for US at epsilon 0.01, 0.037 +- 0.038, which ten runs can have",
        lambda: is_impossible(entry(2, "us", "0.01", "pflr")),
    ),
    broken=Control(
        "PDFC's entry for US at epsilon 0.01, 0.003 +- 0.034, which they cannot",
        lambda: is_impossible(entry(2, "us", "0.01", "pdfc")),
    ),
    paper_step="'conduct 10 independent runs' and 'RD = |...|'",
    why=(
        "Ten nonnegative numbers with mean m have a standard deviation of at most 3 m (divided by n) or sqrt(10)"
        " m (by n - 1), reached when nine of them are 0. Five printed entries exceed it. A difference that may "
        "be negative has no such limit."
    ),
    repaired="Report the runs, or quantiles. If signed differences were averaged, say so.",
    advice="Do not build on these five entries.",
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


def readings_disagree(entries: tuple[PrintedEntry, ...]) -> bool:
    """Return whether "most" holds for one of PDFC, ADFC, both together and both at once, and not for another."""
    counts = [wins.count(["pdfc"], entries), wins.count(["adfc"], entries)]
    counts += [wins.count(wins.RIVALS, entries), wins.count_both(entries)]
    return len({found.is_most for found in counts}) > 1


def on_us() -> tuple[PrintedEntry, ...]:
    """Return table 1: US only."""
    return tuple(one for one in ENTRIES if one.table == 1)


def all_of_table_two() -> tuple[PrintedEntry, ...]:
    """Return table 2."""
    return tuple(one for one in ENTRIES if one.table == 2)


@claim(
    "E.wins",
    "PDFC and ADFC produce less risk difference than PFLR* in most cases of epsilon.",
    f"{RESULTS}, paragraph on the tables",
    readings=(
        (
            "a case is a data set and an epsilon; most is more than half; a tie at three decimals is no "
            "win (there is none)"
        ),
        "each alone, all comparisons together, both at once, one data set",
    ),
    symbols=("audit.exact.printed_tables.wins", "reference.experiments.printed"),
    verdict="ambiguous",
    null=Control(
        "US alone, where every comparison is won, so that all readings agree", lambda: readings_disagree(on_us())
    ),
    broken=Control(
        "both data sets together, where the readings disagree", lambda: readings_disagree(all_of_table_two())
    ),
    why=(
        "They win 9 of 16 comparisons, all 8 on US and 1 of 8 on Adult. ADFC alone wins 4 of 8, and most would "
        "need 5. The repeated table turns 4 of 8 into 8 of 12."
    ),
    repaired="On US both win at every epsilon; on Adult PDFC wins at epsilon = 1 only and ADFC nowhere.",
    advice="State the counts per data set.",
)
def wins_over_pflr() -> Finding:
    """Count under every reading."""
    counts = wins.readings()
    verdicts = {found.is_most for found in counts.values()}
    verdict = "ambiguous" if len(verdicts) > 1 else "not refuted" if verdicts == {True} else "refuted"
    return Finding(verdict, "none", {name: found.to_json() for name, found in counts.items()})


def most_are_won(data: str) -> bool:
    """Return whether PDFC and ADFC together win more than half of their comparisons on a data set."""
    return wins.count(wins.RIVALS, data=data).is_most


WINS = (
    "audit.exact.printed_tables.wins",
    "reference.experiments.printed",
)


def counted(data: str) -> dict[str, object]:
    """Return the counts on one data set, each rival alone and both together."""
    found = {name: wins.count([name], data=data) for name in wins.RIVALS}
    return {
        **{name: one.to_json() for name, one in found.items()},
        "both": wins.count(wins.RIVALS, data=data).to_json(),
    }


@claim(
    "E.wins.us",
    "On US, PDFC and ADFC produce less risk difference than PFLR* in most cases of epsilon.",
    f"{RESULTS}, paragraph on the tables; Table 1",
    readings=("as in E.wins",),
    symbols=WINS,
    verdict="exhausted",
    null=Control("the comparisons on US, most of which are won", lambda: not most_are_won("us")),
    broken=Control("the comparisons on Adult, most of which are lost", lambda: not most_are_won("adult")),
    why="They win every printed comparison on US.",
    advice="Some of these values are impossible as printed (E.sd).",
)
def wins_on_us() -> Finding:
    """Count every printed comparison on US."""
    return Finding("exhausted" if most_are_won("us") else "refuted", "none", counted("us"))


@claim(
    "E.wins.adult",
    "On Adult, PDFC and ADFC produce less risk difference than PFLR* in most cases of epsilon.",
    f"{RESULTS}, paragraph on the tables; Table 2",
    readings=("as in E.wins",),
    symbols=WINS,
    verdict="refuted",
    null=Control("the comparisons on US, most of which are won", lambda: not most_are_won("us")),
    broken=Control("the comparisons on Adult, most of which are lost", lambda: not most_are_won("adult")),
    paper_step="'It is clear that PDFC and ADFC produce less risk difference'",
    why="They win one of eight printed comparisons on Adult: PDFC at epsilon = 1.",
    repaired="They win all comparisons on US, and one of eight on Adult.",
    advice="State the counts per data set.",
)
def wins_on_adult() -> Finding:
    """Count every printed comparison on Adult."""
    return Finding("refuted" if not most_are_won("adult") else "exhausted", "none", counted("adult"))


# --- E.grid, E.dup ----------------------------------------------------------------------------------------------


@claim(
    "E.grid",
    "The results are for epsilon = {10^-2, 10^-1.5, 10^-1, 10^0, 10^0.5, 10^1}.",
    f"{SETUP}, 'Evaluation'; both tables",
    readings=(
        "the text's six values",
        "the tables' four",
        "seven evenly spaced values, which the tables' source has room for",
    ),
    symbols=("audit.exact.printed_tables.discrepancies.grid_readings", "reference.experiments.printed"),
    verdict="ambiguous",
    null=Control(
        "the tables' grid in place of the text's, so that both agree",
        lambda: not discrepancies.grid_readings(("-2", "-1", "0", "1"))["agree"],
    ),
    broken=Control(
        "the text's grid beside the tables', which differ", lambda: not discrepancies.grid_readings()["agree"]
    ),
    why=(
        "The tables lack two of the text's values, and the text's even steps lack 10^-0.5. The figures' values "
        "are not printed."
    ),
    advice="Run the seven values and report all.",
)
def grids() -> Finding:
    """Compare the grids."""
    found = discrepancies.grid_readings()
    return Finding("proved" if found["agree"] else "ambiguous", "none", found)


def repeats(entries: tuple[PrintedEntry, ...]) -> bool:
    """Return whether table 1 adds nothing to table 2."""
    return bool(discrepancies.duplicated_rows(entries)["table_1_adds_nothing"])


def with_one_digit_changed() -> tuple[PrintedEntry, ...]:
    """Return the entries with one mean of table 1 changed in its last digit."""
    first = ENTRIES[1]
    return (ENTRIES[0], replace(first, mean="0.038"), *ENTRIES[2:])


@claim(
    "E.dup",
    "Table 1 has the risk difference on US and Table 2 that on two data sets; both are called tab_result.",
    "both tables",
    readings=("one experiment on US, printed twice", "two experiments with the same result to the last digit"),
    symbols=("audit.exact.printed_tables.discrepancies.duplicated_rows", "reference.experiments.printed"),
    verdict="ambiguous",
    null=Control(
        "the tables with one digit of Table 1 changed, so that it no longer repeats Table 2",
        lambda: repeats(with_one_digit_changed()),
    ),
    broken=Control("the tables as printed, where Table 1 repeats Table 2", lambda: repeats(ENTRIES)),
    why=(
        "All sixteen entries of Table 1 stand in Table 2 again. The label is defined twice, so references mean "
        "the second."
    ),
    advice="Count the US rows once.",
)
def repeated_table() -> Finding:
    """Compare the two tables entry by entry."""
    found = discrepancies.duplicated_rows()
    return Finding("ambiguous" if found["table_1_adds_nothing"] else "proved", "none", found)


# --- E.delta, E.contra ------------------------------------------------------------------------------------------


def delta_readings_differ(delta: Fraction, slack: Fraction) -> bool:
    """Return whether sigma_s differs between the even readings of delta by more than a share, at epsilon = 1."""
    return discrepancies.sigma_between_delta_readings(Fraction(1), delta).lower > 1 + slack


@claim(
    "E.delta",
    "The captions give delta = 10^-3, for a mechanism with delta_s and delta_n.",
    "captions of both tables and of Figures 1 and 3; Algorithm 3",
    readings=(
        "delta_s = delta_n = 10^-3, total 1.999e-3",
        "total 10^-3, delta_s = delta_n = 1 - sqrt(1 - 10^-3)",
        "an uneven split, which the paper does not give",
    ),
    symbols=("audit.exact.printed_tables.discrepancies.delta_readings", "reference.budgets.SplitBudget"),
    verdict="ambiguous",
    null=Control(
        "delta = 1e-300, where the sigmas of both readings agree within a hundredth",
        lambda: delta_readings_differ(Fraction("1e-300"), Fraction(1, 100)),
    ),
    broken=Control(
        "delta = 1e-3, where they differ by more",
        lambda: delta_readings_differ(Fraction("1e-3"), Fraction(1, 100)),
    ),
    why=(
        "Theorem 5's total is nearly twice each part. If 10^-3 is the total and not a part, sigma is a few parts "
        "in a hundred larger."
    ),
    advice="Say which of the two delta is, and give the ratio epsilon_s/epsilon_n, which is not printed either.",
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
    "The results are as the text describes them.",
    f"{RESULTS}; introduction; proofs",
    readings=("each sentence at its word",),
    symbols=("audit.exact.printed_tables.discrepancies",),
    verdict="ambiguous",
    null=Control("PDFC's rows, which change with epsilon", lambda: discrepancies.constant_rows("pdfc")),
    broken=Control(
        "LR's rows, which do not, although every algorithm is said to",
        lambda: discrepancies.constant_rows("lr"),
    ),
    why="Each pair of places contradicts itself; the evidence has their lines in the source.",
    advice="Treat the numbers as the result and the sentences as comment.",
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


# --- misprints --------------------------------------------------------------------------------------------------


def sigma_as_printed(delta: Fraction, own: Fraction) -> tuple[Ball, Ball]:
    """Return sigma_s at Delta = epsilon = 1: with `delta` in its first root, as printed, and with delta_s."""

    def root(value: Fraction, extra: int = 0) -> Ball:
        log_ratio = ((ball(Fraction(2)) / arb.pi()).sqrt() / ball(value)).log()
        return (log_ratio + extra).sqrt()

    factor = ball(Fraction(2)).sqrt() / 2
    return factor * (root(delta) + root(own, 1)), factor * (root(own) + root(own, 1))


def sigma_differs(delta: Fraction, own: Fraction) -> bool:
    """Return whether the printed sigma_s certainly differs from the intended one."""
    with working_precision(FIRST_BITS):
        printed, meant = sigma_as_printed(delta, own)
        return bool(printed != meant)


MISPRINTS = (
    ("proof of Theorem 3, first display", "exp(epsilon |c - c-hat|/Delta_1)", "exp(-epsilon |c - c-hat|/Delta_1)"),
    ("proof of Theorem 3, last equality but one", "=", "<=, and on the unit ball only (T3.step)"),
    ("proof of Theorem 3, maxima", "lambda", "lambda-bar, the coefficients with the fairness term"),
    (
        "proof of Lemma 2, fourth line",
        "2 max (1/2 - y + |z - zbar|) sum x + (1/8) sum x x",
        "2 max (|1/2 - y + |z - zbar|| sum x + (1/8) sum x x), one pair of parentheses more",
    ),
    ("Theorem 2", "Y_i drawn from N(0, sigma^2 I_d)", "N(0, sigma^2)"),
    ("proof of Theorem 4, first display", "lambda-bar", "lambda: Algorithm 2 has no fairness term"),
    ("proof of Theorem 4, triangle", "|B|^2 + 2 C_1 |B|, C_1 a vector", "|B|^2 + 2 V_1 |B|"),
    (
        "proofs of Theorems 4 and 5, tail bound",
        "(sigma/(sqrt(2) r)) exp(-r^2/(2 sigma^2))",
        "(sigma/(sqrt(2 pi) r)) exp(-r^2/(2 sigma^2)); the printed one is larger, and true",
    ),
    ("proof of Theorem 5, condition on sigma_s", "log(sqrt(2/pi)/delta) in the first root", "delta_s in both"),
    ("proof of Theorem 5, bound on B''", "(d - 1)/d Delta_2", "(d - 1)/d Delta_2'; false either way (T5.step)"),
    ("proof of Theorem 5, before the tail bound", "upper bound of Pr(|V| <= ...)", "lower bound"),
    ("proof of Lemma 4, first display", "Delta_2", "Delta_2'"),
    ("equation (4)", "E[z - zbar] d(x, w)", "E[z - zbar] E[d(x, w)]"),
)
"""The place, the printed text, and what must have been meant."""


@claim(
    "misprints",
    "The formulas hold as printed.",
    "Theorem 2, equation (4), and the proofs of Lemmas 2 and 4 and Theorems 3 to 5",
    readings=("as printed", "as they must have been meant"),
    symbols=("audit.exact.proof_steps",),
    verdict="ambiguous",
    null=Control(
        "sigma_s with delta_s for the misprinted delta, as must have been meant",
        lambda: sigma_differs(Fraction("1e-3"), Fraction("1e-3")),
    ),
    broken=Control(
        "sigma_s with the total of two parts of 1e-3, 1.999e-3, for the misprinted delta",
        lambda: sigma_differs(Fraction("1.999e-3"), Fraction("1e-3")),
    ),
    why="No verdict of another row rests on a misprint: each row decides what must have been meant.",
    advice="Copy no formula from a proof of the supplement; the code's are on the paper map.",
)
def misprints() -> Finding:
    """List the misprints; compute the two that have numbers to compare."""
    box = [str(2 * Fraction(3, 2) + Fraction(1, 8)), str(2 * (Fraction(3, 2) + Fraction(1, 8)))]
    delta, own = Fraction("1.999e-3"), Fraction("1e-3")
    printed, meant = (ends(value) for value in at_precision(FIRST_BITS, lambda: sigma_as_printed(delta, own)))
    rows = [{"place": place, "printed": said, "meant": right} for place, said, right in MISPRINTS]
    evidence = {
        "misprints": rows,
        "Lemma 2's fourth line at d = 1, as printed and as meant": box,
        "sigma_s at Delta = epsilon = 1, both deltas 1e-3, as printed": written(printed.lower, printed.upper, 8),
        "as meant": written(meant.lower, meant.upper, 8),
    }
    differ = printed.upper < meant.lower and box[0] != box[1]
    return Finding("ambiguous" if differ else "undecided", "none", evidence)
