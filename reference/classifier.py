"""scikit-learn estimators over the mechanisms.

Each estimator declares the input, runs one mechanism of :mod:`reference.mechanisms` and predicts with its w.
Every ``fit`` is a release and spends the budget again, in each fold and for each grid point.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted, column_or_1d, validate_data

from reference.accounting import Privacy
from reference.accounting.ledger_file import CountedRelease
from reference.accounting.release import Release
from reference.accounting.release_ledger import ReleaseLedger, require_ledger
from reference.budgets import Budget, SplitBudget, warn_if_large
from reference.common.arrays import BoolArray, FloatArray, NumberArray
from reference.common.errors import (
    GroupError,
    LabelError,
    ParameterError,
    ReadingError,
    ShapeError,
    UncountableReleaseError,
)
from reference.common.numbers import RealLike
from reference.common.scores import decision_scores
from reference.datasets.from_arrays import Arrays, features_of, has_columns
from reference.datasets.record_blocks import RecordBlocks, moments_of, warn_of_one_group
from reference.domain import Domain, declaration
from reference.fairness import warn_if_constant
from reference.noise import DrownedSignalWarning, source_of, with_sampler
from reference.readings import Readings
from reference.registry import MECHANISMS, BudgetParts, MechanismSpec, budget_from

BUDGET_PARTS = ("epsilon", "epsilon_ratio", "epsilon_s", "epsilon_n", "delta", "delta_s", "delta_n")

ANY_VALUES = {"dtype": None, "ensure_all_finite": False}
"""scikit-learn checks the shape; the domain checks the values, and names row and column."""


class _Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What all estimators share; the subclasses differ in their parameters only."""

    _mechanism: ClassVar[str]

    # With metadata routing, the group reaches every method without further requests.
    __metadata_request__fit: ClassVar = {"sensitive_features": True}
    __metadata_request__predict: ClassVar = {"sensitive_features": True}
    __metadata_request__predict_proba: ClassVar = {"sensitive_features": True}
    __metadata_request__decision_function: ClassVar = {"sensitive_features": True}
    __metadata_request__score: ClassVar = {"sensitive_features": True}

    # Parameters that not every estimator has.
    x_s: str | int | None = None
    random_state: Any = None
    release_ledger: ReleaseLedger | None = None

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, **refused: Any) -> Self:
        """Make a release.

        Parameters
        ----------
        X : array or DataFrame, shape (n, columns)
            The unprotected attributes, within the declared bounds.
        y : array, shape (n,)
            Labels, of the two declared classes.
        sensitive_features : array, shape (n,), optional
            Group of each record, of the two declared groups; a table of one column will do.  Needed unless
            `fairness` is ``'none'``.

        Raises
        ------
        reference.common.errors.CeilingError
            When the release ledger has no room; the values of the data are not read then.
        reference.common.errors.DataError
            With row, column and value; nothing is counted then.

        Warns
        -----
        reference.accounting.PublishedStatementWarning
            When the theorem that the release cites is false for its budget.
        reference.noise.DrownedSignalWarning
            Before anything is spent: when the noise drowns the signal of any data set of this size.
        reference.fairness.ConstantPredictorWarning
            For the data holder: when the model gives every training record the same label.
        """
        declaration.require_known(refused)
        declaration.require_flags(clip=self.clip, intercept=self.intercept, keep_group=self.keep_group)
        spec, readings = MECHANISMS[self._mechanism], self._readings()
        if readings.fairness != "none" and sensitive_features is None:
            raise ReadingError("sensitive_features", None, f"given with fairness {readings.fairness!r}")
        declaration.require_table(X)
        declaration.require_unmasked("y", y)
        # public: the names and the number of columns
        validate_data(self, X, y, skip_check_array=True)
        if not getattr(self, "n_features_in_", 0):
            check_array(X, estimator=self, **ANY_VALUES)  # not a table: this says what is wrong
        domain = declaration.fitted_domain(self._declared_domain(), with_group=sensitive_features is not None)
        budget, source = self._budget(spec, domain), source_of(self.random_state, getattr(self, "noise", None))
        if spec.private:
            readings = with_sampler(readings, source)
        promise = self._promise(spec, domain, budget, readings)
        # private: the values
        labels = column_or_1d(declaration.as_given(y), warn=True)
        pair = self._declared_classes(labels)
        label = declaration.is_second(domain.label, labels, pair, LabelError)
        records = self._encode(domain, X, label, sensitive_features)
        # every record is checked here, before anything is counted or drawn
        warn_of_one_group(moments_of(records, exact=readings.noise == "hardened"))
        if spec.private and source is None and (problem := spec.drowned(domain, budget, readings, len(records))):
            warnings.warn(problem, DrownedSignalWarning, stacklevel=2)
        if promise is not None and self.release_ledger is not None:
            self.release_ledger.reserve(promise)
        release = spec.run(records, budget, readings, x_s=self.x_s, rng=source)
        self._require_kept(promise, release)
        self.domain_, self.release_ = domain, release
        self.classes_, self.positive_class_ = np.unique(np.asarray(pair)), pair[1]
        if release.w is not None:
            warn_if_constant(release.w, records)
        return self

    @property
    def privacy_(self) -> Privacy:
        """What the release claims about privacy, and what is true."""
        check_is_fitted(self)
        privacy: Privacy = self.release_.privacy
        return privacy

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the columns as given, shape (1, columns), for ``classes_[1]``."""
        check_is_fitted(self)
        slopes = declaration.on_columns(self.domain_, self.release_.w)[0]
        return (slopes if self._positive_index else -slopes)[None, :]

    @property
    def intercept_(self) -> FloatArray:
        """The intercept, shape (1,): X within the bounds has the decision ``X @ coef_.T + intercept_``."""
        check_is_fitted(self)
        offset = declaration.on_columns(self.domain_, self.release_.w)[1]
        return np.array([offset if self._positive_index else -offset])

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> FloatArray:
        """Return x.w, shape (n,), signed so that ``classes_[1]`` is positive.

        Parameters
        ----------
        X : array or DataFrame, shape (n, columns)
        sensitive_features : array, shape (n,), optional
            Used, and needed, with `keep_group` only.
        """
        scores = self._scores(X, sensitive_features)
        return scores if self._positive_index else -scores

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NumberArray:
        """Return the positive class where x.w > 0, else the other one, shape (n,)."""
        is_positive = self._scores(X, sensitive_features) > 0.0
        positive = self._positive_index
        predicted: NumberArray = self.classes_[np.where(is_positive, positive, 1 - positive)]
        return predicted

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> FloatArray:
        """Return rho(x, w) = 1 / (1 + exp(-x.w)) for ``classes_[1]`` and its complement, shape (n, 2)."""
        scores = self.decision_function(X, sensitive_features=sensitive_features)
        # both by the same formula: 1 - rho would lose digits
        return np.column_stack([expit(-scores), expit(scores)])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Return the accuracy: an exact function of the data, so not private."""
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # the noise decides: no accuracy is promised
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def _positive_index(self) -> int:
        """Place of the positive class in `classes_`, which is sorted as scikit-learn's scorers assume."""
        return int(self.positive_class_ == self.classes_[1])

    def _scores(self, X: Any, sensitive_features: Any) -> FloatArray:
        """Return x.w of encoded records, shape (n,)."""
        check_is_fitted(self)
        declaration.require_table(X)
        validate_data(self, X, reset=False, skip_check_array=has_columns(X), **ANY_VALUES)
        if self.release_.w is None:
            raise ParameterError("w", None, "a vector: the release is unbounded, so it predicts nothing")
        domain = self.domain_ if self.domain_.keep_group else self.domain_.with_(group=None)
        group = sensitive_features if domain.keep_group else None
        if domain.keep_group and group is None:
            raise ReadingError("sensitive_features", None, "given where the group stands among the features")
        records = self._encode(domain, X, None, group)
        return np.concatenate([decision_scores(self.release_.w, block.x) for block in records.read()])

    def _encode(self, domain: Domain, X: Any, label: BoolArray | None, group: Any) -> RecordBlocks:
        """Return checked and encoded records; without labels all of them are 0."""
        columns = self._columns([attribute.name for attribute in domain.attributes])
        features = features_of(domain, X, columns, lambda: check_array(X, estimator=self, **ANY_VALUES))
        if label is None:
            label = np.zeros(_num_samples(X), dtype=np.bool_)
        second = None
        if domain.group is not None:
            column = column_or_1d(declaration.as_given(declaration.one_column("sensitive_features", group)))
            pair = declaration.declared_pair("groups", self.groups)
            second = declaration.is_second(domain.group, column, pair, GroupError)
        return Arrays(domain, features, label, second, self.clip).records()

    def _columns(self, declared: list[str]) -> list[str]:
        """Return the names of the columns of X: its own, or the declared ones in their order."""
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        if len(declared) != self.n_features_in_:
            raise ShapeError(f"X has {self.n_features_in_} columns where the domain declares {len(declared)}")
        return declared

    def _declared_domain(self) -> Domain:
        if not isinstance(self.domain, Domain):
            columns = self._columns([f"x{j}" for j in range(self.n_features_in_)])
            return declaration.domain_of_bounds(
                columns, self.bounds, self.domain, intercept=self.intercept, keep_group=self.keep_group
            )
        stated = {"bounds": self.bounds is not None, "intercept": self.intercept, "keep_group": self.keep_group}
        for name, is_stated in stated.items():
            if is_stated:
                raise ReadingError(name, getattr(self, name), "left out with a Domain, which declares it")
        return self.domain

    def _declared_classes(self, labels: NumberArray) -> tuple[Any, Any]:
        """Return the negative and the positive class."""
        if isinstance(self.classes, str) and self.classes == declaration.OBSERVED:
            return declaration.declared_pair("classes", declaration.observed_classes(labels))
        return declaration.declared_pair("classes", self.classes)

    def _readings(self) -> Readings:
        stated = {name: getattr(self, name) for name in Readings.__struct_fields__ if hasattr(self, name)}
        # without a seed the run takes hardened noise
        return Readings(**{name: value for name, value in stated.items() if (name, value) != ("noise", None)})

    def _budget(self, spec: MechanismSpec, domain: Domain) -> Budget | SplitBudget | None:
        parts = {name: getattr(self, name, None) for name in BUDGET_PARTS}
        # as text, as on the command line: 0 counts as given, and is refused
        stated = {name: None if part is None else str(part) for name, part in parts.items()}
        budget = budget_from(BudgetParts(**stated), spec, domain.dimension)
        warn_if_large(budget)
        return budget

    def _promise(
        self, spec: MechanismSpec, domain: Domain, budget: Budget | SplitBudget | None, readings: Readings
    ) -> CountedRelease | None:
        """Return what the release will cost, and raise when the ledger has no room for it."""
        require_ledger(self.release_ledger)
        if self.release_ledger is None or budget is None:
            return None
        promise = CountedRelease(
            spec.name,
            readings.adjacency,
            spec.promise(domain, budget, readings, self.x_s),
            seeded=self.random_state is not None,
            noise=readings.noise,
            rows_per_person=readings.rows_per_person,
        )
        self.release_ledger.check(promise)
        return promise

    def _require_kept(self, promise: CountedRelease | None, release: Release) -> None:
        """Raise when a release costs more than was counted for it; it is then withheld."""
        if promise is None or self.release_ledger is None:
            return
        counted, made = promise.privacy.exact, release.privacy.exact
        if counted is None or made is None or not made.costs_at_most(counted):
            raise UncountableReleaseError(
                f"a release of {release.mechanism} costs more than was counted for it",
                str(self.release_ledger.path),
            )


@dataclass(kw_only=True, eq=False, repr=False)
class _Declared(_Classifier):
    """Parameters that declare the input: those of every estimator."""

    bounds: Any = None
    clip: bool = False
    domain: str | Domain = "unit_ball"
    intercept: bool = False
    keep_group: bool = False
    classes: Any = (0, 1)
    groups: Any = (0, 1)


@dataclass(kw_only=True, eq=False, repr=False)
class _Approximate(_Declared):
    """Parameters of the approximate objective and its minimum."""

    fairness: str = "none"
    fairness_weight: RealLike = 1
    tau: RealLike = 0
    basis: str = "monomial"
    repair: str = "shift_and_trim"
    ball_radius: RealLike = 10


@dataclass(kw_only=True, eq=False, repr=False)
class _Private(_Approximate):
    """Parameters of a release with noise."""

    epsilon: RealLike | None = None
    adjacency: str = "replace_one"
    sensitivity: str | RealLike = "published"
    noise: str | None = None
    rows_per_person: int = 1
    random_state: int | np.random.RandomState | np.random.Generator | None = None
    release_ledger: ReleaseLedger | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class _Split(_Private):
    """Parameters of a mechanism with its own budget for x_s."""

    fairness: str = "absolute"
    epsilon_ratio: RealLike | None = None
    epsilon_s: RealLike | None = None
    epsilon_n: RealLike | None = None
    x_s: str | int | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class PDFCClassifier(_Split):
    """Algorithm 1: purely differentially private and fair logistic regression.

    Thin over :func:`reference.mechanisms.pdfc`.  Nothing is read from the data to set it up: bounds, classes
    and groups are declared, and public.

    Parameters
    ----------
    epsilon : number, optional
        epsilon_s = epsilon_n; 1 when nothing is given.
    epsilon_ratio : number, optional
        Fixes epsilon_s / epsilon_n and solves the published formula for `epsilon`.
    epsilon_s, epsilon_n : number, optional
        The parts, given together and without `epsilon`.
    x_s : str, int or None
        The coordinate with its own budget, by name or index, chosen without looking at the data; None draws
        one at random.
    fairness : {'absolute', 'covariance', 'separate', 'none'}
        How the paper's fairness term is read.
    fairness_weight, tau, basis, adjacency, sensitivity, repair, ball_radius
        As for :class:`reference.readings.Readings`.
    noise : {'hardened', 'numpy'}, optional
        None is hardened noise without a `random_state`, and numpy's with one.  numpy's noise is for study: it
        leaks at its bits.
    rows_per_person : int
        How many records one person may have; the statement protects persons.
    bounds : (lower, upper) or one pair per column
        Declared bounds of numeric columns; needed unless `domain` is a Domain.
    clip : bool
        Move numbers outside the bounds to the nearest bound; otherwise they raise with row, column and value.
    domain : {'unit_ball', 'unit_box'} or Domain
        The norm of x, or a whole declaration, categories included.  Its label and group columns are not part of
        X; its columns are matched by name when X has names.
    intercept, keep_group : bool
        An intercept coordinate inside the norm; the group among the features (then predictions need
        `sensitive_features` too).
    classes : (negative, positive) or 'observed'
        The two labels.  ``'observed'`` takes those that occur in y, the larger one as positive, and thereby makes
        them public.
    groups : (value, value)
        The two values of `sensitive_features`; the second one is group z = 1.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        None takes the operating system's entropy.  Anything else makes a seeded release, for study, which says so.
    release_ledger : ReleaseLedger, optional
        Counts every fit, those of clones and worker processes included.

    Attributes
    ----------
    release_ : Release
        What may leave the data holder.
    privacy_ : Privacy
        Of the release: claimed and exact.
    domain_ : Domain
        What was declared about the input.
    classes_ : ndarray, shape (2,)
        The two classes, sorted.
    positive_class_ : object
        The one that x.w > 0 stands for.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, when X has names.
    """

    _mechanism: ClassVar[str] = "pdfc"


@dataclass(kw_only=True, eq=False, repr=False)
class ADFCClassifier(_Split):
    """Algorithm 3: approximately differentially private and fair logistic regression.

    Thin over :func:`reference.mechanisms.adfc`.  Parameters and attributes, `n_features_in_` and
    `feature_names_in_` among them, are those of :class:`PDFCClassifier`, except for the deltas below.

    Parameters
    ----------
    delta : number or decimal string, optional
        The total that is stated; 1e-3 when nothing is given.
    delta_s, delta_n : number or decimal string, optional
        The parts, given together and without `delta`.
    """

    _mechanism: ClassVar[str] = "adfc"

    delta: RealLike | None = None
    delta_s: RealLike | None = None
    delta_n: RealLike | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class FunctionalMechanismClassifier(_Private):
    """The functional mechanism of Zhang et al. 2012: Laplace noise of one scale.

    Thin over :func:`reference.mechanisms.functional`.  Parameters and attributes, `n_features_in_` and
    `feature_names_in_` among them, are those of :class:`PDFCClassifier`, except for a single
    `epsilon`, no `x_s`, and no fairness term by default.
    """

    _mechanism: ClassVar[str] = "functional"


@dataclass(kw_only=True, eq=False, repr=False)
class RelaxedFunctionalMechanismClassifier(_Private):
    """Algorithm 2: the functional mechanism with Gaussian noise of one scale.

    Thin over :func:`reference.mechanisms.relaxed_functional`.  Parameters and attributes, `n_features_in_` and
    `feature_names_in_` among them, are those of :class:`PDFCClassifier`, except for a single
    `epsilon`, a single `delta` (1e-3 when none is given), no `x_s`, and no fairness term by default.
    """

    _mechanism: ClassVar[str] = "relaxed_functional"

    delta: RealLike | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class PFLRClassifier(_Private):
    """PFLR*: the functional mechanism with the fairness term of the data as the mean of its noise.

    Thin over :func:`reference.mechanisms.pflr`, which explains what is uncertain: its epsilon is only claimed.
    Parameters and attributes, `n_features_in_` and `feature_names_in_` among them, are those of
    :class:`FunctionalMechanismClassifier`; `fairness` decides the mean.
    """

    _mechanism: ClassVar[str] = "pflr"

    fairness: str = "absolute"


@dataclass(kw_only=True, eq=False, repr=False)
class NoPrivacyClassifier(_Approximate):
    """The paper's No-Privacy: the approximate objective without noise.  Not private.

    Thin over :func:`reference.mechanisms.no_privacy`.  Parameters and attributes, `n_features_in_` and
    `feature_names_in_` among them, are those of :class:`PDFCClassifier`, without those that concern noise.
    """

    _mechanism: ClassVar[str] = "no_privacy"


@dataclass(kw_only=True, eq=False, repr=False)
class LRClassifier(_Declared):
    """The paper's LR: logistic regression without penalty and without a Taylor approximation.  Not private.

    Thin over :func:`reference.mechanisms.lr`.  Parameters and attributes, `n_features_in_` and
    `feature_names_in_` among them, are those of :class:`PDFCClassifier`, without those that
    concern noise or the approximate objective.
    """

    _mechanism: ClassVar[str] = "lr"
