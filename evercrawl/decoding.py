"""Data of a file or of another process, decoded: what cannot be decoded always is a `msgspec.DecodeError`.

Of values that lie some thousand deep in each other msgspec says `RecursionError`, and of text that is none
`UnicodeDecodeError`. Who reads what others wrote would have to think of both.
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
    """Return the value that JSON stands for.

    Raises
    ------
    msgspec.DecodeError
        It stands for none of this kind.

    Examples
    --------
    >>> json_of(b'{"a": [1]}', dict[str, list[int]])
    {'a': [1]}
    >>> json_of(b"[" * 100_000)
    Traceback (most recent call last):
    msgspec.DecodeError: its values lie too deep in each other
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
    """Return the value that MessagePack stands for.

    Raises
    ------
    msgspec.DecodeError
        It stands for none of this kind.
    """
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError(_DEEP) from None
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(str(error)) from None


_DEEP = "its values lie too deep in each other"
