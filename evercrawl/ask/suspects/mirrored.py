"""Mirrors: hosts whose pages have the same content as those of another host."""

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.model.view import View
from evercrawl.model.web.mirrors import BITS
from evercrawl.model.web.near import SLIGHT_BYTES
from evercrawl.model.web.site_graph import HELD
from evercrawl.model.web.suspicion import Suspicion
from evercrawl.parse.urls import path_query
from evercrawl.types import Ints, Keys

KIND: Final = "mirror"
LEAST: Final = 0.8
"""Minimum share of common paths with the same content, by the lower bound of its 95 % interval."""
COMMON: Final = 0.5
"""Minimum share of the mirror's read pages that have common paths."""
MOST_HOSTS: Final = 16
"""Maximum number of hosts that share a path; a path of more hosts is ignored."""


class Replica(NamedTuple):
    """Two hosts with the same content.

    Attributes
    ----------
    copy, original
        Their numbers; the copy is the host that became known later.
    same, common, read
        Number of paths with the same content, of paths read on both hosts, and of pages read on the copy.
    """

    copy: int
    original: int
    same: int
    common: int
    read: int

    @property
    def at_least(self) -> float:
        """The lower bound of the 95 % Wilson interval of the share of paths with the same content.

        >>> round(Replica(1, 0, 20, 20, 20).at_least, 2), round(Replica(1, 0, 8, 8, 8).at_least, 2)
        (0.84, 0.68)
        """
        n, p, z = self.common, self.same / self.common, 1.96
        return (p + z * z / (2 * n) - z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)


def replicas(host: Ints, path: Keys, said: NDArray[Any]) -> list[Replica]:
    """Return the pairs of hosts in which one is clearly a mirror of the other.

    Parameters
    ----------
    host, path
        Of each read page: the number of its host, and a key of its path and query; shape (pages,).
    said
        Records with `digest`, `words`, `simhash` and `size_bytes`, shape (pages,).

    References
    ----------
    Bharat, Broder (1999). Mirror, mirror on the web: a study of host pairs with replicated content.
    """
    one, other = _together(host, path)
    if not len(one):
        return []
    pairs, place = np.unique(np.stack([host[other], host[one]]), axis=1, return_inverse=True)
    common = np.bincount(place.ravel())
    same = np.bincount(place.ravel(), _agree(said[one], said[other])).astype(np.int64)
    read = np.bincount(host)
    found = [
        Replica(copy, original, agree, both, int(read[copy]))
        for copy, original, agree, both in zip(*pairs.tolist(), same.tolist(), common.tolist(), strict=True)
    ]
    return [pair for pair in found if pair.at_least >= LEAST and pair.common >= COMMON * pair.read]


def mirrored(view: View) -> list[Suspicion]:
    """Return the mirrors among the hosts of a crawl, each once, with the host that it agrees with most."""
    state = view.state
    rows: Any = state.records.rows[: state.records.count]
    rows = rows[np.isin(rows["outcome"], HELD) & (rows["size_bytes"] >= SLIGHT_BYTES)]
    urls = state.urls.get_many(rows["slot"].tolist())
    path = state.hasher.keys([path_query(url) for url in urls]) if urls else np.zeros(0, np.uint64)
    best = dict[int, Replica]()
    for pair in replicas(rows["host"].astype(np.int64), path, rows):
        if pair.copy not in best or pair.same > best[pair.copy].same:
            best[pair.copy] = pair
    return [_told(pair, state.hosts[pair.copy], state.hosts[pair.original]) for pair in best.values()]


def _together(host: Ints, path: Keys) -> tuple[Ints, Ints]:
    """Return pairs of pages with the same path; the page on the host known earlier comes first."""
    order = np.lexsort((host, path))
    starts = np.flatnonzero(np.diff(path[order], prepend=np.uint64(0)) != 0) if len(path) else order
    pairs = [pair for group in np.split(order, starts) if 1 < len(group) <= MOST_HOSTS for pair in _pairs(group, host)]
    one, other = np.array(pairs, np.int64).reshape(-1, 2).T
    return one, other


def _pairs(group: Ints, host: Ints) -> Iterator[tuple[int, int]]:
    members: list[int] = group.tolist()
    for i, one in enumerate(members):
        for other in members[i + 1 :]:
            if host[one] != host[other]:
                yield one, other


def _agree(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether pages have the same content, up to about a line; shape (n,)."""
    differ = np.bitwise_count(one["simhash"] ^ other["simhash"])
    sizes = one["size_bytes"].astype(np.int64), other["size_bytes"].astype(np.int64)
    alike = (differ <= BITS) & (one["simhash"] != 0) & (20 * np.abs(sizes[0] - sizes[1]) <= sizes[0])
    same: NDArray[np.bool_] = (one["digest"] == other["digest"]) | alike
    same |= (one["words"] != 0) & (one["words"] == other["words"])
    return same


def _told(pair: Replica, copy: str, original: str) -> Suspicion:
    return Suspicion(
        KIND,
        (copy, original),
        f"of {pair.common:,} paths read on both hosts, {pair.same:,} have the same content (at least "
        f"{pair.at_least:.0%} with 95% confidence); {pair.read:,} pages of the mirror were read",
        pair.at_least,
        {"same": pair.same, "common": pair.common, "read": pair.read, "at_least": pair.at_least},
    )
