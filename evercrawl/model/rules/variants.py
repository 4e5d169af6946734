"""Pages whose URLs have a query, until those with fewer parameters are read: only then is it known whether they differ.

Anyone can link to a page with parameters that change nothing, such as those of campaigns. If such a URL is read before
the page, it looks like a page of its own. Some are remembered, and forgotten in the order in which they came.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Visit
from evercrawl.types import NO_SLOT

MOST: Final = 16_384
"""Maximum number of shorter URLs that are remembered."""
MOST_EACH: Final = 16
"""Maximum number of pages remembered for each of them."""
MOST_CHARS: Final = 1_024
"""Maximum length of such a URL."""
MOST_KEPT: Final = 3
"""Maximum number of parameters that a shorter URL keeps of the first or of the last ones."""
_EACH_BYTES: Final = 600
_ALIKE: Final = 20  # sizes differ by at most one part in this many


class _Shorter(NamedTuple):
    url: str
    host: int
    pages: list[int]


def shorter(url: str) -> list[str]:
    """Return a URL with fewer parameters: none, the first ones, the last ones, and all but one.

    Examples
    --------
    >>> shorter("http://a.example/list?id=7&from=mail")
    ['http://a.example/list', 'http://a.example/list?id=7', 'http://a.example/list?from=mail']
    """
    address, mark, query = url.partition("?")
    if not mark or len(url) > MOST_CHARS:
        return []
    parts = query.split("&")
    few = range(1, min(len(parts) - 1, MOST_KEPT) + 1)
    kept = [*(parts[:n] for n in few), *(parts[-n:] for n in few)]
    if len(parts) <= MOST_KEPT + 1:
        kept += [parts[:n] + parts[n + 1 :] for n in range(len(parts)) if len(parts) > 1]
    return [address, *dict.fromkeys(f"{address}?{'&'.join(some)}" for some in kept)]


class Variants:
    """Remembers pages by their URLs with fewer parameters.

    Examples
    --------
    >>> variants = Variants()
    >>> variants.add(5, 0, "http://a.example/list?from=mail")
    ['http://a.example/list']
    >>> variants.known("http://a.example/list", 7)
    [5]
    >>> variants.read(7), variants.read(7)
    ([5], [])
    """

    def __init__(self) -> None:
        self._shorter: dict[str, _Shorter] = {}
        self._at: dict[int, _Shorter] = {}
        self._slots: dict[str, int] = {}
        self._of_page: dict[int, list[str]] = {}
        self._hosts = Counter[int]()

    @property
    def nbytes(self) -> int:
        """Approximate memory use in bytes."""
        return _EACH_BYTES * len(self._shorter)

    def add(self, slot: int, host: int, url: str) -> list[str]:
        """Remember a page; return its URLs with fewer parameters, as far as it is remembered by them."""
        found = list[str]()
        for one in shorter(url):
            held = self._shorter.get(one)
            if held is None:
                if len(self._shorter) == MOST:
                    self._forget(next(iter(self._shorter.values())))
                held = self._shorter[one] = _Shorter(one, host, [])
                self._hosts[host] += 1
            if len(held.pages) < MOST_EACH:
                held.pages.append(slot)
                self._of_page.setdefault(slot, []).append(one)
                found.append(one)
        return found

    def among(self, hosts: Iterable[int]) -> bool:
        """Return whether pages of any of these hosts are remembered."""
        return not self._hosts.keys().isdisjoint(hosts)

    def known(self, url: str, slot: int) -> list[int]:
        """Note the slot of a URL; return the pages that are remembered by it."""
        held = self._shorter.get(url)
        if held is None:
            return []
        self._at[slot], self._slots[url] = held, slot
        return held.pages

    def of(self, slot: int) -> list[int]:
        """Return the pages that are remembered by a known URL."""
        held = self._at.get(slot)
        return held.pages if held is not None else []

    def read(self, slot: int) -> list[int]:
        """Forget a known URL, and return the pages that were remembered by it."""
        held = self._at.get(slot)
        if held is None:
            return []
        self._forget(held)
        return held.pages

    def drop(self, slot: int) -> None:
        """Forget a page."""
        for url in self._of_page.pop(slot, ()):
            self._shorter[url].pages.remove(slot)

    def _forget(self, held: _Shorter) -> None:
        for page in held.pages:
            self._of_page[page].remove(held.url)
            if not self._of_page[page]:
                del self._of_page[page]
        del self._shorter[held.url]
        self._at.pop(self._slots.pop(held.url, NO_SLOT), None)
        self._hosts[held.host] -= 1
        if not self._hosts[held.host]:
            del self._hosts[held.host]


def look_alike(one: Visit, other: Visit) -> bool:
    """Return whether two pages differ in little: they have the same title and links, and nearly the same size.

    Short pages that differ in a token or a date have similarity hashes that are far apart.
    """
    if one.title != other.title or abs(one.size_bytes - other.size_bytes) * _ALIKE > max(one.size_bytes, 1):
        return False
    aside = {one.slot, other.slot}
    links, others = ({*decode_slots(each.targets).tolist()} - aside for each in (one, other))
    return bool(links) and links == others
