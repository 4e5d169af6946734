"""However many exchanges end, or may begin, at the same instant: other tasks have their turn between parts of them."""

import asyncio

from evercrawl.crawl.learn.admission import Admission
from evercrawl.crawl.learn.indexing import TOGETHER, WORDS_TOGETHER
from evercrawl.crawl.loop import STARTS
from evercrawl.crawl.pace import StepTime
from evercrawl.crawl.receiving import BATCH
from evercrawl.crawl.visit.parsers import Inline
from evercrawl.crawl.visit.visiting import LINKS
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits
from evercrawl.search.index import Index

SEED = "http://seed.example"
HOSTS = [f"http://h{i}.d{i}.test" for i in range(400)]


class MostInATurn:
    """Counts something, and how much of it there was between two turns of other tasks."""

    def __init__(self) -> None:
        self.total = self.most = self._now = 0

    def note(self) -> None:
        if not self._now:
            asyncio.get_running_loop().call_soon(self._end)
        self._now, self.total = self._now + 1, self.total + 1
        self.most = max(self.most, self._now)

    def _end(self) -> None:
        self._now = 0


def test_between_parts_of_a_turn_other_tasks_have_theirs(run):
    world, taken, begun = run.World(), MostInATurn(), MostInATurn()
    world.pages[f"{SEED}/"] = world.html(*(f"{home}/" for home in HOSTS))
    for home in HOSTS:
        world.pages[f"{home}/"] = world.html(f"{home}/1", text=home)
        world.pages[f"{home}/1"] = world.html(text=f"{home} 1")

    class Reads(Inline):
        def submit(self, fetched):  # noqa: ANN202
            taken.note()
            super().submit(fetched)

    def latency_s(_):  # noqa: ANN202
        begun.note()
        return 0.5

    names = {hostname(f"{home}/"): [f"8.9.{i // 200}.{i % 200}"] for i, home in enumerate([SEED, *HOSTS])}
    ran = run(
        world, [f"{SEED}/"], Limits(seconds=60), names=names, scope="any", connections=1000, latency_s=latency_s,
        delay_s=2.0, sitemaps=False, parsers=lambda hasher: Reads("evercrawl", hasher, text=False),
    )  # fmt: skip
    assert len(ran.pages) > 2 * len(HOSTS)
    assert taken.total >= len(ran.visits)
    assert BATCH // 2 < taken.most <= BATCH
    assert STARTS // 2 < begun.most <= 2 * STARTS  # of visits, and of robots.txt meanwhile


def test_pages_of_many_links_are_learned_from_a_few_at_a_time(run, monkeypatch):
    """With 200 links a page, most to hosts that nobody knew, sixteen pages took 90 ms."""
    world, learned, links = run.World(), MostInATurn(), 200
    homes = [f"http://8.{i}.8.1" for i in range(60)]
    for home in homes:
        world.pages[f"{home}/"] = world.html(*(f"{home}/{i}" for i in range(links)), text=home)
    admit = Admission.admit

    def noted(self, urls, *rest, **more):  # noqa: ANN002, ANN003, ANN202
        for _ in urls:
            learned.note()
        return admit(self, urls, *rest, **more)

    monkeypatch.setattr(Admission, "admit", noted)
    run(
        world, [f"{home}/" for home in homes], Limits(pages=60), connections=100, delay_s=5.0, latency_s=lambda _: 0.5,
        sitemaps=False,
    )  # fmt: skip
    assert learned.total >= 60 * links
    assert LINKS // 2 < learned.most < LINKS + links


def test_what_has_ended_does_not_wait_for_all_that_could_begin(run):
    """Where answers came so fast that there was room for more visits, none was read before all hosts were asked."""
    world, waits, most = run.World(), [0], [0]
    hosts = [f"http://8.{i // 200}.{i % 200}.1" for i in range(2600)]
    world.pages[f"{SEED}/"] = world.html(*(f"{home}/" for home in hosts))
    for home in hosts:
        world.pages[f"{home}/"] = world.html(text=home)

    class Reads(Inline):
        def submit(self, fetched):  # noqa: ANN202
            waits[0] -= 1
            super().submit(fetched)

    def latency_s(request):  # noqa: ANN202
        if not request.url.endswith("/robots.txt"):
            waits[0] += 1
            most[0] = max(most[0], waits[0])
        return 0.0

    ran = run(
        world, [f"{SEED}/"], Limits(seconds=30), names={hostname(SEED): ["8.9.0.1"]}, scope="any", connections=400,
        latency_s=latency_s, delay_s=2.0, sitemaps=False, parsers=lambda hasher: Reads("evercrawl", hasher, text=False),
    )  # fmt: skip
    assert len(ran.pages) > len(hosts)
    assert most[0] <= 400 + 64 * STARTS


def test_where_a_step_lasts_long_other_tasks_have_their_turn_after_each_body(run, monkeypatch):
    monkeypatch.setattr(StepTime, "long", property(lambda _: True))
    world, taken = run.World(), MostInATurn()
    hosts = [f"http://8.{i}.8.1" for i in range(BATCH)]
    for home in hosts:
        world.pages[f"{home}/"] = world.html(text=home)

    class Reads(Inline):
        def submit(self, fetched):  # noqa: ANN202
            taken.note()
            super().submit(fetched)

    run(
        world, [f"{home}/" for home in hosts], Limits(seconds=5), connections=100, latency_s=lambda _: 0.5,
        sitemaps=False, parsers=lambda hasher: Reads("evercrawl", hasher, text=False),
    )  # fmt: skip
    assert taken.total == BATCH
    assert taken.most == 1


def test_what_waits_for_the_index_is_written_a_few_pages_at_a_time(run, monkeypatch):
    """Before a commit all of it was written at once, in 110 ms."""
    world, written, words = run.World(), MostInATurn(), MostInATurn()
    hosts = [f"http://8.{i // 200}.{i % 200}.1" for i in range(5 * TOGETHER)]
    for home in hosts:
        body = " ".join(f'<a href="/{i}">the {i}th page</a>' for i in range(20))
        world.pages[f"{home}/"] = run.Answer(200, {"Content-Type": "text/html"}, f"<p>{home} {body}".encode())
    put, add_anchors = Index.put, Index.add_anchors

    def noted(self, pages):  # noqa: ANN202
        for _ in pages:
            written.note()
        put(self, pages)

    def noted_words(self, pairs):  # noqa: ANN202
        for _ in pairs:
            words.note()
        add_anchors(self, pairs)

    monkeypatch.setattr(Index, "put", noted)
    monkeypatch.setattr(Index, "add_anchors", noted_words)
    run(
        world, [f"{home}/" for home in hosts], Limits(pages=len(hosts)), connections=2 * len(hosts),
        latency_s=lambda _: 0.5, sitemaps=False, search=Index(None),
    )  # fmt: skip
    assert written.total == len(hosts)
    assert words.total == 20 * len(hosts) > WORDS_TOGETHER
    assert written.most <= 2 * TOGETHER
    assert words.most <= WORDS_TOGETHER
