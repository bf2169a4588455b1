"""The declarations of an estimator: bounds, classes and groups, and how arrays become a table.

Everything here comes from the caller's declaration.  The one exception is :func:`observed_classes`, which a
caller asks for by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from reference.common.arrays import BoolArray, FloatArray, NumberArray
from reference.common.errors import (
    DeclarationError,
    DomainMismatchError,
    ExtraColumnError,
    GroupError,
    LabelError,
    ParameterError,
    ReadingError,
)
from reference.domain import Domain
from reference.domain.attributes import Numeric
from reference.domain.domain import require_writable
from reference.domain.markers import too_many
from reference.domain.values import MISSING, codes_of, is_empty, is_hashable, is_missing, masks_of, real_numbers

LABEL, GROUP = "(label)", "(group)"
"""Names of the label and the group in a domain made from bounds; no column can have them."""

OBSERVED = "observed"
"""With `classes="observed"` the labels that occur in y are taken as public."""


FIRST_LABELS = 1_000
"""The classes are mostly found among so many."""


def domain_of_bounds(
    columns: Sequence[str], bounds: Any, norm: str, *, intercept: bool, keep_group: bool
) -> Domain:
    """Return the domain of numeric columns with declared bounds, with a group.

    Parameters
    ----------
    columns : sequence of str
    bounds : (lower, upper), or one such pair per column
    norm, intercept, keep_group
        As for :class:`reference.domain.Domain`.

    Raises
    ------
    reference.common.errors.DeclarationError
        When bounds are missing or do not fit the columns; they are never read from the data.
    """
    if bounds is None:
        raise DeclarationError(
            "bounds", None, "declared: (lower, upper) for all columns, or one pair per column, or a Domain"
        )
    pairs = real_numbers(bounds, rounded=True)
    if pairs is None:
        pairs = np.empty(0)
    if pairs.shape == (2,):
        pairs = np.tile(pairs, (len(columns), 1))
    if pairs.shape != (len(columns), 2):
        raise DeclarationError("bounds", bounds, f"(lower, upper), or {len(columns)} such pairs, one per column")
    attributes = tuple(
        Numeric(name, lower, upper) for name, (lower, upper) in zip(columns, pairs.tolist(), strict=True)
    )
    return Domain(attributes, LABEL, GROUP, norm=norm, intercept=intercept, keep_group=keep_group)


def fitted_domain(domain: Domain, *, with_group: bool) -> Domain:
    """Return the domain, without its group where the data have none.

    Raises
    ------
    reference.common.errors.DomainMismatchError
        When a group was given that the domain does not declare.
    """
    if with_group and domain.group is None:
        raise DomainMismatchError("sensitive_features were given but the domain declares no group")
    if domain.keep_group and not with_group:
        raise ReadingError("sensitive_features", None, "given where the group stands among the features")
    return domain if with_group else domain.with_(group=None)


def declared_pair(name: str, values: Any) -> tuple[Any, Any]:
    """Return two declared values, for 0 and for 1, of one type."""
    pair = tuple(values) if isinstance(values, (tuple, list, np.ndarray)) else ()
    plain = np.asarray(pair).tolist() if len(pair) == 2 and all(map(is_hashable, pair)) else []
    # numpy finds no common type for 1 and "a", and turns both into text
    if len(set(plain)) != 2 or set(plain) != set(pair):
        raise DeclarationError(name, values, "two distinct values of one type, the second one positive")
    require_writable(name, pair)
    return pair[0], pair[1]


def observed_classes(y: NumberArray) -> tuple[Any, Any]:
    """Return the two labels that occur in y, sorted; this makes them public.

    Raises
    ------
    reference.common.errors.LabelError
        When there are not two.
    """
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise LabelError("Input y contains NaN or infinity", row=row, column=LABEL, value=y[row].item())
    gap = next((row for row, label in enumerate(y) if is_missing(label)), None) if y.dtype.kind == "O" else None
    if gap is not None:
        raise LabelError(MISSING, row=gap, column=LABEL, value=y[gap])
    first = np.unique(y[:FIRST_LABELS]).tolist() if y.dtype.kind in "biuU" else []
    if len(first) == 2 and codes_of(y, {first[0]: 0, first[1]: 1}).min() >= 0:
        return first[0], first[1]
    try:
        check_classification_targets(y)
    except ValueError as problem:
        raise LabelError(str(problem), column=LABEL) from problem
    labels, rows = (found.tolist() for found in np.unique(y, return_index=True))
    if len(labels) > 2:
        third = sorted(rows)[2]
        said = f"Only binary classification is supported. The type of the target is {type_of_target(y)}."
        raise LabelError(said, row=third, column=LABEL, value=y[third : third + 1].tolist()[0])
    if len(labels) < 2:
        raise LabelError(
            "only one class occurs in y, so the other is unknown; declare both: classes=(negative, positive)"
        )
    return labels[0], labels[1]


def is_second(
    column: str, values: NumberArray, pair: tuple[Any, Any], error: type[LabelError | GroupError]
) -> BoolArray:
    """Return where values equal the second of two declared ones, shape (n,); errors name the first other value."""
    masks = masks_of(values, pair)
    if masks is not None and (masks[0] | masks[1]).all():
        return masks[1]
    codes = codes_of(values, {pair[0]: 0, pair[1]: 1})
    if codes.min(initial=0) < 0:
        row = int(np.flatnonzero(codes < 0)[0])
        given = values.tolist()
        problem = f"not one of the two declared values {pair}{too_many(given, pair)}"
        if is_empty(given[row]):
            problem = f"{MISSING} where {' or '.join(map(repr, pair))} is declared"
        raise error(problem, row=row, column=column, value=given[row])
    second: BoolArray = codes == 1
    return second


def require_plain(X: Any, ignored: Collection[str] = ()) -> None:
    """Raise for lazy, sparse or masked input, and for a table with two columns of one name.

    Raises
    ------
    reference.common.errors.ParameterError, reference.common.errors.ExtraColumnError
        With the remedy.
    """
    require_loaded("X", X)
    if issparse(X):
        raise ParameterError("X", type(X).__name__, "dense: sparse input is not taken, so give X.toarray()")
    require_unmasked("X", X)
    kinds: Any = getattr(X, "dtypes", None)
    by_name = kinds.items() if hasattr(kinds, "items") else ()
    sparse = [str(name) for name, kind in by_name if type(kind).__name__ == "SparseDtype"]
    if sparse:
        allowed = f"dense: the columns {', '.join(sparse)} are sparse, so give X[name].sparse.to_dense() of each"
        raise ParameterError("X", type(X).__name__, allowed)
    # a pyarrow Table has the columns themselves under `columns`
    names = next((getattr(X, place) for place in ("column_names", "columns") if hasattr(X, place)), ())
    for name, count in Counter(map(str, names)).items():
        if count > 1 and name not in ignored:
            raise ExtraColumnError(f"{count} columns of X have this name", column=name)


def require_table(X: Any) -> None:
    """Raise for what :func:`require_plain` refuses, for a mapping of columns, and for a single row or column.

    Raises
    ------
    reference.common.errors.ParameterError, reference.common.errors.ExtraColumnError
        With the remedy.
    """
    require_plain(X)
    if isinstance(X, Mapping):
        raise ParameterError("X", type(X).__name__, "a table or an array; give pandas.DataFrame(X)")
    if not has_rows(X):
        # scikit-learn's own message shows the values
        allowed = "a table, a row for each record. Reshape your data: X.reshape(1, -1) is one record"
        raise ParameterError("X", f"{type(X).__name__} of single values", allowed)


def has_rows(X: Any) -> bool:
    """Return whether this may be a table: it has columns, or two dimensions, or sequences as rows."""
    if hasattr(X, "columns") or len(getattr(X, "shape", ())) > 1:
        return True
    if hasattr(X, "shape") or not (hasattr(X, "__len__") and hasattr(X, "__getitem__")):
        # what only converts itself to an array is judged as one
        return not hasattr(X, "shape") and hasattr(X, "__array__")
    return not len(X) or (hasattr(X[0], "__len__") and not isinstance(X[0], (str, bytes)))


def require_loaded(name: str, table: Any) -> None:
    """Raise for a table whose values are not computed yet, as polars and dask have them.

    Raises
    ------
    reference.common.errors.ParameterError
        With the remedy.
    """
    kind = type(table)
    for first, second in (("collect", "collect_schema"), ("compute", "dask")):
        if hasattr(kind, first) and hasattr(kind, second):
            raise ParameterError(name, kind.__name__, f"loaded; give {name}.{first}()")


def one_column(name: str, values: Any) -> Any:
    """Return the values of one column; a table or an array with a single column stands for it.

    Raises
    ------
    reference.common.errors.ParameterError
        For lazy or masked input, and for several columns or none.
    """
    require_loaded(name, values)
    require_unmasked(name, values)
    if hasattr(values, "columns"):
        names = list(getattr(values, "column_names", values.columns))
        if len(names) != 1:
            raise ParameterError(name, f"a table of {len(names)} columns", "one column, a value for each record")
        return values[names[0]]
    shape: tuple[int, ...] = values.shape if isinstance(values, np.ndarray) else ()
    if len(shape) == 2 and shape[1] == 1:
        return values[:, 0]
    if len(shape) > 1:
        raise ParameterError(name, f"an array of shape {shape}", "one column, a value for each record")
    return values


def require_same_order(name: str, values: Any, X: Any) -> None:
    """Raise where the indices of two pandas objects have the same labels in another order.

    Values go with rows by their place, as in scikit-learn, so that they would be those of other records.

    Raises
    ------
    reference.common.errors.ParameterError
    """
    ours: Any = getattr(X, "index", None)
    theirs: Any = getattr(values, "index", None)
    if not (hasattr(ours, "equals") and hasattr(theirs, "equals")) or ours.equals(theirs):
        return
    if len(ours) == len(theirs) and not (
        ours.has_duplicates or theirs.has_duplicates or len(ours.difference(theirs))
    ):
        allowed = "in the order of X, by its index: align it with X, or give `to_numpy()` to go by place"
        raise ParameterError(name, "a column whose index has another order", allowed)


def as_given(values: Any) -> Any:
    """Return a list of texts and other values as objects: numpy would make a text of each."""
    if isinstance(values, (list, tuple)) and 0 < sum(isinstance(value, str) for value in values) < len(values):
        return np.fromiter(values, object, len(values))
    return values


def require_flags(**flags: Any) -> None:
    """Raise for a setting that is neither True nor False: every text, "no" among them, would count as True.

    Raises
    ------
    reference.common.errors.ReadingError
    """
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ReadingError(name, value, "True or False")


def require_unmasked(name: str, values: Any) -> None:
    """Raise for a masked array: numpy would drop the mask.

    Raises
    ------
    reference.common.errors.ParameterError
        With the remedy.
    """
    if np.ma.isMaskedArray(values):
        allowed = (
            f"without a mask: leave the masked records out, or fill them from public knowledge, {name}.filled()"
        )
        raise ParameterError(name, type(values).__name__, allowed)


def require_known(given: Mapping[str, Any]) -> None:
    """Raise for an argument that fit does not take; for weights, say why.

    Raises
    ------
    reference.common.errors.ParameterError
    """
    if given.get("sample_weight") is not None:
        raise ParameterError(
            "sample_weight",
            type(given["sample_weight"]).__name__,
            "left out: the sensitivity is that of records of weight 1, and a weight multiplies it",
        )
    for name in given:
        if name != "sample_weight":
            raise TypeError(f"fit() got an unexpected keyword argument {name!r}")


def on_columns(domain: Domain, w: Sequence[float] | None) -> tuple[FloatArray, float]:
    """Return a vector v and a number c with x.w = raw.v + c for raw columns within their bounds.

    Raises
    ------
    AttributeError
        When there are none: there is no w, an attribute is not a number, or the group is a feature.
    """
    attributes = [attribute for attribute in domain.attributes if type(attribute) is Numeric]
    if w is None or len(attributes) < len(domain.attributes) or domain.keep_group:
        raise AttributeError("there are coefficients of the columns only for w of numeric columns; see release_.w")
    lower, upper = np.array([(attribute.lower, attribute.upper) for attribute in attributes], dtype=np.float64).T
    scaled = np.asarray(w) * domain.column_factor
    slopes = scaled[int(domain.intercept) :] / (upper - lower)
    return slopes, float(scaled[0] if domain.intercept else 0.0) - float(slopes @ lower)
