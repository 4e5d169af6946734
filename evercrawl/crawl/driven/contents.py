"""What the body of a page says to a crawl that is driven from outside: its links are those that were followed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.model.stored.contents import Content, attempted, body_of
from evercrawl.model.stored.reading import Before, held
from evercrawl.model.web.outlinks import leading_away
from evercrawl.types import NO_SLOT, Exchange

if TYPE_CHECKING:
    from evercrawl.arrays.hasher import Hasher
    from evercrawl.config import Config
    from evercrawl.store.state import State

MOST_LINKS: Final = 10_000
"""Of a page, that count for importance; others are followed all the same."""


def told(exchange: Exchange, before: Before, config: Config, hasher: Hasher) -> Content:
    """Return what a body says; nothing is read of the one that is held."""
    former = before.digest != 0 and not before.digest_rest
    body = body_of(exchange, held(before), config.product_token, hasher, text=config.looks_for_words, former=former)
    return attempted(body)


def lead_to(content: Content, url: str, links: Sequence[str], state: State) -> None:
    """Let a page link to those of some URLs that are known, and to nothing else that its body says.

    Parameters
    ----------
    content, url
        What the body says, which is changed; and where it came from.
    links
        What whoever fetched the page has followed, normalised.
    state
        What is known.
    """
    targets = list(dict.fromkeys(links))[:MOST_LINKS]
    content.canonical, content.feeds, content.forms, content.unpaid = "", [], [], []
    content.anchors, content.withheld, content.cut = b"", 0, 0
    keys = state.hasher.keys(targets)
    known = state.table.find(keys) != NO_SLOT if targets else np.zeros(0, bool)
    content.targets = [target for target, is_known in zip(targets, known.tolist(), strict=True) if is_known]
    content.keys = keys[known].tobytes() if targets else b""
    content.away = leading_away(url, content.targets) if content.targets else []
