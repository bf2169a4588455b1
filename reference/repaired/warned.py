"""What to beware of in a released model, beside a shortfall: from the release alone."""

from __future__ import annotations

from collections.abc import Iterator

from reference.domain import Domain
from reference.repaired.advice import probe_warnings
from reference.repaired.expected import drawn_records
from reference.repaired.interval import encoded_groups
from reference.repaired.model import Model
from reference.repaired.shortfall import costs_of, doubt_of, doubted, perhaps_no_help

HIDDEN_GROUPS = (
    "noise hides how some groups are treated, which the card names: declare fewer and larger groups, get more "
    "records, or spend more"
)

HARDLY_ANY = 0.01
"""A model that selects at most this share by forecast, or all but this, may say the same of everybody."""

RARE = 0.2
"""A label of more than this share is not rare: then noise has drowned the model, which other warnings say."""


def noise_warnings(model: Model, domain: Domain, slack: float) -> Iterator[str]:
    """Yield what noise hides of the differences between groups, and what fairness costs without the group.

    Parameters
    ----------
    model : Model
    domain : Domain
        Of the release.
    slack : float
        For which the model was made or tuned.
    """
    doubt, drowned = doubt_of(model, domain, slack), probe_warnings(model.noise_of_probes)
    most = doubted(model, domain, slack) if drowned else None
    if most is not None:
        drowned = probe_warnings(model.noise_of_probes, most, perhaps_no_help(model, domain, most))
    if drowned or doubt:
        yield from drowned or (str(doubt),)
    elif model.cells is not None and model.cells.hidden:
        yield HIDDEN_GROUPS
    dear = costs_of(model, domain)
    if dear:
        yield dear


def rare_label_warnings(model: Model, domain: Domain) -> Iterator[str]:
    """Yield a warning where one label is rare and the model gives hardly anybody that label, by forecast.

    The forecast is for records drawn from the released counts.
    """
    drawn = drawn_records(model.counts, domain, model.n)
    z = encoded_groups(drawn.x, domain) if domain.keep_group else None
    chosen = float(model.predict(drawn.x, z).mean())
    whom, rare, few = "hardly anybody", float(drawn.target.mean()), chosen
    if chosen > 0.5:
        whom, rare, few = "nearly everybody", 1 - rare, 1 - chosen
    if few > HARDLY_ANY or rare > RARE:
        return
    apart = "" if model.fairness == "none" else ", or by `predict_proba`, which the constraint does not move"
    yield (
        f"by forecast the model selects {whom}, as about {rare:.2g} of the records have label "
        f"{int(chosen <= 0.5)}: rank by score instead{apart}"
    )
