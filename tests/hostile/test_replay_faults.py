# ruff: noqa: ANN202  (the functions that are put in place of others say more without annotations)
"""Faults of our own code on events that are in the journal already: they are set aside, and the crawl opens."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evercrawl.ask.status import status
from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.errors import StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.store import folding
from evercrawl.store.cash.cashbook import Cashbook
from evercrawl.store.journal.events import Passed, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.quarantine import ERROR_LOG
from evercrawl.store.skipping import SKIPPED_FILE

STEPS = [(folding, "fold_record"), (folding, "count_dates"), (folding, "count_announcements"), (Cashbook, "settle")]


def begun(hostile):
    words = [f"page{at}" for at in range(6)]
    far = hostile.Far({f"/{word}": hostile.page("/under", title=word, text=f"{word} " * 5) for word in words})
    far.replies["/"] = hostile.page(*(f"/{word}" for word in words))
    hostile.crawl(far, workers="0")
    for path in hostile.directory.glob("snapshot-*"):
        path.unlink()  # so that a start folds the journal
    return far


def events_of(directory: Path, title: str) -> dict[int, str]:
    """Return the event of a page's visit, and those that need it: cash that the page passed on later, if it did."""
    crawl = opened(directory)
    try:
        found = dict[int, str]()
        slot = -1
        for _, number, event in crawl.journal.replay():
            if isinstance(event, Visit) and event.title == title:
                assert slot < 0
                slot, found[number] = event.slot, f"ZeroDivisionError: made by {title}"
            elif isinstance(event, Passed) and event.slot == slot:
                found[number] = f"KeyError: {slot}"
        return found
    finally:
        crawl.close()


def break_on(monkeypatch, owner, name: str, title: str) -> None:
    sound = getattr(owner, name)

    def broken(*arguments: Any, **named: Any):
        if any(isinstance(each, Visit) and each.title == title for each in arguments):
            raise ZeroDivisionError(f"made by {title}")
        return sound(*arguments, **named)

    monkeypatch.setattr(owner, name, broken)


@pytest.mark.parametrize(("owner", "name"), STEPS, ids=[name for _, name in STEPS])
@pytest.mark.parametrize("title", ["page0", "page3"])  # the first made another URL known
def test_an_event_that_raises_in_any_step_of_a_replay_is_set_aside_and_the_crawl_opens(
    hostile, monkeypatch, owner, name, title, capsys
):
    far = begun(hostile)
    failing = events_of(hostile.directory, title)
    number = min(failing)
    known = status(hostile.directory).known
    break_on(monkeypatch, owner, name, title)
    far.replies[f"/{title}"] = hostile.page(title="mended", text="other words " * 5)
    far.asked.clear()
    ran = hostile.crawl(far, workers="0", until_idle=False, seconds=3.0, until=lambda said: f"/{title}" in far.asked)
    said = [progress.message for progress in ran.said if "is set aside" in progress.message]
    assert said == [
        f"event {event} of the journal is set aside: evercrawl fails on it ({why}); see {ERROR_LOG}"
        for event, why in failing.items()
    ]
    assert f"/{title}" in far.asked  # the page counts as unread, and is read again
    shown = status(hostile.directory)
    assert shown.skipped_events == failing
    assert shown.known == known
    assert main(["status", "--dir", str(hostile.directory)]) == 0
    assert f"event {number} of the journal, as evercrawl failed on it" in capsys.readouterr().out
    log = [json.loads(line) for line in (hostile.directory / ERROR_LOG).read_text().splitlines()]
    assert [(entry["step"], entry["event"]) for entry in log] == [("replaying", event) for event in failing]
    assert f"made by {title}" in log[0]["traceback"]
    monkeypatch.undo()
    found = verify(hostile.directory)
    assert not found.wrong
    assert any(f"event {number} of the journal is set aside" in sentence for sentence in found.mends)


def test_it_stays_set_aside_and_the_list_may_be_lost(hostile, monkeypatch):
    far = begun(hostile)
    failing = list(events_of(hostile.directory, "page3"))
    break_on(monkeypatch, Cashbook, "settle", "page3")
    for _ in range(2):
        hostile.crawl(far, workers="0", until_idle=False, seconds=0.0)
        assert list(status(hostile.directory).skipped_events) == failing
    (hostile.directory / SKIPPED_FILE).unlink()
    for path in hostile.directory.glob("snapshot-*"):
        path.unlink()
    assert list(status(hostile.directory).skipped_events) == failing  # a reader finds it too, and writes nothing
    assert not (hostile.directory / SKIPPED_FILE).exists()
    hostile.crawl(far, workers="0", until_idle=False, seconds=0.0)
    assert (hostile.directory / SKIPPED_FILE).exists()


def test_where_every_event_fails_the_crawl_says_so(hostile, monkeypatch):
    far = begun(hostile)
    monkeypatch.setattr(folding, "fold_record", lambda *_: 1 / 0)
    monkeypatch.setattr("evercrawl.store.skipping.MOST_SKIPPED", 3)
    with pytest.raises(StoreError, match="evercrawl fails on event"):
        hostile.crawl(far, workers="0", seconds=0.0)


def test_in_simulated_worlds_nothing_is_forgiven(hostile, monkeypatch):
    begun(hostile)
    break_on(monkeypatch, Cashbook, "settle", "page3")
    with pytest.raises(ZeroDivisionError):
        Partition(hostile.directory, os.urandom, now=0.0, writable=False)
