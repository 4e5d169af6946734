"""A spider that yields items and follows every link, under the scheduler that is named.

Usage: quotes_spider.py default|job|evercrawl PORT FOLDER [CLOSESPIDER_TIMEOUT_S]. Prints what it came to, as JSON.
"""

import json
import resource
import sys
import time
from pathlib import Path

import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess

HOW, PORT, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])


class Quotes(scrapy.Spider):
    """Take the quotations of each page, and follow its links."""

    name = "quotes"
    start_urls = (f"http://127.0.0.1:{PORT}/page/0/",)

    def parse(self, response):
        """Yield quotations and requests."""
        for quote in response.css("div.quote"):
            yield {"url": response.url, "text": quote.css("span.text::text").get()}
        yield from response.follow_all(css="a.tag", callback=self.parse)


SETTINGS = {
    "default": {},
    "job": {"JOBDIR": str(FOLDER)},
    "evercrawl": {"ADDONS": {"evercrawl.integrations.scrapy.Addon": 100}, "EVERCRAWL_DIR": str(FOLDER)},
}
process = AsyncCrawlerProcess({"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, **SETTINGS[HOW]})
crawler = process.create_crawler(Quotes)
marks = {}


def cpu_s() -> float:
    """Return the CPU time of this process so far (s)."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def opened() -> None:
    """Note when the spider begins."""
    marks["opened"] = cpu_s(), time.monotonic()


crawler.signals.connect(opened, signals.spider_opened)
process.crawl(crawler)
process.start()
stats = crawler.stats.get_stats()
said = {
    "cpu_s": cpu_s() - marks["opened"][0],
    "wall_s": time.monotonic() - marks["opened"][1],
    "pages": stats.get("response_received_count", 0),
    "items": stats.get("item_scraped_count", 0),
    "reason": stats.get("finish_reason"),
}
print(json.dumps(said))
