"""A made-up web of many hosts, all of it arithmetic: nothing is stored, so a million hosts cost nothing."""

from __future__ import annotations

from typing import Final

TEXTS: Final = 1 << 12
"""Pieces of text from which every page draws."""
WORDS: Final = 8
"""In each of them."""
LINKS: Final = 10
"""Of a page to pages of its own host, and as many to pages of others."""

_MASK: Final = (1 << 64) - 1


def mixed(number: int) -> int:
    """Return 64 well spread bits (the finalizer of splitmix64)."""
    x = (number + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


class MadeHosts:
    """Hosts `h0.test` to `hN.test`, each a site of its own with an address of its own.

    Page 25 of a host is at `/2/25`, page 0 at `/`. Every page links to pages of its host, and to as many of hosts drawn
    evenly, so that unread pages never run short.

    Parameters
    ----------
    hosts, pages
        How many hosts there are, and pages on each; the links of a page to its own host are distinct if that is a prime
        above `links`.
    port
        Where all of them are served.
    pieces
        Of text on a page, `WORDS` words each.
    seed
        Makes another web.
    network
        First byte of the addresses.
    links
        Of a page to its own host, and as many to others.
    """

    def __init__(
        self,
        hosts: int,
        pages: int = 131,
        *,
        port: int = 80,
        pieces: int = 20,
        seed: int = 0,
        network: int = 127,
        links: int = LINKS,
    ) -> None:
        assert 0 < hosts < 1 << 23, "there are no more addresses"
        self.hosts, self.pages, self._pieces, self._network, self._links = hosts, pages, pieces, network, links
        self._seed = mixed(seed)
        self._tail = ".test" if port == 80 else f".test:{port}"
        vocabulary = ["".join(_SYLLABLES[mixed(i) >> 5 * k & 31] for k in range(2 + i % 3)) for i in range(1 << 13)]
        self._texts = [
            " ".join(vocabulary[mixed(i * WORDS + k) % len(vocabulary)] for k in range(WORDS)) for i in range(TEXTS)
        ]

    def number(self, name: str) -> int | None:
        """Return which host a name, in lower case and without port, is; None for none.

        Examples
        --------
        >>> MadeHosts(100).number("h42.test"), MadeHosts(10).number("h42.test"), MadeHosts(10).number("example.org")
        (42, None, None)
        """
        if name[:1] == "h" and name[-5:] == ".test" and name[1:-5].isdecimal():
            number = int(name[1:-5])
            return number if number < self.hosts else None
        return None

    def address(self, host: int) -> str:
        """Return the address of a host.

        >>> MadeHosts(1000).address(258)
        '127.1.1.2'
        """
        return f"{self._network}.{1 + (host >> 16)}.{host >> 8 & 255}.{host & 255}"

    def packed(self, host: int) -> bytes:
        """Return the address of a host as four bytes."""
        return bytes((self._network, 1 + (host >> 16), host >> 8 & 255, host & 255))

    def url(self, host: int, page: int = 0) -> str:
        """Return the URL of a page.

        >>> MadeHosts(9).url(3), MadeHosts(9, port=8000).url(3, 25)
        ('http://h3.test/', 'http://h3.test:8000/2/25')
        """
        return f"http://h{host}{self._tail}/{f'{page // 10}/{page}' if page else ''}"

    def page(self, path: str) -> int | None:
        """Return which page of a host a path is; None for none.

        >>> [MadeHosts(9).page(path) for path in ("/", "/2/25", "/3/25", "/1/a", "/9999/99990")]
        [0, 25, None, None, None]
        """
        if path == "/":
            return 0
        folder, _, last = path[1:].partition("/")
        if not last.isdecimal() or not last.isascii() or folder != str(int(last) // 10):
            return None
        number = int(last)
        return number if 0 < number < self.pages else None

    def links(self, host: int, page: int) -> list[str]:
        """Return to where a page links: first within its host, then elsewhere."""
        x = mixed(self._seed ^ (host * self.pages + page))
        first, step = x % self.pages, 1 + (x >> 20) % max(self.pages - 1, 1)
        found = [self.url(host, (first + k * step) % self.pages) for k in range(self._links)]
        return found + [self.url((y >> 24) % self.hosts, (y & 0xFFFFFF) % self.pages) for y in self._drawn(x)]

    def others(self, host: int, page: int) -> list[int]:
        """Return the hosts of the second half of `links`."""
        return [(x >> 24) % self.hosts for x in self._drawn(mixed(self._seed ^ (host * self.pages + page)))]

    def _drawn(self, x: int) -> list[int]:
        drawn = list[int]()
        for _ in range(self._links):
            x = (x * 6364136223846793005 + 1442695040888963407) & _MASK
            drawn.append(x ^ x >> 33)
        return drawn

    def body(self, host: int, page: int) -> bytes:
        """Return the HTML of a page."""
        x = mixed(~self._seed & _MASK ^ (host * self.pages + page))
        pieces = list[str]()
        for _ in range(self._pieces):
            x = (x * 6364136223846793005 + 1442695040888963407) & _MASK
            pieces.append(self._texts[x >> 52])
        links = self.links(host, page)
        menu = "".join(f'<li><a href="{url}">{url[-9:]}</a>' for url in links)
        half = len(pieces) // 2
        return (
            f"<!DOCTYPE html><html lang=en><title>{pieces[0] if pieces else host} {page}</title>"
            f"<p>{'. '.join(pieces[:half])}.<ul>{menu}</ul><p>{'. '.join(pieces[half:])}.</html>"
        ).encode()


_SYLLABLES: Final = (
    *("ba", "be", "bo", "da", "de", "do", "fa", "fe", "ga", "go", "ka", "ke", "ko", "la", "le", "lo"),
    *("ma", "me", "mo", "na", "ne", "no", "pa", "po", "ra", "re", "ro", "sa", "so", "ta", "te", "va"),
)
ROBOTS: Final = b"User-agent: *\nDisallow: /private/\n"
"""What every host's robots.txt says."""
