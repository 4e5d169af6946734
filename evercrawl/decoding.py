"""Decoding of data from files or other processes; all failures of JSON and MessagePack raise `msgspec.DecodeError`.

For values nested some thousand levels deep msgspec raises `RecursionError`, and for invalid text
`UnicodeDecodeError`. Readers of foreign data would have to handle both.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar, overload

import msgspec

__all__ = ["json_of", "msgpack_of", "whole_of"]

T = TypeVar("T")
_WHOLE_CHARS: Final = 19
"""Highest number of digits of a whole number; longer ones, even with leading zeros only, serve only to mislead."""


@overload
def json_of(data: bytes | str, kind: type[T]) -> T: ...
@overload
def json_of(data: bytes | str, kind: object = Any) -> Any: ...
def json_of(data: bytes | str, kind: Any = Any) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    msgspec.DecodeError
        The text is invalid, or its value is not of this kind.

    Examples
    --------
    >>> json_of(b'{"a": [1]}', dict[str, list[int]])
    {'a': [1]}
    >>> json_of(b"[" * 100_000)
    Traceback (most recent call last):
    msgspec.DecodeError: its values are nested too deeply
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError(_DEEP) from None
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(str(error)) from None


@overload
def msgpack_of(data: bytes | memoryview, kind: type[T]) -> T: ...
@overload
def msgpack_of(data: bytes | memoryview, kind: object = Any) -> Any: ...
def msgpack_of(data: bytes | memoryview, kind: Any = Any) -> Any:
    """Return the value of MessagePack data.

    Raises
    ------
    msgspec.DecodeError
        The data is invalid, or its value is not of this kind.
    """
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError(_DEEP) from None
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(str(error)) from None


def whole_of(text: str, least: int, most: int) -> int | None:
    """Return the whole number that a text of ASCII digits stands for; None if it is none, or out of bounds.

    Examples
    --------
    >>> whole_of("007", 0, 10), whole_of("11", 0, 10), whole_of("-1", 0, 10), whole_of("\u0663", 0, 10)
    (7, None, None, None)
    >>> whole_of("0" * 30 + "7", 0, 10) is None
    True
    """
    if len(text) > _WHOLE_CHARS or not text.isascii() or not text.isdigit():
        return None
    number = int(text)
    return number if least <= number <= most else None


_DEEP = "its values are nested too deeply"
