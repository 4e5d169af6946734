"""Webs of ten good hosts and of one attacker beside them: what each URL answers, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from evercrawl.parse.urls import hostname
from evercrawl.simulate.surroundings.network import NoAnswerError
from evercrawl.simulate.worlds.made_web import Answer

GOOD: Final = 10
PAGES: Final = 2_000
SECTIONS: Final = 40
DEADLINE_S: Final = 29.5  # how long an attacker can keep a connection, to have it not time out
HTML: Final = {"Content-Type": "text/html; charset=utf-8"}


@dataclass
class AttackedWeb:
    """Good hosts, and what an attacker has beside them.

    Attributes
    ----------
    port
        What stands behind the name of every host, with its colon; "" for the usual one.
    addresses
        Host name -> where it is, without the first number.
    unanswered
        Names of which the name server says nothing.
    seeds
        Where the crawl begins: the front pages of good hosts, and those of the attacker.
    answers
        Host name -> what answers there: path -> answer.
    silent, dripping
        Hosts that say nothing for `DEADLINE_S`; that send a byte each half second.
    firewalled
        Good hosts whose other ports say nothing, instead of being closed; in simulation only.
    networks
        Numbers of the networks so far.
    first
        The first number of every address.
    victims
        The good hosts of which the pages are counted.
    """

    port: str = ""
    addresses: dict[str, str] = field(default_factory=dict[str, str])
    unanswered: set[str] = field(default_factory=set[str])
    seeds: list[str] = field(default_factory=list[str])
    answers: dict[str, Callable[[str], Answer]] = field(default_factory=dict[str, Callable[[str], Answer]])
    silent: set[str] = field(default_factory=set[str])
    dripping: set[str] = field(default_factory=set[str])
    firewalled: set[str] = field(default_factory=set[str])
    networks: dict[str, int] = field(default_factory=dict[str, int])
    first: int = 8
    victims: tuple[str, ...] = tuple(f"good{i}.example" for i in range(GOOD))

    def __post_init__(self) -> None:
        for i in range(GOOD):
            self.host(f"good{i}.example", f"good{i}", partial(good_pages, f"good{i}.example"))

    def host(self, name: str, where: str, answers: Callable[[str], Answer], *, seed: bool = True) -> None:
        """Add a host; `where` tells machines apart, and those of one network by what stands behind its last dot."""
        network, _, machine = where.partition(".")
        number = self.networks.setdefault(network, len(self.networks))
        self.addresses[name] = f"{number // 250 + 1}.{number % 250}.{int(machine or 0) + 1}"
        self.answers[name] = answers
        if seed:
            self.seeds.append(f"http://{name}{self.port}/")

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return what is at a path of an origin; on the usual port only.

        Raises
        ------
        NoAnswerError
            It is on another port.
        """
        del headers, at
        name = hostname(f"{origin}/")
        if origin != f"http://{name}{self.port}":
            late = name in self.firewalled
            raise NoAnswerError("timeout" if late else "connect", after_s=DEADLINE_S if late else None)
        answers = self.answers.get(name)
        return answers(path) if answers is not None else missing()


def page(*links: str, text: str) -> Answer:
    """Return a page with links."""
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    return Answer(200, HTML, f"<html><title>{text}</title><p>{text}</p>{anchors}</html>".encode())


def missing() -> Answer:
    """Return that there is nothing."""
    return Answer(404, HTML, b"nothing here")


def good_pages(name: str, path: str) -> Answer:
    """Return a page of a good host, like no page of another: a front page, sections, and `PAGES` pages in all."""
    if path == "/":
        return page(*(f"/{n}" for n in range(1, SECTIONS + 1)), text=f"front page of {name}")
    number = path[1:]
    if not number.isdigit() or int(number) >= PAGES:
        return missing()
    own, first = int(number), SECTIONS + 1
    of_section = -(-(PAGES - first) // SECTIONS)
    if own <= SECTIONS:
        begin = first + (own - 1) * of_section
        links = [f"/{n}" for n in range(begin, min(begin + of_section, PAGES))]
    else:
        section = (own - first) // of_section + 1
        links = [f"/{section}", *(f"/{n}" for n in (own - 1, own + 1) if first <= n < PAGES)]
    return page("/", *links, text=f"page {number} of {name}")


def one_page(path: str) -> Answer:
    """Return the only page of a host."""
    return page(text="only") if path == "/" else missing()


# Attacks: each adds to a web what its attacker has


def silence(web: AttackedWeb, networks: int = 1000) -> None:
    """Add a thousand hosts that say nothing until just before the deadline, in so many networks."""
    for i in range(1000):
        name = f"silent{i}.d{i}.test"
        web.host(name, f"s{i % networks}.{i // networks}", one_page)
        web.silent.add(name)


def crowded_silence(web: AttackedWeb) -> None:
    """Add a thousand silent hosts in eight networks."""
    silence(web, networks=8)


def drips(web: AttackedWeb) -> None:
    """Add three hundred hosts that send a byte each half second."""
    for i in range(300):
        name = f"drip{i}.d{i}.test"
        web.host(name, f"s{i}", one_page)
        web.dripping.add(name)


def names(web: AttackedWeb) -> None:
    """Add a thousand names, each of a domain of its own, that no name server answers for."""
    for i in range(1000):
        web.unanswered.add(f"www.d{i}.test")
        web.seeds.append(f"http://www.d{i}.test{web.port}/")


def names_of_one(web: AttackedWeb) -> None:
    """Add a thousand unanswered names of one domain."""
    for i in range(1000):
        web.unanswered.add(f"n{i}.evil.test")
        web.seeds.append(f"http://n{i}.evil.test{web.port}/")


def moved_robots(web: AttackedWeb) -> None:
    """Add two hundred hosts whose robots.txt are said to be at addresses of one good host."""
    web.victims = web.victims[:1]
    for i in range(200):

        def answers(path: str, number: int = i) -> Answer:
            if path == "/robots.txt":
                return Answer(302, {"Location": f"http://good0.example{web.port}/{PAGES + number}/robots.txt"})
            return one_page(path)

        web.host(f"m{i}.d{i}.test", f"m{i}", answers)


def large_robots(web: AttackedWeb) -> None:
    """Add two hundred hosts with a robots.txt of 512 KiB each."""
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%06d\n" % i for i in range(29_000))
    for i in range(200):
        web.host(
            f"r{i}.d{i}.test", f"r{i}",
            lambda path: Answer(200, {"Content-Type": "text/plain"}, body) if path == "/robots.txt" else one_page(path),
        )  # fmt: skip


def sitemaps(web: AttackedWeb) -> None:
    """Add a hundred hosts of one domain with sitemap indexes of a thousand sitemaps, and those of a good host named."""
    index = "".join(f"<sitemap><loc>http://www.evil.test{web.port}/s{i}.xml</loc></sitemap>" for i in range(1000))
    body = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{index}</sitemapindex>'.encode()
    named = "".join(f"Sitemap: http://good{i % GOOD}.example{web.port}/{i}.xml\n" for i in range(100))

    def answers(path: str) -> Answer:
        if path == "/robots.txt":
            return Answer(200, {"Content-Type": "text/plain"}, f"Sitemap: /index.xml\n{named}".encode())
        if path.endswith(".xml"):
            return Answer(200, {"Content-Type": "application/xml"}, body)
        return one_page(path)

    for i in range(100):
        web.host("www.evil.test" if i == 0 else f"h{i}.evil.test", f"e{i}", answers)


def false_mirror(web: AttackedWeb) -> None:
    """Add a host that lists a good one's paths, serves thirty copies, and then answers 429 for a day."""
    served = set[str]()

    def answers(path: str) -> Answer:
        if path == "/robots.txt":
            return missing()
        if path not in served and len(served) >= 30:
            return Answer(429, {**HTML, "Retry-After": "86400"}, b"later")
        served.add(path)
        if path != "/":
            return good_pages(web.victims[0], path)
        return page(*(f"/{n}" for n in range(1, PAGES)), text="front")

    web.host("copy.evil.test", "copy", answers)


def calendar_page(path: str) -> Answer:
    """Return a day of an endless calendar."""
    day = path[1:]
    if path == "/robots.txt" or (day and not day.isdigit()):
        return missing()
    number = int(day or 0)
    return page(f"/{number + 1}", f"/{number + 30}", f"/{2 * number + 365}", text=f"day {number}")


def calendar(web: AttackedWeb) -> None:
    """Add twenty hosts with a page for every day there ever will be."""
    for i in range(20):
        web.host(f"days{i}.d{i}.test", f"c{i}", calendar_page)


def odd_names(web: AttackedWeb) -> None:
    """Add fifty hosts that lead to host names which one parser of URLs takes and another refuses, in every way."""
    odd = ("xn--zz--a", "xn--", "xn--a", "a_b", "-a", "a-", "%61", "xn--%C3%9F", "1.2.3", "0x7f.1", "%E2%92%88", "a..b")

    def answers(path: str) -> Answer:
        names = [f"http://{name}.evil.test{web.port}/" for name in odd]
        if path == "/robots.txt":
            return Answer(
                200, {"Content-Type": "text/plain"}, "".join(f"Sitemap: {one}s.xml\n" for one in names).encode()
            )
        if path[1:].isdigit():
            return Answer(302, {"Location": names[int(path[1:]) % len(names)]})
        return page(*names, *(f"/{n}" for n in range(len(names))), text="odd") if path == "/" else missing()

    for i in range(50):
        web.host(f"o{i}.d{i}.test", f"o{i}", answers)


def copies(web: AttackedWeb) -> None:
    """Add thirty hosts that serve the pages of a good host, and call their own the canonical ones."""
    web.victims = web.victims[:1]

    def of(host: str) -> Callable[[str], Answer]:
        def answers(path: str) -> Answer:
            found = good_pages(web.victims[0], path)
            link = f'<link rel="canonical" href="http://{host}{web.port}{path}">'.encode()
            return Answer(found.status, found.headers, found.body.replace(b"<p>", link + b"<p>", 1))

        return answers

    for i in range(30):
        web.host(f"copy{i}.d{i}.test", f"c{i}", of(f"copy{i}.d{i}.test"))


def names_at_an_address(web: AttackedWeb) -> None:
    """Add sixty names, each of a domain of its own, that lead to the address of a good host."""
    web.victims = web.victims[:1]
    for i in range(60):
        web.host(f"www.a{i}.test", f"a{i}", one_page)
        web.addresses[f"www.a{i}.test"] = web.addresses["good0.example"]


def moving_seeds(web: AttackedWeb) -> None:
    """Add ten hosts whose front page leads to another host at each visit, up to two hundred each."""
    for i in range(10):
        visits = iter(range(10_000))

        def answers(path: str, number: int = i, turns: Iterator[int] = visits) -> Answer:
            if path != "/":
                return missing()
            return Answer(302, {"Location": f"http://t{next(turns) % 200}.d{number}.test{web.port}/"})

        web.host(f"www.d{i}.test", f"v{i}", answers)
        for k in range(200):
            web.host(f"t{k}.d{i}.test", f"v{i}.{k + 1}", calendar_page, seed=False)


ATTACKS: Final[dict[str, Callable[[AttackedWeb], None]]] = {
    "silence": silence, "silence of eight networks": crowded_silence, "drips": drips,
    "unanswered names of many domains": names, "unanswered names of one domain": names_of_one,
    "robots.txt led to one host": moved_robots, "large robots.txt": large_robots, "sitemap indexes": sitemaps,
    "false mirror": false_mirror, "endless calendars": calendar, "odd host names": odd_names,
    "copies with canonical links": copies, "names at one address": names_at_an_address,
    "seeds that move at each visit": moving_seeds,
}  # fmt: skip
"""By name."""
