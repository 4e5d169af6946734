"""Questions to a crawl in several partitions: each partition answers, and the answers are merged."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.ask.parted import PartStates
from evercrawl.ask.parts_line import VERB, PartState, VerbAnswer, VerbAsked, ask_part, hung, part_states
from evercrawl.ask.rank.top import TopPage, top_pages
from evercrawl.ask.search.search import Narrow, Search, SearchAnswer
from evercrawl.ask.status import Status, status
from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.together import together
from evercrawl.ask.verify.verify import Watch, verify
from evercrawl.cluster.birth import part_directories, read_birth
from evercrawl.cluster.disks import is_here
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
QUESTION_S: Final = 60.0
"""Time limit for partitions of other machines to answer a question, such as `top`."""
SERVED_S: Final = 8.0
"""The same for a question from a server, whose readers wait."""
SILENT_S: Final = 10.0
"""After an unanswered question for the states of the partitions, the time until it is asked again."""
STOPPED_S: Final = 30.0
"""How long the state of a stopped crawl is cached."""


@dataclass
class PartAnswers(Generic[_T]):
    """The answers of the partitions.

    Attributes
    ----------
    answers
        The answers, by partition.
    troubles
        Why other partitions gave no answer, by partition.
    """

    answers: dict[int, _T] = field(default_factory=dict[int, _T])
    troubles: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def note(self) -> str:
        """Return how many partitions answered, if not all did; else ""."""
        if not self.troubles:
            return ""
        whole = len(self.answers) + len(self.troubles)
        why = "; ".join(f"partition {number}: {trouble}" for number, trouble in sorted(self.troubles.items()))
        return f"{len(self.answers)} of {whole} partitions answered ({why})"


def each(
    directory: Path, kind: type[_T], name: str, patience_s: float = QUESTION_S, **parameters: Any
) -> PartAnswers[_T]:
    """Ask every partition one of `QUESTIONS`; those on other machines concurrently, through the running crawl.

    Parameters
    ----------
    directory, kind, name, parameters
        As in `ask_part`.
    patience_s
        Time limit for partitions of other machines.

    Raises
    ------
    EvercrawlError
        No partition answered.
    """
    parts = part_directories(directory)

    def afar(number: int) -> _T:
        return ask_part(directory, number, kind, name, parameters, patience_s)

    found, error, far = PartAnswers[_T](), None, {number for number in range(len(parts)) if is_afar(directory, number)}
    with ThreadPoolExecutor(max_workers=max(len(far), 1)) as threads:
        asked = {number: threads.submit(afar, number) for number in sorted(far)}
        for number, part in enumerate(parts):
            try:
                found.answers[number] = asked[number].result() if number in far else QUESTIONS[name](part, **parameters)
            except EvercrawlError as trouble:
                found.troubles[number], error = str(trouble), trouble
    if error is not None and not found.answers:
        raise error
    return found


def is_afar(directory: Path, number: int) -> bool:
    """Return whether a partition is on another machine."""
    return not is_here(directory, number)


def verb_afar(directory: Path, number: int, words: list[str], given: bytes = b"") -> VerbAnswer:
    """Run a verb of the command line on a partition of another machine, with `given` as its standard input.

    Raises
    ------
    StoreError
        The partition does not answer.
    """
    return ask_part(directory, number, VerbAnswer, VERB, VerbAsked(words, given))


def owner(directory: Path, url: str) -> int:
    """Return the number of the partition that owns a URL."""
    birth = read_birth(directory)
    own = Ownership(birth.share(0), Hasher(bytes.fromhex(birth.secret)), found_site)
    return own.of(hostname(url))


def top(directory: Path, most: int, patience_s: float = QUESTION_S) -> tuple[list[TopPage], str]:
    """Return the most important pages of all partitions, and how many partitions answered if not all did."""
    found = each(directory, tuple[float, float, list[TopPage]], "top", patience_s, most=most)
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


def _top(part: Path, most: int) -> tuple[float, float, list[TopPage]]:
    """Return the total importance of a partition's own pages, the number that share it, and the first of them."""
    with closing(opened(part)) as crawl:
        view = View(crawl, settings(part)[0], time.time())
        post = view.state.post
        assert post is not None, "a partition of several"
        mine = post.owned(view.state.known.hosts())
        importance = np.where(mine, view.importance * view.total, 0.0)
        counted = view.counted - float(np.count_nonzero(~mine))
        return float(importance.sum()), counted, top_pages(view, most, importance)


def search(
    directory: Path, words: str, narrow: Narrow, limit: int, patience_s: float = QUESTION_S
) -> tuple[SearchAnswer, str]:
    """Return the results of all partitions, the best first."""
    began = time.monotonic()
    found = each(directory, SearchAnswer, "search", patience_s, words=words, narrow=asdict(narrow), limit=limit)
    answers = list(found.answers.values())
    hits = sorted((hit for answer in answers for hit in answer.hits), key=lambda hit: (-hit.score, hit.url))
    more = len(hits) > limit or any(answer.more for answer in answers)
    instead = "" if hits else next((answer.instead for answer in answers if answer.instead), "")
    ranked = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits[:limit], 1))
    return SearchAnswer(ranked, more, time.monotonic() - began, instead), found.note


def _search(part: Path, words: str, narrow: dict[str, Any], limit: int) -> SearchAnswer:
    with closing(Search(part)) as one:
        return one.ask(words, Narrow(**narrow), limit=limit)


@dataclass(frozen=True)
class PartStatus:
    """The state of one partition: the URLs that it owns, and letters written, applied and under way."""

    number: int
    state: Status
    known: int
    never_fetched: int
    sent: int
    applied: int
    under_way: int


def statuses(directory: Path) -> PartAnswers[PartStatus]:
    """Return the state of each partition."""
    return each(directory, PartStatus, "status")


def _status(part: Path) -> PartStatus:
    said = status(part)
    with closing(opened(part)) as crawl:
        post = crawl.state.post
        assert post is not None, "a partition of several"
        others = int(np.count_nonzero(~post.owned(crawl.state.known.hosts())))
        return PartStatus(
            post.ownership.number, said, max(said.known - others, 0), max(said.never_fetched - others, 0),
            sum(peer.sent for peer in post.peers), sum(peer.applied for peer in post.peers),
            sum(len(peer.unsettled) for peer in post.peers),
        )  # fmt: skip


def _verify(part: Path) -> Findings:
    return verify(part)


QUESTIONS: Final[dict[str, Callable[..., Any]]] = {
    "top": _top, "search": _search, "status": _status, "verify": _verify,
}  # fmt: skip
"""The questions that a partition answers: name -> function of its directory and the question's parameters."""


class AllParts:
    """Answers for all partitions of the crawl in a directory; see `evercrawl.ask.parted.PartedQuestions`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stopped: tuple[float, PartStates] | None = None
        self._silent: tuple[float, PartStates] | None = None

    def states(self) -> PartStates:
        """Return the states of the partitions; up to some seconds old if the crawl is stopped or does not answer."""
        if self._silent is not None and time.monotonic() < self._silent[0] + SILENT_S:
            return self._silent[1]
        try:
            running, self._silent = part_states(self._directory), None
        except StoreError as trouble:
            self._silent = time.monotonic(), PartStates(running=True, parts=[], note=str(trouble))
            return self._silent[1]
        if running is not None:
            self._stopped = None
            return PartStates(running=True, parts=running, note=hanging(running))
        if self._stopped is None or time.monotonic() > self._stopped[0] + STOPPED_S:
            found = statuses(self._directory)
            parts = [
                PartState(
                    part.number, known=part.known, elsewhere=part.state.known - part.known, fetched=part.state.fetched,
                    unread=part.never_fetched, letters=part.sent + part.applied, under_way=part.under_way,
                )
                for _, part in sorted(found.answers.items())
            ]  # fmt: skip
            self._stopped = time.monotonic(), PartStates(running=False, parts=parts, note=found.note)
        return self._stopped[1]

    def top(self, most: int) -> tuple[list[TopPage], str]:
        """Return the most important pages."""
        return top(self._directory, most, SERVED_S)

    def search(self, words: str, narrow: Narrow, limit: int) -> tuple[SearchAnswer, str]:
        """Return the results, the best first."""
        return search(self._directory, words, narrow, limit, SERVED_S)


def hanging(states: Sequence[PartState]) -> str:
    """Return a sentence for each partition that hangs; "" if none does."""
    return "; ".join(f"partition {state.number}: {sentence}" for state in states if (sentence := hung(state)))


def trouble_of_run(directory: Path) -> str:
    """Return what is wrong with the processes of a running crawl and what to do; "" if nothing is."""
    try:
        return hanging(part_states(directory) or [])
    except StoreError as trouble:
        return str(trouble)


def verified(directory: Path, watch: Watch) -> tuple[dict[str, Findings], str]:
    """Check every partition and the exchange between them, if none of them runs and all are on this machine.

    The exchange between running partitions cannot be checked: letters move while one after the other is read.

    Returns
    -------
    dict, str
        The findings, by name; how many partitions answered, if not all did.
    """
    parts, answers = part_directories(directory), PartAnswers[Findings]()
    for number, part in enumerate(parts):
        try:
            far = is_afar(directory, number)
            found_there = ask_part(directory, number, Findings, "verify", {}) if far else verify(part, watch)
            answers.answers[number] = found_there
        except EvercrawlError as trouble:
            if not read_birth(directory).places:
                raise
            answers.troubles[number] = str(trouble)
    found = {parts[number].name: findings for number, findings in sorted(answers.answers.items())}
    here = not any(is_afar(directory, number) for number in range(len(parts)))
    if not here or holder(directory) is not None or not all(one.fine for one in found.values()):
        return found, answers.note
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
    return found, answers.note


def _peers(partition: Partition) -> list[Peer]:
    post = partition.state.post
    return post.peers if post is not None else []
