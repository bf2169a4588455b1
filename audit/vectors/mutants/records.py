"""Bugs of domains and encoding."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.vectors.mutants.broken import Broken
from audit.vectors.steps import Answer, EncodedTable, Steps, floats
from reference.common.arrays import FloatArray
from reference.records import check_matrix


def _map_values(inputs: Answer, change: Any) -> Answer:
    """Return a case whose raw values are changed: `change` takes the text, the kind and the two bounds."""
    if inputs["encoded"] == "1":
        return inputs
    declared = list(zip(inputs["kinds"], inputs["lower"], inputs["upper"], strict=True))
    rows = [[change(text, *ends) for text, ends in zip(row, declared, strict=True)] for row in inputs["rows"]]
    return inputs | {"rows": rows}


def _moved(change: Any) -> Any:
    """Return a change of numeric values only, in floats; values that are not finite stay."""

    def changed(text: str, kind: str, lower: str, upper: str) -> str:
        if kind != "numeric" or "N" in text or "I" in text:
            return text
        value, low, high = floats([text, lower, upper])
        return repr(float(change(value, low, high)))

    return changed


def _is_ball(inputs: Answer) -> bool:
    return bool(inputs["norm"] != "unit_box" and inputs["encoded"] == "0")


def _counted(inputs: Answer) -> int:
    return len(inputs["kinds"]) + int(inputs["intercept"] == "1") + int(inputs["keepGroup"] == "1")


def _rescaled(table: EncodedTable, factor: float) -> EncodedTable:
    return EncodedTable(x=table.x * factor, y=table.y, z=table.z)


def _with_one_not_counted(table: EncodedTable, inputs: Answer) -> EncodedTable:
    """Return records as long as if one attribute fewer were counted when they are scaled into the ball."""
    count = _counted(inputs)
    return _rescaled(table, float(np.sqrt(count / (count - 1))))


class LowerBoundSubtractedTwice(Broken):
    """The lower bound is subtracted twice when a value is moved to [0, 1].

    Values pile up at 0 where the lower bound is positive; nothing is seen while it is 0.
    """

    bug_type = "KNOWN_BUG"
    links = ("https://github.com/IBM/differential-privacy-library/issues/105",)

    def encode(self, inputs: Answer) -> EncodedTable:
        moved = _map_values(inputs, _moved(lambda v, low, high: v - low if low <= v <= high else v))
        if moved is inputs or _is_outside(inputs):
            return super().encode(inputs)
        # clips what the bug moves out of bounds
        return super().encode(moved | {"clip": "1"})


def _is_outside(inputs: Answer) -> bool:
    """Return whether a finite numeric value is beyond its bounds."""
    return any(
        kind == "numeric" and "N" not in text and "I" not in text and not low <= floats([text])[0] <= high
        for row in inputs["rows"]
        for text, kind, low, high in zip(
            row, inputs["kinds"], floats(inputs["lower"]), floats(inputs["upper"]), strict=True
        )
    )


class BoundsFromData(Broken):
    """The bounds of an attribute are the data's smallest and largest value.

    One record moves all others: the sensitivity holds no more, and the bounds leak.
    """

    bug_type = "DATA_DEPENDENT"

    def encode(self, inputs: Answer) -> EncodedTable:
        if inputs["encoded"] == "1":
            return super().encode(inputs)
        table = super().encode(inputs)
        columns = [floats(list(column)) for column in zip(*inputs["rows"], strict=True)]
        lower, upper = list(inputs["lower"]), list(inputs["upper"])
        for index, (kind, column) in enumerate(zip(inputs["kinds"], columns, strict=True)):
            if kind == "numeric" and min(column) < max(column):
                lower[index], upper[index] = repr(min(column)), repr(max(column))
        changed = inputs | {"lower": lower, "upper": upper}
        return super().encode(changed) if changed != inputs else table


class NormFromData(Broken):
    """Records are divided by the largest norm in the data instead of a public constant.

    One long record shrinks all others: unbounded influence on every coefficient.
    """

    bug_type = "DATA_DEPENDENT"

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        longest = float(np.linalg.norm(table.x, axis=1).max())
        return _rescaled(table, 1 / longest) if _is_ball(inputs) and longest > 0 else table


class LabelsFromData(Broken):
    """Labels are numbered in the order in which they occur among the sorted values.

    Data in which everybody has label 1 are read as label 0; a rare label renumbers the others.
    """

    bug_type = "DATA_DEPENDENT"

    def labels(self, inputs: Answer) -> list[float]:
        found = super().labels(inputs)
        known = sorted(set(found))
        return [float(known.index(value)) for value in found] if set(known) <= {0.0, 1.0} else found


class LabelsNotChecked(Broken):
    """A label that is neither 0 nor 1 counts as 1 when it is positive and as 0 otherwise.

    Labels of -1 and 1, or a third class, pass without a word.
    """

    bug_type = "MALFORMED"

    def labels(self, inputs: Answer) -> list[float]:
        return [1.0 if value > 0 else 0.0 for value in super().labels(inputs)]


class GroupsNotChecked(Broken):
    """A group that is neither 0 nor 1 counts as 1 when it is positive and as 0 otherwise.

    A third group is merged into one of the two, and the fairness term speaks of other people.
    """

    bug_type = "MALFORMED"

    def encode(self, inputs: Answer) -> EncodedTable:
        groups = [str(int(value > 0)) for value in floats(inputs.get("z", []))]
        return super().encode(inputs | ({"z": groups} if "z" in inputs else {}))


class NanPassesClipping(Broken):
    """NaN passes through clipping, because both of its comparisons are false, and becomes the lower bound.

    A missing value is somebody's made-up value; elsewhere the NaN reaches every coefficient.
    """

    bug_type = "KNOWN_BUG"

    def encode(self, inputs: Answer) -> EncodedTable:
        if inputs.get("clip") != "1":
            return super().encode(inputs)
        return super().encode(_map_values(inputs, lambda text, _kind, low, _high: low if text == "NaN" else text))


class NanEntersAsZero(Broken):
    """NaN counts as the lower bound, with clipping and without.

    Missing values are invented without a word.
    """

    bug_type = "MALFORMED"

    def encode(self, inputs: Answer) -> EncodedTable:
        if inputs["encoded"] == "1":
            return super().encode(
                inputs | {"rows": [["0" if t == "NaN" else t for t in r] for r in inputs["rows"]]}
            )
        return super().encode(_map_values(inputs, lambda text, _kind, low, _high: low if text == "NaN" else text))


class InfinityClipped(Broken):
    """An infinite value is clipped to a bound instead of being refused.

    An overflow upstream becomes a plausible record.
    """

    bug_type = "MALFORMED"

    def encode(self, inputs: Answer) -> EncodedTable:
        if inputs.get("clip") != "1":
            return super().encode(inputs)
        ends = {"Infinity": 1, "-Infinity": 0}
        return super().encode(
            _map_values(inputs, lambda t, _kind, low, high: (low, high)[ends[t]] if t in ends else t)
        )


class ClippedWithoutAsking(Broken):
    """A value outside the declared bounds is clipped although nobody asked for it.

    A wrong declaration is never noticed.
    """

    bug_type = "MALFORMED"

    def encode(self, inputs: Answer) -> EncodedTable:
        return super().encode(inputs | {"clip": "1"})


class ClippingIgnoresLower(Broken):
    """Clipping knows the upper bound only, and leaves negative coordinates.

    A value far below its bound moves the coefficients without limit.
    """

    bug_type = "SENSITIVITY"

    def encode(self, inputs: Answer) -> EncodedTable:
        if inputs.get("clip") != "1":
            return super().encode(inputs)
        table = super().encode(inputs)
        for row, texts in enumerate(inputs["rows"]):
            for column, text in enumerate(texts):
                value, low, high = floats([text, inputs["lower"][column], inputs["upper"][column]])
                if value < low:
                    table.x[row, column] = (value - low) / (high - low)
        return table


class InterceptAddedAfterNorm(Broken):
    """The constant 1 of the intercept is added after the records were scaled into the ball.

    The norm of a record is up to sqrt(2), and every sensitivity is too small.
    """

    bug_type = "SENSITIVITY"
    claims = ("L1",)

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        if not _is_ball(inputs) or inputs["intercept"] == "0":
            return table
        table = _with_one_not_counted(table, inputs)
        table.x[:, 0] = 1.0
        return table


class ColumnsCounted(Broken):
    """The scale into the ball counts columns where it may count attributes: one-hot columns count one each.

    Records are shorter than they may be: too much noise for the same privacy.
    """

    bug_type = "BASIC"

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        if not _is_ball(inputs):
            return table
        return _rescaled(table, float(np.sqrt(_counted(inputs) / table.x.shape[1])))


class KeptGroupNotCounted(Broken):
    """The group among the features is not counted when records are scaled into the ball.

    Records of group 1 are longer than 1.
    """

    bug_type = "SENSITIVITY"

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        if not _is_ball(inputs) or inputs["keepGroup"] == "0":
            return table
        return _with_one_not_counted(table, inputs)


class InterceptNotCounted(Broken):
    """The intercept is not counted when records are scaled into the ball.

    The norm of a record is up to sqrt(2), and every sensitivity is too small.
    """

    bug_type = "SENSITIVITY"
    claims = ("L1",)

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        if not _is_ball(inputs) or inputs["intercept"] == "0":
            return table
        return _with_one_not_counted(table, inputs)


class InterceptForgotten(Broken):
    """The column of the intercept is missing, though it is counted when records are scaled into the ball.

    The classifier has no intercept, and d is smaller than declared.
    """

    bug_type = "MISSING_STEP"

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        if inputs["encoded"] == "1" or inputs["intercept"] == "0":
            return table
        return EncodedTable(x=table.x[:, 1:], y=table.y, z=table.z)


class NotScaledIntoBall(Broken):
    """Attributes are moved to [0, 1], but not divided by the root of their number.

    The norm of a record is up to sqrt(d) where the lemmas assume 1.
    """

    bug_type = "MISSING_STEP"
    claims = ("L1", "L2")

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        return _rescaled(table, float(np.sqrt(_counted(inputs)))) if _is_ball(inputs) else table


class DividedByNumber(Broken):
    """Attributes are divided by their number instead of its root.

    Safe, and the signal is smaller by a factor of sqrt(d) than it may be.
    """

    bug_type = "BASIC"

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        return _rescaled(table, 1 / float(np.sqrt(_counted(inputs)))) if _is_ball(inputs) else table


class BoxScaledIntoBall(Broken):
    """Records of the unit box are divided as those of the ball are.

    The declared box and its sensitivities speak of other records.
    """

    bug_type = "BASIC"

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        scaled = inputs["norm"] == "unit_box" and inputs["encoded"] == "0"
        return _rescaled(table, 1 / float(np.sqrt(_counted(inputs)))) if scaled else table


class OrdinalByNumber(Broken):
    """The rank of an ordinal category is divided by the number of categories instead of the highest rank.

    The highest category is not 1.
    """

    bug_type = "BASIC"

    def encode(self, inputs: Answer) -> EncodedTable:
        return _columns_times(super().encode(inputs), inputs, "ordinal", 2 / 3)


def _columns_times(table: EncodedTable, inputs: Answer, kind: str, factor: float) -> EncodedTable:
    """Multiply the columns of all attributes of a kind, all of three categories."""
    if inputs["encoded"] == "1":
        return table
    column = int(inputs["intercept"])
    for own in inputs["kinds"]:
        width = 3 if own == "one_hot" else 1
        if own == kind:
            table.x[:, column : column + width] *= factor
        column += width
    return table


class OneHotDropsFirst(Broken):
    """The first category of a one-hot attribute has no column.

    d is smaller than the sensitivity's, and the coordinates of w mean something else.
    """

    bug_type = "BASIC"

    def encode(self, inputs: Answer) -> EncodedTable:
        table = super().encode(inputs)
        if inputs["encoded"] == "1" or "one_hot" not in inputs["kinds"]:
            return table
        first = int(inputs["intercept"]) + inputs["kinds"].index("one_hot")
        return EncodedTable(x=np.delete(table.x, first, axis=1), y=table.y, z=table.z)


class UnknownCategoryIsLast(Broken):
    """A category that was not declared counts as the last one.

    New data are given a meaning that nobody declared.
    """

    bug_type = "MALFORMED"

    def encode(self, inputs: Answer) -> EncodedTable:
        def changed(text: str, kind: str, _lower: str, upper: str) -> str:
            value = floats([text])[0]
            known = kind == "numeric" or (value.is_integer() and 0 <= value <= float(upper))
            return text if known else upper

        return super().encode(_map_values(inputs, changed))


def _entries(inputs: Answer) -> FloatArray:
    return np.array([floats(row) for row in inputs["rows"]])


class NormNotChecked(Broken):
    """Encoded records are taken as they come, whatever their norm.

    A long record moves the coefficients farther than any noise was calibrated to.
    """

    bug_type = "MISSING_STEP"

    def encode(self, inputs: Answer) -> EncodedTable:
        longest = float(np.linalg.norm(_entries(inputs), axis=1).max()) if inputs["encoded"] == "1" else 0.0
        if not np.isfinite(longest) or longest <= 1 or inputs["norm"] == "unit_box":
            return super().encode(inputs)
        found = _entries(inputs)
        # NaN and negative entries are still refused, by the box
        smaller = found / longest
        check_matrix(self.domain(inputs), smaller * (1 - 1e-9), floats(inputs["y"]), floats(inputs["z"]))
        return EncodedTable(x=found, y=np.array(floats(inputs["y"])), z=np.array(floats(inputs["z"])))


class NegativeEntriesAccepted(Broken):
    """Encoded records may have negative entries in domains that have none.

    The published lemmas use x >= 0.
    """

    bug_type = "MISSING_STEP"

    def encode(self, inputs: Answer) -> EncodedTable:
        if inputs["encoded"] == "0" or inputs["norm"] == "symmetric_ball" or not _entries(inputs).min() < 0:
            return super().encode(inputs)
        found = _entries(inputs)
        return EncodedTable(x=found, y=np.array(floats(inputs["y"])), z=np.array(floats(inputs["z"])))


class DimensionWithoutIntercept(Broken):
    """The d of the sensitivity and of the theorems does not count the intercept.

    Too little noise on every coefficient.
    """

    bug_type = "SENSITIVITY"
    claims = ("L1", "L2", "T3")

    def scales(self, inputs: Answer, dimension: int) -> tuple[float, float]:
        return Steps.scales(self, inputs, dimension - (inputs.get("intercept") == "1"))
