"""Search for a pair of neighbouring inputs on which a mechanism loses most, where nobody names one."""

from audit.neighbour_search.neighbourhoods import DataSet, DataSets, Listed, Neighbourhood, Vectors
from audit.neighbour_search.releases import ReleaseOverDomain
from audit.neighbour_search.search import Found, search
from audit.neighbour_search.subjects import AtPair, searchable

__all__ = [
    "AtPair",
    "DataSet",
    "DataSets",
    "Found",
    "Listed",
    "Neighbourhood",
    "ReleaseOverDomain",
    "Vectors",
    "search",
    "searchable",
]
