"""Serialisation of requests with values, dates and items; decoding imports no code."""

from __future__ import annotations

import dataclasses
import io
import pickle
import sys
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, cast

import scrapy
from scrapy.utils.request import request_from_dict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider

_PLAIN: Final = frozenset({bool, bytes, float, int, str, type(None)})
_HARMLESS: Final = frozenset(
    {
        ("builtins", "complex"), ("builtins", "frozenset"), ("builtins", "set"), ("builtins", "bytearray"),
        ("collections", "OrderedDict"), ("collections", "deque"), ("collections", "defaultdict"),
        ("builtins", "list"), ("builtins", "dict"), ("builtins", "int"),
        ("datetime", "date"), ("datetime", "datetime"), ("datetime", "time"), ("datetime", "timedelta"),
        ("datetime", "timezone"), ("decimal", "Decimal"), ("fractions", "Fraction"), ("uuid", "UUID"),
        ("copyreg", "_reconstructor"), ("builtins", "object"),
    }
)  # fmt: skip
_USUAL: Final[dict[str, Any]] = {
    "callback": None, "errback": None, "headers": {}, "method": "GET", "body": b"", "cookies": {}, "meta": {},
    "encoding": "utf-8", "priority": 0, "dont_filter": False, "flags": [], "cb_kwargs": {},
}  # fmt: skip
_KNOWN: Final = set(scrapy.Request.attributes) <= {"url", *_USUAL}
"""Whether requests have no other attributes than those named here."""


class UnstorableError(Exception):
    """A request cannot be stored on disk because it holds something that is not a value, such as a function."""


class _Values(pickle.Unpickler):
    """An unpickler restricted to values: dates and similar types, items, dataclasses and attrs classes."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of values, if it is imported already.

        Raises
        ------
        UnstorableError
            The name is that of anything else.
        """
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if (module, name) in _HARMLESS or _is_item(found):
            return found
        raise UnstorableError(f"it holds {module}.{name}, which is no item and no value")


def _is_item(found: Any) -> bool:
    """Return whether an object is an item class, a dataclass or an attrs class."""
    if not isinstance(found, type):
        return False
    kind = cast("type[Any]", found)
    return issubclass(kind, scrapy.Item) or dataclasses.is_dataclass(kind) or hasattr(kind, "__attrs_attrs__")


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
    if kept["url"] == url:
        del kept["url"]
    if not kept:
        return b""
    try:
        data = pickle.dumps(kept, 4)
        if not _plain(kept):
            _loaded(data)
    except UnstorableError:
        raise
    except Exception as error:  # objects may raise anything when they are pickled
        raise UnstorableError(f"it cannot be written: {error}") from error
    return data


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
        The bytes are damaged, or the spider has no such method any more.
    """
    try:
        said: Any = _loaded(data) if data else {}
        named = str(said.get("_class", ""))
        module, _, name = named.rpartition(".")
        kind: Any = getattr(sys.modules.get(module), name, None) if named else scrapy.Request
        if not (isinstance(kind, type) and issubclass(kind, scrapy.Request)):
            raise UnstorableError(f"{named} is no class of requests that is imported")
        said.setdefault("url", url)
        return request_from_dict(said, spider=spider)
    except UnstorableError:
        raise
    except Exception as error:  # a damaged pickle may raise anything
        raise UnstorableError(f"a stored request of {url} cannot be read: {error}") from error


def _loaded(data: bytes) -> Any:
    return _Values(io.BytesIO(data)).load()


def _plain(value: object) -> bool:
    """Return whether a value consists of built-in values only."""
    kind = type(value)
    if kind in _PLAIN:
        return True
    if kind in (list, tuple):
        parts: Iterable[object] = cast("list[object]", value)
    elif kind is dict:
        parts = chain.from_iterable(cast("dict[object, object]", value).items())
    else:
        return False
    return all(type(part) in _PLAIN or _plain(part) for part in parts)
