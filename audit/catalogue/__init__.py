"""Mechanisms whose exact privacy loss is known: right ones and broken ones, to audit the auditor."""

from audit.catalogue.bits import FloatLaplace
from audit.catalogue.counts import Geometric, PrefixSum, PrivateMean, SmartSum, UnnoisedCount
from audit.catalogue.entry import Entry, Level
from audit.catalogue.functional.budgets import (
    Adfc,
    ExactPdfc,
    Pdfc,
    RelaxedFunctional,
    Theorem3Tightened,
    Theorem5Budgets,
)
from audit.catalogue.functional.calibrated import Functional, PublishedFunctional
from audit.catalogue.functional.repairs import RetriedUntilDefinite, TrimmedOnExactEigenvalues, TrimmedWeights
from audit.catalogue.functional.scales import (
    InterceptOutsideNorm,
    InterceptOutsideNormWithSlack,
    LowerBoundTwice,
    PublicZbar,
    RedrawnPerPass,
    ScaledByMaximum,
    WrongDimension,
    WrongDimensionWithSlack,
    WrongFactor,
    WrongFactorWithSlack,
)
from audit.catalogue.functional.unnoised import (
    OneVariate,
    StatisticsLeft,
    UnnoisedDiagonal,
    UnnoisedFairness,
    UnnoisedLabel,
)
from audit.catalogue.gaussian import ClassicGaussian, Gaussian
from audit.catalogue.laplace import (
    BoundsFromDataLaplace,
    DoubleSpendingLaplace,
    HalfNoiseLaplace,
    InvertedScaleLaplace,
    Laplace,
    LeakyLaplace,
    LowEntropySeed,
    NanThroughClipping,
    ProductLaplace,
    RetriedLaplace,
    ScoredLaplace,
    ZeroSensitivityLaplace,
)
from audit.catalogue.randomised_response import Rappor
from audit.catalogue.selection import (
    NoisyMaxIndexExponential,
    NoisyMaxIndexGumbel,
    NoisyMaxIndexLaplace,
    NoisyMaxValue,
)
from audit.catalogue.sparse_vector import (
    GapSparseVector,
    NumericalSparseVector,
    SparseVector1,
    SparseVector2,
    SparseVector3,
    SparseVector6,
    SparseVectorIndex,
    SparseVectorNoQueryNoise,
)

CATALOGUE: dict[str, type[Entry]] = {
    # right
    "laplace": Laplace,
    "laplace_scored": ScoredLaplace,
    "laplace_product": ProductLaplace,
    "geometric": Geometric,
    "gaussian": Gaussian,
    "noisy_max_index_laplace": NoisyMaxIndexLaplace,
    "noisy_max_index_exponential": NoisyMaxIndexExponential,
    "noisy_max_index_gumbel": NoisyMaxIndexGumbel,
    "sparse_vector_1": SparseVector1,
    "sparse_vector_2": SparseVector2,
    "sparse_vector_numerical": NumericalSparseVector,
    "sparse_vector_gap": GapSparseVector,
    "smart_sum": SmartSum,
    "rappor": Rappor,
    "private_mean": PrivateMean,
    "functional_published": PublishedFunctional,
    "functional_exact": Functional,
    "functional_trimmed_weights": TrimmedWeights,
    "relaxed_functional_published": RelaxedFunctional,
    "pdfc_published": Pdfc,
    "pdfc_exact_equal_budgets": ExactPdfc,
    "adfc_equal_budgets": Adfc,
    # right by the slack of the published constant
    "functional_slack_wrong_factor": WrongFactorWithSlack,
    "functional_slack_wrong_dimension": WrongDimensionWithSlack,
    "functional_slack_intercept": InterceptOutsideNormWithSlack,
    # broken
    "laplace_half_noise": HalfNoiseLaplace,
    "laplace_inverted_scale": InvertedScaleLaplace,
    "laplace_double_spending": DoubleSpendingLaplace,
    "laplace_leaky": LeakyLaplace,
    "laplace_zero_sensitivity": ZeroSensitivityLaplace,
    "laplace_bounds_from_data": BoundsFromDataLaplace,
    "laplace_nan_through_clipping": NanThroughClipping,
    "laplace_low_entropy_seed": LowEntropySeed,
    "laplace_retried": RetriedLaplace,
    "laplace_float": FloatLaplace,
    "gaussian_classic": ClassicGaussian,
    "noisy_max_value": NoisyMaxValue,
    "sparse_vector_3": SparseVector3,
    "sparse_vector_4": SparseVectorIndex,
    "sparse_vector_5": SparseVectorNoQueryNoise,
    "sparse_vector_6": SparseVector6,
    "prefix_sum": PrefixSum,
    "unnoised_count": UnnoisedCount,
    "functional_wrong_factor": WrongFactor,
    "functional_wrong_dimension": WrongDimension,
    "functional_unnoised_label": UnnoisedLabel,
    "functional_unnoised_fairness": UnnoisedFairness,
    "functional_unnoised_diagonal": UnnoisedDiagonal,
    "functional_lower_bound_twice": LowerBoundTwice,
    "functional_scaled_by_maximum": ScaledByMaximum,
    "functional_trimmed_on_exact_eigenvalues": TrimmedOnExactEigenvalues,
    "functional_one_variate": OneVariate,
    "functional_intercept_outside_norm": InterceptOutsideNorm,
    "functional_redrawn_per_pass": RedrawnPerPass,
    "functional_public_zbar": PublicZbar,
    "functional_retried_until_definite": RetriedUntilDefinite,
    "functional_statistics_left": StatisticsLeft,
    "pdfc_theorem_3_tightened": Theorem3Tightened,
    "adfc_theorem_5_budgets": Theorem5Budgets,
}
"""By the name that the command line takes."""

__all__ = ["CATALOGUE", "Entry", "Level"] + sorted({kind.__name__ for kind in CATALOGUE.values()})  # noqa: PLE0605
