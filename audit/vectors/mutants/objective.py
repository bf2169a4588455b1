"""Bugs of coefficients and sensitivities."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from audit.vectors.mutants.broken import Broken
from audit.vectors.steps import EncodedTable
from reference.coefficients import Coefficients, Layout
from reference.common.arrays import BoolArray, FloatArray
from reference.readings import Readings
from reference.sensitivity import Setting


def _linear(found: Coefficients, change: FloatArray) -> Coefficients:
    """Return coefficients whose linear part is moved."""
    everywhere = np.pad(change, (0, len(found.values) - len(change)))
    return replace(found, values=found.values.astype(np.float64) + everywhere)


def _quadratic(found: Coefficients, factors: FloatArray) -> Coefficients:
    """Return coefficients whose quadratic part is multiplied, entry by entry."""
    d, values = found.layout.dimension, found.values.astype(np.float64)
    values[d : d + len(factors)] *= factors
    return replace(found, values=values)


def _is_off_diagonal(layout: Layout) -> BoolArray:
    rows, columns = layout.pairs
    return np.asarray(rows != columns)


class CovarianceAbsolutePerRecord(Broken):
    """The covariance is read with an absolute value around each record's term instead of the whole sum.

    The term grows where it would cancel: another objective, and twice the drift of zbar.
    """

    bug_type = "FAIRNESS"
    claims = ("O1", "F1")

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        absolute = readings.fairness == "covariance" and table.x.min() >= 0
        return super().coefficients(table, readings.with_(fairness="absolute") if absolute else readings)


class AbsoluteForgotten(Broken):
    """The covariance is read without the absolute value around each record's term.

    Records of the two groups cancel: another objective.
    """

    bug_type = "FAIRNESS"
    claims = ("O1", "F1")

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        forgotten = readings.fairness == "absolute"
        return super().coefficients(table, readings.with_(fairness="covariance") if forgotten else readings)


class ZbarIsHalf(Broken):
    """zbar is taken for 1/2, as if both groups had the same size.

    The fairness term is wrong wherever they have not.
    """

    bug_type = "FAIRNESS"

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        found = super().coefficients(table, readings)
        if table.z is None or readings.fairness == "none":
            return found
        weight, zbar, half = float(readings.fairness_weight), table.z.mean(), 0.5
        if readings.fairness == "absolute":
            terms = np.abs(table.z - half) - np.abs(table.z - zbar)
            return _linear(found, weight * terms @ table.x)
        moved = (zbar - half) * table.x.sum(axis=0)
        if readings.fairness == "covariance":
            return _linear(found, weight * moved)
        return replace(
            found, values=np.concatenate([found.values[: -len(moved)], found.values[-len(moved) :] + moved])
        )


class LabelSignWrong(Broken):
    """The linear coefficient adds y x instead of subtracting it.

    The classifier predicts the opposite.
    """

    bug_type = "BASIC"
    claims = ("O1",)

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        return _linear(super().coefficients(table, readings), 2 * table.y @ table.x)


class LabelsMinusOneAndOne(Broken):
    """Labels are -1 and 1 in a formula for 0 and 1: the linear coefficient is (1/2 - (2y - 1)) x.

    Records with label 0 count three times, and changing one moves more than the sensitivity.
    """

    bug_type = "BASIC"
    claims = ("O1",)

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        return _linear(super().coefficients(table, readings), (1 - table.y) @ table.x)


class TaylorLinearForgotten(Broken):
    """The linear term f'(0) = 1/2 of the loss is left out.

    Every weight is too large.
    """

    bug_type = "MISSING_STEP"
    claims = ("O1",)

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        return _linear(super().coefficients(table, readings), -table.x.sum(axis=0) / 2)


class TaylorFactorialForgotten(Broken):
    """The quadratic term is f''(0) = 1/4 without the division by 2!.

    Weights are half of what they are, and the sensitivity is too small.
    """

    bug_type = "SENSITIVITY"
    claims = ("O1", "L1")

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        found = super().coefficients(table, readings)
        return _quadratic(found, np.full(len(found.layout.pairs[0]), 2.0))


class CrossTermsOnce(Broken):
    """In the monomial basis w_e w_l counts one of the two entries (e, l) and (l, e).

    The objective has half of each interaction.
    """

    bug_type = "BASIC"

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        found = super().coefficients(table, readings)
        if readings.basis == "matrix":
            return found
        return _quadratic(found, np.where(_is_off_diagonal(found.layout), 0.5, 1.0))


class MatrixEntriesDoubled(Broken):
    """In the matrix basis each off-diagonal entry holds the whole of w_e w_l.

    Interactions count twice.
    """

    bug_type = "BASIC"

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        found = super().coefficients(table, readings)
        if readings.basis == "monomial":
            return found
        return _quadratic(found, np.where(_is_off_diagonal(found.layout), 2.0, 1.0))


class SizeFromData(Broken):
    """Coefficients are averages: the sums are divided by the number of records in the data.

    The number is private under add_or_remove_one, and the noise of a sum drowns an average.
    """

    bug_type = "DATA_DEPENDENT"

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        found = super().coefficients(table, readings)
        return replace(found, values=found.values / len(table.y))


class FairnessWeightIgnored(Broken):
    """alpha_1 is read and never used.

    The fairness term always has weight 1.
    """

    bug_type = "FAIRNESS"
    claims = ("L2.alpha",)

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        return super().coefficients(table, readings.with_(fairness_weight=1))


class FairnessTermForgotten(Broken):
    """The fairness term is left out of the linear coefficients.

    A private classifier that is not fair.
    """

    bug_type = "MISSING_STEP"

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        linear = readings.fairness in ("absolute", "covariance")
        return super().coefficients(table, readings.with_(fairness_weight=0) if linear else readings)


class SeparateCovarianceWeighted(Broken):
    """The covariance that is released apart is multiplied by alpha_1, which the minimiser does again.

    The weight counts twice, and the noise was calibrated to another vector.
    """

    bug_type = "FAIRNESS"

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        found = super().coefficients(table, readings)
        if readings.fairness != "separate":
            return found
        d, values = found.layout.dimension, found.values.astype(np.float64)
        values[-d:] *= float(readings.fairness_weight)
        return replace(found, values=values)


class CovarianceSignWrong(Broken):
    """The covariance is zbar - z instead of z - zbar.

    Read without an absolute value, the term makes the classifier less fair.
    """

    bug_type = "FAIRNESS"

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        found = super().coefficients(table, readings)
        if table.z is None or readings.fairness in ("none", "absolute"):
            return found
        g = (table.z - table.z.mean()) @ table.x
        if readings.fairness == "covariance":
            return _linear(found, -2 * float(readings.fairness_weight) * g)
        return replace(found, values=np.concatenate([found.values[: -len(g)], -g]))


class PairsByColumn(Broken):
    """The quadratic coefficients are listed column by column instead of row by row.

    With three coordinates or more, noise and coefficients of different monomials meet.
    """

    bug_type = "BASIC"

    def coefficients(self, table: EncodedTable, readings: Readings) -> Coefficients:
        found = super().coefficients(table, readings)
        rows, columns = found.layout.pairs
        d, order = found.layout.dimension, np.lexsort((rows, columns))
        values = found.values.astype(np.float64)
        values[d : d + len(order)] = values[d : d + len(order)][order]
        return replace(found, values=values)


class FairnessNotInSensitivity(Broken):
    """The sensitivity is that of plain logistic regression although the objective has a fairness term.

    Too little noise: d^2/4 + d where the paper has d^2/4 + 3d.
    """

    bug_type = "SENSITIVITY"
    claims = ("L2", "L4")

    def published_l1(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l1("none", dimension)

    def published_l2_squared(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l2_squared("none", dimension)


class L1ConstantOfAnotherDomain(Broken):
    """Delta_1 is the constant of records with |x|_1 <= 1, 1/4 + 1 or 1/4 + 3, whatever d is.

    Too little noise for every record of the ball or the box.
    """

    bug_type = "KNOWN_BUG"
    claims = ("L1", "L2")

    def published_l1(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l1(fairness, 1)


class SensitivityOfOneRecord(Broken):
    """Delta_1 and Delta_2 count the change of one record: half of what replacing it can change.

    Too little noise by a factor of 2 under replace_one.
    """

    bug_type = "ADJACENCY"
    claims = ("L1", "L2", "L3", "L4")

    def published_l1(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l1(fairness, dimension) / 2

    def published_l2_squared(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l2_squared(fairness, dimension) / 4


class SensitivityDoubled(Broken):
    """Delta_1 and Delta_2, which are of replaced records already, are doubled once more for replacing.

    Twice the noise that is needed.
    """

    bug_type = "ADJACENCY"
    claims = ("L1", "L2", "L3", "L4")

    def published_l1(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l1(fairness, dimension) * 2

    def published_l2_squared(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l2_squared(fairness, dimension) * 4


class FairnessCountedOnce(Broken):
    """The fairness term adds d to the sensitivity instead of 2d, as if it moved by one record's share alone.

    Too little noise: d^2/4 + 2d where the paper has d^2/4 + 3d.
    """

    bug_type = "SENSITIVITY"
    claims = ("L2", "L4")

    def published_l1(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l1(fairness, dimension) - dimension * (fairness != "none")

    def published_l2_squared(self, fairness: str, dimension: int) -> Fraction:
        # (3 d^(1/2))^2 becomes (2 d^(1/2))^2
        return super().published_l2_squared(fairness, dimension) - 5 * dimension * (fairness != "none")


class L2SquaredTwice(Broken):
    """Delta_2 is used without its root: the number under the root is taken for Delta_2.

    Far too much noise for d above 1.
    """

    bug_type = "SENSITIVITY"
    claims = ("L3", "L4")

    def published_l2_squared(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l2_squared(fairness, dimension) ** 2


class L1ForGaussian(Broken):
    """Gaussian noise is calibrated to the l1-sensitivity.

    Safe, and noisier by a factor that grows with sqrt(d).
    """

    bug_type = "SENSITIVITY"
    claims = ("L3", "L4")

    def published_l2_squared(self, fairness: str, dimension: int) -> Fraction:
        return super().published_l1(fairness, dimension) ** 2


class SupremumOfAddOrRemove(Broken):
    """The supremum over neighbours is taken over added records where one is replaced.

    Half of the change is not seen.
    """

    bug_type = "ADJACENCY"

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l1(_added(setting), weight_s, weight_n)

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l2_squared(_added(setting), weight_s, weight_n)


class AdjacenciesExchanged(Broken):
    """The supremum over neighbours is taken over replaced records where one is added, and the other way round.

    Too little noise where a record is replaced, too much where one is added.
    """

    bug_type = "ADJACENCY"

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l1(_exchanged(setting), weight_s, weight_n)

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l2_squared(_exchanged(setting), weight_s, weight_n)


def _exchanged(setting: Setting) -> Setting:
    other = "add_or_remove_one" if setting.adjacency == "replace_one" else "replace_one"
    return replace(setting, adjacency=other)


def _added(setting: Setting) -> Setting:
    return replace(setting, adjacency="add_or_remove_one")


class ZbarDoesNotMove(Broken):
    """zbar counts as a constant when the sensitivity is derived.

    One record moves zbar, and zbar moves the term of every other record.
    """

    bug_type = "SENSITIVITY"
    claims = ("L2", "L4")

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l1(_fixed(setting), weight_s, weight_n)

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l2_squared(_fixed(setting), weight_s, weight_n)


def _fixed(setting: Setting) -> Setting:
    return replace(setting, fairness="none")


class FairnessWeightNotInSensitivity(Broken):
    """alpha_1 scales the objective but not its sensitivity.

    Too little noise for alpha_1 above 1.
    """

    bug_type = "SENSITIVITY"
    claims = ("L2.alpha",)

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l1(replace(setting, fairness_weight=Fraction(1)), weight_s, weight_n)

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l2_squared(replace(setting, fairness_weight=Fraction(1)), weight_s, weight_n)


class LimitForEveryN(Broken):
    """The supremum for data sets of N records is that of the limit of large N.

    An upper bound, stated as the supremum.
    """

    bug_type = "EDGE_CASE"

    def exact_l1(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l1(replace(setting, records=None), weight_s, weight_n)

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l2_squared(replace(setting, records=None), weight_s, weight_n)


class BasisNotInSensitivity(Broken):
    """The l2-sensitivity of the monomial basis is used for the matrix basis, too.

    Each off-diagonal pair moves by 1/4 once in the one, by 1/8 twice in the other.
    """

    bug_type = "SENSITIVITY"

    def exact_l2_squared(self, setting: Setting, weight_s: Fraction, weight_n: Fraction) -> Fraction:
        return super().exact_l2_squared(replace(setting, basis="monomial"), weight_s, weight_n)


class QuadraticNotInChange(Broken):
    """The change between neighbours counts the linear coefficients only.

    The quadratic ones are released, too.
    """

    bug_type = "SENSITIVITY"

    def pair_change(self, first: Coefficients, second: Coefficients) -> FloatArray:
        found = super().pair_change(first, second).copy()
        d = first.layout.dimension
        found[d : d + len(first.layout.pairs[0])] = 0.0
        return found
