"""Classification of requests: visits of pages can be repeated at any time, other requests are made once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from evercrawl.parse.urls import normalise

if TYPE_CHECKING:
    from scrapy import Request


def is_page(request: Request) -> bool:
    """Return whether a request is a visit of a page: a GET without body, over HTTP.

    Examples
    --------
    >>> from scrapy import Request
    >>> is_page(Request("http://a.example/")), is_page(Request("http://a.example/", method="POST"))
    (True, False)
    """
    return request.method == "GET" and not request.body and request.url.startswith(("http://", "https://"))


@lru_cache(1 << 13)  # pages of a site link to the same pages repeatedly
def page_url(url: str) -> str:
    """Return a URL as the crawl normalises it; "" if it is not a valid page URL.

    Examples
    --------
    >>> page_url("HTTP://A.example:80/b/../c#d")
    'http://a.example/c'
    """
    return normalise(url) or ""
