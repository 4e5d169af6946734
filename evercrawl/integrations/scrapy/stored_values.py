"""Values of requests as bytes, of which none runs code or changes a class when it is read.

Lists, dictionaries, texts and numbers are MessagePack. Every other value is an extension: its kind, and its parts. An
item is made without its constructor, from the fields that its class declares, and only if the class is the spider's.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

import msgspec
import scrapy

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["UnstorableError", "owned", "values_of", "written"]

_SCALARS: Final = frozenset({bool, bytes, float, int, str, type(None)})
_FACTORIES: Final[dict[str, Any]] = {"int": int, "list": list, "dict": dict, "set": set, "": None}
_WHOLE: Final = 1 << 63


class UnstorableError(Exception):
    """A request cannot be stored on disk because it holds something that is not a value, such as a function."""


def owned(kind: type[Any], spider: object) -> bool:
    """Return whether a class is of a spider's project: of its package, or imported by a module of its classes."""
    for each in type(spider).__mro__:
        if each.__module__.partition(".")[0] in ("scrapy", "builtins"):
            break
        package = each.__module__.partition(".")[0]
        module = sys.modules.get(each.__module__)
        named = vars(module or ModuleType("")).values()
        if kind.__module__.partition(".")[0] == package or any(one is kind for one in named):  # `==` may be theirs
            return True
    return False


def written(value: object, spider: object) -> bytes:
    """Return a value as bytes.

    Raises
    ------
    UnstorableError
        It holds something that is not a value, or an item that is not of the spider's project.
    """
    return _packed(value if _plain(value) else _tree(value, spider))


def values_of(data: bytes, spider: object) -> Any:
    """Return the value of bytes made by `written`.

    Raises
    ------
    UnstorableError
        They hold something else; a damaged value may raise any other `Exception`.
    """

    def made(code: int, part: memoryview) -> Any:
        return _MADE[code](msgspec.msgpack.decode(bytes(part), ext_hook=made), spider)

    return msgspec.msgpack.decode(data, ext_hook=made)


def _packed(tree: object) -> bytes:
    try:
        return msgspec.msgpack.encode(tree)
    except (ValueError, TypeError, RecursionError) as error:
        raise UnstorableError(f"it cannot be written: {error}") from error


def _plain(value: object) -> bool:
    """Return whether a value is MessagePack as it is."""
    kind = type(value)
    if kind is int:
        return -_WHOLE <= cast("int", value) < _WHOLE
    if kind in _SCALARS:
        return True
    if kind is list:
        return all(_plain(part) for part in cast("list[object]", value))
    if kind is dict:
        return all(type(key) in _SCALARS and _plain(key) and _plain(part) for key, part in cast("Any", value).items())
    return False


def _tree(value: object, spider: object) -> Any:
    if _plain(value):
        return value
    if type(value) is list:
        return [_tree(part, spider) for part in cast("list[object]", value)]
    told = _PARTS.get(type(value))
    if told is not None:
        code, parts = told
        tree = _tree(parts(value), spider)
    else:
        code, tree = _ITEM, _tree(_item_parts(value, spider), spider)
    return msgspec.msgpack.Ext(code, _packed(tree))


def _item_fields(kind: type[Any]) -> frozenset[str]:
    """Return the names of the fields of an item, a dataclass or an attrs class; none for any other class."""
    if issubclass(kind, scrapy.Item):
        return frozenset(kind.fields)
    if dataclasses.is_dataclass(kind):
        return frozenset(each.name for each in dataclasses.fields(kind))
    return frozenset(str(each.name) for each in getattr(kind, "__attrs_attrs__", ()))


def _item_class(module: str, name: str, spider: object) -> type[Any]:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type) or not owned(found, spider):
        raise UnstorableError(f"it holds {module}.{name}, which is no value and no item of the spider's project")
    return cast("type[Any]", found)


def _class_of(value: object) -> type[Any]:
    return type(value)


def _item_parts(value: Any, spider: object) -> list[Any]:
    kind, new = _class_of(value), cast("Any", object.__new__)
    if _item_class(kind.__module__, kind.__qualname__, spider) is not kind:
        raise UnstorableError(f"it holds {kind.__qualname__}, which is not what goes by that name")
    names = _item_fields(kind)
    if not issubclass(kind, scrapy.Item) and (not names or kind.__new__ is not new):
        raise UnstorableError(f"it holds a {kind.__qualname__}, which is no item")
    if issubclass(kind, scrapy.Item):
        return [kind.__module__, kind.__qualname__, dict(value)]
    if set(getattr(value, "__dict__", ())) - names:
        raise UnstorableError(f"it holds a {kind.__qualname__} with more than its fields")
    return [kind.__module__, kind.__qualname__, {name: getattr(value, name) for name in names if hasattr(value, name)}]


def _item(parts: list[Any], spider: object) -> Any:
    module, name, fields = parts
    kind = _item_class(module, name, spider)
    unknown = set(fields) - _item_fields(kind)
    if unknown or not (_item_fields(kind) or issubclass(kind, scrapy.Item)):
        raise UnstorableError(f"{module}.{name} has no field {min(map(str, unknown), default='')!r}")
    if issubclass(kind, scrapy.Item):
        return kind(fields)
    made: Any = object.__new__(kind)
    for field, value in fields.items():
        object.__setattr__(made, field, value)
    return made


def _factory(value: Any) -> str:
    name = "" if value.default_factory is None else getattr(value.default_factory, "__name__", "")
    if _FACTORIES.get(name, UnstorableError) is not value.default_factory:
        raise UnstorableError("it holds a defaultdict with a function")
    return str(name)


def _zoned(value: Any) -> list[Any]:
    if value.tzinfo is not None and type(value.tzinfo) is not timezone:
        raise UnstorableError("it holds a time of a zone with rules")
    return [value.replace(tzinfo=None).isoformat(), value.tzinfo, value.fold]


def _pairs(value: Any) -> list[Any]:
    return [part for pair in value.items() for part in pair]


def _of_pairs(parts: list[Any]) -> list[tuple[Any, Any]]:
    return list(zip(parts[::2], parts[1::2], strict=True))


_ITEM: Final = 0
_PARTS: Final[dict[Any, tuple[int, Callable[[Any], Any]]]] = {
    tuple: (1, list), set: (2, list), frozenset: (3, list), bytearray: (4, bytes), int: (5, str),
    complex: (6, lambda value: [value.real, value.imag]), dict: (7, _pairs), OrderedDict: (8, _pairs),
    deque: (9, lambda value: [value.maxlen, list(value)]),
    defaultdict: (10, lambda value: [_factory(value), _pairs(value)]), date: (11, date.isoformat),
    datetime: (12, _zoned), time: (13, _zoned),
    timedelta: (14, lambda value: [value.days, value.seconds, value.microseconds]),
    timezone: (15, lambda value: [value.utcoffset(None), value.tzname(None)]), Decimal: (16, str),
    Fraction: (17, lambda value: [value.numerator, value.denominator]), UUID: (18, str),
}  # fmt: skip
_MADE: Final[dict[int, Callable[[Any, object], Any]]] = {
    _ITEM: _item, 1: lambda parts, _: tuple(parts), 2: lambda parts, _: set(parts),
    3: lambda parts, _: frozenset(parts),
    4: lambda data, _: bytearray(bytes(memoryview(data))), 5: lambda text, _: int(text),
    6: lambda parts, _: complex(*parts), 7: lambda parts, _: dict(_of_pairs(parts)),
    8: lambda parts, _: OrderedDict(_of_pairs(parts)), 9: lambda parts, _: deque(parts[1], parts[0]),
    10: lambda parts, _: defaultdict(_FACTORIES[parts[0]], _of_pairs(parts[1])),
    11: lambda text, _: date.fromisoformat(text),
    12: lambda parts, _: datetime.fromisoformat(parts[0]).replace(tzinfo=parts[1], fold=parts[2]),
    13: lambda parts, _: time.fromisoformat(parts[0]).replace(tzinfo=parts[1], fold=parts[2]),
    14: lambda parts, _: timedelta(*parts),
    15: lambda parts, _: UTC if parts == [timedelta(), "UTC"] else timezone(*parts),
    16: lambda text, _: Decimal(text), 17: lambda parts, _: Fraction(*parts), 18: lambda text, _: UUID(text),
}  # fmt: skip
"""How each kind is made of its parts."""
