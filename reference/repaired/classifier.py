"""The estimator to use: private, fair logistic regression on the raw columns of a table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from msgspec.structs import replace
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from reference.accounting.release_ledger import ReleaseLedger, require_ledger
from reference.budgets import Budget, LargeDeltaWarning, warn_if_large
from reference.common.arrays import BoolArray, FloatArray, NumberArray
from reference.common.errors import (
    DataHolderWarning,
    DeclarationError,
    ExtraColumnError,
    LabelError,
    ReadingError,
    ShapeError,
)
from reference.common.numbers import RealLike
from reference.common.printable import in_brief
from reference.datasets.from_file import encode_raw
from reference.datasets.record_blocks import warn_of_group
from reference.domain import Domain
from reference.domain.declaration import (
    one_column,
    require_flags,
    require_known,
    require_plain,
    require_same_order,
)
from reference.domain.file import DomainFile, load_domain_file
from reference.domain.markers import Marker
from reference.fairness.metrics import constant_warnings
from reference.readings import require_rows_per_person
from reference.records import Records
from reference.repaired.advice import advise, laid_out, planned
from reference.repaired.algorithm import prepared, repaired_logistic, tolerated_slack
from reference.repaired.model import Model
from reference.repaired.released import RepairedRelease, load_repaired
from reference.repaired.uncertainty import alike_warnings, standard_errors


class FewRecordsWarning(UserWarning):
    """The noise of a fit drowns its signal."""


class AlikeAttributesWarning(UserWarning):
    """Many attributes say nearly the same, and the fit went astray."""


class StoppedShortWarning(UserWarning):
    """A model is less fair than its slack."""


@dataclass(kw_only=True, eq=False, repr=False)
class RepairedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Private, fair logistic regression; every ``fit`` is a release and spends the budget again.

    Private for the whole record, features, label and group, under `replace_one`: the number of records is public.
    Setting it up reads no data; the budget pays for every choice that uses data.

    Parameters
    ----------
    domain : path, DomainFile or Domain
        What is declared and public about the raw columns, the label and the group.
    epsilon : number
    delta : number or decimal string
        0 takes Laplace noise.
    fairness : {'demographic_parity', 'equalised_odds', 'none'}
        Equal selection rates of all groups; or equal rates among records of each label; or neither.
    slack : number
        Tolerated difference of rates; :meth:`tuned` changes it after the release, at no cost.
    group_at_prediction : bool
        Whether predictions may use the group; `predict` then needs `sensitive_features`.
    bins : bool
        Put declared plain numbers into bins, by a rule that reads their bounds only.
    rows_per_person : int
        How many records one person may have; the statement protects persons.
    random_state : int, numpy.random.Generator or None
        None takes hardened noise; anything else makes a seeded fit for study.
    release_ledger : ReleaseLedger, optional
        Counts every fit, before it is made.

    Attributes
    ----------
    release_ : RepairedRelease
        What may leave the data holder.
    advice_ : Advice
        What to expect, from public numbers.
    coef_ : ndarray, shape (1, columns)
        Weights of the score for ``classes_[1]``, in the order of `columns_`.
    intercept_ : ndarray, shape (1,) or (groups,)
        What the decision adds to ``x @ coef_[0]`` for encoded records x: for each group, where thresholds move by
        group.  The weight of a constant column is in `coef_`.  There is none where no group is used at
        prediction but thresholds still move.
    columns_ : tuple of str
    classes_ : ndarray, shape (2,)
        The label's values, sorted as scikit-learn's scorers assume; or 0 and 1, where it has `above` or several
        values for a class.  Then scorers of predictions, such as "accuracy", need a y that is 0 and 1 already,
        for they compare it as it is; `score` decodes y first, as `fit` does.
    positive_class_ : object
        The one that the domain declares as `one`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
    """

    domain: str | Path | DomainFile | Domain
    epsilon: RealLike = 1
    delta: RealLike = "1e-5"
    fairness: str = "demographic_parity"
    slack: RealLike = 0
    group_at_prediction: bool = True
    bins: bool = True
    rows_per_person: int = 1
    random_state: int | np.random.Generator | None = None
    release_ledger: ReleaseLedger | None = None

    # With metadata routing, the group reaches every method without further requests.
    __metadata_request__fit: ClassVar = {"sensitive_features": True}
    __metadata_request__predict: ClassVar = {"sensitive_features": True}
    __metadata_request__predict_proba: ClassVar = {"sensitive_features": True}
    __metadata_request__decision_function: ClassVar = {"sensitive_features": True}
    __metadata_request__score: ClassVar = {"sensitive_features": True}

    @staticmethod
    def default_fairness(domain: str | Path | DomainFile | Domain) -> str:
        """Return demographic parity where the domain declares a group."""
        return "none" if _domain_file(domain).group is None else "demographic_parity"

    @property
    def declared(self) -> DomainFile:
        """The domain file as used: public."""
        require_flags(group_at_prediction=self.group_at_prediction, bins=self.bins)
        file = _domain_file(self.domain)
        file.require_public()
        keep = self.group_at_prediction and self.fairness != "none"
        if self.fairness == "none":
            file = file.with_(group=None, keep_group=False, ignore=_with(file.ignore, file.group))
        elif file.group is None:
            raise ReadingError("fairness", self.fairness, "'none' for a domain that declares no group")
        return laid_out(file, keep_group=keep, bins=self.bins)

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, **refused: Any) -> Self:
        """Make a release.

        Parameters
        ----------
        X : DataFrame, pyarrow Table or mapping from name to values
            The raw columns that the domain file declares, and any that it ignores.
        y : sequence, shape (n,)
            The raw values of the label's column.
        sensitive_features : sequence, shape (n,), optional
            The raw values of the group's column; needed with fairness, unless X has that column.

        Raises
        ------
        reference.common.errors.CeilingError
            When the release ledger has no room.
        reference.common.errors.DataError
            With row, column and value; nothing is counted then.

        Warns
        -----
        reference.budgets.LargeDeltaWarning
            Before anything is spent, where delta allows to publish a record drawn at random.
        FewRecordsWarning
            Before anything is spent, where the noise drowns the data; afterwards, where it drowns the
            differences between groups, as for small groups, or where guessing a small group cost accuracy.
        AlikeAttributesWarning
            Where steps went too far: probabilities may be too near to 0 and 1.
        StoppedShortWarning
            Where the released probes show that the slack is missed, with the price that was refused.
        reference.common.errors.DataHolderWarning
            When all records are of one group, or the model says the same of all: not private, for the data
            holder.
        """
        require_known(refused)
        require_ledger(self.release_ledger)
        declared, budget = self.declared, Budget(self.epsilon, self.delta)
        noise = "hardened" if self.random_state is None else "numpy"
        slack, rows = tolerated_slack(self.slack), self.rows_per_person
        require_rows_per_person(rows)
        warn_if_large(budget)
        records = prepared(self._encoded(declared, X, y, sensitive_features))
        if records.z is not None and (records.z == records.z[0]).all():
            assert declared.group is not None
            names = declared.group.called_in_table(declared.domain.groups)
            warn_of_group(names[int(records.z[0])], stacklevel=2)
        public = (declared.domain, len(records), budget, self.fairness)
        self.advice_ = advise(*public, rows)
        for warning in self.advice_.budget_warnings:
            warnings.warn(warning, LargeDeltaWarning, stacklevel=2)
        for warning in self.advice_.warnings_of_a_fit:
            warnings.warn(warning, FewRecordsWarning, stacklevel=2)
        promise = planned(*public, hardened=noise == "hardened", rows_per_person=rows)
        if self.release_ledger is not None:
            counted = promise.counted(seeded=self.random_state is not None)
            self.release_ledger.reserve(counted)
        model = repaired_logistic(
            records,
            budget,
            fairness=self.fairness,
            slack=slack,
            noise=noise,
            rng=self.random_state,
            rows_per_person=rows,
        )
        release = RepairedRelease.of(model, declared, slack=slack, noise=noise, seeded=noise == "numpy")
        # kept, as it is paid for, even where a caller turns warnings into errors
        self._take(release)
        for warning in alike_warnings(model.too_far):
            warnings.warn(warning, AlikeAttributesWarning, stacklevel=2)
        _warn_of_shortfall(release)
        _warn_if_constant(model.predict(records.x, records.z))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a release: a fit that was refused leaves its advice alone."""
        return hasattr(self, "release_")

    @classmethod
    def from_release(cls, path: str | Path, *, release_ledger: ReleaseLedger | None = None) -> Self:
        """Return the fitted estimator of a release file: it predicts without the data.

        Parameters
        ----------
        path : path
        release_ledger : ReleaseLedger, optional
            Counts every further fit; predicting and `tuned` cost nothing.
        """
        release = load_repaired(path)
        found = cls(
            domain=release.domain,
            epsilon=release.budget["epsilon"],
            delta=release.budget["delta"],
            fairness=release.fairness,
            slack=release.slack,
            group_at_prediction=release.domain.keep_group,
            bins=False,
            rows_per_person=release.rows_per_person,
            release_ledger=release_ledger,
        )
        return found._take(release)

    def tuned(self, slack: RealLike) -> Self:
        """Return the estimator for another slack, from what is already released: at no cost in privacy.

        Warns
        -----
        StoppedShortWarning
            As `fit` does.
        """
        check_is_fitted(self)
        tolerated = tolerated_slack(slack)
        model = self._model.tuned(self.release_.domain.domain, float(tolerated))
        changed = {"multiplier": model.multiplier, "slack": tolerated}
        if self.release_.cells is not None and model.cells is not None:
            changed["cells"] = replace(self.release_.cells, thresholds=model.cells.thresholds)
        found = type(self)(**{**self.get_params(deep=False), "slack": slack})
        release = replace(self.release_, **changed)
        _warn_of_shortfall(release)
        return found._take(release)

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> FloatArray:
        """Return how far each record is beyond its threshold, shape (n,); above 0 is ``classes_[1]``."""
        x, z = self._new_records(X, sensitive_features)
        return self._sign * self._model.excess(x, z)

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NumberArray:
        """Return the predicted classes, shape (n,).

        Parameters
        ----------
        X : DataFrame, pyarrow Table or mapping from name to values
            Values outside the declared bounds are clipped or refused, as the domain file declares.
        sensitive_features : sequence, shape (n,), optional
            Needed, and used, where the group is used at prediction, unless X has its column: scikit-learn's
            scorers and `cross_val_predict` pass X alone.  Both together are refused, as by `fit`.
        """
        x, z = self._new_records(X, sensitive_features)
        chosen = self._model.predict(x, z)
        positive = int(self._sign > 0)
        predicted: NumberArray = self.classes_[np.where(chosen, positive, 1 - positive)]
        return predicted

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> FloatArray:
        """Return the probabilities of `classes_`, before any threshold moves by group, shape (n, 2).

        Without noise, too, the fewer gradients a fit takes, the farther they stay from 0 and 1: .015 after 39.
        """
        x, _ = self._new_records(X, sensitive_features)
        positive = self._model.predict_proba(x)
        return np.column_stack([1 - positive, positive][:: int(self._sign)])

    def predict_log_proba(self, X: Any, *, sensitive_features: Any = None) -> FloatArray:
        """Return the logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X, sensitive_features=sensitive_features))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Return the accuracy, with the raw y as in `fit`: an exact function of the data, so not private."""
        from sklearn.metrics import accuracy_score

        x, z = self._new_records(X, sensitive_features)
        label = self.release_.domain.label
        assert label is not None
        require_same_order("y", y, X)
        decoded = label.decode(_values(label.column, one_column("y", y)), LabelError)
        return float(accuracy_score(decoded, self._model.predict(x, z), sample_weight=sample_weight))

    @property
    def intercept_(self) -> FloatArray:
        """What the decision adds to ``x @ coef_[0]``, shape (1,), or (groups,) where thresholds move by group.

        x is encoded as :attr:`declared` says, and rounded towards zero to multiples of 2^-20.
        """
        check_is_fitted(self)
        return self._sign * self._model.offsets

    @property
    def coef_noise_(self) -> FloatArray:
        """Standard errors of `coef_` from the public noise alone, without sampling error; approximate."""
        check_is_fitted(self)
        return standard_errors(self._model, self.release_.domain.domain)[None, :]

    @property
    def privacy_(self) -> Any:
        """What the release states: an upper bound, under `replace_one`."""
        check_is_fitted(self)
        return self.release_.privacy

    @property
    def _sign(self) -> float:
        """What scores are multiplied by, to be above 0 for ``classes_[1]``."""
        return 1.0 if self.positive_class_ == self.classes_[1] else -1.0

    @property
    def _model(self) -> Model:
        return self.release_.model

    def _take(self, release: RepairedRelease) -> Self:
        label = release.domain.label
        assert label is not None
        self.release_, self.columns_ = release, release.columns
        classes = np.array(_classes(label))
        self.classes_, self.positive_class_ = np.unique(classes), classes.tolist()[1]
        self.coef_ = self._sign * np.array(release.w)[None, :]
        self.feature_names_in_ = np.array(
            [attribute.name for attribute in release.domain.attributes], dtype=object
        )
        self.n_features_in_ = len(self.feature_names_in_)
        return self

    def _encoded(self, declared: DomainFile, X: Any, y: Any, groups: Any) -> Records:
        """Check raw values against the domain file, and encode them."""
        table = raw_columns(declared, X)
        for marker, values, name in ((declared.label, y, "y"), (declared.group, groups, "sensitive_features")):
            if marker is None:
                continue
            if values is None and marker is declared.group and marker.column in table:
                continue
            if values is None:
                raise ReadingError(name, None, f"given: the values of column {marker.column!r}")
            if _beside(declared, marker, table):
                raise _given_twice(marker)
            require_same_order(name, values, X)
            table[marker.column] = _values(marker.column, one_column(name, values))
        return encode_raw(declared, table)

    def _new_records(self, X: Any, groups: Any) -> tuple[FloatArray, FloatArray | None]:
        """Return encoded features, and the groups where predictions use them."""
        check_is_fitted(self)
        file = self.release_.domain
        declared = file.without_marks()
        marker = declared.group
        table = raw_columns(declared.with_(ignore=_with(declared.ignore, file.label)), X)
        if file.group is not None and _beside(declared, file.group, table):
            if groups is not None:
                raise _given_twice(file.group)
            if marker is None:
                del table[file.group.column]
        if marker is not None and groups is None and marker.column not in table:
            allowed = (
                f"given, as this model uses the group at prediction; or column {marker.column!r} of X: "
                "scikit-learn's scorers and cross_val_predict pass X alone"
            )
            raise ReadingError("sensitive_features", None, allowed)
        if marker is not None and groups is not None:
            require_same_order("sensitive_features", groups, X)
            groups = _values(marker.column, one_column("sensitive_features", groups))
            for name, values in table.items():
                if len(values) != len(groups):
                    raise ShapeError(f"{len(groups)} groups where X has {len(values)} values", column=name)
            table[marker.column] = groups
        records = encode_raw(declared, table)
        return records.x, records.z


def _warn_of_shortfall(release: RepairedRelease) -> None:
    for warning in release.noise_warnings:
        warnings.warn(warning, FewRecordsWarning, stacklevel=3)
    shortfall = release.shortfall
    if shortfall is not None:
        warnings.warn(str(shortfall), StoppedShortWarning, stacklevel=3)


def _warn_if_constant(chosen: BoolArray) -> None:
    if (chosen == chosen[0]).all():
        for warning in constant_warnings([{"positive_rate": float(chosen[0])}]):
            warnings.warn(warning, DataHolderWarning, stacklevel=3)


def _beside(declared: DomainFile, marker: Marker, table: Mapping[str, Any]) -> bool:
    """Return whether a table has a mark's column, which is no attribute."""
    return marker.column in table and marker.column not in {one.name for one in declared.attributes}


def _given_twice(marker: Marker) -> ExtraColumnError:
    said = "the label and the group are given apart from X: drop this column from X"
    return ExtraColumnError(said, column=marker.column)


def _domain_file(domain: str | Path | DomainFile | Domain) -> DomainFile:
    if isinstance(domain, DomainFile):
        return domain
    if isinstance(domain, Domain):
        return DomainFile.of(domain)
    if not isinstance(domain, (str, os.PathLike)):
        raise DeclarationError("domain", domain, "the path of a domain file, a DomainFile or a Domain")
    return load_domain_file(domain)


def _with(ignored: tuple[str, ...], marker: Marker | None) -> tuple[str, ...]:
    return ignored if marker is None or marker.column in ignored else (*ignored, marker.column)


def raw_columns(declared: DomainFile, X: Any) -> dict[str, Sequence[Any]]:
    """Return a table's columns by name: the declared ones, and unknown ones for an error to name."""
    require_plain(X, declared.ignore)
    if hasattr(X, "columns") or isinstance(X, Mapping):
        # a pyarrow Table has the columns themselves under `columns`
        names = next((getattr(X, place) for place in ("column_names", "columns") if hasattr(X, place)), X)
        return {str(name): _values(str(name), X[name]) for name in names if name not in declared.ignore}
    raise ShapeError("X has no column names: give a DataFrame, a pyarrow Table or a mapping from name to values")


def _values(name: str, column: Any) -> Sequence[Any]:
    """Return a column as Python values."""
    for method in ("to_pylist", "tolist"):
        if hasattr(column, method):
            values = getattr(column, method)()
            break
    else:
        values = column
    # a text has characters, a mapping has keys, and a set has no order
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise ShapeError(f"{in_brief(values)} where a sequence of values is needed", column=name)
    return values if isinstance(values, list) else list(values)


def _classes(label: Marker) -> tuple[Any, Any]:
    """Return the label's raw values if each class has exactly one, else 0 and 1."""
    meanings = label.meanings
    return tuple(meanings) if len(meanings) == 2 else (0, 1)  # type: ignore[return-value]
