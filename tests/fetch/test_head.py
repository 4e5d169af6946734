"""Asking for the head of a page alone."""

from evercrawl.types import Request

HEAD = b'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nETag: "1"\r\nContent-Length: 2000\r\n\r\n'
HI = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def test_a_head_has_no_body_and_the_handle_serves_for_a_whole_page_afterwards(fetcher):
    async def work(site, network):  # noqa: ANN202
        heads = [await fetcher.one(network, Request(site.url("/head"), head=True)) for _ in range(2)]
        return [*heads, await fetcher.one(network, site.url("/page"))]

    site = fetcher.Site({"/head": HEAD, "/page": HI})
    first, second, page = fetcher.with_site(site, work)
    for exchange in (first, second):
        assert (exchange.status, exchange.error, exchange.truncated) == (200, "", False)
        assert (exchange.wire, exchange.body, exchange.head) == (b"", b"", HEAD)
        assert exchange.headers["etag"] == '"1"'
    assert (page.status, page.body) == (200, b"hi")
    assert [exchange.sent for exchange in (first, second, page)] == site.requests
    assert [request.split(b" ")[0] for request in site.requests] == [b"HEAD", b"HEAD", b"GET"]
    assert site.connections == 1
