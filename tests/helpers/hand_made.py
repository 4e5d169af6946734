"""Crawl directories made by hand: real partitions, taught by exchanges that no network made."""

import asyncio
import gzip
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evercrawl.config import Config, Focus, save
from evercrawl.crawl.learn.cash import Cashier
from evercrawl.crawl.learn.changes import Changes
from evercrawl.crawl.learn.learning import learner_of
from evercrawl.crawl.visit.recall import recall
from evercrawl.importance.push import Push
from evercrawl.model.columns import Columns
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.lessons import Lessons
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.model.rules.budgets import Budgets
from evercrawl.model.rules.scope import Scope
from evercrawl.model.stored import reading
from evercrawl.model.stored.reader import opened
from evercrawl.model.stored.remembered import VisitListener
from evercrawl.model.view import View
from evercrawl.model.web.known_graph import KnownGraph
from evercrawl.parse.sites import found_site
from evercrawl.schedule import Policy
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.store.partition import Partition
from evercrawl.store.post.ownership import Share
from evercrawl.store.scheme import Scheme
from evercrawl.types import Exchange, Request
from tests.helpers.readings import read

BEGAN_AT = 1_700_000_000.0
HTML = "text/html; charset=utf-8"
SITE = "http://example.org"


class HandMade:
    """A crawl of which each visit is written out; `save` commits, `stop` also ends it as a crawl ends itself.

    Attributes
    ----------
    scope, frontier, columns, changes
        Which links are followed, where pages wait, what policies see of them, and what was learned of change.
    learner
        What takes in the visits; made anew by `limited`, `know` and `teach`.
    lessons
        What tells a policy of the visits; None before `teach`.
    """

    def __init__(
        self,
        directory: Path,
        *,
        segment_bytes: int = 1 << 30,
        focus: tuple[Focus, ...] = (),
        scheme: Scheme | None = None,
        share: Share | None = None,
    ) -> None:
        self.directory, self.config = directory, Config()
        self.now = BEGAN_AT
        directory.mkdir(exist_ok=True)
        self.partition = Partition(
            directory,
            os.urandom,
            now=self.now,
            segment_bytes=segment_bytes,
            site=found_site,
            scheme=scheme,
            secret=bytes([3] * 16),
            share=share,
        )
        save(self.config, directory)
        self.state = self.partition.state
        notices, judge = AnnouncedDates(self.state.accounts), Push() if scheme is None else scheme_of(scheme)
        self.changes = Changes(self.state, notices)
        self.columns = Columns(self.state, judge, self.changes.priors, notices, in_bytes=True)
        self.frontier = Frontier(BreadthFirst(), self.columns, self.state.visited_at)
        for name in self.state.hosts:
            self.frontier.add_host(name)
        self._cashier, self._focus = Cashier(self.state, judge), focus
        self.lessons: Lessons | None = None
        self._known: KnownGraph | None = None
        self._budgets: Budgets | None = None
        self.heard: VisitListener | None = None
        self.scope = Scope(self.config, lambda _: 0)
        self.restart()

    def restart(self) -> None:
        """Have visits taken in from now on by a learner that knows what is stored, as after a restart."""
        self.learner = learner_of(
            self.partition, self.frontier, self.scope, self._cashier, self.changes, budgets=self._budgets,
            known=self._known, lessons=self.lessons, focus=self._focus, heard=self.heard, max_redirects=10,
            refresh_after_s=3600.0,
        )  # fmt: skip

    def seed(self, *urls: str) -> None:
        self.learner.seed(urls, self.now)

    def visit(self, url: str, body: bytes = b"", status: int = 200, *, squeeze: bool = False, **more: object) -> None:
        """Take in one answer; `squeeze` sends it gzipped and in chunks.

        `more` are headers; `error`, `tls_ok` and `truncated` of the exchange; `said`, how likely the copy was fresh.
        """
        self.now += 10.0
        error, tls_ok, truncated, said = (
            more.pop(name, none)
            for name, none in (("error", ""), ("tls_ok", None), ("truncated", False), ("said", math.nan))
        )
        fields = {"content-type": HTML} | {name.replace("_", "-"): str(value) for name, value in more.items()}
        wire = body
        if squeeze:
            packed = gzip.compress(body, mtime=0)
            wire = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
            fields |= {"content-encoding": "gzip", "transfer-encoding": "chunked"}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        exchange = Exchange(
            Request(url), self.now, 0.25, status, b"GET / HTTP/1.1\r\n\r\n" if status else b"",
            f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() if status else b"", wire, body, fields if status else {},
            "192.0.2.1", str(error), "it was made so" if error else "", bool(truncated), tls_ok,  # type: ignore[arg-type]
        )  # fmt: skip
        self._learn(url, lambda host, slot, before: self._read(exchange, host, slot, before, said))

    def _read(self, exchange: Exchange, host: Host, slot: int, before: reading.Before, said: float) -> reading.Reading:
        return read(exchange, host, slot, before, text=True, said=said, hasher=self.partition.hasher)

    def refuse(self, url: str, why: str) -> None:
        """Do not ask, and remember why."""
        self.now += 10.0
        exchange = Exchange(Request(url), self.now)
        self._learn(url, lambda host, slot, before: reading.Reading(
            exchange, host, slot, before, refusal=why
        ))  # fmt: skip

    def save(self) -> None:
        """Acknowledge everything so far."""
        self.partition.flush()
        self.partition.archive.sync()
        self.partition.journal.write(self.partition.journal.seal())

    def snapshot(self) -> None:
        async def commit() -> None:
            self.save()

        async def offload(function: Callable[..., object], *arguments: object) -> object:
            return function(*arguments)

        asyncio.run(self.partition.snapshot(commit, offload))

    def limited(self, **settings: object) -> Budgets:
        """Have other settings from now on."""
        config = Config(**settings)  # type: ignore[arg-type]
        self._budgets, self.scope = Budgets(self.state, config), Scope(config, lambda _: 0)
        known = self.state.known.rows()
        for number in set(known["host"][known["depth"] == 0].tolist()):
            self.scope.add_root(self.state.hosts[number])
        self.restart()
        return self._budgets

    def know(self, graph: KnownGraph) -> KnownGraph:
        """Tell this of all links and pages from now on."""
        self._known = graph
        self.restart()
        return graph

    def teach(self, policy: Policy, **more: float) -> Lessons:
        """Tell a policy of all visits from now on; `more` is passed to its lessons."""
        self.lessons = Lessons(policy, self.partition, **more)
        self.restart()
        return self.lessons

    def stop(self) -> None:
        self.snapshot()
        self.partition.index_archive()
        self.partition.close()

    def _learn(self, url: str, read: Callable[..., reading.Reading]) -> None:
        slot = self.state.find_one(url)
        host = self.frontier.hosts[int(self.state.known.row(slot)["host"])]
        self.learner.learn([read(host, slot, recall(self.partition, slot))])

    @staticmethod
    def page(title: str, *links: str, text: str = "") -> bytes:
        anchors = " ".join(f'<a href="{link}">to {link}</a>' for link in links)
        return f"<html lang=en><title>{title}</title><p>{text or title}</p>{anchors}</html>".encode()

    def fill(self) -> None:
        """Make one page of each kind."""
        self.seed(f"{SITE}/")
        page, visit = self.page, self.visit
        links = ("/a", "/copy", "/moved", "/away", "/gone", "/broken", "/private", "/cut", "/later", "/picture")
        visit(f"{SITE}/", page("Home", *links, "http://other.example/"), squeeze=True)
        visit(f"{SITE}/a", page("A", "/", "/a", text="one two"), squeeze=True, etag='"1"')
        visit(f"{SITE}/copy", page("A", "/", "/a", text="one two"))
        visit(f"{SITE}/moved", b"moved", 301, location="/a")
        visit(f"{SITE}/away", b"away", 302, location="http://elsewhere.example/")
        visit(f"{SITE}/gone", b"no", 404)
        visit(f"{SITE}/broken", b"", 0, error="timeout")
        self.refuse(f"{SITE}/private", "robots: robots.txt disallows it")
        visit(f"{SITE}/cut", page("Cut"), truncated=True)
        visit(f"{SITE}/picture", b"\x89PNG", content_type="image/png")
        visit(f"{SITE}/a", b"", 304, etag='"1"')
        visit(f"{SITE}/", page("Home again", *links), squeeze=True)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[HandMade]:
    """A crawl in an empty directory, not yet stopped."""
    crawl = HandMade(tmp_path / "crawl")
    yield crawl
    crawl.partition.close()


@pytest.fixture
def begun(made: HandMade) -> HandMade:
    """A crawl that knows the front page of a site."""
    made.seed(f"{SITE}/")
    return made


@pytest.fixture
def filled(made: HandMade) -> HandMade:
    """A crawl that has one page of each kind and was ended in order."""
    made.fill()
    made.stop()
    return made


@pytest.fixture
def ten(made: HandMade) -> HandMade:
    """Ten pages, half of them read, that matter differently."""
    made.seed(f"{SITE}/")
    names = [f"/{i}" for i in range(9)]
    made.visit(f"{SITE}/", made.page("Home", *names))
    for i in range(4):
        made.visit(f"{SITE}/{i}", made.page(f"Page {i}", *names[i + 1 :]))
    return made


@pytest.fixture
def asked(made: HandMade) -> Iterator[Callable[..., View]]:
    """Return what ends the crawl that was made by hand, and opens it for questions some time after."""
    crawls = []

    def ask(after_s: float = 0.0) -> View:
        made.stop()
        crawls.append(opened(made.directory))
        return View(crawls[-1], Config(), made.now + after_s)

    yield ask
    for one in crawls:
        one.close()
