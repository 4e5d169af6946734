"""Capacity model of a crawl of many partitions: what each would store, send and reach, from random site sizes.

Nothing is crawled. Sites of random sizes and rates of change are assigned to partitions by the hash that a crawl
uses; the cost of a URL, a visit or a letter was measured on small crawls, or is assumed (`ScaleItems`). All results
are extrapolations.

References
----------
Broder et al. (2000). Graph structure in the web. The exponent of the numbers of links to a page is 2.1.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final

import numpy as np

from evercrawl.arrays.hasher import SECRET_BYTES, Hasher
from evercrawl.crawl.posting.posting import every_s
from evercrawl.crawl.posting.sound import ENTRIES
from evercrawl.schedule.formulas.allocation import optimum
from evercrawl.simulate.living.plan import HOST_SHARE, MEDIAN_PER_CYCLE, SPREAD
from evercrawl.store.post.ownership import Ownership, Share
from evercrawl.types import Floats

GIB: Final = 1 << 30
DAY_S: Final = 86_400.0
ROWS_MOST: Final = 1 << 30
"""URLs that the table of one partition can hold."""
PAGES_MOST: Final = 1 << 28
"""Visited pages that it can hold."""
_ALONE: Final = 50_000  # sites drawn individually; smaller ones are so many that they spread evenly
_LEVELS: Final = np.linspace(-4.0, 4.0, 41)  # spread of sites' rates of change, as a standard deviation
_OWN: Final = np.array([NormalDist().inv_cdf((place + 0.5) / 9) for place in range(9)])  # of pages' rates within a site
_RARE: Final = np.logspace(0.0, -12.0, 2000)  # shares of all URLs with at least that many links


def _item(value: float, meaning: str) -> float:
    """Return a field with the meaning and source of its value."""
    found: float = field(default=value, metadata={"meaning": meaning})
    return found


@dataclass(frozen=True, slots=True)
class ScaleItems:
    """Cost items: measured by the command named, or assumed.

    Attributes
    ----------
    url_bytes, page_bytes, host_bytes, elsewhere_host_bytes, process_bytes
        Memory.
    read_share, urls_a_host, size_exponent, links_out, links_exponent
        Properties of the web.
    refresh_days, visits_per_cpu_s, entries, entries_per_s, carried_per_s, journal_bytes
        Visits and their costs.
    start_s
        CPU time of a start, per URL.
    machine_gib, disk_gib, wait_s
        Resources, and the limit on the time of a start.
    """

    url_bytes: float = _item(27.9, "memory of a known URL (bench/large.py)")
    page_bytes: float = _item(245.0, "memory of a visited page beside that (bench/large.py)")
    host_bytes: float = _item(374.0, "memory of a host with its queues (bench/large.py)")
    elsewhere_host_bytes: float = _item(174.0, "memory of a host of another partition (bench/large.py)")
    process_bytes: float = _item(141e6, "memory of a process that knows nothing (by hand, MEASURED.md)")
    read_share: float = _item(0.2, "part of the known URLs that is ever read (assumed)")
    urls_a_host: float = _item(100.0, "known URLs of a site (assumed)")
    size_exponent: float = _item(0.8, "exponent of the sizes of sites by rank (assumed)")
    links_out: float = _item(5.0, "links of a page to pages of other sites (assumed)")
    links_exponent: float = _item(2.1, "exponent of the numbers of links to a page, and to a site (Broder et al.)")
    refresh_days: float = _item(30.0, "days between two visits of a page (assumed)")
    visits_per_cpu_s: float = _item(371.0, "visits a CPU-second, in 4 partitions (bench/partitions.py)")
    entries: float = _item(4.3, "entries of letters a visit, in 4 partitions (bench/partitions.py)")
    entries_per_s: float = _item(4.3e6, "entries that a core journals and folds a second (bench/partitions.py)")
    carried_per_s: float = _item(62e3, "messages that a core carries a second (bench/partitions.py)")
    journal_bytes: float = _item(306.0, "journal of a visit, in 4 partitions (bench/partitions.py)")
    start_s: float = _item(0.41e-6, "CPU-seconds of a start, for a known URL (bench/state.py)")
    machine_gib: float = _item(64.0, "memory of a machine (assumed)")
    disk_gib: float = _item(4000.0, "disk of a machine for journals (assumed)")
    wait_s: float = _item(60.0, "that a start may take (assumed)")


@dataclass(frozen=True, slots=True)
class SharedFreshness:
    """Freshness under one ceiling for the whole crawl, as shares of the optimum.

    Attributes
    ----------
    equal
        Equal shares of the ceiling per partition.
    by_pages
        Shares proportional to pages.
    by_price
        Equal shares after one step towards partitions whose marginal visit is worth more.
    """

    equal: float
    by_pages: float
    by_price: float


@dataclass(frozen=True, slots=True)
class PartedCounts:
    """The results for a crawl of many partitions.

    Attributes
    ----------
    known, parts, sites
        URLs, partitions and sites.
    largest, largest_site
        URLs of the largest partition, and of the largest site.
    elsewhere, elsewhere_hosts
        Rows for URLs of other partitions, per own URL; the same for sites.
    memory_bytes, largest_bytes
        Memory of all partitions, and of the largest one.
    visits_per_s, cores
        Of the whole crawl.
    entries_per_s, letters_per_s
        Sent by all partitions.
    journal_per_day
        Bytes per day, of the whole crawl.
    start_s
        CPU time of a start of the largest partition; a query that opens its directory takes as long.
    shares
        Freshness by how the ceiling is divided.
    limits
        Name of a limit -> utilisation; above 1 it is exceeded.
    """

    known: float
    parts: int
    sites: int
    largest: float
    largest_site: float
    elsewhere: float
    elsewhere_hosts: float
    memory_bytes: float
    largest_bytes: float
    visits_per_s: float
    cores: float
    entries_per_s: float
    letters_per_s: float
    journal_per_day: float
    start_s: float
    shares: SharedFreshness
    limits: dict[str, float]

    @property
    def nearest(self) -> tuple[str, float]:
        """The limit with the highest utilisation, and its value."""
        return max(self.limits.items(), key=lambda limit: limit[1])


def elsewhere(mean: float, parts: int, exponent: float) -> float:
    """Return the mean number of other partitions that link to a page.

    Parameters
    ----------
    mean
        Mean number of links to a page from other sites.
    parts
        Number of partitions.
    exponent
        Exponent of the distribution of in-links; infinity if all pages have the same number.

    Examples
    --------
    Two links to each page of any site, in four partitions: `bench/partitions.py` counted 1.14 and 1.17.

    >>> round(elsewhere(2.0, 4, float("inf")), 2)
    1.18
    >>> elsewhere(2.0, 1, 2.1)
    0.0
    """
    if np.isinf(exponent):
        return float((parts - 1) * -np.expm1(-mean / parts))
    tail = exponent - 1.0
    links = mean * (tail - 1.0) / tail * _RARE ** (-1.0 / tail)
    return float((parts - 1) * np.trapezoid(-np.expm1(-links / parts)[::-1], _RARE[::-1]))


def counted(known: float, parts: int, seed: int = 1, items: ScaleItems | None = None) -> PartedCounts:
    """Return the results for a crawl of `known` URLs in `parts` partitions.

    Parameters
    ----------
    known, parts
        URLs; partitions, a power of two.
    seed
        Draws the secret under which sites are hashed, and their rates of change.
    items
        The cost items.

    Examples
    --------
    >>> one = counted(1e6, 1)
    >>> one.largest, one.elsewhere, one.letters_per_s, one.shares.equal
    (1000000.0, 0.0, 0.0, 1.0)
    """
    item = items or ScaleItems()
    sites = max(round(known / item.urls_a_host), parts)
    weights, sizes = _drawn(known, parts, seed, sites, item)
    own = weights.sum(axis=1)
    largest, read = float(own.max()), known * item.read_share
    mean = item.links_out * item.read_share  # links to a known URL
    rows = elsewhere(mean, parts, item.links_exponent)
    hosts = elsewhere(mean * item.urls_a_host, parts, item.links_exponent)
    bytes_a_url = (
        (1.0 + rows) * item.url_bytes
        + item.read_share * item.page_bytes
        + (item.host_bytes + hosts * item.elsewhere_host_bytes) / item.urls_a_host
    )
    visits_s = read / (item.refresh_days * DAY_S)
    entries_s = visits_s * item.entries * (1.0 - 1.0 / parts) / (1.0 - 1.0 / 4)
    letters_s = _letters(entries_s, parts)
    largest_bytes = largest * bytes_a_url + item.process_bytes
    memory = known * bytes_a_url + parts * item.process_bytes
    start_s = largest * (1.0 + rows) * item.start_s
    journal = visits_s * item.journal_bytes * DAY_S
    return PartedCounts(
        known, parts, sites, largest, float(sizes[0]), rows, hosts, memory, largest_bytes, visits_s,
        visits_s / item.visits_per_cpu_s + 2 * entries_s / item.entries_per_s, entries_s, letters_s, journal, start_s,
        _freshness(weights),
        {
            "memory of a machine, for the largest partition": largest_bytes / (item.machine_gib * GIB),
            "rows of one table of URLs": largest * (1.0 + rows) / ROWS_MOST,
            "visited pages of one partition": largest * item.read_share / PAGES_MOST,
            "time of a start, and of a question that reads the directory": start_s / item.wait_s,
            "disk of a machine, for ten years of the largest partition's journal": journal
            * 3650 * largest / known / (item.disk_gib * GIB),
            "messages that the coordinator can carry": 2 * letters_s / item.carried_per_s,
        },
    )  # fmt: skip


def _drawn(known: float, parts: int, seed: int, sites: int, item: ScaleItems) -> tuple[Floats, Floats]:
    """Return URLs by partition and level of the site's rate of change, and those of the largest sites, in order."""
    draw = np.random.default_rng(seed)
    secret = random.Random(f"counts {seed}").randbytes(SECRET_BYTES)
    own = Ownership(Share(0, parts, "counts", 1), Hasher(secret), lambda host: host)
    alone = min(sites, _ALONE)
    ranks = np.arange(1, alone + 1, dtype=np.float64)
    sizes = ranks**-item.size_exponent
    tail, squares = _tail(alone, sites, item.size_exponent), _tail(alone, sites, 2 * item.size_exponent)
    unit = known / (sizes.sum() + tail)
    sizes *= unit
    levels = np.clip(np.rint((draw.standard_normal(alone) + 4.0) / 0.2).astype(np.int64), 0, len(_LEVELS) - 1)
    owner = np.array([own.of(f"site{number}.example") for number in range(alone)], np.int64)
    weights = np.zeros((parts, len(_LEVELS)))
    np.add.at(weights, (owner, levels), sizes)
    if tail:
        shares = np.maximum(tail / parts + draw.standard_normal(parts) * np.sqrt(squares / parts), 0.0)
        shares *= tail / shares.sum() * unit
        even = np.exp(-0.5 * _LEVELS**2)
        weights += shares[:, None] * even / even.sum()
    return weights, sizes


def _tail(first: int, last: int, exponent: float) -> float:
    """Return the sum of rank^-exponent over ranks above `first`, up to `last`, as an integral."""
    if last <= first:
        return 0.0
    low, high, power = first + 0.5, last + 0.5, 1.0 - exponent
    return float(np.log(high / low) if abs(power) < 1e-9 else (high**power - low**power) / power)


def _letters(entries_s: float, parts: int) -> float:
    """Return the letters written per second: at least one for each pair and turn with something to send."""
    if parts == 1:
        return 0.0
    pairs, turn = parts * (parts - 1), every_s(parts)
    owed = entries_s / pairs * turn
    return float(pairs / turn * max(-np.expm1(-owed), owed / ENTRIES))


def _freshness(weights: Floats) -> SharedFreshness:
    """Return the shares of the optimum that equal shares, shares by pages and one price step reach."""
    spread = SPREAD * (np.sqrt(HOST_SHARE) * _LEVELS[:, None] + np.sqrt(1.0 - HOST_SHARE) * _OWN)
    lam = (MEDIAN_PER_CYCLE * np.exp(spread)).ravel()
    pages = np.repeat(weights / weights.sum(), len(_OWN), axis=1) / len(_OWN)
    most, of = optimum(pages.sum(axis=0), lam, 1.0, cost=pages.sum(axis=0) + 1e-300).value, pages.sum(axis=1)

    def reached(shares: Floats) -> tuple[float, Floats]:
        found = [
            optimum(row[row > 0], lam[row > 0], share, cost=row[row > 0])
            for row, share in zip(pages, shares, strict=True)
        ]
        return sum(each.value for each in found) / most, np.array([each.price for each in found])

    equal = np.full(len(of), 1.0 / len(of))
    at_equal, prices = reached(equal)
    stepped = equal * prices
    return SharedFreshness(at_equal, reached(of / of.sum())[0], reached(stepped / stepped.sum())[0])
