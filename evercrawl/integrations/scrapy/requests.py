"""Which requests are visits of pages: those that anybody could make again at any time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from evercrawl.parse.urls import normalise

if TYPE_CHECKING:
    from scrapy import Request


def is_page(request: Request) -> bool:
    """Whether a request asks for a page: a GET without body, over HTTP.

    Examples
    --------
    >>> from scrapy import Request
    >>> is_page(Request("http://a.example/")), is_page(Request("http://a.example/", method="POST"))
    (True, False)
    """
    return request.method == "GET" and not request.body and request.url.startswith(("http://", "https://"))


@lru_cache(1 << 13)  # pages of a site link to the same ones again and again
def page_url(url: str) -> str:
    """Return a URL as the crawl knows it, "" where it cannot.

    Examples
    --------
    >>> page_url("HTTP://A.example:80/b/../c#d")
    'http://a.example/c'
    """
    return normalise(url) or ""
