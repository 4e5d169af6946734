"""A page's links as its event keeps them: known targets in order, which of them leave the site, how many there are."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname, origin
from evercrawl.store.codec import encode_slots
from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evercrawl.types import Slots


class Outlinks(NamedTuple):
    """Links of one page to others.

    Attributes
    ----------
    targets, external, out
        As in `store.events.Visit`.
    """

    targets: bytes = b""
    external: bytes = b""
    out: int = 0


def outlinks(url: str, slot: int, targets: Sequence[str], slots: Slots, withheld: int = 0) -> Outlinks:
    """Return the links of the page `url`.

    Parameters
    ----------
    url, slot
        The page; a link to itself does not count.
    targets, slots
        Where it links, all different, and the slot of each; NO_SLOT for those outside the crawl, which count as links.
    withheld
        Further links that are not to be followed.

    Examples
    --------
    >>> slots = np.array([9, 2], np.uint32)
    >>> links = outlinks("http://a.example/", 4, ["http://b.example/", "http://a.example/x"], slots)
    >>> links.targets.hex(" "), links.external.hex(" "), links.out
    ('02 06', '02', 2)
    """
    others = slots != slot
    out = int(np.count_nonzero(others)) + withheld
    known = others & (slots != NO_SLOT)
    if not known.any():
        return Outlinks(out=out)
    leaves = _leave(url, targets)
    kept = slots[known]
    if leaves is None:
        return Outlinks(encode_slots(kept), b"", out)
    order = np.argsort(kept, kind="stable")
    bits = np.packbits(leaves[known][order], bitorder="little").tobytes()
    return Outlinks(encode_slots(kept), bits if any(bits) else b"", out)


def _leave(url: str, targets: Sequence[str]) -> NDArray[np.bool_] | None:
    """Return which of `targets` are on another site than `url`; None where none is."""
    home = origin(url)
    size = len(home) + 1
    here = home + "/"
    away = [i for i, target in enumerate(targets) if target[:size] != here]
    if not away:
        return None
    leaves = np.zeros(len(targets), np.bool_)
    leaves[away] = [_other_site(home, origin(targets[i])) for i in away]
    return leaves


@lru_cache(maxsize=65_536)
def _other_site(home: str, there: str) -> bool:
    """Whether two origins are of different sites."""
    return site(hostname(f"{home}/")) != site(hostname(f"{there}/"))
