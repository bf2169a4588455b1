"""A release, its published statement and exact privacy loss, and the loss of many together."""

from __future__ import annotations

from reference.accounting.composition import (
    METHODS,
    Composition,
    Counted,
    Total,
    compose,
    rho_of_pure,
    zcdp_epsilon,
)
from reference.accounting.statements import (
    NOT_PRIVATE,
    ExactPrivacy,
    Privacy,
    PrivacyStatement,
    PublishedStatementWarning,
    basic_composition,
    exact_privacy,
    privacy_of,
    published_adfc,
    published_functional,
    published_pdfc,
    published_pflr,
    published_relaxed_functional,
    published_statement,
)
from reference.common.numbers import Enclosure

__all__ = [
    "METHODS",
    "NOT_PRIVATE",
    "Composition",
    "Counted",
    "Enclosure",
    "ExactPrivacy",
    "Privacy",
    "PrivacyStatement",
    "PublishedStatementWarning",
    "Total",
    "basic_composition",
    "compose",
    "exact_privacy",
    "privacy_of",
    "published_adfc",
    "published_functional",
    "published_pdfc",
    "published_pflr",
    "published_relaxed_functional",
    "published_statement",
    "rho_of_pure",
    "zcdp_epsilon",
]
