"""Full-text search: the pages that match a query, and what the crawl knows about each."""

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

_MORE: Final = 8  # times as many candidates are examined if filters leave too few
_PATIENCE: Final = 20.0  # ratio of the interval between two reloads of the view to the duration of one


@dataclass(frozen=True, slots=True)
class Narrow:
    """Filters of a search.

    Attributes
    ----------
    site, language
        A host or registrable domain; a BCP 47 tag. "" for any. The query may also contain such filters.
    fetched_within_s, changed_within_s
        Greatest time since the content was last confirmed by a visit, and since it last changed; None for any.
    fresh
        Least probability that the copy is up to date.
    """

    site: str = ""
    language: str = ""
    fetched_within_s: float | None = None
    changed_within_s: float | None = None
    fresh: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer to a search query.

    Attributes
    ----------
    hits
        The hits, the best first.
    more
        Whether there are more hits after these.
    took_s
        Duration of the search, in seconds.
    instead
        Suggested query with words of the index in place of those that no page has; "" if pages have all words.
    facets
        Number of pages that each filter would leave; None if not requested.
    last
        Score and slot of the last hit; None if there is none.
    """

    hits: tuple[Hit, ...]
    more: bool
    took_s: float
    instead: str = ""
    facets: SearchFacets | None = None
    last: tuple[float, int] | None = None


class ViewSource(Protocol):
    """A source of the newest view of a crawl."""

    def newest(self, *, stale: bool) -> View:
        """Return the newest view; `stale` says that the crawl has changed since the one returned before."""
        ...

    def close(self) -> None:
        """Close what the source has opened."""
        ...


class _Reopening:
    """A source that reopens the directory when due, seldom enough to take at most a twentieth of the time."""

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
        """Close the directory."""
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
    """A crawl directory opened for repeated searches; nothing is written, and a crawl may run meanwhile.

    The next query sees everything that the index has committed. The estimates of pages are reloaded now and then,
    seldom enough to take at most a twentieth of the time.

    Parameters
    ----------
    directory
        The crawl directory.
    views
        Source of the newest view of the crawl; by default the directory is reopened when needed.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    StoreError
        The crawl is damaged, or has no search index; the message says how to build one.
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
        """Return the pages that match a query best.

        Parameters
        ----------
        words
            The query as typed, see `evercrawl.search.query.parse`.
        narrow
            Filters.
        limit, skip
            Maximum number of hits; number of hits to skip before them.
        counted
            Whether to compute facets.
        behind
            Score and slot of the last hit of the previous page: hits continue after it, at whatever rank it is now, or
            after its score if it no longer matches.

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
        """Return queries that begin with `text` and have hits; the most likely first.

        Raises
        ------
        StoreError
            The index is damaged.
        """
        with self._index.looked_up() as lookup:
            return lookup.suggestions(text[:MOST_CHARS], most)

    def close(self) -> None:
        """Close the index and the view source."""
        self._index.close()
        self._views.close()

    def _see(self, view: View) -> None:
        self.view = view
        self._standing = Standing(view)  # now rather than at the first query
        self._policy = view.believing  # likewise: loads what the policy had learned
        self._stale = False

    def _renew(self) -> None:
        """Reload the index and, if that is due, the view."""
        self._stale = self._index.refresh() or self._stale
        view = self._views.newest(stale=self._stale)
        if view is not self.view:
            self._see(view)
        self.view.now = SystemClock().now()

    def _ranked(self, query: Query, narrow: Narrow, enough: int) -> tuple[Slots, Floats, Words]:
        """Return slots and scores of pages that pass the filters, the best first: more than `enough`, if there are."""
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
        """Return the candidates that pass the filters."""
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
    """Return the index of the first hit after a given one, in the present order."""
    place = np.flatnonzero(slots == last[1])
    return int(place[0]) + 1 if len(place) else int(np.searchsorted(-score, -last[0], side="right"))


def _query(words: str, narrow: Narrow) -> Query:
    """Return the parsed query, combined with the filters."""
    query = parse(words)
    more = parse(
        " ".join(f"{name}:{value}" for name, value in (("site", narrow.site), ("lang", narrow.language)) if value)
    )
    return msgspec.structs.replace(query, sites=more.sites or query.sites, languages=more.languages or query.languages)
