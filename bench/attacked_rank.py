"""Attackers that are after rank, keys or parsers: forged statuses and hashes, farms of links, names with many pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attacked_web import AttackedWeb, calendar_page, missing, page

from evercrawl.simulate.worlds.made_web import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

FARM: Final = 300
STATUSES: Final = (70_000, 2 * 10**30, 1000, 2000, 600, 700, 0, 99, 10**4000)
_LENGTH: Final = 712
_FIRST, _SECOND, _LETTERS = (16, b"aaa0"), (464, b"7eiR"), ((b"b", b"c"), (b"c", b"b"))


def forged_statuses(web: AttackedWeb) -> None:
    """Add a hundred hosts with pages, and a robots.txt of every second one, whose status is no status."""
    for i in range(100):

        def answers(path: str, number: int = i) -> Answer:
            if path == "/robots.txt" and number % 2:
                return missing()
            found = page(*(f"/{n}" for n in range(100)), text="forged")
            if path == "/" and number % 2:
                return found
            return Answer(STATUSES[(number + len(path)) % len(STATUSES)], found.headers, found.body)

        web.host(f"s{i}.d{i}.test", f"s{i}", answers)


def forged(text: bytes) -> tuple[bytes, bytes]:
    """Return two texts of one XXH3 under its public secret, which begin as `text` does (as in tests/helpers)."""
    found = list[bytes]()
    for letters in _LETTERS:
        one = bytearray(text + b"p" * (_LENGTH - len(text)))
        for (at, word), letter in zip((_FIRST, _SECOND), letters, strict=True):
            one[at : at + 5] = word + letter
        found.append(bytes(one))
    return found[0], found[1]


def forged_keys(web: AttackedWeb) -> None:
    """Add two hosts with ten thousand pairs of URLs, and of contents, which have one hash without a secret.

    Twenty other hosts link to them, a hundred pairs a page.
    """

    def contents(path: str) -> Answer:
        if path == "/robots.txt":
            return missing()
        number = path[1:7]
        one, other = forged(f"<html><p>       01234 {number}".encode())
        return Answer(200, page(text="").headers, one if path.endswith("b") else other)

    def answers(path: str) -> Answer:
        if path != "/" and not path[1:].isdigit():
            return missing()
        first = int(path[1:] or 0) * 100
        urls = [
            url.decode()
            for n in range(first, min(first + 100, 10_000))
            for url in forged(f"http://the-one-aaa0b-of-two.test{web.port}/{n:06}".encode())
        ]
        return page(f"/{first // 100 + 1}", *urls, text=f"{first} links")

    for letter in "bc":
        web.host(f"the-one-aaa0{letter}-of-two.test", f"k{letter}", contents, seed=False)
    for i in range(20):
        web.host(f"l{i}.d{i}.test", f"l{i}", answers)


def farm(web: AttackedWeb, names: list[str]) -> None:
    """Add hosts with endless pages that all link to the page of a seed, which links to all of them."""
    target = f"http://www.target.test{web.port}/"
    link = f'<a href="{target}">buy</a>'.encode()

    def answers(path: str) -> Answer:
        found = calendar_page(path)
        return Answer(found.status, found.headers, found.body.replace(b"<p>", link + b"<p>", 1))

    for i, name in enumerate(names):
        web.host(name, f"f{i}", answers, seed=False)
    homes = [f"http://{name}{web.port}/" for name in names]
    web.host("www.target.test", "target", lambda path: page(*homes, text="buy") if path == "/" else missing())


def farm_of_addresses(web: AttackedWeb) -> None:
    """Add a farm of addresses without names, each in a network of its own."""
    farm(web, [f"{web.first}.{200 + i // 250}.{i % 250}.7" for i in range(FARM)])


def farm_of_free_names(web: AttackedWeb) -> None:
    """Add a farm of names below a public suffix, each a site."""
    farm(web, [f"f{i}.github.io" for i in range(FARM)])


def farm_of_subdomains(web: AttackedWeb) -> None:
    """Add a farm of names of one domain."""
    farm(web, [f"f{i}.farm.test" for i in range(FARM)])


def farm_of_domains(web: AttackedWeb) -> None:
    """Add a farm of registered domains."""
    farm(web, [f"www.farm{i}.test" for i in range(FARM)])


def pages_at_an_address(web: AttackedWeb) -> None:
    """Add sixty names with endless pages at the address of a good host; a seed leads to them."""
    web.victims = web.victims[:1]
    farm(web, [f"www.a{i}.test" for i in range(60)])
    for i in range(60):
        web.addresses[f"www.a{i}.test"] = web.addresses[web.victims[0]]


RANK_ATTACKS: Final[dict[str, Callable[[AttackedWeb], None]]] = {
    "forged statuses": forged_statuses, "forged keys": forged_keys, "farm of addresses": farm_of_addresses,
    "farm of free names": farm_of_free_names, "farm of subdomains": farm_of_subdomains,
    "farm of domains": farm_of_domains, "pages at one address": pages_at_an_address,
}  # fmt: skip
"""By name."""
