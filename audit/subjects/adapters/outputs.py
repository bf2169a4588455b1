"""What all adapters share: outputs as rows of numbers, and the note on foreign randomness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from audit.auditor.draws import EVERY_WHOLE, lost_in_floats
from audit.auditor.subject import SubjectError
from reference.common.arrays import FloatArray
from reference.common.printable import quoted

OWN_ENTROPY = "the subject draws from its own entropy: a rerun repeats the audit, not its draws"
"""The note of a subject that does not use the given generator."""

MOST_LABELS = 60
"""Letters of a table's labels and types that are shown."""

SMALL_FLOATS = (float, np.float32, np.float16, np.bool_)
"""Types that lose nothing as 64-bit floats."""


def as_rows(outputs: Iterable[Any], outcomes: Sequence[Any] = ()) -> FloatArray:
    """Return outputs as an array, one flattened output a row, shape (n, k).

    Parameters
    ----------
    outputs : iterable
        At least one; numbers or arrays of the same shape.
    outcomes : sequence, optional
        All values that an output can take, if they are not numbers: an output becomes its place among them.

    Raises
    ------
    audit.auditor.subject.SubjectError
        For an output that is neither a number nor one of the outcomes, and for outputs of different shapes.
    """
    rows = [_row(_place(output, outcomes) if outcomes else output) for output in outputs]
    one_width({len(row) for row in rows})
    return np.array(rows)


def one_width(widths: Iterable[int]) -> None:
    """Refuse outputs of several lengths, and of none.

    Raises
    ------
    audit.auditor.subject.SubjectError
    """
    found = sorted(widths)
    if len(found) > 1:
        raise SubjectError(
            f"outputs change shape: {found} coordinates; a length that depends on the data tells the inputs apart "
            "by itself: pad all outputs to one length"
        )
    if found == [0]:
        raise SubjectError("an output must have at least one number")


def type_of(output: Any) -> str:
    """Return the type and the form of an output in words: what a reader sees of it besides its numbers."""
    if isinstance(output, np.ndarray):
        form = "" if output.ndim == 1 else f" in shape {output.shape}"
        return f"{type(output).__name__} of {output.dtype}{form}"
    if isinstance(output, list | tuple):
        # of many numbers the kinds only: their order may be as random as they are
        of_each_type = {type(one): one for one in output}
        nested = any(issubclass(one, list | tuple | np.ndarray) for one in of_each_type)
        kinds = sorted({type_of(one) for one in (output if nested else of_each_type.values())})
        number = f"{len(output)} times " if nested else ""
        # of a named tuple
        names = "".join(f" {name}" for name in getattr(output, "_fields", ()))
        return f"{type(output).__name__}{names} of {number}{' and '.join(kinds) or 'nothing'}"
    if isinstance(output, np.generic):
        # numpy's numbers of 64 bits are printed as Python's
        return _AS_PYTHON.get(output.dtype.str[1:], str(output.dtype))
    if isinstance(output, float | int):
        return type(output).__name__
    described = _described(output)
    if len(described) > MOST_LABELS:
        described = f"{described[:MOST_LABELS]}... ({crc32(described.encode()):08x})"
    return f"{type(output).__name__} {described}".rstrip()


def _described(output: Any) -> str:
    """Return what a table or an array of another library shows besides its numbers: it may give an input away."""
    axes = getattr(output, "axes", None)
    if isinstance(axes, list):
        # of pandas
        words = ["labelled " + " by ".join(", ".join(map(_label, axis)) for axis in axes)]
        names = [name for axis in axes for name in axis.names] + [getattr(output, "name", None)]
        if any(name is not None for name in names):
            words.append(f"named {', '.join(map(_label, names))}")
        types = [str(output.dtypes)] if output.ndim == 1 else [str(one) for one in output.dtypes]
        if set(types) - {"float64"}:
            words.append(f"of {', '.join(types)}")
        return "; ".join(words)
    told = [(name, getattr(output, name, None)) for name in ("schema", "dtype", "name")]
    return "; ".join(f"of {name} {value}" for name, value in told if value is not None and not callable(value))


def _label(given: Any) -> str:
    # the text "1" is not the number, nor one label with a comma two
    return given if isinstance(given, str) and given.isidentifier() else repr(given)


_AS_PYTHON = {"f8": "float", "i8": "int", "b1": "bool"}


def as_floats(what: str, given: Any) -> FloatArray:
    """Return numbers as 64-bit floats of the same shape, if they lose nothing on the way that could hide a leak.

    Parameters
    ----------
    what : str
        What they are, in words.
    given : object

    Raises
    ------
    audit.auditor.subject.SubjectError
        For what is not made of real numbers, masked arrays, longer floats, and whole numbers that lose digits.
    """
    if isinstance(given, np.ma.MaskedArray):
        raise SubjectError(f"{what} must be a plain array: the mask would be lost, and the hidden numbers counted")
    if isinstance(given, list | tuple):
        for part in given:
            # beside others numpy makes floats of whole numbers, and drops masks
            if not isinstance(part, SMALL_FLOATS) and not (
                isinstance(part, int | np.integer) and abs(int(part)) <= EVERY_WHOLE
            ):
                as_floats(what, part)
    try:
        values = np.asarray(given)
    except ValueError as problem:
        raise SubjectError(f"{what} must be an array of numbers, not {quoted(given)}") from problem
    if values.dtype.kind not in "fiub":
        of_numbers = isinstance(given, dict) or values.dtype.kind == "c"
        advice = (
            "return the values as one array of real numbers"
            if of_numbers
            else "number the outcomes, or declare the outcomes to an adapter"
        )
        raise SubjectError(
            f"{what} must be made of real numbers that 64-bit floats hold, not {quoted(given)}; {advice}"
        )
    lost = lost_in_floats(values)
    if lost is not None:
        raise SubjectError(f"{what} contains {lost}")
    return values.astype(np.float64)


def _row(output: Any) -> FloatArray:
    if getattr(output, "attrs", None):
        raise SubjectError("an output must be a table without attrs, which would be lost")
    return np.ravel(as_floats("an output", output))


def _place(output: Any, outcomes: Sequence[Any]) -> int:
    if output not in outcomes:
        raise SubjectError(f"output {output!r} is not among the declared outcomes {list(outcomes)!r}")
    return list(outcomes).index(output)
