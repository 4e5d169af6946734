"""The content of pages for a crawl driven by another program: only the links that this program followed count."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.model.stored.contents import Content, attempted, body_of
from evercrawl.model.stored.reading import Before, held
from evercrawl.model.web.outlinks import leading_away
from evercrawl.types import NO_SLOT, Exchange

if TYPE_CHECKING:
    from evercrawl.arrays.hasher import Hasher
    from evercrawl.config import Config
    from evercrawl.store.state import State

MOST_LINKS: Final = 10_000
"""Maximum number of links of a page that count for importance; further links are followed all the same."""


def told(exchange: Exchange, before: Before, config: Config, hasher: Hasher) -> Content:
    """Return the content of a body; a body that equals the stored copy is not parsed."""
    former = before.digest != 0 and not before.digest_rest
    body = body_of(exchange, held(before), config.product_token, hasher, text=config.looks_for_words, former=former)
    return attempted(msgspec.structs.replace(body, links=False))


def lead_to(pages: Sequence[tuple[Content, str, Sequence[str]]], state: State) -> None:
    """Replace the links of each page by the known URLs among those that were followed from it.

    Parameters
    ----------
    pages
        For each page its content, which is changed in place; its URL; and the normalised URLs that the fetching
        program followed from it.
    state
        All that is known.
    """
    followed = [list(dict.fromkeys(links))[:MOST_LINKS] for _, _, links in pages]
    keys = state.hasher.keys(list(chain.from_iterable(followed)))
    known = state.table.find(keys) != NO_SLOT
    at = 0
    for (content, url, _), targets in zip(pages, followed, strict=True):
        place = slice(at, at + len(targets))
        at = place.stop
        content.canonical, content.feeds, content.forms, content.unpaid = "", [], [], []
        content.anchors, content.withheld, content.cut = b"", 0, 0
        content.targets = [one for one, is_known in zip(targets, known[place].tolist(), strict=True) if is_known]
        content.keys = keys[place][known[place]].tobytes()
        content.away = leading_away(url, content.targets) if content.targets else []
