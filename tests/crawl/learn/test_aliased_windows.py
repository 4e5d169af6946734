"""The window of a page that turns out to lead to another goes to that other, by the real learner."""

import asyncio
from typing import Any

import numpy as np
import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.catalog import find
from evercrawl.config import Config
from evercrawl.crawl.switching import switch
from evercrawl.importance import windows
from evercrawl.model.policy.schemes import stored
from evercrawl.model.view import View
from evercrawl.store.journal.events import Passed
from evercrawl.store.scheme import Scheme

SITE, OTHER = "http://example.org", "http://other.example"
MOVED, TARGET = f"{SITE}/a", f"{SITE}/b"


@pytest.fixture
def begun(made, tmp_path):
    """Return what begins a crawl of a scheme, in which the page that will move is one that matters."""
    crawls = []

    def begin(scheme: Scheme, *, read: tuple[str, ...] = (MOVED, TARGET)) -> Any:
        crawl = type(made)(tmp_path / f"crawl{len(crawls)}", scheme=scheme)
        crawls.append(crawl)
        crawl.seed(f"{SITE}/", f"{OTHER}/", MOVED, TARGET)
        for _ in range(12):
            crawl.visit(f"{SITE}/", crawl.page("Home", MOVED))
            crawl.visit(f"{OTHER}/", crawl.page("Other", MOVED))
            for url in read:
                crawl.visit(url, crawl.page(url, f"{SITE}/", f"{OTHER}/"))
        return crawl

    yield begin
    for crawl in crawls:
        crawl.partition.close()


def weights(crawl) -> dict[str, float]:
    """Return the importance of each page; what a question would be told."""
    found = View(crawl.partition, Config(), crawl.now).importance
    return dict(zip(crawl.state.urls.get_many(range(crawl.state.known.count)), found.tolist(), strict=True))


def history(crawl, url: str) -> float:
    slot = crawl.state.urls.get_many(range(crawl.state.known.count)).index(url)
    return float(crawl.state.records.rows["importance"][crawl.state.record_of(slot)])


def moves(crawl) -> None:
    crawl.visit(MOVED, b"", 301, location="/b")


@pytest.mark.parametrize("name", find(windows, windows.Window))
def test_the_target_weighs_at_once_what_both_did(begun, name):
    crawl = begun(stored("aopic", 0.1, name))
    before = weights(crawl)
    assert before[MOVED] > 2 * before[TARGET] > 0
    moves(crawl)
    after = weights(crawl)
    assert after[TARGET] == pytest.approx(before[MOVED] + before[TARGET], rel=0.15)
    assert history(crawl, MOVED) == 0  # not counted twice
    crawl.state.cashbook.audit()
    crawl.stop()
    assert verify(crawl.directory).wrong == []  # the journal folds to the windows that the snapshot has


def test_a_window_waits_until_its_new_page_is_read_and_goes_to_it_once(begun):
    crawl = begun(stored("aopic", 0.1), read=(MOVED,))
    before = weights(crawl)
    moves(crawl)
    waiting = history(crawl, MOVED)
    assert waiting > 0
    crawl.visit(f"{SITE}/", crawl.page("Home", MOVED))
    moves(crawl)
    assert 0 < history(crawl, MOVED) < waiting  # it ages, and what is passed on does not count
    crawl.visit(TARGET, crawl.page("B", f"{SITE}/", f"{OTHER}/"))
    alone = weights(crawl)[TARGET]
    crawl.visit(f"{SITE}/", crawl.page("Home", MOVED))
    moves(crawl)
    joined = weights(crawl)[TARGET]
    assert history(crawl, MOVED) == 0
    assert joined > alone
    assert joined > 0.7 * before[MOVED]
    held = history(crawl, TARGET)
    crawl.visit(f"{SITE}/", crawl.page("Home", MOVED))
    moves(crawl)
    assert history(crawl, TARGET) == held


def test_a_page_that_leads_on_no_more_begins_anew(begun):
    crawl = begun(stored("aopic", 0.1, "exponential"))
    before = weights(crawl)
    moves(crawl)
    for _ in range(3):
        crawl.visit(MOVED, crawl.page("Back", f"{SITE}/"))
        crawl.visit(f"{SITE}/", crawl.page("Home", MOVED))
        crawl.visit(f"{OTHER}/", crawl.page("Other", MOVED))
    crawl.visit(MOVED, crawl.page("Back", f"{SITE}/"))
    assert weights(crawl)[MOVED] > before[MOVED] / 3
    crawl.stop()
    assert verify(crawl.directory).wrong == []


@pytest.mark.parametrize("read_first", [True, False])
def test_a_switch_of_schemes_judges_windows_so_too(begun, read_first):
    """The past of a crawl that learned by push, judged by a window, is what one has that was begun with it."""
    found = []
    for scheme in (stored("push", 0.1), stored("aopic", 0.1)):
        crawl = begun(scheme, read=(MOVED, TARGET) if read_first else (MOVED,))
        moves(crawl)
        crawl.visit(TARGET, crawl.page("B", f"{SITE}/", f"{OTHER}/"))
        moves(crawl)
        if scheme.name == "push":
            asyncio.run(_switch(crawl, stored("aopic", 0.1)))
            assert any(isinstance(one, Passed) and one.joined for _, _, one in crawl.partition.journal.replay())
        assert history(crawl, MOVED) == 0
        found.append(weights(crawl))
    assert sorted(found[0]) == sorted(found[1])
    assert np.abs([found[0][url] - found[1][url] for url in found[0]]).sum() < 0.15


async def _switch(crawl, goal) -> None:
    class Clock:
        def now(self) -> float:
            return crawl.now

    async def offload(function: Any, *arguments: Any) -> Any:
        return function(*arguments)

    crawl.save()
    await switch(crawl.partition, goal, Clock(), offload)
