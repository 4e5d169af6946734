"""Serialisation of requests with values, dates and items; decoding imports no code."""

from __future__ import annotations

import inspect
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

import scrapy
from scrapy.utils.request import request_from_dict

from evercrawl.integrations.scrapy.stored_values import UnstorableError, owned, values_of, written
from evercrawl.parse.urls import normalise

if TYPE_CHECKING:
    from scrapy import Request, Spider

__all__ = ["UnstorableError", "decoded", "encoded"]

_USABLE: Final = frozenset({"parse", "_parse"})
"""Methods of every spider that are callbacks."""
_NO_CALLBACK: Final = frozenset(dir(scrapy.Spider)) - _USABLE | {"closed"}
_USUAL: Final[dict[str, Any]] = {
    "callback": None, "errback": None, "headers": {}, "method": "GET", "body": b"", "cookies": {}, "meta": {},
    "encoding": "utf-8", "priority": 0, "dont_filter": False, "flags": [], "cb_kwargs": {},
}  # fmt: skip
_KNOWN: Final = set(scrapy.Request.attributes) <= {"url", *_USUAL}
"""Whether requests have no other attributes than those named here."""


@lru_cache(maxsize=1024)
def _is_callback(kind: type, name: object) -> bool:
    """Return whether a name is that of a method that a spider's authors wrote and that takes a response."""
    found = inspect.getattr_static(kind, name, None) if isinstance(name, str) and name not in _NO_CALLBACK else None
    if not inspect.isfunction(found) or cast("str", name).startswith("__"):
        return False
    try:
        inspect.signature(found).bind_partial(None, None)  # itself and the response
    except TypeError:
        return False
    return True


def _see_usable(said: dict[str, Any], url: str, spider: Spider) -> None:
    """Check the parts of a request by which it could do more than the request of an honest spider.

    Raises
    ------
    UnstorableError
        Its URL is not http or https, or not the one for which it is stored, its class is foreign, or it calls something
        other than a callback of the spider.
    """
    asked = str(said["url"])
    other = bool(url) and asked != url and normalise(asked) != normalise(url)
    if other or not asked[:8].lower().startswith(("http://", "https://")):
        raise UnstorableError(f"it is a request of {asked[:200]!r}, which is not what can be stored here")
    made: Any = type(spider)
    for name in ("callback", "errback"):
        if said.get(name) is not None and not _is_callback(made, said[name]):
            raise UnstorableError(f"{str(said[name])[:200]!r} is no callback of the spider")
    named = str(said.get("_class", ""))
    module, _, name = named.rpartition(".")
    kind: Any = getattr(sys.modules.get(module), name, None) if named else scrapy.Request
    known = isinstance(kind, type) and issubclass(kind, scrapy.Request)
    if not known or not (module.startswith("scrapy.") or not named or owned(cast("type[Any]", kind), spider)):
        raise UnstorableError(f"{named[:200]!r} is no class of requests of Scrapy or the spider's project")


def encoded(request: Request, url: str, spider: Spider) -> bytes:
    """Return the attributes of a request for a URL that differ from the defaults, as bytes; b"" if none does.

    Raises
    ------
    UnstorableError
        Its callback is not a method of the spider, or its `meta` or `cb_kwargs` hold objects that cannot be stored.
    """
    try:
        said = _plain_request(request, spider) or request.to_dict(spider=spider)
    except ValueError as error:
        raise UnstorableError(str(error)) from error
    kept = {name: value for name, value in said.items() if name not in _USUAL or value != _USUAL[name]}
    _see_usable(kept, url, spider)
    if kept["url"] == url:
        del kept["url"]
    try:
        return written(kept, spider) if kept else b""
    except UnstorableError:
        raise
    except Exception as error:  # objects may raise anything when their parts are asked for
        raise UnstorableError(f"it cannot be written: {error}") from error


def _plain_request(request: Request, spider: Spider) -> dict[str, Any] | None:
    """Return `to_dict` of a usual request, a GET with a spider method as callback, in a third of the time."""
    callback: Any = request.callback
    own = callback is None or getattr(callback, "__self__", None) is spider
    if not _KNOWN or type(request) is not scrapy.Request or not own or request.errback is not None or request.body:
        return None
    name = None if callback is None else callback.__name__
    if name is not None and getattr(spider, name, None) != callback:
        return None
    return {
        "url": request.url, "callback": name, "headers": dict(request.headers), "method": request.method,
        "cookies": request.cookies, "meta": request.meta, "encoding": request.encoding, "priority": request.priority,
        "dont_filter": request.dont_filter, "flags": request.flags, "cb_kwargs": request.cb_kwargs,
    }  # fmt: skip


def decoded(data: bytes, url: str, spider: Spider) -> Request:
    """Return the request that was passed to `encoded`.

    Raises
    ------
    UnstorableError
        The bytes are damaged or of an earlier version, name something that is no value, or the spider has no such
        callback any more.
    """
    try:
        said: Any = values_of(data, spider) if data else {}
        said.setdefault("url", url)
        _see_usable(said, url, spider)
        return request_from_dict(said, spider=spider)
    except UnstorableError:
        raise
    except Exception as error:  # damaged values may raise anything
        raise UnstorableError(f"a stored request of {url} cannot be read: {error}") from error
