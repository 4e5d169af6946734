"""A crawl directory as an object: each query of the command line is a method."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from evercrawl.ask.changes.listing import changes
from evercrawl.ask.changes.page_change import ChangeList
from evercrawl.ask.changes.question import ChangeQuestion, moment
from evercrawl.ask.content import StoredPage, content
from evercrawl.ask.rank.top import TopPage, top_pages
from evercrawl.ask.search.search import Narrow, Search, SearchAnswer
from evercrawl.ask.why.explanation import Why
from evercrawl.ask.why.why import why
from evercrawl.errors import ConfigError
from evercrawl.library.crawl_table import CrawlTable
from evercrawl.library.records import RecordTable, record_table
from evercrawl.model.stored.derived.derived import asked
from evercrawl.model.stored.follow import Follower
from evercrawl.model.view import View, settings
from evercrawl.parse.urls import normalise


class StoredCrawl:
    """A crawl directory, opened for queries; public as `evercrawl.Crawl`.

    Queries change nothing, and a crawl may run in the directory meanwhile: each query is answered from the journal as
    it is at that moment. An object may be used by one thread at a time.

    Attributes
    ----------
    directory
        The crawl directory.

    Examples
    --------
    >>> import evercrawl
    >>> evercrawl.Crawl.open("/nowhere")
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: there is no folder /nowhere; name the directory of a crawl with --dir
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._follower = Follower(directory)
        self._search: Search | None = None

    @classmethod
    def open(cls, directory: Path | str) -> Self:
        """Open the crawl in `directory`.

        Raises
        ------
        ConfigError
            There is no crawl in the directory.
        StoreError
            The crawl is damaged.
        """
        return cls(Path(directory))

    def close(self) -> None:
        """Close the files of the directory."""
        self._follower.close()
        if self._search is not None:
            self._search.close()
            self._search = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def pages(self) -> CrawlTable:
        """Return the table of known URLs with their estimates, one row each, in order of discovery."""
        return CrawlTable(self.directory, "pages")

    def export(self, table: str, path: Path | str) -> int:
        """Write the table pages, links or visits to a .parquet or .jsonl file, and return the number of rows.

        Raises
        ------
        ConfigError
            There is no such table, or the file name has another suffix.
        StoreError
            The crawl is damaged, or the file cannot be written.
        """
        return CrawlTable(self.directory, table).write(path)

    def records(self, hook: str) -> RecordTable:
        """Return the records that a hook of `evercrawl.crawl` made of pages.

        Raises
        ------
        ConfigError
            The hook has no records, but other hooks do.
        """
        return record_table(self.directory, hook)

    def page(self, url: str) -> StoredPage:
        """Return the newest stored content of a page, decoded.

        Raises
        ------
        ConfigError
            `url` is no URL.
        NotHeldError
            The crawl holds no content for the URL; the message says why.
        StoreError
            The archive or the journal is damaged.
        """
        view = self._view()
        return content(self._follower.partition, _normal(url), view.config, view.now)

    def changes(
        self,
        since: str | float = 0.0,
        *,
        site: str = "",
        pattern: str = "",
        limit: int | None = 50,
        noise: bool = False,
    ) -> ChangeList:
        """Return the pages that appeared, changed, vanished, returned or moved, the most important first.

        Parameters
        ----------
        since
            An instant in seconds since the epoch, or a text such as "2h", "yesterday" or "2026-05-01".
        site, pattern
            Only pages of this registrable domain or host; only URLs in which this regular expression is found.
        limit
            Maximum number of pages; None for all.
        noise
            Whether to list also pages in which only times, counters or tokens changed.

        Raises
        ------
        ConfigError
            `since` or `pattern` cannot be read.
        StoreError
            The crawl is damaged.
        """
        view = self._view()
        begin = moment(since, view.now, "since") if isinstance(since, str) else since
        question = ChangeQuestion(since=begin, site=site, pattern=pattern, limit=limit, all=noise)
        return asked(self._follower.partition, lambda derived: changes(view, derived.runs, question, derived.events))

    def search(self, words: str, *, limit: int = 10, skip: int = 0, site: str = "", language: str = "") -> SearchAnswer:
        """Return the pages that match a query best.

        Parameters
        ----------
        words
            The query: words, "phrases", -without.
        limit, skip
            Maximum number of hits; number of hits to skip before them.
        site, language
            Only pages of this host or registrable domain; only pages in this language.

        Raises
        ------
        StoreError
            The crawl is damaged, or has no search index.
        """
        if self._search is None:
            self._search = Search(self.directory)
        return self._search.ask(words, Narrow(site, language), limit=limit, skip=skip)

    def top(self, most: int = 20) -> list[TopPage]:
        """Return the most important pages, the most important first."""
        return top_pages(self._view(), most)

    def why(self, url: str) -> Why:
        """Return when a page will be visited, and why.

        Raises
        ------
        ConfigError
            `url` is no URL.
        """
        return why(self._view(), _normal(url))

    def _view(self) -> View:
        """Replay the rest of the journal, and return a view of the crawl."""
        while self._follower.turn():
            pass
        return View(self._follower.partition, settings(self.directory)[0], time.time())


def _normal(url: str) -> str:
    found = normalise(url)
    if found is None:
        raise ConfigError(f"{url!r} is not a URL; name one page, such as https://example.org/")
    return found
