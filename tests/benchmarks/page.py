"""The page, the numbers and the picture that ``make bench ARGS=--write`` makes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).parents[2] / "docs"

PAGE = """# Benchmarks

How long a fit takes, beside the least that it could take. A ratio compares the processor time of two tasks on
the same data in the same round, with one BLAS thread ({cores} cores, {load}). `make bench` prints
this page, `make bench ARGS=--write` renews it.

## From arrays

A whole fit with all checks, 370,000 records of 14 numbers, in products `X.T @ X` of the same array:

{arrays}

A release from sums takes {release} times as long with hardened noise as with numpy's. Its exact privacy takes
{privacy} of a fit of {wide:,} records.

## The model to use

{repaired}

## From files

The rate of checked, exact sums, as a share of the rate at which pyarrow alone decodes the file: 14 numbers a
record, 370,000 records of text, 4,440,000 of the others, from a warm cache. "Clock" gives pyarrow one thread or
two; we use both cores. "All threads" compares processor times, with pyarrow on one thread
({files_load}).

{files}

On 26,640,000 records of whole numbers in a Parquet file, two worker processes, each with one core, are {workers}
times as fast as one by the clock, and {workers_cpu} times by the processor time of the busier worker.

## One hundred million records

{large}

## Growth

A fit takes processor time like n to the power {n} (14 numbers a record, n from {n_from:,} to {n_to:,}) and like
d to the power {d} (40,000 records, d from {d_from} to {d_to}).

![Growth of a fit in n and d](figures/growth.svg)
"""


def slope(values: Sequence[float], times: Sequence[float]) -> float:
    """Return the exponent of the power of a value that times follow: the slope of their logarithms."""
    return float(np.polyfit(np.log(values), np.log(times), 1)[0])


def table(rows: Mapping[str, Mapping[str, float]], head: str) -> str:
    lines = [f"| {head} | ratio |", "|---|---|"]
    lines += [f"| {name} | {entry['cpu']:.2f} |" for name, entry in rows.items()]
    return "\n".join(lines)


def text_of_load(found: Mapping[str, Any]) -> str:
    """Return how busy the machine was."""
    return f"load {found['load']}" + ", ahead of which `chrt -r 1` put it" * found["first"]


def table_of_files(rows: Mapping[str, Any]) -> str:
    lines = ["| file | clock, one thread | clock, two | all threads |", "|---|---|---|---|"]
    for name in ("doubles.csv", "doubles.parquet", "int16.parquet", "doubles.arrow"):
        one = rows[name]
        lines.append(f"| {name} | {one['clock']:.2f} | {one['two']:.2f} | {one['cpu']:.2f} |")
    return "\n".join(lines)


LARGE = """{records:,} records of 14 numbers in one Parquet file, each kind measured once (`python -m
tests.benchmarks.large FOLDER`), in processor time of all threads; the sums by the clock, too. Memory is what the
sums hold above an interpreter with the same modules. pyarrow decodes on one thread, and DuckDB runs the
[query](files.md) on one.

| numbers | file | load | decoding | checked, exact sums | by the clock | memory | query |
|---|---|---|---|---|---|---|---|
{rows}"""

ROW_OF_LARGE = (
    "| {kind} | {gigabytes:.1f} GB | {load} | {decoding} s | {sums} s | {clock} s | {memory} MiB | {query} |"
)


def text_of_large(found: Mapping[str, Any]) -> str:
    rows = (
        ROW_OF_LARGE.format(
            kind=kind,
            gigabytes=one["bytes"] / 1e9,
            load=one["load"],
            decoding=one["decode"]["cpu"],
            sums=one["add up"]["cpu"],
            clock=one["add up"]["wall"],
            memory=one["add up"]["mebibytes"] - one["nothing"]["mebibytes"],
            query=f"{one['query']['cpu']} s" if "query" in one else "not run",
        )
        for kind, one in found.items()
    )
    return LARGE.format(records=next(iter(found.values()))["records"], rows="\n".join(rows))


REPAIRED = """A fit of `RepairedClassifier` with hardened noise on all {records:,} records of Adult, from a pandas
table and the shipped domain file, in fits of scikit-learn's logistic regression to the same table, one-hot and
scaled, which takes {regression:.2f} s (load {load}; `python -m tests.benchmarks.repaired`):

{rows}

The whole `fit` command on the CSV file takes {command:.1f} s of processor time, start and imports included."""


def text_of_repaired(found: Mapping[str, Any]) -> str:
    lines = ["| work | ratio | seconds |", "|---|---|---|"]
    lines += [f"| {name} | {one['cpu']:.2f} | {one['seconds']:.2f} |" for name, one in found["works"].items()]
    return REPAIRED.format(
        records=found["records"],
        load=found["load"],
        regression=found["regression"]["seconds"],
        rows="\n".join(lines),
        command=found["command"]["processor_seconds"],
    )


def kept() -> dict[str, Any]:
    """Return what was measured last."""
    return dict(json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8")))


def text_of(found: Mapping[str, Any]) -> str:
    """Return the page."""
    n, d = found["growth"]["n"], found["growth"]["d"]
    return PAGE.format(
        load=text_of_load(found),
        cores=found["cores"],
        arrays=table(found["arrays"], "work"),
        release=f"{found['releases']['hardened noise']['wall']:.1f}",
        privacy=f"{found['statements']['privacy']['cpu']:.0%}",
        wide=found["statements"]["records"]["cpu"],
        repaired=text_of_repaired(found["repaired"]),
        files=table_of_files(found["files"]),
        files_load=text_of_load(found["files"]),
        workers=f"{found['workers']['two workers']['wall']:.2f}",
        workers_cpu=f"{found['workers']['two workers']['cpu']:.2f}",
        large=text_of_large(found["large"]),
        n=n["exponent"],
        n_from=n["values"][0],
        n_to=n["values"][-1],
        d=d["exponent"],
        d_from=d["values"][0],
        d_to=d["values"][-1],
    )


def write(found: Mapping[str, Any]) -> None:
    """Write the page, the numbers and the picture."""
    (DOCS / "benchmarks.md").write_text(text_of(found), encoding="utf-8")
    (DOCS / "benchmarks.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw(found["growth"], DOCS / "figures" / "growth.svg")


AXES = {"n": "records n, of 14 numbers each", "d": "numbers d in each of 40,000 records"}


def draw(growth: Mapping[str, Any], path: Path) -> None:
    """Draw both growths on logarithmic axes, with the fitted lines."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # the same bytes for the same numbers
    with matplotlib.rc_context({"svg.hashsalt": "growth", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        FigureCanvasAgg(figure)
        for place, (name, found) in enumerate(growth.items()):
            axes = figure.add_subplot(1, 2, place + 1)
            values, times = np.array(found["values"]), np.array(found["times"])
            level = np.exp(np.mean(np.log(times) - found["exponent"] * np.log(values)))
            axes.loglog(values, times, "o", color="black", label="measured")
            axes.loglog(values, level * values ** found["exponent"], color="tab:blue", label="fitted line")
            axes.set(xlabel=AXES[name], ylabel="processor time, in that of the smallest")
            axes.set_title(f"grows like {name} to the power {found['exponent']:g}", fontsize="medium")
            axes.set_xticks(values, [f"{value:,}" for value in found["values"]])
            ticks = [one for one in (0.5, 1, 2, 5, 10, 20, 50, 100) if min(times) / 2 < one < 2 * max(times)]
            axes.set_yticks(ticks, [f"{one:g}" for one in ticks])
            axes.minorticks_off()
            axes.legend(fontsize="small")
        figure.suptitle("How long a fit takes")
        figure.savefig(path, metadata={"Date": None})
