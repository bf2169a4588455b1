"""The text of ``fit``: a table of releases, and what they spend together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reference.accounting import NOT_PRIVATE, ExactPrivacy, basic_composition
from reference.commands.evaluation import Evaluation
from reference.common.documents import plain
from reference.common.numbers import decimal_above, short_text
from reference.common.page import Listing, Page
from reference.fairness.metrics import ONE_ERROR, OVER_SPLITS
from reference.fairness.private_metrics import NoisyMetric

MARK = "*"
"""Put after the name of every exact metric in a table."""


def as_text(data: str, results: Sequence[Evaluation], page: Page, *notes: str) -> str:
    """Return the results as a table, with their readings and notes."""
    exact_metrics = ("accuracy", "majority", "positive rate", "risk difference", "notes")
    table = Listing(
        f"{data}: per release",
        ("mechanism", "published", "exact epsilon", *(name + MARK for name in exact_metrics)),
        tuple(
            (
                result.releases[0].mechanism,
                _published(result),
                _exact(result),
                _with_spread(result.summary("accuracy")),
                _with_spread(result.summary("majority_accuracy")),
                _with_spread(result.summary("positive_rate")),
                _with_spread(result.summary("risk_difference"), result.sampling_error),
                _notes(result),
            )
            for result in results
        ),
    )
    return page.text(table, *_details(results), *notes)


def _details(results: Sequence[Evaluation]) -> Iterator[str]:
    """Yield what the columns mean, the readings (once for mechanisms that share them), and what was spent."""
    yield f"{MARK} {NOT_PRIVATE}."
    if any(result.sampling_error is not None for result in results):
        yield f"± after a risk difference: {ONE_ERROR}, by sampling the records measured."
    if any(len(result.releases) > 1 for result in results):
        yield f"± where there are several splits: {OVER_SPLITS}."
    yield "Published: the paper's theorem as printed."
    yield "Exact: what the noise gives over all neighbouring data sets of rows that the declared domain encodes."
    by_readings: dict[str, list[str]] = {}
    for result in results:
        first = result.releases[0]
        text = ", ".join(f"{name}={value}" for name, value in plain(first.readings).items())
        by_readings.setdefault(text, []).append(first.mechanism)
    for text, names in by_readings.items():
        yield f"Readings of {', '.join(dict.fromkeys(names))}: {text}"
    private = [result.releases[0] for result in results if result.releases[0].privacy.exact is not None]
    if any(release.readings.repair != "none" for release in private):
        yield "The repair (minimum of an indefinite objective) is not a step of the paper."
    if any(result.constant_predictors for result in results):
        yield "A constant predictor gives everyone the same label; for a model to use, take --mechanism repaired."
    elif any(map(_no_better, results)):
        yield "No better than to predict the commoner label; for a model to use, take --mechanism repaired."
    for result in results:
        yield from _spent(result)
        yield from _private_metrics(result)
    yield from _spent_on_grid(results)


def _no_better(result: Evaluation) -> bool:
    accuracy, majority = (result.summary(name)["mean"] for name in ("accuracy", "majority_accuracy"))
    private = result.releases[0].privacy.exact is not None
    return private and accuracy is not None and majority is not None and accuracy <= majority


def _spent_on_grid(results: Sequence[Evaluation]) -> Iterator[str]:
    """Yield what a mechanism run for several epsilons has spent in all."""
    by_name: dict[str, list[Evaluation]] = {}
    for result in results:
        by_name.setdefault(result.releases[0].mechanism, []).append(result)
    for name, found in by_name.items():
        if len(found) > 1:
            count = sum(len(result.releases) for result in found)
            totals = {
                "published": [r.composed if r.private is None else r.private.published for r in found],
                "exact": [r.composed_exact if r.private is None else r.private.exact for r in found],
            }
            for kind, total in ((kind, basic_composition(parts)) for kind, parts in totals.items()):
                if total is not None:
                    spent = f"({short_text(total.epsilon)}, {short_text(total.delta)})"
                    yield f"{name}: all {count} releases of the grid compose to {spent} ({kind})"


def _private_metrics(result: Evaluation) -> Iterator[str]:
    """Yield the private metrics, with what fits and metrics spend together."""
    private, name = result.private, result.releases[0].mechanism
    if private is None:
        return
    for metrics in private.metrics:
        if metrics is None:
            yield f"{name}: private metrics: none, as there is no w"
            continue
        parts = [f"accuracy {_with_interval(metrics.accuracy)}"]
        if metrics.risk_difference is not None:
            parts.append(f"risk difference {_with_interval(metrics.risk_difference)}")
        level = f"significance {float(metrics.significance):g}"
        yield f"{name}: private metrics ({short_text(metrics.privacy.epsilon)}, 0): {', '.join(parts)}; {level}"
    where = "the training records: both budgets add up" if private.same_records else "held-out records"
    for kind, total in (("published", private.published), ("exact", private.exact)):
        if total is not None:
            spent = f"({short_text(decimal_above(total.epsilon, 6))}, {short_text(total.delta)})"
            yield f"{name}: fits and private metrics, on {where}, compose to {spent} ({kind})"


def _with_interval(metric: NoisyMetric) -> str:
    estimate = "-" if metric.estimate is None else f"{metric.estimate:.4f}"
    return f"{estimate} in [{metric.lower:.4f}, {metric.upper:.4f}]"


def _spent(result: Evaluation) -> Iterator[str]:
    releases, first = result.releases, result.releases[0]
    if first.x_s is not None:
        yield f"{first.mechanism}: x_s = {', '.join(sorted({str(release.x_s) for release in releases}))}"
    if first.privacy.norm_domain != first.privacy.exact:
        worst = _worst([release.privacy.norm_domain for release in releases])
        yield f"{first.mechanism}: over all rows of the {first.readings.domain}: epsilon at most {worst}"
    for kind, total in (("published", result.composed), ("exact", result.composed_exact)):
        if len(releases) > 1 and total is not None:
            spent = f"({short_text(total.epsilon)}, {short_text(total.delta)})"
            yield f"{first.mechanism}: {len(releases)} releases compose to {spent} by basic composition ({kind})"
    if first.w is not None and len(releases) == 1:
        named = zip(first.columns, first.w, strict=True)
        yield f"{first.mechanism}: w = " + ", ".join(f"{name}={value:.4g}" for name, value in named)


def _published(result: Evaluation) -> str:
    """Return the statement with its claim, or say why there is none."""
    stated = {release.privacy.published for release in result.releases}
    if len(stated) > 1:
        return "none for some: x_s is part of an attribute"
    statement = stated.pop()
    if statement is not None:
        return f"{statement.claim}: ({short_text(statement.epsilon)}, {short_text(statement.delta)})"
    first = result.releases[0]
    if first.privacy.exact is None:
        return "not private"
    if first.readings.rows_per_person > 1:
        return "none: the paper's neighbours differ in one record"
    if first.readings.sensitivity != "published":
        return "none: the sensitivity is not the paper's"
    return "none: x_s is part of an attribute"


def _exact(result: Evaluation) -> str:
    """Return the worst exact epsilon of the releases, rounded up, with the delta it belongs to."""
    return _worst([release.privacy.exact for release in result.releases])


def _worst(stated: Sequence[ExactPrivacy | None]) -> str:
    known = [exact for exact in stated if exact is not None]
    if not known:
        return "infinite"
    worst = max(known, key=lambda exact: exact.epsilon.upper)
    epsilon = short_text(decimal_above(worst.epsilon.upper, 6))
    return epsilon if worst.at_delta == 0 else f"{epsilon} at {short_text(worst.at_delta)}"


def _with_spread(summary: dict[str, float | None], error: float | None = None) -> str:
    """Return a mean with the deviation over splits, or the standard error of a single one."""
    if summary["mean"] is None:
        return "-"
    spread = error if summary["std"] is None else summary["std"]
    return f"{summary['mean']:.4f}" + ("" if spread is None else f" ± {spread:.4f}")


def _notes(result: Evaluation) -> str:
    splits = len(result.releases)
    unbounded = sum(release.status == "unbounded" for release in result.releases)
    notes = []
    if any(release.privacy.exact and release.privacy.exact.verdict == "refuted" for release in result.releases):
        notes.append("PUBLISHED STATEMENT IS FALSE")
    if unbounded:
        notes.append(f"no minimum in {unbounded} of {splits}")
    if zero := sum(release.w is not None and not any(release.w) for release in result.releases):
        notes.append(f"w is 0 in {zero} of {splits}")
    if result.constant_predictors:
        notes.append(f"constant predictor in {result.constant_predictors} of {splits}")
    if result.releases[0].seeded:
        notes.append("seeded: for study")
    elif result.releases[0].readings.noise == "numpy" and result.releases[0].privacy.exact is not None:
        notes.append("numpy noise: for study")
    return "; ".join(notes)
