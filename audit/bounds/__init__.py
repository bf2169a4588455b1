"""From counts to bounds that are valid in finite samples."""

from audit.bounds.anytime import AnytimeBound, StoppingRule
from audit.bounds.bands import TradeOffBand, trade_off_band
from audit.bounds.canaries import CanaryMethod, canary_epsilon_bound, canary_mu_bound, canary_p_value
from audit.bounds.choice import (
    METHODS,
    METHODS_AT_ZERO,
    METHODS_OF_COUNTS,
    Method,
    better_method,
    delta_lower_bound,
    epsilon_lower_bound,
    p_value,
    refutes,
)
from audit.bounds.clopper_pearson import lower_bound_on_probability, upper_bound_on_probability
from audit.bounds.clusters import CLUSTERS, ClusterMethod, cluster_epsilon_lower_bound
from audit.bounds.counts import MOST_DRAWS, SMALLEST_SIGNIFICANCE, Counts
from audit.bounds.curve import CurvePoint, EpsilonCurve, epsilon_curve
from audit.bounds.e_value import ANYTIME, ANYTIME_METHODS, AnytimeMethod, log_e_value
from audit.bounds.power import (
    POWER,
    detectable_by_event,
    detectable_epsilon,
    largest_certifiable_epsilon,
    power_of_event,
)

__all__ = [
    "ANYTIME",
    "ANYTIME_METHODS",
    "CLUSTERS",
    "METHODS",
    "METHODS_AT_ZERO",
    "METHODS_OF_COUNTS",
    "MOST_DRAWS",
    "POWER",
    "SMALLEST_SIGNIFICANCE",
    "AnytimeBound",
    "AnytimeMethod",
    "CanaryMethod",
    "ClusterMethod",
    "Counts",
    "CurvePoint",
    "EpsilonCurve",
    "Method",
    "StoppingRule",
    "TradeOffBand",
    "better_method",
    "canary_epsilon_bound",
    "canary_mu_bound",
    "canary_p_value",
    "cluster_epsilon_lower_bound",
    "delta_lower_bound",
    "detectable_by_event",
    "detectable_epsilon",
    "epsilon_curve",
    "epsilon_lower_bound",
    "largest_certifiable_epsilon",
    "log_e_value",
    "lower_bound_on_probability",
    "p_value",
    "power_of_event",
    "refutes",
    "trade_off_band",
    "upper_bound_on_probability",
]
