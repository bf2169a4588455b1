"""Search for a pair of neighbouring inputs on which a mechanism loses most, where nobody names one."""

from audit.neighbour_search.neighbourhoods import DataSet, DataSets, Listed, Neighbourhood, Vectors
from audit.neighbour_search.releases import ReleaseOverDomain
from audit.neighbour_search.search import AtPair, Found, at_pair, search, searchable

__all__ = [
    "AtPair",
    "DataSet",
    "DataSets",
    "Found",
    "Listed",
    "Neighbourhood",
    "ReleaseOverDomain",
    "Vectors",
    "at_pair",
    "search",
    "searchable",
]
