"""Conversion of Scrapy's responses, failures and redirects to exchanges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from evercrawl.types import Exchange, Request

if TYPE_CHECKING:
    from scrapy import Request as SpiderRequest
    from scrapy.http import Response

_UNDONE: Final = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_REDIRECT: Final = 302


def exchange_of(url: str, at: float, now: float, response: Response, latency_s: float) -> Exchange:
    """Return the exchange of a response; its body is decoded, as the spider gets it.

    Parameters
    ----------
    url
        URL of the page.
    at, now
        Instant of the request, and the current time (s since the epoch).
    response, latency_s
        The response, and its latency.
    """
    names: dict[str, str] = {}
    lines = [f"HTTP/1.1 {response.status} {_reason(response.status)}".rstrip()]
    fields = cast("dict[bytes, list[bytes]]", response.headers)
    for name, values in fields.items():
        key = name.decode("latin-1").lower()
        if key in _UNDONE:
            continue
        texts = [value.decode("latin-1").replace("\r", " ").replace("\n", " ") for value in values]
        names[key] = ", ".join(texts)
        lines += [f"{name.decode('latin-1')}: {text}" for text in texts]
    if response.status != 304:
        lines.append(f"Content-Length: {len(response.body)}")
    return Exchange(
        Request(url),
        at,
        min(latency_s, max(now - at, 0.0)),
        status=response.status,
        head=("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace"),
        wire=response.body,
        body=response.body,
        headers=names,
        ip=str(response.ip_address) if response.ip_address is not None else "",
        truncated="dataloss" in response.flags,
    )


def failure_of(url: str, at: float, now: float, exception: Exception) -> Exchange:
    """Return the exchange of a request without a response."""
    kind = type(exception).__name__
    return Exchange(Request(url), at, max(now - at, 0.0), error="connect", detail=f"{kind}: {exception}"[:200])


def redirect_of(url: str, at: float, now: float, target: str, request: SpiderRequest) -> Exchange:
    """Return the exchange of a redirect, reconstructed from the request for its target."""
    reasons = request.meta.get("redirect_reasons") or [_REDIRECT]
    status = reasons[-1] if isinstance(reasons[-1], int) else _REDIRECT
    head = f"HTTP/1.1 {status} {_reason(status)}\r\nLocation: {target}\r\n\r\n"
    return Exchange(
        Request(url), at, max(now - at, 0.0), status=status, head=head.encode(), headers={"location": target}
    )


def _reason(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
