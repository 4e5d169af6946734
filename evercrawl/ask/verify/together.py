"""Checks across partitions: the cash of each page in all partitions, and in letters between them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evercrawl.ask.verify.cash import members
from evercrawl.importance.base import Links
from evercrawl.importance.push import Push
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.store.forgotten import is_nowhere
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.store.journal.post_events import LetterReceived, LetterSent
from evercrawl.store.partition import Partition
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT

OFF = 1e-6
"""Tolerance of a page's law, as a share of its importance and its site's source."""


@dataclass
class Together:
    """The partitions of one crawl, all read at one instant while none of them runs.

    Attributes
    ----------
    value
        x of each page, by URL.
    cash
        Cash of each page: in its owner's cell, in cells of other partitions, in letters, and for URLs not yet known.
    sources
        The share of its site's source of each page.
    brought
        The cash that the links of all pages bring to each page, given their x.
    visited
        URL -> the partitions that visited it.
    wrong
        A sentence for each violation.
    under_way, worst
        Cash in letters that are not yet applied; the largest error of a page's law, as a share of its importance.
    """

    value: dict[str, float] = field(default_factory=dict[str, float])
    cash: defaultdict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    sources: dict[str, float] = field(default_factory=dict[str, float])
    brought: defaultdict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    visited: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict[str, set[int]](set))
    wrong: list[str] = field(default_factory=list[str])
    under_way: float = 0.0
    worst: float = 0.0

    @property
    def importance(self) -> dict[str, float]:
        """Return x + r + source of each page that has any, by URL."""
        return {url: self.value.get(url, 0.0) + self.cash[url] + self.sources.get(url, 0.0) for url in self.cash}

    def pay(self, url: str | None, amount: float, where: str) -> None:
        """Count cash that waits for a URL; None for one that no partition knows, which is wrong."""
        if url is None:
            self.wrong.append(f"{where} holds {amount:.6g} of cash for a URL that no partition knows")
        else:
            self.cash[url] += amount


def together(partitions: Sequence[Partition]) -> Together:
    """Return the partitions' joint state, checked against the laws of cash and of letters."""
    found = Together()
    urls = dict[int, str]()
    for partition in partitions:
        state = partition.state
        urls |= dict(zip(state.known.rows()["key"].tolist(), _names(state), strict=True))
    sent, received = _letters(partitions)
    for number, partition in enumerate(partitions):
        _pages(partition, number, found)
        post = partition.state.post
        assert post is not None
        for key, amount in post.waiting.items():
            found.pay(urls.get(key), amount, f"partition {number}")
    for (one, to), letters in sent.items():
        applied = received.get((one, to), {})
        if sorted(letters) != list(range(1, len(letters) + 1)) or sorted(applied) != list(range(1, len(applied) + 1)):
            found.wrong.append(f"letters from {one} to {to} are not numbered consecutively")
        for number, (keys, amounts) in letters.items():
            if number in applied:
                if applied[number] != dict(zip(keys, amounts, strict=True)):
                    found.wrong.append(f"letter {number} from {one} to {to} was not applied as it was sent")
                continue
            if number not in _unsettled(partitions[one], to):
                found.wrong.append(f"letter {number} from {one} to {to} was discarded before it was applied")
            found.under_way += math.fsum(amounts)
            for key, amount in zip(keys, amounts, strict=True):
                found.pay(urls.get(key), amount, f"letter {number} from {one} to {to}")
    for pair, came in received.items():
        if not came.keys() <= sent.get(pair, {}).keys():
            found.wrong.append(f"letters from {pair[0]} to {pair[1]} were applied that were never sent")
    _laws(found)
    return found


def _unsettled(partition: Partition, to: int) -> dict[int, int]:
    post = partition.state.post
    assert post is not None
    return post.peers[to].unsettled


def _letters(
    partitions: Sequence[Partition],
) -> tuple[
    dict[tuple[int, int], dict[int, tuple[list[int], list[float]]]], dict[tuple[int, int], dict[int, dict[int, float]]]
]:
    """Return the letters of each pair (sender first) by number: as sent, and as applied."""
    sent = defaultdict[tuple[int, int], dict[int, tuple[list[int], list[float]]]](dict)
    received = defaultdict[tuple[int, int], dict[int, dict[int, float]]](dict)
    for number, partition in enumerate(partitions):
        keys = partition.state.known.rows()["key"]
        for _, _, event in partition.journal.replay():
            if isinstance(event, LetterSent):
                amounts = np.frombuffer(event.amounts).tolist()
                sent[number, event.to][event.number] = keys[decode_slots(event.slots)].tolist(), amounts
            elif isinstance(event, LetterReceived):
                cells = keys[decode_slots(event.slots)].tolist() + np.frombuffer(event.keys, np.uint64).tolist()
                amounts = np.frombuffer(event.amounts).tolist() + np.frombuffer(event.left).tolist()
                received[event.sender, number][event.number] = dict(zip(cells, amounts, strict=True))
    return sent, received


def _pages(partition: Partition, number: int, found: Together) -> None:
    """Add the cells and values of one partition, and the cash that its links bring."""
    state = partition.state
    scheme, rows = scheme_of(state.scheme, state), state.records.rows[: state.records.count]
    assert isinstance(scheme, Push), "values are those of push"
    texts, hosts = _names(state), state.known.hosts()
    assert state.post is not None
    for slot, url in enumerate(texts):
        found.cash[url] += float(state.table.cash[slot])
    last = dict[int, int]()
    for row in rows:
        slot = int(row["slot"])
        found.visited[texts[slot]].add(number)
        found.value[texts[slot]] = float(row["importance"])
        last[slot] = int(row["event"])
        if not state.post.owns(int(hosts[slot])):
            found.wrong.append(f"partition {number} visited {texts[slot]}, which belongs to another partition")
    for slot, site in _members(state):
        found.sources[texts[slot]] = state.accounts.share(site)
    for pointer, _, event in partition.journal.replay():
        if isinstance(event, Visit) and event.flags & HAS_LINKS and last.get(event.slot) == pointer:
            through = event.alias != NO_SLOT
            value = found.value[texts[event.slot]]
            inside, outside = scheme.each(value, Links(out=event.out, through=through))
            if through:
                found.brought[texts[event.alias]] += outside
                continue
            slots = decode_slots(event.targets)
            bits = np.frombuffer(event.external.ljust(-(-len(slots) // 8), b"\0"), np.uint8)
            marks = np.unpackbits(bits, count=len(slots), bitorder="little").tolist()
            for slot, mark in zip(slots.tolist(), marks, strict=True):
                found.brought[texts[slot]] += outside if mark else inside


def _names(state: State) -> list[str]:
    """Return a name of each URL that is the same in all partitions: the URL, or its key if it was forgotten."""
    texts, keys = state.urls.get_many(range(state.known.count)), state.known.rows()["key"].tolist()
    return [f"forgotten {key:016x}" if is_nowhere(text) else text for text, key in zip(texts, keys, strict=True)]


def _members(state: State) -> list[tuple[int, int]]:
    """Return the slot and the site of each page that has a share of its site's source."""
    slots, sites = members(state)
    return list(zip(slots.tolist(), sites.tolist(), strict=True))


def _laws(found: Together) -> None:
    """Check x + r - source = xM for each page over all partitions, and that one partition visited each page."""
    for url in found.cash.keys() | found.brought.keys():
        value, brought = found.value.get(url, 0.0), found.brought[url]
        off = abs(value + found.cash[url] - brought) / (1.0 + abs(value))
        found.worst = max(found.worst, off)
        if not off <= OFF:
            found.wrong.append(
                f"{url} has passed on {value:.9g} and holds {found.cash[url]:.9g}, but its in-links bring {brought:.9g}"
            )
    for url, parts in found.visited.items():
        if len(parts) > 1:
            found.wrong.append(f"{url} was visited by partitions {sorted(parts)}")
