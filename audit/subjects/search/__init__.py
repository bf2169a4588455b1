"""Search for the pair of neighbouring inputs on which a mechanism loses most, if none is named."""

from audit.subjects.search.neighbourhoods import DataSet, DataSets, Listed, Neighbourhood, Vectors
from audit.subjects.search.releases import ReleaseOverDomain
from audit.subjects.search.search import Effort, Found, search
from audit.subjects.search.subjects import AtPair, not_searched, searchable

__all__ = [
    "AtPair",
    "DataSet",
    "DataSets",
    "Effort",
    "Found",
    "Listed",
    "Neighbourhood",
    "ReleaseOverDomain",
    "Vectors",
    "not_searched",
    "search",
    "searchable",
]
