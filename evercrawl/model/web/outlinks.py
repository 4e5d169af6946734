"""A page's links as its event keeps them: known targets in order, which of them leave the site, how many there are."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from evercrawl.parse.dynamic import dynamic
from evercrawl.parse.sites import found_site, is_address, site
from evercrawl.parse.urls import hostname, origin
from evercrawl.store.journal.codec import encode_links
from evercrawl.types import NO_SLOT, Slots


class Outlinks(NamedTuple):
    """Links of one page to others.

    Attributes
    ----------
    targets, external, out
        As in `store.journal.events.Visit`.
    """

    targets: bytes = b""
    external: bytes = b""
    out: int = 0


def outlinks(
    url: str, slot: int, targets: Sequence[str], slots: Slots, withheld: int = 0, away: Sequence[int] | None = None,
    site_number: Callable[[str], int | None] | None = None,
) -> Outlinks:  # fmt: skip
    """Return the links of the page `url`.

    Parameters
    ----------
    url, slot
        The page; a link to itself does not count.
    targets, slots
        Where it links, all different, and the slot of each; NO_SLOT for those outside the crawl, which count as links.
    withheld
        Further links that are not to be followed.
    away
        What `leading_away` says of the page and its targets, where somebody has asked already.
    site_number
        Host -> its site's number in the crawl: whether two addresses of one network are of one site depends on whether
        they are seeds. Without it they are of two.

    Examples
    --------
    >>> import numpy as np
    >>> slots = np.array([9, 2], np.uint32)
    >>> links = outlinks("http://a.example/", 4, ["http://b.example/", "http://a.example/x"], slots)
    >>> links.targets.hex(" "), links.external.hex(" "), links.out
    ('02 06', '02', 2)

    A page that a program makes vouches for others no more than for those of its own site:

    >>> outlinks("http://a.example/?page=2", 4, ["http://b.example/", "http://a.example/x"], slots).external
    b''
    """
    if not targets:
        return Outlinks(out=withheld)
    away = leading_away(url, targets) if away is None else away
    leaving = _leaving(origin(url), away, targets, slots) if away else away
    if site_number is not None and leaving and is_address(home := hostname(url)):
        leaving = [i for i in leaving if not _together(home, hostname(targets[i]), site_number)]
    found, external, out = encode_links(slots, slot, leaving)
    return Outlinks(found, external, out + withheld)


def leading_away(url: str, targets: Sequence[str]) -> list[int]:
    """Return the places of those `targets` that may be on another site than the page `url`, being of another origin.

    Of a page that a program makes none is.

    >>> leading_away("http://a.example/", ["http://b.example/", "http://a.example/x"])
    [0]
    """
    if dynamic(url):
        return []
    home = f"{origin(url)}/"
    size = len(home)
    return [i for i, target in enumerate(targets) if target[:size] != home]


def _leaving(home: str, away: Sequence[int], targets: Sequence[str], slots: Slots) -> list[int]:
    """Return those places of targets that are known, and on another site than the origin `home`."""
    known = slots.tolist()
    return [i for i in away if known[i] != NO_SLOT and _other_site(home, origin(targets[i]))]


def _together(home: str, there: str, site_number: Callable[[str], int | None]) -> bool:
    """Whether two hosts, the first of them an address, are of one network that counts as one site."""
    return is_address(there) and found_site(home) == found_site(there) and site_number(home) == site_number(there)


@lru_cache(maxsize=8192)
def _other_site(home: str, there: str) -> bool:
    """Whether two origins are of different sites."""
    return site(hostname(f"{home}/")) != site(hostname(f"{there}/"))
