"""Known-item queries: each has one page that it asks for, and what is measured is where that page stands.

A *title* query is the title of a page, if no other page has it. An *anchor* query is what a link says of the page it
leads to, on another page, in two words at least; only words that lead to one page alone, wherever they stand. Titles
are drawn by page, anchors by link: what many pages link to is asked for more often. A *shared* query is an anchor whose
words lead to several pages, ten at most, and asks for one of them: drawn by link, so mostly for the one that most mean.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from evercrawl.model.stored.answers import answer_of, exchange_of, is_html
from evercrawl.parse import html
from evercrawl.search.schema import words_of
from evercrawl.store.journal.events import Visit
from evercrawl.store.records.records import FINDABLE
from evercrawl.types import NO_SLOT

MOST_WORDS = 20


@dataclass(frozen=True)
class Item:
    """A query, and the slot of the page it asks for."""

    kind: str
    query: str
    slot: int

    @property
    def held_back(self) -> bool:
        """Whether it is of the half that nothing is tuned on."""
        return hashlib.sha256(self.query.encode()).digest()[0] % 2 == 1


def drawn(partition, count: int, seed: int) -> list[Item]:
    """Return up to `count` items of each kind from the crawl in `partition`."""
    titles, links = _read(partition)
    chance = random.Random(seed)
    often = Counter(" ".join(words_of(title)) for title in titles.values())
    named = [
        Item("title", title, slot) for slot, title in sorted(titles.items()) if often[" ".join(words_of(title))] == 1
    ]
    targets = defaultdict(set)
    for _, target, words in links:
        targets[words].add(target)
    said = [
        Item("anchor" if len(targets[words]) == 1 else "shared", words, target)
        for source, target, words in links
        if source != target and target in titles and len(targets[words]) <= 10 and 1 <= words.count(" ") < MOST_WORDS
    ]
    chance.shuffle(named)
    chance.shuffle(said)
    chosen = named[:count]
    for kind in ("anchor", "shared"):
        chosen += list(dict.fromkeys([item for item in said if item.kind == kind][: 3 * count]))[:count]
    return chosen


def _read(partition) -> tuple[dict[int, str], list[tuple[int, int, str]]]:
    """Return slot -> title of the pages that can be found, and all links: source, target, words."""
    state, titles, links = partition.state, {}, []
    rows = state.records.rows[: state.records.count]
    for row in rows[(rows["flags"] & FINDABLE) != 0]:
        slot, event = int(row["slot"]), partition.journal.read(int(row["event"])) if row["event"] else None
        if not isinstance(event, Visit) or event.archive is None:
            continue
        held = exchange_of(event, answer_of(partition, event))
        if not is_html(event.mime, held.body):
            continue
        if words_of(event.title):
            titles[slot] = event.title
        found = html.links(held.body, state.urls.get(slot), held.headers.get("content-type", ""))
        slots = state.find([link.target for link in found]).tolist()
        said = {(to, " ".join(words_of(link.anchor))) for to, link in zip(slots, found, strict=True) if to != NO_SLOT}
        links += [(slot, to, words) for to, words in sorted(said) if words]
    return titles, links


def gains(ranks: list[int]) -> tuple[float, float]:
    """Return mean reciprocal rank and nDCG@10 of ranks from 1; 0 stands for "not found".

    >>> gains([1, 2, 0])
    (0.5, 0.5436...)
    """
    at = np.array(ranks, np.float64)
    found, first = at > 0, (at > 0) & (at <= 10)
    safe = np.where(found, at, 1.0)
    return float(np.mean(found / safe)), float(np.mean(first / np.log2(1 + safe)))
