"""The cookies of a crawl, kept across restarts in a file that only its owner can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.fetch.cookies import Cookie, CookieJar
from evercrawl.parse.sites import registrable
from evercrawl.small_file import LIST_BYTES, small

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk

COOKIE_FILE: Final = "cookies.json"
VERSION: Final = 1


class _Kept(msgspec.Struct):
    version: int
    cookies: list[Cookie]


def read_cookies(disk: Disk, say: Callable[[str], None] = lambda _: None) -> CookieJar:
    """Return the cookies of a crawl directory; if the file is damaged, return none and report it."""
    data = small(disk, COOKIE_FILE, LIST_BYTES)
    if not data:
        return CookieJar(registrable)
    try:
        kept = json_of(data, _Kept)
        if kept.version != VERSION:
            raise msgspec.ValidationError(f"version {kept.version}")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        say(f"{COOKIE_FILE} cannot be read, so all cookies are lost: sites are logged in to again")
        return CookieJar(registrable)
    return CookieJar(registrable, kept.cookies)


def write_cookies(disk: Disk, jar: CookieJar) -> None:
    """Write the cookies into a crawl directory, readable only by its owner."""
    disk.replace(COOKIE_FILE, [msgspec.json.encode({"version": VERSION, "cookies": list(jar)})], private=True)
