"""Mechanisms whose exact privacy loss is known: right ones and broken ones, to audit the auditor."""

from audit.catalogue.bits import FloatLaplace
from audit.catalogue.gaussian import Gaussian
from audit.catalogue.laplace import HalfNoiseLaplace, Laplace, LeakyLaplace, ProductLaplace, ScoredLaplace
from audit.catalogue.selection import NoisyMaxValue, SparseVectorIndex, SparseVectorNoQueryNoise

CATALOGUE = {
    "laplace": Laplace,
    "laplace_scored": ScoredLaplace,
    "laplace_product": ProductLaplace,
    "gaussian": Gaussian,
    "laplace_half_noise": HalfNoiseLaplace,
    "noisy_max_value": NoisyMaxValue,
    "sparse_vector_no_query_noise": SparseVectorNoQueryNoise,
    "sparse_vector_index": SparseVectorIndex,
    "laplace_leaky": LeakyLaplace,
    "laplace_float": FloatLaplace,
}
"""By the name that the command line takes."""

__all__ = [
    "CATALOGUE",
    "FloatLaplace",
    "Gaussian",
    "HalfNoiseLaplace",
    "Laplace",
    "LeakyLaplace",
    "NoisyMaxValue",
    "ProductLaplace",
    "ScoredLaplace",
    "SparseVectorIndex",
    "SparseVectorNoQueryNoise",
]
