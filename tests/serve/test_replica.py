"""The crawl in the server's memory: asked by many at once while it goes on, and what it was before a crash."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from hand_made import HandMade

from evercrawl.ask.rank.top import top_pages
from evercrawl.ask.why.why import why
from evercrawl.model.stored.follow import HELD, Follower
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View, settings
from evercrawl.serve.replica import CrawlReplica

NOW = 2_000_000_000.0


def grown(made: HandMade, draw: random.Random, number: int) -> None:
    """Have a page found that leads to new pages, new hosts and new sites."""
    links = [f"https://{name}{number}.example/{draw.randrange(9)}" for name in "abcd"]
    made.visit(
        f"https://a.example/{number}", made.page(f"page {number}", *links, f"/{number + 1}", text="all about tea")
    )


def test_a_view_answers_for_pages_hosts_and_sites_that_are_found_after_it(tmp_path):
    made, draw = HandMade(tmp_path / "crawl"), random.Random(1)
    made.seed("https://a.example/0")
    grown(made, draw, 0)
    made.save()
    follower = Follower(made.directory)
    view = View(follower.partition, settings(made.directory)[0], NOW)
    before = view.importance.copy()
    for number in range(1, 30):
        grown(made, draw, number)
    made.save()
    while follower.turn():
        pass
    assert len(view.importance) == follower.partition.state.known.count > len(before)
    assert view.importance[: len(before)].tolist() == before.tolist()
    assert min(view.importance) >= 0.0
    newest = follower.partition.state.urls.get(len(view.importance) - 1)
    assert why(view, newest).state == "waiting"
    assert len(top_pages(view, 500)) == len(view.importance)
    follower.close()
    made.stop()


def test_many_ask_at_once_while_the_crawl_goes_on(tmp_path):
    made, draw = HandMade(tmp_path / "crawl"), random.Random(2)
    made.seed("https://a.example/0")
    grown(made, draw, 0)
    made.save()
    replica, stop = CrawlReplica(made.directory), threading.Event()
    replica.start()
    questions = [
        lambda view: [each.url for each in top_pages(view, 50)],
        lambda view: view.importance.sum(),
        lambda view: view.partition.journal.read(int(view.state.records.rows[0]["event"])),
    ]

    def ask(number: int) -> int:
        asked = 0
        while not stop.is_set():
            with replica.reading() as view:
                questions[number % len(questions)](view)
            replica.once("urls", lambda view: view.state.urls.get(0))
            with replica.derived() as (view, derived):
                why(view, "https://a.example/0", derived=derived)
            asked += 1
        return asked

    with ThreadPoolExecutor(6) as pool:
        asking = [pool.submit(ask, number) for number in range(6)]
        for number in range(1, 40):
            grown(made, draw, number)
            made.save()
        stop.set()
        assert min(each.result(30) for each in asking) > 0
    replica.close()
    made.stop()


def test_urls_that_a_snapshot_holds_are_let_go(tmp_path):
    made = HandMade(tmp_path / "crawl")
    made.seed("https://a.example/")
    made.save()
    follower = Follower(made.directory)
    made.seed(*(f"https://a.example/{i}" for i in range(2 * HELD)))
    made.save()
    while follower.turn():
        pass
    known = follower.partition.state.known
    assert known.waiting > HELD
    made.snapshot()
    made.seed("https://b.example/", *(f"https://b.example/{i}" for i in range(HELD)))
    made.save()
    while follower.turn():
        pass
    follower.turn()
    assert known.waiting <= HELD + 1, "those behind the snapshot"
    anew = opened(made.directory)
    count = known.count
    assert anew.state.known.count == count
    assert np.array_equal(known.rows(), anew.state.known.rows())
    urls: Any = (follower.partition.state.urls, anew.state.urls)
    assert [urls[0].get(slot) for slot in range(0, count, 97)] == [urls[1].get(slot) for slot in range(0, count, 97)]
    anew.close()
    follower.close()
    made.stop()
