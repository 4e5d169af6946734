"""Attackers whose pages and robots.txt files name URLs of another's host, which has nothing there."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Final

from attacked_web import HTML, PAGES, SECTIONS, AttackedWeb, good_pages, missing, page

from evercrawl.simulate.worlds.made_web import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EVIL: Final = "links.evil.test"
VICTIM: Final = "good0.example"
_PAGES: Final = 10
_LINKS: Final = 9_000
_NAMED: Final = 500
_MANY: Final = 100
_FEWER: Final = 300
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


def _named(web: AttackedWeb, path: Callable[[random.Random], str], links: int = _FEWER) -> Callable[[str], Answer]:
    """Return what a host answers whose pages each link to some paths of the victim."""
    home = f"http://{VICTIM}{web.port}"
    return partial(_pages, lambda draw: [f"{home}{path(draw)}" for _ in range(links)])


def _absent(draw: random.Random, ending: str = "") -> str:
    return f"/j{draw.randrange(10**9)}{ending}"


def links_of_domains(web: AttackedWeb, name: str = "evil{}.test") -> None:
    """Add a hundred hosts, each of a domain of its own, whose pages link to what a good host does not have."""
    web.victims = (VICTIM,)
    for i in range(_MANY):
        web.host(name.format(i), f"links{i}", _named(web, partial(_absent, ending=str(i))))


def links_of_names(web: AttackedWeb) -> None:
    """Add a hundred such hosts of one domain."""
    links_of_domains(web, "n{}.evil.test")


def _answering(web: AttackedWeb, names: Callable[[str], bool], answer: Callable[[str], Answer]) -> None:
    """Have the victim answer some paths otherwise."""
    own = web.answers[VICTIM]
    web.answers[VICTIM] = lambda path: answer(path) if names(path) else own(path)


def links_to_copies(web: AttackedWeb) -> None:
    """Add a host that links to absent pages of a good host, which answers each with a copy of one page."""
    _only_victim(web, _named(web, _absent))
    _answering(web, lambda path: path.startswith("/j"), lambda _: page("/", text="Sorry! Try our front page."))


def links_to_redirects(web: AttackedWeb) -> None:
    """Add a host that links to URLs of a good host, all of which redirect to its front page."""
    _only_victim(web, _named(web, _absent))
    _answering(web, lambda path: path.startswith("/j"), lambda _: Answer(302, {"Location": "/"}))


def links_with_campaigns(web: AttackedWeb) -> None:
    """Add a host that links to the pages of a good host with parameters that change nothing."""
    _only_victim(web, _named(web, lambda draw: f"/{draw.randrange(PAGES)}?utm_source={draw.randrange(10**9)}"))
    _answering(web, lambda path: "?" in path, lambda path: good_pages(VICTIM, path.partition("?")[0]))


def links_to_searches(web: AttackedWeb, form: str = "/search?q={}") -> None:
    """Add a host that links to results of a good host's search, each with content of its own."""
    _only_victim(web, _named(web, lambda draw: form.format(draw.randrange(10**9))))
    _answering(web, lambda path: path.startswith(form[:3]), lambda path: _results(path, form))


def links_to_endless_pages(web: AttackedWeb) -> None:
    """Add a host that links to pages of a good host that it makes of any path, each with content of its own."""
    _only_victim(web, _named(web, lambda draw: "/se" + "".join(draw.choices("aeioubcdfg", k=9))))
    _answering(web, lambda path: path.startswith("/se"), lambda path: _results(path, ""))


def _results(path: str, form: str) -> Answer:
    draw = random.Random(path)
    words = " ".join("".join(draw.choices("aeioubcdfghjklmnprst", k=6)) for _ in range(60))
    found = [f"/{draw.randrange(SECTIONS + 1, PAGES)}" for _ in range(5)]
    return page("/", *found, *([form.format(draw.randrange(10**9))] if form else ()), text=words)


def found_late(web: AttackedWeb) -> None:
    """Have a good host be no seed; a late page of another names its front page."""
    web.victims = (VICTIM,)
    web.seeds.remove(f"http://{VICTIM}{web.port}/")
    other, own = "good1.example", web.answers["good1.example"]
    web.answers[other] = lambda path: own(path) if path != "/3" else page(f"http://{VICTIM}{web.port}/", text="link")


def links_before_it_is_known(web: AttackedWeb) -> None:
    """Add a host that links to absent pages of a good host before anyone else names that."""
    found_late(web)
    web.host(EVIL, "links", _named(web, _absent))


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
    "links of domains": links_of_domains, "links of names": links_of_names, "links to copies": links_to_copies,
    "links to redirects": links_to_redirects, "links with campaigns": links_with_campaigns,
    "links to searches": links_to_searches, "links to endless pages": links_to_endless_pages,
    "links before it is known": links_before_it_is_known,
}  # fmt: skip
"""By name."""
BASES: Final[dict[str, Callable[[AttackedWeb], None]]] = {"links before it is known": found_late}
"""By name: what a web without the attacker has, besides its good hosts."""
