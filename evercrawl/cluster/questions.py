"""Questions to a crawl in several partitions: each partition answers, and the answers are brought together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.ask.rank.top import TopPage, top_pages
from evercrawl.ask.search.search import Narrow, Search, SearchAnswer
from evercrawl.ask.status import Status, status
from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.together import together
from evercrawl.ask.verify.verify import Watch, verify
from evercrawl.cluster.birth import part_directories, read_birth
from evercrawl.errors import EvercrawlError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View, settings
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname
from evercrawl.store.disk.lock import holder
from evercrawl.store.partition import Partition
from evercrawl.store.post.book import Peer
from evercrawl.store.post.ownership import Ownership

_T = TypeVar("_T")


@dataclass
class PartAnswers(Generic[_T]):
    """What the partitions answered.

    Attributes
    ----------
    answers
        By partition, of those that could.
    troubles
        By partition, why the others could not.
    """

    answers: dict[int, _T] = field(default_factory=dict[int, _T])
    troubles: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def note(self) -> str:
        """Return how many answered, where not all did; else ""."""
        if not self.troubles:
            return ""
        whole = len(self.answers) + len(self.troubles)
        why = "; ".join(f"partition {number}: {trouble}" for number, trouble in sorted(self.troubles.items()))
        return f"{len(self.answers)} of {whole} partitions answered ({why})"


def each(directory: Path, ask: Callable[[Path], _T]) -> PartAnswers[_T]:
    """Ask every partition.

    Raises
    ------
    EvercrawlError
        None could answer.
    """
    found, error, places = PartAnswers[_T](), None, read_birth(directory).places
    for number, part in enumerate(part_directories(directory)):
        try:
            if places and not part.is_dir():
                raise StoreError(f"it is on the disk {places[number]} of another machine")
            found.answers[number] = ask(part)
        except EvercrawlError as trouble:
            found.troubles[number], error = str(trouble), trouble
    if error is not None and not found.answers:
        raise error
    return found


def owner(directory: Path, url: str) -> Path:
    """Return the partition that owns a URL."""
    birth = read_birth(directory)
    own = Ownership(birth.share(0), Hasher(bytes.fromhex(birth.secret)), found_site)
    return part_directories(directory)[own.of(hostname(url))]


def top(directory: Path, most: int) -> tuple[list[TopPage], str]:
    """Return the most important pages of all partitions, and how many answered where not all did."""

    def ask(part: Path) -> tuple[float, float, list[TopPage]]:
        crawl = opened(part)
        try:
            return _top(View(crawl, settings(part)[0], time.time()), most)
        finally:
            crawl.close()

    found = each(directory, ask)
    whole = sum(total for total, _, _ in found.answers.values())
    counted = sum(count for _, count, _ in found.answers.values())
    pages = [
        replace(page, importance=page.importance / whole, times_mean=page.importance / whole * counted)
        for _, _, rows in found.answers.values()
        for page in rows
        if page.importance > 0
    ]
    pages.sort(key=lambda page: (-page.importance, page.url))
    return [replace(page, rank=rank) for rank, page in enumerate(pages[:most], 1)], found.note


def _top(view: View, most: int) -> tuple[float, float, list[TopPage]]:
    """Return all importance of the pages that a partition owns, how many share it, and its first pages."""
    post = view.state.post
    assert post is not None, "a partition of several"
    mine = post.owned(view.state.known.columns().host)
    importance = np.where(mine, view.importance * view.total, 0.0)
    return float(importance.sum()), view.counted - float(np.count_nonzero(~mine)), top_pages(view, most, importance)


def search(directory: Path, words: str, narrow: Narrow, limit: int) -> tuple[SearchAnswer, str]:
    """Return what the partitions find, the best first."""

    def ask(part: Path) -> SearchAnswer:
        one = Search(part)
        try:
            return one.ask(words, narrow, limit=limit)
        finally:
            one.close()

    began = time.monotonic()
    found = each(directory, ask)
    answers = list(found.answers.values())
    hits = sorted((hit for answer in answers for hit in answer.hits), key=lambda hit: (-hit.score, hit.url))
    more = len(hits) > limit or any(answer.more for answer in answers)
    instead = "" if hits else next((answer.instead for answer in answers if answer.instead), "")
    ranked = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits[:limit], 1))
    return SearchAnswer(ranked, more, time.monotonic() - began, instead), found.note


@dataclass(frozen=True)
class PartStatus:
    """One partition: its state, URLs that it owns, and letters that it wrote, applied, and has under way."""

    number: int
    state: Status
    known: int
    never_fetched: int
    sent: int
    applied: int
    under_way: int


def statuses(directory: Path) -> PartAnswers[PartStatus]:
    """Return the state of each partition."""

    def ask(part: Path) -> PartStatus:
        said = status(part)
        crawl = opened(part)
        try:
            post = crawl.state.post
            assert post is not None, "a partition of several"
            others = int(np.count_nonzero(~post.owned(crawl.state.known.columns().host)))
            return PartStatus(
                post.ownership.number, said, max(said.known - others, 0), max(said.never_fetched - others, 0),
                sum(peer.sent for peer in post.peers), sum(peer.applied for peer in post.peers),
                sum(len(peer.unsettled) for peer in post.peers),
            )  # fmt: skip
        finally:
            crawl.close()

    return each(directory, ask)


def verified(directory: Path, watch: Watch) -> dict[str, Findings]:
    """Check every partition, and what is between them, where none of them runs; by name.

    Between partitions that run, letters are on their way while one is read after the other.
    """
    found = {part.name: verify(part, watch) for part in part_directories(directory)}
    if holder(directory) is not None or not all(one.fine for one in found.values()):
        return found
    between, partitions = Findings(), list[Partition]()
    try:
        for part in part_directories(directory):
            partitions.append(opened(part))
        all_of_them = together(partitions)
    finally:
        for partition in partitions:
            partition.close()
    for sentence in all_of_them.wrong:
        between.blame(sentence)
    between.count("pages over all partitions", len(all_of_them.visited))
    between.count("letters", sum(peer.sent for one in partitions for peer in _peers(one)))
    between.measure("cash of a page over all partitions", all_of_them.worst)
    found["between partitions"] = between
    return found


def _peers(partition: Partition) -> list[Peer]:
    post = partition.state.post
    return post.peers if post is not None else []
