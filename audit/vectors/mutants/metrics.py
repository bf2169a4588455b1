"""Bugs of metrics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audit.vectors.mutants.broken import Broken
from audit.vectors.steps import EncodedTable
from reference.common.arrays import FloatArray
from reference.common.scores import decision_scores
from reference.fairness.metrics import Metrics


class TiesPredictedOne(Broken):
    """A score x.w of 0 is predicted 1.

    w = 0 accepts everybody; rho > 1/2 is what the paper needs.
    """

    bug_type = "EDGE_CASE"

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        # the smallest score that is not a tie is far above
        ties = decision_scores(w, table.x) == 0.0
        own = super().metrics(w, table)
        if not ties.any():
            return own
        wide = np.concatenate([table.x, ties[:, None].astype(np.float64)], axis=1)
        found = super().metrics(np.append(w, 1.0), EncodedTable(x=wide, y=table.y, z=table.z))
        return replace(found, boundary_covariance=own.boundary_covariance)


class DifferenceSigned(Broken):
    """The risk difference has a sign.

    A negative one passes every upper limit.
    """

    bug_type = "FAIRNESS"

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        found = super().metrics(w, table)
        one, zero = found.positive_rate_group_1, found.positive_rate_group_0
        return found if one is None or zero is None else replace(found, risk_difference=one - zero)


class DifferenceOfLabels(Broken):
    """The risk difference is that of the labels instead of the predictions.

    It measures the data, and no classifier can change it.
    """

    bug_type = "FAIRNESS"

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        found = super().metrics(w, table)
        if found.risk_difference is None or table.z is None:
            return found
        rates = [float(table.y[table.z == group].mean()) for group in (0.0, 1.0)]
        return replace(found, risk_difference=abs(rates[1] - rates[0]))


class UndefinedIsFair(Broken):
    """A group without members has rate 0, and the risk difference is a number.

    A data set without one of the groups is called fair or unfair.
    """

    bug_type = "EDGE_CASE"

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        found = super().metrics(w, table)
        rates = (found.positive_rate_group_0 or 0.0, found.positive_rate_group_1 or 0.0)
        return replace(
            found,
            positive_rate_group_0=rates[0],
            positive_rate_group_1=rates[1],
            risk_difference=abs(rates[1] - rates[0]),
        )


class GroupsSwapped(Broken):
    """The rates of the two groups are swapped.

    The risk difference is right, and who is favoured is not.
    """

    bug_type = "FAIRNESS"

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        found = super().metrics(w, table)
        return replace(
            found,
            positive_rate_group_0=found.positive_rate_group_1,
            positive_rate_group_1=found.positive_rate_group_0,
        )


class CovarianceNotCentred(Broken):
    """The boundary covariance is sum z x.w, without the mean of z.

    It is large wherever group 1 is.
    """

    bug_type = "FAIRNESS"

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        found, z = super().metrics(w, table), np.zeros(len(table.y)) if table.z is None else table.z
        return replace(found, boundary_covariance=float(z @ decision_scores(w, table.x)))


class CovarianceIsMean(Broken):
    """The boundary covariance is divided by the number of records.

    Not the paper's g: a sum.
    """

    bug_type = "FAIRNESS"

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        found = super().metrics(w, table)
        return replace(found, boundary_covariance=(found.boundary_covariance or 0.0) / len(table.y))


class AccuracyOfMajority(Broken):
    """The accuracy is that of predicting the more frequent label.

    It does not depend on w.
    """

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        found = super().metrics(w, table)
        return replace(found, accuracy=found.majority_accuracy)


class RateOfCorrect(Broken):
    """The positive rate counts records that are predicted 1 and have label 1.

    A classifier that is wrong is not seen to accept anybody.
    """

    def metrics(self, w: FloatArray, table: EncodedTable) -> Metrics:
        found = super().metrics(w, table)
        both = (decision_scores(w, table.x) > 0) & (table.y == 1.0)
        return replace(found, positive_rate=float(both.mean()))
