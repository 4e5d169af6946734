"""Removes the secrets of a session from what the archive keeps of an exchange."""

from collections.abc import Collection
from typing import Final

from evercrawl.http_head import fields_of

LEFT_OUT: Final = "(left out)"
_SET_COOKIE: Final = "set-cookie"


def redacted(head: bytes, names: Collection[str]) -> bytes:
    r"""Return the head of a request or answer with the values of some fields replaced, with all their lines.

    Parameters
    ----------
    head
        The lines of the head.
    names
        The names of the fields, in lower case.

    Examples
    --------
    >>> redacted(b"GET / HTTP/1.1\r\nHost: a.example\r\nCookie: id=7;\r\n a=8\r\n\r\n", {"cookie"})
    b'GET / HTTP/1.1\r\nHost: a.example\r\nCookie: (left out)\r\n\r\n'
    """
    pieces, at = list[bytes](), 0
    for field in fields_of(head):
        if field.name in names:
            name = head[field.start : field.end].partition(b":")[0].strip(b" \t")
            pieces += [head[at : field.start], name, b": ", LEFT_OUT.encode()]
            at = field.end
    return b"".join([*pieces, head[at:]])


def set_cookies(head: bytes) -> list[str]:
    r"""Return the values of the Set-Cookie fields of an answer's head.

    >>> set_cookies(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX: y\r\nset-cookie: b=2;\r\n Path=/\r\n\r\n")
    ['a=1', 'b=2; Path=/']
    """
    return [field.value for field in fields_of(head) if field.name == _SET_COOKIE]
