"""The dupefilter: requests made before, in this run or an earlier one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, Self

from scrapy.dupefilters import BaseDupeFilter

from evercrawl.integrations.scrapy.requests import is_page, page_url

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from evercrawl.integrations.scrapy.store import RequestStore

_LATELY: Final = 1 << 17
_USUAL: Final = "scrapy.utils.request.RequestFingerprinter"
_log = logging.getLogger(__name__)


class DupeFilter(BaseDupeFilter):
    """A dupefilter that uses the project's fingerprinter, and stores fingerprints on disk.

    Parameters
    ----------
    crawler
        The crawler, for its fingerprinter, settings and statistics.
    """

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.request_fingerprinter is not None, "the engine is there"
        self._fingerprint = crawler.request_fingerprinter.fingerprint
        self._stats, self._debug = crawler.stats, crawler.settings.getbool("DUPEFILTER_DEBUG")
        made = type(crawler.request_fingerprinter)
        self._by_url = f"{made.__module__}.{made.__qualname__}" == _USUAL
        self._store: RequestStore | None = None
        self._lately, self._logged = set[str](), False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the filter of a crawler."""
        return cls(crawler)

    def attach(self, store: RequestStore) -> None:
        """Set the store for fingerprints."""
        self._store = store

    def request_seen(self, request: Request) -> bool:
        """Return whether a request was seen before, and record it."""
        assert self._store is not None, "only evercrawl's scheduler can use this filter"
        url = request.url
        plain = self._by_url and is_page(request)
        if plain and url in self._lately:
            return True
        seen = self._store.seen(self._fingerprint(request))
        if plain:
            if len(self._lately) >= _LATELY:
                self._lately.clear()
            self._lately.add(url)
        return seen

    def log(self, request: Request, spider: Spider) -> None:
        """Count a dropped request; log the first one, or each with DUPEFILTER_DEBUG."""
        if self._debug or not self._logged:
            more = "" if self._debug else " - no more are shown (DUPEFILTER_DEBUG shows all)"
            _log.debug("dropped a request that was made before: %s%s", page_url(request.url) or request.url, more)
            self._logged = True
        assert self._stats is not None
        self._stats.inc_value("dupefilter/filtered")
