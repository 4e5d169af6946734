"""Importance computed from all links at once: the reference for what is learned visit by visit."""

from evercrawl.importance.offline.fixpoint import patched, principal
from evercrawl.importance.offline.graph import Graph
from evercrawl.importance.offline.hits import authority, hits, in_degree
from evercrawl.importance.offline.pagerank import damped, importance, linked, pagerank
from evercrawl.importance.offline.solver import solve, solved
from evercrawl.importance.offline.trustrank import good_seeds, trustrank

__all__ = [
    "Graph",
    "authority",
    "damped",
    "good_seeds",
    "hits",
    "importance",
    "in_degree",
    "linked",
    "pagerank",
    "patched",
    "principal",
    "solve",
    "solved",
    "trustrank",
]
