"""Spiders as beginners write them, each run in a process of its own, for a reactor runs once.

Usage: spiders.py SPIDER PORT SETTINGS. Prints the items and what the statistics say, as JSON.
"""

import json
import sys

import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess

SITE = f"http://127.0.0.1:{sys.argv[2]}" if __name__ == "__main__" else "http://a.example"


class Pages(scrapy.Spider):
    """Take quotations from page to page, by the link to the next."""

    name = "pages"
    start_urls = (f"{SITE}/page/1/",)

    def parse(self, response):
        """Yield quotations, and what comes next."""
        for quote in response.css("div.quote"):
            yield {"text": quote.css("span::text").get(), "tags": quote.css("a.tag::text").getall()}
        following = response.css("li.next a::attr(href)").get()
        if following is not None:
            yield response.follow(following, callback=self.parse)


class Authors(scrapy.Spider):
    """Follow two kinds of links, each to a callback of its own, with what the page before knew."""

    name = "authors"
    start_urls = (f"{SITE}/page/1/",)

    def parse(self, response):
        """Follow authors and pages."""
        for link in response.css("a.author"):
            yield response.follow(link, self.parse_author, cb_kwargs={"named": link.css("::text").get()})
        yield from response.follow_all(css="li.next a", callback=self.parse)

    def parse_author(self, response, named):
        """Yield an author."""
        yield {"name": response.css("h3::text").get(), "named": named}


class Odd(scrapy.Spider):
    """Ask for what is no page: a form, the same page twice, a page that moved, one that fails, one nobody answers."""

    name = "odd"

    async def start(self):
        """Log in first."""
        yield scrapy.FormRequest(f"{SITE}/login", formdata={"user": "a"}, callback=self.inside)

    async def inside(self, response):
        """Go on with what the form has said, in the meta of the request."""
        yield {"login": response.text}
        yield scrapy.Request(f"{SITE}/moved", self.parse, meta=response.meta)
        yield scrapy.Request(f"{SITE}/broken", self.parse, errback=self.failed)
        yield scrapy.Request("http://127.0.0.1:9/", self.parse, errback=self.failed)
        yield scrapy.Request(f"{SITE}/page/3/", self.parse)
        yield scrapy.Request(f"{SITE}/page/3/", self.parse, dont_filter=True)
        yield scrapy.Request(f"{SITE}/page/3/#part", self.parse)

    def parse(self, response):
        """Yield where this is."""
        yield {"url": response.url.removeprefix(SITE)}

    def failed(self, failure):
        """Ask for something else instead."""
        yield scrapy.Request(f"{SITE}/author/{failure.type.__name__}/", self.parse)


def main(name, settings):
    """Run a spider, and say what came of it."""
    items = []
    usual = {"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, "RETRY_TIMES": 1}
    process = AsyncCrawlerProcess({**usual, **json.loads(settings)})
    crawler = process.create_crawler({kind.name: kind for kind in (Pages, Authors, Odd)}[name])

    def scraped(item) -> None:
        items.append(item)

    crawler.signals.connect(scraped, signals.item_scraped)
    process.crawl(crawler)
    process.start()
    stats = {key: value for key, value in crawler.stats.get_stats().items() if isinstance(value, int | str)}
    sys.stdout.write(json.dumps({"items": items, "stats": stats}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3])
