"""Removes the secrets of a session from what the archive keeps of an exchange."""

import re
from collections.abc import Collection
from typing import Final

LEFT_OUT: Final = "(left out)"
_LINE: Final = re.compile(rb"(?m)^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[^\r\n]*")


def redacted(head: bytes, names: Collection[str]) -> bytes:
    r"""Return the head of a request or answer with the values of some fields replaced.

    Parameters
    ----------
    head
        The lines of the head.
    names
        The names of the fields, in lower case.

    Examples
    --------
    >>> redacted(b"GET / HTTP/1.1\r\nHost: a.example\r\nCookie: id=7\r\n\r\n", {"cookie"})
    b'GET / HTTP/1.1\r\nHost: a.example\r\nCookie: (left out)\r\n\r\n'
    """

    def line(found: re.Match[bytes]) -> bytes:
        name = found[1].decode("ascii")
        return f"{name}: {LEFT_OUT}".encode() if name.lower() in names else found[0]

    return _LINE.sub(line, head)


def set_cookies(head: bytes) -> list[str]:
    r"""Return the values of the Set-Cookie fields of an answer's head.

    >>> set_cookies(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX: y\r\nset-cookie: b=2; Path=/\r\n\r\n")
    ['a=1', 'b=2; Path=/']
    """
    found = (line.partition(b":") for line in head.splitlines())
    return [value.strip().decode("latin-1") for name, _, value in found if name.strip().lower() == b"set-cookie"]
