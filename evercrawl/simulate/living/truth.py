"""Ground truth of a living web: the importance of each page, by the crawl's own definition."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname
from evercrawl.simulate.living.plan import UrlKind
from evercrawl.simulate.living.web import CALENDAR, LivingWeb
from evercrawl.types import Floats, Ints

TAX = 0.15
INTERNAL = 0.1
_ROUNDS = 400  # (1 - TAX) ** 400 is below 1e-28


class Node(NamedTuple):
    """One URL in the computation of importance.

    Attributes
    ----------
    links
        Distinct followed links to other URLs.
    out
        Total number of links, followed or not.
    through
        Whether the URL passes on all importance: a redirect, a copy.
    """

    links: tuple[str, ...]
    out: int
    through: bool = False


def nodes(web: LivingWeb, calendar: Iterable[str] = ()) -> dict[str, Node]:
    """Return the graph known to a crawl that has visited every page, after some have vanished.

    Parameters
    ----------
    calendar
        Pages read in the endless calendars.
    """
    found: dict[str, Node] = {}
    for number, (planned, url) in enumerate(zip(web.plan.pages, web.urls, strict=True)):
        if planned.kind is UrlKind.COPY:
            found[url] = Node((web.urls[planned.target],), 1, through=True)
        elif planned.kind in (UrlKind.MOVED, UrlKind.HOP):
            found[url] = Node(tuple(web.links(url)), 1, through=True)
        elif planned.kind is UrlKind.PAGE and np.isinf(web.vanishes_at(number)):
            found[url] = _page(web, url)
    return found | {url: _page(web, url) for url in calendar}


def _page(web: LivingWeb, url: str) -> Node:
    links = tuple(dict.fromkeys(link for link in web.links(url) if link != url))
    return Node(links, len(links) + 1)  # and one to the login, which is not followed


def importance(known: dict[str, Node], *, tax: float = TAX, internal: float = INTERNAL) -> dict[str, float]:
    """Return the exact x = src + xM for each URL: src is 1 per site, spread evenly over its pages with content.

    A link within a site has weight `internal`, or 1 if there is only one site. Aliases keep nothing.

    Examples
    --------
    Two sites that link to each other get 1 + 0.85 x each:

    >>> a, b = "http://a.example/", "http://b.example/"
    >>> round(importance({a: Node((b,), 1), b: Node((a,), 1)})[a], 4)
    6.6667
    """
    places = {url: place for place, url in enumerate(known)}
    sites = [site(hostname(url)) for url in known]
    members = Counter(of for of, node in zip(sites, known.values(), strict=True) if not node.through)
    inside = internal if len(set(sites)) > 1 else 1.0
    src = np.array([0.0 if node.through else 1 / members[of] for of, node in zip(sites, known.values(), strict=True)])
    source, target, share = list[int](), list[int](), list[float]()
    for place, node in enumerate(known.values()):
        for link in node.links:
            if link in places:
                weight = inside if sites[places[link]] == sites[place] else 1.0
                source.append(place)
                target.append(places[link])
                share.append(1.0 if node.through else (1 - tax) * weight / node.out)
    x = _solved(src, np.array(source, np.int64), np.array(target, np.int64), np.array(share))
    return dict(zip(known, x.tolist(), strict=True))


def _solved(src: Floats, source: Ints, target: Ints, share: Floats) -> Floats:
    x = src
    for _ in range(_ROUNDS):
        x = src + np.bincount(target, x[source] * share, len(src))
    return x


def weights(web: LivingWeb) -> Floats:
    """Return the importance of each page that can be kept fresh, by number, shape (pages,); sums to 1.

    Pages that vanish, and URLs other than pages (redirects, copies, calendars), have weight 0.
    """
    x = importance(nodes(web))
    held = np.array([x.get(url, 0.0) for url in web.urls[: web.plan.count]])
    total: float = held.sum()
    return held / total


def rates_per_s(web: LivingWeb) -> Floats:
    """Return the rate of change of each page, by number, shape (pages,)."""
    return np.array([web.rate_per_s(number) for number in range(web.plan.count)])


def in_calendar(url: str) -> bool:
    """Return whether a URL belongs to an endless calendar."""
    return CALENDAR in url
