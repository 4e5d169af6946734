"""Attackers whose pages and robots.txt files name URLs of another's host, which has nothing there."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Final

from attacked_web import HTML, AttackedWeb, missing, page

from evercrawl.simulate.worlds.made_web import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EVIL: Final = "links.evil.test"
VICTIM: Final = "good0.example"
_PAGES: Final = 10
_LINKS: Final = 9_000
_NAMED: Final = 500
_TEXT: Final = {"Content-Type": "text/plain"}


def _pages(named: Callable[[random.Random], Sequence[str]], path: str) -> Answer:
    """Return a page of a tree of `_PAGES` pages, with links to its children and to what another host lacks."""
    number = 0 if path == "/" else int(path[1:]) if path[1:].isdigit() else _PAGES
    if number >= _PAGES:
        return missing()
    own = [f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < _PAGES]
    return page(*own, *named(random.Random(number)), text=f"evil {number}")


def _only_victim(web: AttackedWeb, answers: Callable[[str], Answer]) -> None:
    web.victims = (VICTIM,)
    web.host(EVIL, "links", answers)


def links_to_absent_pages(web: AttackedWeb) -> None:
    """Add a host with ten pages, each of which links to 9,000 pages that a good host does not have."""
    home = f"http://{VICTIM}{web.port}"
    _only_victim(web, partial(_pages, lambda draw: [f"{home}/j{draw.randrange(10**9)}" for _ in range(_LINKS)]))


def _ports(draw: random.Random, count: int) -> list[int]:
    return draw.sample(range(1024, 65_536), count)


def links_to_ports(web: AttackedWeb) -> None:
    """Add a host with ten pages, each of which links to 9,000 ports of a good host, all closed."""
    _only_victim(web, partial(_pages, lambda draw: [f"http://{VICTIM}:{n}/" for n in _ports(draw, _LINKS)]))


def sitemaps_on_ports(web: AttackedWeb) -> None:
    """Add a host whose robots.txt names sitemaps on 500 ports of a good host, which are silent in simulation."""
    web.firewalled.add(VICTIM)
    named = "".join(f"Sitemap: http://{VICTIM}:{port}/s.xml\n" for port in _ports(random.Random(1), _NAMED))
    robots = Answer(200, _TEXT, named.encode())
    _only_victim(web, lambda path: robots if path == "/robots.txt" else _pages(lambda _: (), path))


def feeds_on_ports(web: AttackedWeb) -> None:
    """Add a host with a page that names feeds on 500 ports of a good host, which are silent in simulation."""
    web.firewalled.add(VICTIM)
    feeds = "".join(
        f'<link rel="alternate" type="application/rss+xml" href="http://{VICTIM}:{port}/feed">'
        for port in _ports(random.Random(1), _NAMED)
    )
    front = Answer(200, HTML, f"<title>feeds</title>{feeds}".encode())
    _only_victim(web, lambda path: front if path == "/" else missing())


def absent_sitemaps(web: AttackedWeb) -> None:
    """Add a host whose robots.txt names 900 sitemaps that a good host does not have."""
    home = f"http://{VICTIM}{web.port}"
    robots = Answer(200, _TEXT, "".join(f"Sitemap: {home}/s{n}.xml\n" for n in range(900)).encode())
    _only_victim(web, lambda path: robots if path == "/robots.txt" else _pages(lambda _: (), path))


LINK_ATTACKS: Final[dict[str, Callable[[AttackedWeb], None]]] = {
    "links to absent pages": links_to_absent_pages, "links to ports": links_to_ports,
    "sitemaps on ports": sitemaps_on_ports, "feeds on ports": feeds_on_ports, "absent sitemaps": absent_sitemaps,
}  # fmt: skip
"""By name."""
