"""Decoding of data from files or other processes; all failures raise `msgspec.DecodeError`.

For values nested some thousand levels deep msgspec raises `RecursionError`, and for invalid text
`UnicodeDecodeError`. Readers of foreign data would have to handle both.
"""

from __future__ import annotations

from typing import Any, TypeVar, overload

import msgspec

__all__ = ["json_of", "msgpack_of"]

T = TypeVar("T")


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


_DEEP = "its values are nested too deeply"
