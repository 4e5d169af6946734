"""Scrapy as its documentation tunes it for a broad crawl, following the links of a served corpus.

Usage: scrapy_peer.py SEEDS_FILE SCOPE_REGEX
"""

import sys
from pathlib import Path

import scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor

SEEDS, SCOPE = Path(sys.argv[1]).read_text().split(), sys.argv[2]


def _without_fragment(url: str) -> str | None:
    return url.partition("#")[0] or None


class Corpus(scrapy.Spider):
    """Follow every link that belongs; keep nothing."""

    name = "corpus"
    links = LinkExtractor(allow=SCOPE, process_value=_without_fragment, deny_extensions=())

    async def start(self):
        """Yield the seeds."""
        for url in SEEDS:
            yield scrapy.Request(url)

    def parse(self, response):
        """Yield what the page links to."""
        if isinstance(response, scrapy.http.TextResponse):
            for link in self.links.extract_links(response):
                yield scrapy.Request(link.url)


process = AsyncCrawlerProcess(
    {
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "CONCURRENT_REQUESTS": 100,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "REACTOR_THREADPOOL_MAXSIZE": 20,
        "LOG_LEVEL": "ERROR",
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REFERER_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "MEMUSAGE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
    }
)
process.crawl(Corpus)
process.start()
