"""The question that people ask: which pages are about these words, and what is known of each."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import msgspec
import numpy as np

from evercrawl.ask.search.facets import SearchFacets, facets
from evercrawl.ask.search.hits import Hit, hits
from evercrawl.clock import SystemClock
from evercrawl.model.standing import Standing
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View, settings
from evercrawl.search import ranking
from evercrawl.search.forms import Words
from evercrawl.search.index import FOLDER, Index
from evercrawl.search.lookup import MOST, QueryCandidates
from evercrawl.search.query import MOST_CHARS, Query, parse
from evercrawl.store.records.records import FINDABLE
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.types import Floats, Slots

_MORE: Final = 8  # times as many candidates are looked at where filters leave too few
_PATIENCE: Final = 20.0  # what is believed of pages is read again after so many times as long as that takes


@dataclass(frozen=True, slots=True)
class Narrow:
    """Which pages are wanted at all.

    Attributes
    ----------
    site, language
        A host or registrable domain; a BCP 47 tag. "" for any. The query may name some too.
    fetched_within_s, changed_within_s
        Time since the content was last seen at its site, and since it is known to have changed; None for any.
    fresh
        Least probability that the copy held is the page as it is now.
    """

    site: str = ""
    language: str = ""
    fetched_within_s: float | None = None
    changed_within_s: float | None = None
    fresh: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What a question is answered with.

    Attributes
    ----------
    hits
        The best first.
    more
        Whether there are more after these.
    took_s
        Seconds that it took.
    instead
        The question with words of the index in place of those that no page has; "" where pages have all of them.
    facets
        By how much each filter would narrow the answer; None where that was not asked for.
    last
        Score and slot of the last hit, None where there is none.
    """

    hits: tuple[Hit, ...]
    more: bool
    took_s: float
    instead: str = ""
    facets: SearchFacets | None = None
    last: tuple[float, int] | None = None


class ViewSource(Protocol):
    """What knows the newest view of a crawl."""

    def newest(self, *, stale: bool) -> View:
        """Return it; `stale` says that there is something newer than the one returned before."""
        ...

    def close(self) -> None:
        """Give back what it had opened."""
        ...


class _Reopening:
    """Opens the directory again where that is due, seldom enough to take no more than a twentieth of the time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read()

    def newest(self, *, stale: bool) -> View:
        """Return the newest view."""
        if stale and time.perf_counter() > self._read_at + _PATIENCE * self._took_s:
            before = self._partition
            self._read()
            before.close()
        return self._view

    def close(self) -> None:
        """Let the directory go."""
        self._partition.close()

    def _read(self) -> None:
        began_s = time.perf_counter()
        self._partition = opened(self._directory)
        self._view = View(self._partition, settings(self._directory)[0], SystemClock().now())
        Standing(self._view)
        _ = self._view.believing
        self._read_at = time.perf_counter()
        self._took_s = self._read_at - began_s


class Search:
    """A crawl directory, open to be asked again and again; nothing is written, and a crawl may run beside it.

    What the index has committed is seen by the next question. What is believed of pages is read again now and then
    after that, seldom enough to take no more than a twentieth of the time.

    Parameters
    ----------
    directory
        Of the crawl.
    views
        What gives the newest view of the crawl; by default the directory is opened again and again.

    Raises
    ------
    ConfigError
        There is no crawl.
    StoreError
        It is damaged, or has no search index; the message says how to make one.
    """

    def __init__(self, directory: Path, views: ViewSource | None = None) -> None:
        self.directory = directory
        self._views = views or _Reopening(directory)
        self._see(self._views.newest(stale=False))
        try:
            self._index = Index(directory / FOLDER, writable=False)
        except BaseException:
            self._views.close()
            raise

    def ask(
        self,
        words: str,
        narrow: Narrow | None = None,
        *,
        limit: int = 10,
        skip: int = 0,
        counted: bool = False,
        behind: tuple[float, int] | None = None,
    ) -> SearchAnswer:
        """Return the pages that answer best.

        Parameters
        ----------
        words
            As a person types them, see `evercrawl.search.query.parse`.
        narrow
            Which pages are wanted at all.
        limit, skip
            How many hits, and how many before them are left out.
        counted
            Whether to count what the pages that answer have in common.
        behind
            Score and slot of a hit that was told as the last of `skip`: hits go on behind it, wherever it stands now;
            where it answers no more, behind its score.

        Raises
        ------
        StoreError
            Index, archive or journal is damaged.
        """
        began_s = time.perf_counter()
        self._renew()
        narrow = narrow or Narrow()
        slots, score, forms = self._ranked(_query(words, narrow), narrow, skip + limit)
        first = skip if behind is None else place_behind(slots, score, behind)
        chosen = slice(first, first + limit)
        found = tuple(hits(self.view, slots[chosen], score[chosen], forms, skip + 1))
        last = (float(score[chosen][-1]), int(slots[chosen][-1])) if found else None
        with self._index.looked_up() as lookup:
            instead = lookup.spelling.instead(words[:MOST_CHARS])
            common = facets(self.view, slots, lookup.languages(slots.tolist())) if counted else None
        return SearchAnswer(found, len(slots) > first + limit, time.perf_counter() - began_s, instead, common, last)

    def suggest(self, text: str, most: int = 8) -> list[str]:
        """Return questions that begin as `text` does, and find something; the likeliest first.

        Raises
        ------
        StoreError
            The index is damaged.
        """
        with self._index.looked_up() as lookup:
            return lookup.suggestions(text[:MOST_CHARS], most)

    def close(self) -> None:
        """Give back what is open."""
        self._index.close()
        self._views.close()

    def _see(self, view: View) -> None:
        self.view = view
        self._standing = Standing(view)  # now, and not when the first question is asked
        self._policy = view.believing  # likewise: what it had learned is read
        self._stale = False

    def _renew(self) -> None:
        """See what is new, as far as that is cheap."""
        self._stale = self._index.refresh() or self._stale
        view = self._views.newest(stale=self._stale)
        if view is not self.view:
            self._see(view)
        self.view.now = SystemClock().now()

    def _ranked(self, query: Query, narrow: Narrow, enough: int) -> tuple[Slots, Floats, Words]:
        """Return slots and scores of pages that pass, the best first: more than `enough`, where there are more."""
        most = max(MOST, enough + 1)
        while True:
            found = self._index.search(query, most)
            passed = self._passing(found, narrow)
            if len(passed.slot) > enough or found.whole:
                break
            most *= _MORE
        score = ranking.scores(passed, self._standing(passed.slot))
        order = ranking.order(passed, score)
        return passed.slot[order], score[order], passed.forms

    def _passing(self, found: QueryCandidates, narrow: Narrow) -> QueryCandidates:
        """Return those candidates that are wanted."""
        view, known_before = self.view, found.slot < self.view.state.known.count
        slots = np.where(known_before, found.slot, 0)
        if not len(slots) or not self.view.state.known.count:
            return found.only(np.zeros(len(slots), np.bool_))
        seen, rows = view.records(slots)
        wanted = known_before & seen & ((rows["flags"] & FINDABLE) != 0)
        for field, within_s in (("seen", narrow.fetched_within_s), ("changed", narrow.changed_within_s)):
            if within_s is not None:
                wanted &= rows[field] >= (view.now - within_s - view.state.epoch) * TICKS_PER_S
        if narrow.fresh > 0:
            wanted &= view.fresh(view.columns(slots)) >= narrow.fresh
        return found.only(wanted)


def place_behind(slots: Slots, score: Floats, last: tuple[float, int]) -> int:
    """Return the place of the first hit behind one, in an order of now."""
    place = np.flatnonzero(slots == last[1])
    return int(place[0]) + 1 if len(place) else int(np.searchsorted(-score, -last[0], side="right"))


def _query(words: str, narrow: Narrow) -> Query:
    """Return what is asked for in words and beside them."""
    query = parse(words)
    more = parse(
        " ".join(f"{name}:{value}" for name, value in (("site", narrow.site), ("lang", narrow.language)) if value)
    )
    return msgspec.structs.replace(query, sites=more.sites or query.sites, languages=more.languages or query.languages)
