"""Estimators, and the small data that they are fitted to."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reference.classifier import (
    ADFCClassifier,
    FunctionalMechanismClassifier,
    LRClassifier,
    NoPrivacyClassifier,
    PDFCClassifier,
    PFLRClassifier,
    RelaxedFunctionalMechanismClassifier,
)
from reference.datasets import SOURCES
from reference.domain import Domain
from reference.domain.attributes import Numeric, OneHot

PRIVATE = [
    PDFCClassifier,
    PFLRClassifier,
    ADFCClassifier,
    FunctionalMechanismClassifier,
    RelaxedFunctionalMechanismClassifier,
]

ALL = [*PRIVATE, NoPrivacyClassifier, LRClassifier]

RANDOM = np.random.default_rng(3)

X = RANDOM.uniform(-1, 1, (120, 3))

Y = (X[:, 0] + 0.3 * RANDOM.normal(size=120) > 0).astype(int)

Z = (RANDOM.random(120) < 0.4).astype(int)


def plain(estimator=FunctionalMechanismClassifier, **parameters):
    """Return an estimator for X without a fairness term."""
    fairness = {} if estimator is LRClassifier else {"fairness": "none"}
    return estimator(**{"bounds": (-1, 1), **fairness, **parameters})


def table(name: str) -> tuple[pd.DataFrame, pd.Series, pd.Series, Domain]:
    """Return attributes, labels and groups of a data set as they were read, and its domain."""
    frame, domain = pd.DataFrame(SOURCES[name].table().columns), SOURCES[name].domain("ordinal")
    return frame.drop(columns=[domain.label, domain.group]), frame[domain.label], frame[domain.group], domain


DOMAIN = Domain((Numeric("age", 17, 90), OneHot("job", ("clerk", "nurse"))), label="income", group="sex")

FRAME = pd.DataFrame({"age": [20.0, 60.0, 40.0], "job": ["clerk", "nurse", "clerk"]})
