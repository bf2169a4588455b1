"""Declared bounds, norms and refusals, from the definition of the domain, with 60 digits of its root."""

from __future__ import annotations

from fractions import Fraction

from audit.vectors.sources.numbers import UNIT, WORK, Answer, RefusedError, around, flag, from_work, number

Vector = list[Fraction]


def _value(text: str) -> Fraction:
    if text == "NaN":
        raise RefusedError("NotANumber")
    if text.lstrip("+-") == "Infinity":
        raise RefusedError("InfiniteValue")
    return number(text)


def _encoded_value(kind: str, text: str, ends: tuple[Fraction, Fraction], *, clip: bool) -> Vector:
    value, (lower, upper) = _value(text), ends
    if kind == "numeric":
        if not lower <= value <= upper and not clip:
            raise RefusedError("OutOfBounds")
        return [(min(max(value, lower), upper) - lower) / (upper - lower)]
    if value.denominator != 1 or not 0 <= value <= upper:
        raise RefusedError("UnseenCategory")
    if kind == "ordinal":
        return [value / upper]
    return [Fraction(int(value == k)) for k in range(int(upper) + 1)]


def _checked_row(row: list[str], norm: str) -> Vector:
    values = [_value(text) for text in row]
    if norm != "symmetric_ball" and min(values) < 0:
        raise RefusedError("NegativeEntry")
    size = max(values) if norm == "unit_box" else sum((v * v for v in values), Fraction(0))
    if size > 1:
        raise RefusedError("Norm")
    return values


def encoded_rows(inputs: Answer) -> list[Vector]:
    """Return the encoded records, or refuse them."""
    for name, error in (("y", "Label"), ("z", "Group")):
        if any(text not in ("0", "1") for text in inputs.get(name, [])):
            raise RefusedError("NotANumber" if "NaN" in inputs[name] else error)
    if flag(inputs["encoded"]):
        return [_checked_row(row, inputs["norm"]) for row in inputs["rows"]]
    kinds, keep, intercept = inputs["kinds"], flag(inputs["keepGroup"]), flag(inputs["intercept"])
    bounds = [(number(a), number(b)) for a, b in zip(inputs["lower"], inputs["upper"], strict=True)]
    if any(lower >= upper for lower, upper in bounds):
        raise RefusedError("Declaration")
    factor = Fraction(1)
    if inputs["norm"] != "unit_box":
        # one for each attribute, however many columns it has
        factor = from_work(1 / WORK.sqrt(len(kinds) + keep + intercept))
    rows = []
    for index, raw in enumerate(inputs["rows"]):
        row = [Fraction(1)] if intercept else []
        for kind, text, ends in zip(kinds, raw, bounds, strict=True):
            row += _encoded_value(kind, text, ends, clip=flag(inputs["clip"]))
        row += [number(inputs["z"][index])] if keep else []
        rows.append([v * factor for v in row])
    return rows


def answer_domain(inputs: Answer) -> Answer:
    """Answer a case of Domain."""
    rows = encoded_rows(inputs)
    # a relative error, also of negative entries
    x = [[around(v, 16 * UNIT * abs(v)) for v in row] for row in rows]
    return {"dimension": str(len(rows[0])), "x": x, "y": inputs["y"]}
