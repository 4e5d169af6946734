# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Faults of our own code, raised in every step of a visit, each by a page of its own, end no crawl and no start."""

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

import evercrawl.crawl.visit.visiting as visiting
import evercrawl.model.stored.contents as contents
from evercrawl.ask.status import status
from evercrawl.ask.verify.verify import verify
from evercrawl.ask.why.why import why
from evercrawl.config import Config
from evercrawl.crawl.learn.admission import Admission
from evercrawl.crawl.learn.queueing import Queueing
from evercrawl.crawl.learn.visit_event import VisitEvents
from evercrawl.crawl.probes.soft404_book import Soft404Book
from evercrawl.crawl.sitemaps.sitemaps import Sitemaps
from evercrawl.crawl.visit.access import Access
from evercrawl.errors import ApplyError, NoRoomError
from evercrawl.model.rules.budgets import Budgets
from evercrawl.model.rules.robots import RobotsKeeper
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.model.web.near import NearDuplicates
from evercrawl.store.archive.archive import Archive
from evercrawl.store.cash.cashbook import Cashbook
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.partition import Partition
from evercrawl.store.quarantine import ENOUGH, ERROR_LOG, QUARANTINE_FILE, Quarantine, set_aside

JUDGING = [
    (Access, "judge"), (Sitemaps, "met"), (visiting, "understand"), (visiting, "fetched"), (visiting, "apply_backoff"),
    (Soft404Book, "why_no_page"), (contents, "contents"),
]  # fmt: skip
APPLYING = [
    (Archive, "append"), (Admission, "leads"), (VisitEvents, "of"), (Partition, "remember"), (Cashbook, "settle"),
    (NearDuplicates, "learned"), (Budgets, "learned"), (Queueing, "learned"),
]  # fmt: skip


def speaks_of(given, word: str) -> bool:
    """Whether an argument is the URL, the answer, the event or the like of the page whose path and title are a word."""
    if isinstance(given, str):
        return given.endswith(f"/{word}")
    if isinstance(given, Sequence) and not isinstance(given, bytes):
        return any(speaks_of(each, word) for each in given)
    if getattr(given, "title", "") == word or getattr(given, "error", "") == "internal":
        return getattr(given, "title", "") == word
    parts = (getattr(given, name, None) for name in ("exchange", "request", "url", "reading", "event"))
    return any(speaks_of(part, word) for part in parts if part is not None)


def break_on(monkeypatch, owner, name: str, word: str) -> None:
    """Have a function raise whenever it is given something of that page."""
    sound = getattr(owner, name)

    def broken(*arguments: Any, **named: Any):
        if any(speaks_of(each, word) for each in arguments):
            raise ZeroDivisionError(f"made by {word}")
        return sound(*arguments, **named)

    monkeypatch.setattr(owner, name, broken)


def site(hostile, words):
    good = [f"good{at}" for at in range(8)]
    far = hostile.Far({f"/{word}": hostile.page(title=word, text=f"{word} " * 5) for word in [*words, *good]})
    far.replies["/"] = hostile.page(*(f"/{word}" for word in [*good, *words]))
    return far, good


@pytest.mark.parametrize("steps", [JUDGING, APPLYING], ids=["judging", "applying"])
def test_a_fault_in_any_step_costs_the_page_that_causes_it_and_no_other(hostile, monkeypatch, steps):
    words = [f"bad-{name}-{at}" for at, (_, name) in enumerate(steps)]
    far, good = site(hostile, words)
    for (owner, name), word in zip(steps, words, strict=True):
        break_on(monkeypatch, owner, name, word)

    def all_aside(said: list[Any]) -> bool:
        return sum(progress.message.startswith("set aside") for progress in said) == len(words)

    settings = {"workers": "0", "refresh_after_s": 0.1, "policy": "cycle"}
    crawled = hostile.crawl(far, until_idle=False, seconds=60.0, until=all_aside, **settings)
    bad = {far.url(f"/{word}") for word in words}
    assert {crawled.outcomes[url] for url in bad} <= {"error", ""}
    aside = set_aside(RealDisk(hostile.directory, read_only=True))
    assert set(aside) == bad
    assert all("made by" in why for why in aside.values())
    said = [progress.message for progress in crawled.said if progress.message.startswith("set aside")]
    assert len(said) == len(bad)
    log = [json.loads(line) for line in (hostile.directory / ERROR_LOG).read_text().splitlines()]
    assert all("ZeroDivisionError: made by bad-" in entry["traceback"] for entry in log)
    assert not verify(hostile.directory).wrong

    shown = status(hostile.directory)
    assert set(shown.set_aside) == bad
    partition = opened(hostile.directory)
    reasons = why(View(partition, Config(), time.time()), min(bad)).reasons
    partition.close()
    assert any("set aside" in reason for reason in reasons)

    far.asked.clear()
    enough = 2 * len(good)
    again = hostile.crawl(far, until_idle=False, seconds=30.0, until=lambda said: said[-1].visits > enough, **settings)
    assert set(far.asked) & {f"/{word}" for word in good}
    assert not set(far.asked) & {f"/{word}" for word in words}
    assert {again.outcomes[far.url(f"/{word}")] for word in good} == {"ok"}


def test_a_fault_on_a_robots_txt_closes_its_site_and_no_other(hostile, monkeypatch):
    far, good = site(hostile, [])
    bad = hostile.Far({"/": hostile.page(), "/robots.txt": hostile.reply(b"User-agent: *\n")}, "127.0.9.2")
    sound = RobotsKeeper.learn

    def broken(keeper, exchange, now, age_s=0.0):
        if exchange.request.url.startswith("http://127.0.9.2") and exchange.error != "internal":
            raise ZeroDivisionError("made by a robots.txt")
        return sound(keeper, exchange, now, age_s)

    monkeypatch.setattr(RobotsKeeper, "learn", broken)
    crawled = hostile.crawl(bad, far, until_idle=False, seconds=1.5)
    assert {crawled.outcomes[far.url(f"/{word}")] for word in good} == {"ok"}
    assert crawled.outcomes[bad.url()] == ""


def test_a_crawl_that_fails_whatever_it_reads_ends_with_the_fault(hostile, monkeypatch):
    fars = [hostile.Far({"/": hostile.page()}, f"127.0.9.{10 + at}") for at in range(12)]
    monkeypatch.setattr(VisitEvents, "of", lambda *_: 1 / 0)
    monkeypatch.setattr("evercrawl.crawl.session.MOST_FRUITLESS", 10)
    with pytest.raises(ApplyError, match="division by zero"):
        hostile.crawl(*fars)
    assert not verify(hostile.directory).wrong


def test_without_a_disk_every_fault_is_raised():
    with pytest.raises(ZeroDivisionError):
        Quarantine().judging("http://a.example/", ZeroDivisionError(), 0.0)
    with pytest.raises(AssertionError, match="off by one"):
        Quarantine().unreadable("http://a.example/", "Traceback\nAssertionError: off by one", 0.0)


def test_what_people_or_disks_cause_is_nobodys_page(tmp_path):
    with pytest.raises(NoRoomError):
        Quarantine(RealDisk(tmp_path)).applying(["http://a.example/"], NoRoomError("full"), 0.0)
    assert not set_aside(RealDisk(tmp_path))


def test_whoever_failed_in_company_is_tried_alone_and_cleared(tmp_path):
    urls = [f"http://a.example/{at}" for at in range(5)]
    quarantine = Quarantine(RealDisk(tmp_path))
    quarantine.applying(urls[1:4], ZeroDivisionError(), 0.0)
    quarantine = Quarantine(RealDisk(tmp_path))  # it outlives the process
    assert quarantine.apart(urls) == [range(1), range(1, 2), range(2, 3), range(3, 4), range(4, 5)]
    quarantine.applied([urls[1]])
    quarantine.applied([urls[3]])
    quarantine.applying([urls[2]], ZeroDivisionError(), 0.0)
    assert [quarantine.holds(url) for url in urls] == [False, False, True, False, False]
    assert list(set_aside(RealDisk(tmp_path))) == [urls[2]]
    assert quarantine.apart(urls) == [range(2), range(2, 3), range(3, 5)]


def test_a_version_that_may_be_mended_and_a_damaged_list_begin_anew(tmp_path, monkeypatch):
    for _ in range(ENOUGH):
        Quarantine(RealDisk(tmp_path)).judging("http://a.example/", ZeroDivisionError(), 0.0)
    assert Quarantine(RealDisk(tmp_path)).holds("http://a.example/")
    monkeypatch.setattr("evercrawl.store.quarantine.__version__", "0.1.1")
    assert not Quarantine(RealDisk(tmp_path)).holds("http://a.example/")
    monkeypatch.undo()
    (tmp_path / QUARANTINE_FILE).write_text('{"version": ')
    assert not Quarantine(RealDisk(tmp_path)).holds("http://a.example/")


def test_list_and_log_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("evercrawl.store.quarantine.MOST_URLS", 3)
    monkeypatch.setattr("evercrawl.store.quarantine.MOST_LOG_BYTES", 4_000)
    quarantine = Quarantine(RealDisk(tmp_path))
    for at in range(20):
        for _ in range(ENOUGH):
            quarantine.judging(f"http://a.example/{at}", ZeroDivisionError("x" * 300), 0.0)
    assert [quarantine.holds(f"http://a.example/{at}") for at in (16, 17, 18, 19)] == [False, True, True, True]
    assert 0 < (tmp_path / ERROR_LOG).stat().st_size <= 4_000
