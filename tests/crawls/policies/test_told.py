"""What a policy is told in whole crawls: each visit once, in the journal's order, and before it is asked to choose."""

import contextlib
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import pytest

from evercrawl.crawl.visit.parsers import Inline
from evercrawl.model.policy import lessons
from evercrawl.model.policy.lessons import Lessons
from evercrawl.parse.sites import found_site
from evercrawl.progress import Limits
from evercrawl.schedule import Pages, Policy, Price, Visits
from evercrawl.schedule.abilities import Learns, Plans
from evercrawl.schedule.base import Context
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import Lost, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Floats, Outcome

Headers: TypeAlias = dict[str, str]

A, B = "http://a.example", "http://b.example"
SEEDS = [f"{A}/", f"{B}/"]
NAMES = {"a.example": ["8.8.4.1"], "b.example": ["8.8.4.2"]}
KINDS = ("same", "dated", "other", "copy", "moved", "hop", "gone", "long", "canon", "down", "busy", "private/x")
SETTINGS = {
    "names": NAMES, "delay_s": 10.0, "refresh_after_s": 60.0, "snapshot_every_s": 150.0, "sitemaps": False,
    "body_max_bytes": 4096,
}  # fmt: skip
TEXT = " ".join(f"word{number}" for number in range(300))


class Listener(Learns, Plans, Policy):
    """Visits what waited longest, and holds whoever tells it to his promises."""

    losing = False  # whether pages may have been lost that it was told of

    def __init__(self) -> None:
        self.rows: list[tuple] = []  # of all visits told
        self.count: dict[int, int] = {}  # by slot
        self.first = 0  # told before the first choice
        self.plans_at: list[float] = []

    def value(self, pages: Pages, context: Context) -> Floats:
        self.first = self.first or len(self.rows)
        never = np.isnan(pages.visited_at)
        for slot, new in zip(pages.slot.tolist(), never.tolist(), strict=True):
            assert self.losing or new == (slot not in self.count), f"page {slot} is new: {new}, told: {self.count}"
        return np.where(never, 1e12 - pages.slot, context.now - pages.visited_at)

    def learn(self, visits: Visits) -> None:
        assert len(set(visits.slot.tolist())) == len(visits)
        self.rows += zip(*(getattr(visits, each.name).tolist() for each in fields(Visits)), strict=True)
        for slot in visits.slot.tolist():
            self.count[slot] = self.count.get(slot, 0) + 1

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        assert not np.isnan(pages.visited_at).any()
        assert set(pages.slot.tolist()) <= set(self.count)
        self.plans_at.append(context.now)
        return context.now + 45.0

    def said(self) -> list[tuple[int, float]]:
        """Return page and instant of each visit told."""
        return [(row[0], row[2]) for row in self.rows]


def web(run):
    """Two sites on which there is a page of every kind."""
    world, asked = run.World(), {}

    def other(headers: Headers, at: float) -> Any:
        return run.html("/", f"/new{int(at) % 7}", text=f"this is another text at {at}")

    def same(headers: Headers, at: float) -> Any:
        if headers.get("if-none-match") == '"1"':
            return run.Answer(304, {"ETag": '"1"'}, b"")
        return run.html("/other", text=TEXT, ETag='"1"')

    def busy(headers: Headers, at: float) -> Any:
        asked["busy"] = asked.get("busy", 0) + 1
        return run.Answer(503, {"Content-Type": "text/plain"}, b"") if asked["busy"] % 3 else run.html(text="rested")

    for origin in (A, B):
        kinds = {
            "": run.html(*(f"/{kind}" for kind in KINDS), text=f"home of {origin}"),
            "same": same,
            "dated": run.html(text="dated", Last_Modified="Mon, 06 Nov 2023 10:00:00 GMT"),
            "other": other,
            "copy": run.html("/other", text=TEXT, ETag='"2"'),
            "moved": run.Answer(301, {"Location": "/other"}, b""),
            "hop": run.Answer(302, {"Location": "/same"}, b""),
            "gone": run.Answer(410, {}, b""),
            "long": run.html(text="long " * 2000),
            "canon": run.html(text="by another name", head='<link rel=canonical href="/other">'),
            "down": run.NoAnswerError("reset"),
            "busy": busy,
        }
        world.pages |= {f"{origin}/{kind}": answer for kind, answer in kinds.items()}
        world.pages[f"{origin}/robots.txt"] = run.robots_txt("User-agent: *\nDisallow: /private/")
    return world


def visits_of(events):
    return [(event.slot, event.at) for event in events if isinstance(event, Visit)]


def read_back(run) -> Listener:
    policy = Listener()
    with_journal = Partition(run.directory, lambda n: b"\0" * n, now=run.now, site=found_site, writable=False)
    try:
        Lessons(policy, with_journal)
    finally:
        with_journal.close()
    return policy


def alike(one: Listener, other: Listener) -> None:
    for row, again in zip(one.rows, other.rows, strict=False):
        np.testing.assert_array_equal(np.hstack(row).astype(float), np.hstack(again).astype(float))


def test_each_visit_is_told_once_whatever_came_of_it(run):
    policy = Listener()
    ran = run(web(run), SEEDS, Limits(seconds=1000), policy=policy, **SETTINGS)
    visits = visits_of(ran.events)
    assert policy.said() == visits[: len(policy.rows)]
    assert len(visits) - len(policy.rows) <= 2, "only what came in at the very end is told at the next start"
    outcomes = {event.outcome for event in ran.visits}
    assert outcomes == set(Outcome), f"the web shows pages of every kind, and not only of {outcomes}"
    assert 304 in {event.status for event in ran.visits}
    assert len(policy.plans_at) > 10
    assert np.diff(policy.plans_at).min() >= 45.0
    again = read_back(run)
    assert again.said() == visits
    alike(policy, again)


def test_intervals_join_and_changes_are_those_of_the_page(run):
    policy = Listener()
    run(web(run), SEEDS, Limits(seconds=600), policy=policy, **SETTINGS)
    told = {}
    for slot, _, at, interval_s, read, _, changed, *_ in policy.rows:
        told.setdefault(slot, []).append((at, interval_s, read, changed))
    for slot, rows in told.items():
        read_at = [at for at, _, read, _ in rows if read]
        intervals = [interval_s for _, interval_s, read, _ in rows if read]
        assert intervals[1:] == pytest.approx(np.diff(read_at))
        assert np.isnan(intervals[:1]).all()
        assert not any(changed for _, _, read, changed in rows if not read)
        changes = {changed for _, interval_s, read, changed in rows if read and interval_s > 0}
        assert len(changes) < 2, f"page {slot} changes always or never"
    assert {True, False} == {changed for rows in told.values() for _, _, _, changed in rows}


def test_a_run_that_goes_on_is_told_of_those_before_it_first(run):
    world, runs = web(run), []
    for _ in range(3):
        policy = Listener()
        ran = run(world, SEEDS, Limits(seconds=300), policy=policy, **SETTINGS)
        runs.append(visits_of(ran.events))
        assert policy.said() == runs[-1][: len(policy.rows)]
        assert policy.first >= len(runs[-2]) if len(runs) > 1 else True
        assert policy.plans_at, "it plans anew in each run"
    assert len(runs[0]) < len(runs[1]) < len(runs[2])


@pytest.mark.parametrize("dies_at", [40, 77, 120, 161])
def test_after_a_crash_it_is_told_of_what_the_journal_kept_and_of_nothing_twice(run, dies_at):
    world = web(run)
    died = Listener()
    with pytest.raises(run.Crash):
        run(world, SEEDS, Limits(seconds=5000), policy=died, disk=run.DyingDisk(run.directory, dies_at), **SETTINGS)
    run.now += 5000.0
    kept = read_back(run)
    policy = Listener()
    ran = run(world, SEEDS, Limits(seconds=300), policy=policy, **SETTINGS)
    visits = visits_of(ran.events)
    assert kept.said() == visits[: len(kept.rows)]
    assert died.said()[: len(kept.rows)] == kept.said()[: len(died.rows)]
    assert policy.first >= len(kept.rows)
    assert policy.said() == visits[: len(policy.rows)]
    alike(policy, read_back(run))


class Late(Inline):
    """Reads bodies only when a few have come in, as other processes may."""

    _turns = 0

    def done(self):
        return super().done() if self.pending > 3 or self._late() else []

    def _late(self) -> bool:
        self._turns += 1
        return self._turns % 5 == 0


def test_what_is_read_late_is_told_in_the_journals_order(run):
    policy = Listener()
    ran = run(
        web(run),
        SEEDS,
        Limits(seconds=600),
        policy=policy,
        parsers=lambda hasher: Late("evercrawl", hasher, text=False),
        **SETTINGS,
    )
    assert policy.said() == visits_of(ran.events)[: len(policy.rows)]
    assert len(policy.rows) > 40


def test_a_page_whose_content_was_lost_is_one_that_was_never_read(run):
    policy = Listener()
    ran = run(web(run), SEEDS, Limits(seconds=300), policy=policy, **SETTINGS)
    segments = sorted(run.directory.glob("**/*.warc.gz"))
    assert segments
    segments[-1].write_bytes(segments[-1].read_bytes()[:-2000])
    after = Listener()
    after.losing = True
    again = run(web(run), SEEDS, Limits(seconds=300), policy=after, **SETTINGS)
    lost = {event.slot for event in again.events if isinstance(event, Lost)}
    assert lost
    assert after.said() == visits_of(again.events)[: len(after.rows)]
    number = len(visits_of(ran.events))
    for slot in lost:
        later = [row for row in after.rows[number:] if row[0] == slot]
        for row in later[:1]:
            assert np.isnan(row[3])
            assert not row[6], "nobody knows what it was before"


def beliefs(policy: Price, now: float) -> np.ndarray:
    """Return P(fresh) of copies that are a minute old, by clocks and by rates made true; shape (pages,)."""
    one = np.ones(40)
    pages = Pages(np.arange(40, dtype=np.uint32), (now - 60) * one, one, one, one, 60 * one, one, one, 0 * one)
    return policy.fresh(pages, Context(now))


@pytest.mark.parametrize("dies_at", [250, 270, 300, 360])
def test_after_a_crash_a_policy_goes_on_with_what_the_last_snapshot_kept_of_its_lessons(run, dies_at, monkeypatch):
    world, read, whole = web(run), list[int](), lessons.events
    with pytest.raises(run.Crash):
        run(world, SEEDS, Limits(seconds=9000), policy=Price(), disk=run.DyingDisk(run.directory, dies_at), **SETTINGS)
    kept = stamped.names(RealDisk(run.directory), stamped.LESSONS)
    assert kept, "it died before the first snapshot"
    anew = Price()
    with contextlib.closing(run.restored()) as partition:
        for name in kept:
            (run.directory / name).rename(run.directory / f"{name}.aside")
        Lessons(anew, partition)
        journal, now = partition.journal.sequence, run.now
        for name in kept:
            (run.directory / f"{name}.aside").rename(run.directory / name)
    monkeypatch.setattr(lessons, "events", lambda *of: (read.append(1) or each for each in whole(*of)))
    policy, found = Price(), list[np.ndarray]()
    run(world, SEEDS, Limits(seconds=0), policy=policy, during=lambda _: found.append(beliefs(policy, now)), **SETTINGS)
    assert len(read) == journal - stamped.stamp(kept[0]) < journal
    np.testing.assert_allclose(found[0], beliefs(anew, now), rtol=1e-9)
    assert not np.allclose(found[0], beliefs(Price(), now)), "nothing was learned"
    ran = run(world, SEEDS, Limits(seconds=300), policy=Price(), **SETTINGS)
    assert not ran.repairs
    run.same()


def test_damaged_lessons_are_told_of_and_the_crawl_goes_on_without(run):
    world = web(run)
    run(world, SEEDS, Limits(seconds=300), policy=Price(), **SETTINGS)
    for name in stamped.names(RealDisk(run.directory), stamped.LESSONS):
        (run.directory / name).write_bytes(b"no lessons")
    ran = run(world, SEEDS, Limits(seconds=300), policy=Price(), **SETTINGS)
    said = [now.message for now in ran.progress if "lessons" in now.message]
    assert said
    assert all("is damaged" in message and "learned again from the journal" in message for message in said)
    last = run(world, SEEDS, Limits(seconds=30), policy=Price(), **SETTINGS)
    assert not any("lessons" in now.message for now in last.progress), "they were written anew"


class Batches(Learns, Policy):
    """Visits each page once, then those that were found first; once it hears of a batch, the page that it concerns."""

    def __init__(self, heard_at: float, concerned: int) -> None:
        self._heard_at, self._heard, self._concerned = heard_at, False, concerned

    def value(self, pages: Pages, context: Context) -> Floats:
        wanted = np.isnan(pages.visited_at) | self._heard & (pages.slot == self._concerned)
        return 1000.0 * wanted - pages.slot

    def learn(self, visits: Visits) -> None:
        pass

    def wants_rescan(self, context: Context) -> bool:
        news, self._heard = not self._heard and context.now >= self._heard_at, context.now >= self._heard_at
        return news


def test_all_pages_are_looked_at_again_when_the_policy_has_heard_of_a_batch(run):
    """A page far behind comes next. One page is looked at anew for each that is visited, so else it would take long."""
    world, heard_at = run.World(), run.now + 1800.0
    links = [f"/{number}" for number in range(60)]
    world.pages = {f"{A}/": run.html(*links)} | {A + link: run.html() for link in links}
    settings = SETTINGS | {"probe_share": 0.0}
    ran = run(world, [f"{A}/"], Limits(seconds=2000), policy=Batches(heard_at, concerned=50), **settings)
    first, *again = [asked.at for asked in ran.asked(f"{A}/49")]
    assert first < heard_at
    assert heard_at <= again[0] < heard_at + 2 * settings["delay_s"]
