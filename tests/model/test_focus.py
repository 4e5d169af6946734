"""Focus and discovery: which pages are wanted more, by how much, and that rankings hear nothing of it."""

from typing import Any

import numpy as np
import pytest
from topics import TopicWeb

from evercrawl.ask.why.why import why
from evercrawl.config import Config, Focus
from evercrawl.model import focus as focus_module
from evercrawl.model.focus import Focusing, discovery_weight
from evercrawl.model.link_words import BESIDE_BYTES, LinkWords, marks_of, near
from evercrawl.model.stored.contents import Content
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.greedy import Greedy
from evercrawl.simulate.living import comparison
from evercrawl.simulate.living.beliefs import Beliefs, beliefs, rank_correlation
from evercrawl.simulate.living.lives import explore, relive
from evercrawl.simulate.living.truth import Node, importance
from evercrawl.simulate.living.web import LivingWeb

SITE = "http://example.org"


def slots(made):
    return np.arange(made.state.known.count, dtype=np.uint32)


def entries(made, *focus: Focus):
    """Return by path which entry means each page."""
    found = Focusing(made.state, focus, made.partition.journal.read).entries(slots(made))
    urls = made.state.urls.get_many(range(len(found)))
    return {url.removeprefix(SITE): place for url, place in zip(urls, found.tolist(), strict=True) if place >= 0}


def view(made, **settings: Any):
    return View(made.partition, Config(**settings), made.now)


# Which pages


def test_an_entry_means_the_urls_it_is_found_in_also_of_pages_found_later(made):
    made.fill()
    focusing = Focusing(made.state, [Focus(url="/(a|later)$")], made.partition.journal.read)
    assert focusing.weights(slots(made)).sum() == made.state.known.count + 2 * 3
    made.visit(f"{SITE}/later", made.page("Later", "/x/a", "/b"))
    weights = focusing.weights(slots(made))
    assert weights[-2:].tolist() == [4.0, 1.0]


def test_urls_are_matched_when_they_are_asked_about_and_once(made, monkeypatch):
    made.fill()
    focusing = Focusing(made.state, [Focus(url="/(a|later)$")], made.partition.journal.read)
    matched, whole = list[int](), made.state.urls.get_many
    monkeypatch.setattr(made.state.urls, "get_many", lambda some: matched.extend(some) or whole(some))
    few = slots(made)[[3, 1, 3]]
    first = focusing.weights(few).tolist()
    assert focusing.weights(few).tolist() == first
    assert sorted(matched) == [1, 3], "a crawl that starts does not match all URLs that it knows"
    assert focusing.weights(slots(made))[[3, 1, 3]].tolist() == first


def test_the_first_entry_that_means_a_page_counts_and_all_it_names_must_be_so(made):
    made.fill()
    two = Focus(url="/a$", content_type="text/*"), Focus(url="/(a|later)$")
    assert entries(made, *two) == {"/a": 0, "/later": 1}
    assert entries(made, *two[::-1]) == {"/a": 0, "/later": 0}
    assert entries(made, Focus(url="/a$", content_type="image/*")) == {}


def test_a_content_type_means_pages_that_were_read(made):
    made.fill()
    assert entries(made, Focus(content_type="image/png")) == {"/picture": 0}
    made.visit(f"{SITE}/picture", made.page("No picture any more"))
    assert entries(made, Focus(content_type="image/png")) == {}


def test_words_of_the_title_mean_a_page_once_it_is_read(made):
    made.fill()
    focus = Focus(words=("a high  tide",))
    focusing = Focusing(made.state, [focus], made.partition.journal.read)
    assert (focusing.weights(slots(made)) == 1.0).all()
    made.visit(f"{SITE}/later", made.page("After A HIGH TIDE"))
    assert (focusing.weights(slots(made)) == 4.0).sum() == 1  # it asks again, for the event is another


def test_the_journal_is_asked_of_so_many_pages_at_a_time_and_of_each_once(made, monkeypatch):
    made.fill()
    asked = list[int]()
    monkeypatch.setattr(focus_module, "AT_ONCE", 2)
    focusing = Focusing(
        made.state, [Focus(content_type="image/png")], lambda at: asked.append(at) or made.partition.journal.read(at)
    )
    while (focusing.weights(slots(made)) == 1.0).all():
        assert len(asked) % 2 == 0
    for _ in range(9):
        focusing.weights(slots(made))
    events = made.state.records.rows["event"][: made.state.records.count]
    assert sorted(asked) == sorted(events[events > 0].tolist())


def test_words_of_a_link_are_remembered_and_folded(tmp_path, made):
    storm, flood = Focus(words=("storm",)), Focus(words=("flood",), url="/wet")
    made = type(made)(tmp_path / "focused", focus=(storm, flood))
    made.seed(f"{SITE}/")
    body = (
        b"<p>The last <a href=/one>one was a storm</a> and <a href=/two>two</a> more storms than floods. "
        b"<a href=/dry>A flood</a>, <a href=/wet>of words</a> in the flood</p>"
    )
    made.visit(f"{SITE}/", body)
    assert entries(made, storm, flood) == {"/one": 0, "/wet": 1}
    assert entries(made, flood, storm) == {"/one": 1, "/wet": 0}  # the marks are those of the words
    assert entries(made, Focus(words=("storms",))) == {}  # which nobody looked for then
    marks = made.state.known.rows()["anchor_mark"]
    assert sorted(marks[marks > 0].tolist()) == sorted(marks_of([storm, flood]).values())
    made.save()
    made.partition.close()
    (made.directory / "known.bin").unlink(missing_ok=True)
    again = opened(made.directory)
    assert again.state.known.rows()["anchor_mark"].tolist() == marks.tolist()
    again.close()


def test_words_beside_a_link_are_whole_and_not_those_of_another_link():
    content = Content(targets=["http://a/", "http://b/"], text=b"flood one storm two flood")
    content.anchors = np.array([[6, 9, 0], [16, 19, 1]], np.int32).tobytes()
    words = LinkWords([Focus(words=("flood",)), Focus(words=("one",)), Focus(words=("two",))])
    marks = marks_of([Focus(words=("flood",))])
    assert words.marks(content, ["http://b/", "http://a/"]) == {0: marks[0], 1: marks[0]}
    assert LinkWords([Focus(words=("one",))]).marks(content, ["http://b/"]) == {}
    assert LinkWords([]).marks(content, ["http://b/"]) == {}
    cut = b"brain" + b"storm " + b"x" * (BESIDE_BYTES - 6) + b" link"
    assert "storm" not in near(cut, len(cut) - 4, len(cut))


# By how much


def test_only_the_keys_of_visits_are_weighed(made):
    made.fill()
    made.visit(f"{SITE}/later", made.page("Later", "/x", "/y", "/z/later"))
    plain, focused = view(made), view(made, focus=(Focus(url="/(a|later)$", weight=10),), discovery=0.75)
    assert np.array_equal(focused.importance, plain.importance)
    keys, before = focused.candidates(slots(made)), plain.candidates(slots(made))
    never = np.isnan(before.visited_at)
    meant = np.array([url.endswith(("/a", "/later")) for url in made.state.urls.get_many(slots(made))])
    times = np.where(meant, 10.0, 1.0) * np.where(never, 9.0, 1.0)
    assert keys.importance == pytest.approx(before.importance * times)
    assert keys.cash == pytest.approx(before.cash * times)
    assert sorted(set(times.tolist())) == [1.0, 9.0, 10.0, 90.0]


def test_one_half_changes_nothing_at_all(made):
    made.fill()
    assert discovery_weight(0.5) == 1.0
    keys, before = view(made, discovery=0.5).candidates(slots(made)), view(made).candidates(slots(made))
    assert keys.importance.tobytes() == before.importance.tobytes()
    assert keys.cash.tobytes() == before.cash.tobytes()


def test_why_tells_who_is_wanted_and_why(made):
    made.fill()
    made.save()
    asked = view(made, focus=(Focus(words=("no",)), Focus(url="/later", weight=3)), discovery=0.75)
    worth = why(asked, f"{SITE}/later").worth
    assert worth.wanted == 27.0
    assert worth.because == "focus, entry 2 (url /later); it was never read, and discovery = 0.75"
    plain = why(asked, f"{SITE}/").worth
    assert (plain.wanted, plain.because) == (1.0, "")
    greedy = view(made, policy="greedy", focus=asked.config.focus)
    value = Greedy().value(greedy.candidates(slots(made)[-1:]), Context(made.now))
    assert why(greedy, made.state.urls.get(len(slots(made)) - 1)).worth.value == pytest.approx(value[0])


# What comes of it


@pytest.mark.parametrize("policy", ["price", "greedy"])
def test_more_discovery_is_more_new_pages(policy):
    """A web with endless calendars has more of them than any budget takes."""
    shares = []
    for discovery in (0.0, 0.5, 1.0):
        web = LivingWeb(7, hosts=5, pages=80, cycle_s=10.0, began_at=comparison.BEGAN_AT)
        life = relive(web, 20.0, 20.0, policy=policy, discovery=discovery)
        shares.append((len(life.asked) + len(life.read)) / life.fetches)
    assert (np.diff(shares) > 0).all(), shares
    assert shares[-1] > 5 * shares[0]


def test_a_focus_on_everything_changes_nothing():
    """The total stays: who is wanted more is so at the expense of others, and here there are none."""
    web = TopicWeb(1, hosts=4, pages=200)
    logs = [
        explore(web, Config(rate_per_s=20, delay_s=0.001, refresh_after_s=5, focus=focus), 15.0)
        for focus in ((), (Focus(url="^http", weight=4),))
    ]
    assert [asked.url for asked in logs[0]] == [asked.url for asked in logs[1]]


@pytest.mark.parametrize("focus", [Focus(url="/storms/"), Focus(words=("storms",))])
def test_a_focus_finds_its_topic_and_the_ranking_stays_that_of_the_links(focus):
    web, found, seen = TopicWeb(1, pages=2000), [], list[Beliefs]()
    urls = web.urls + web.seeds
    for entries in ((), (focus,)):
        config = Config(rate_per_s=20, delay_s=0.001, focus=entries)
        asked = explore(web, config, 20.0, lambda p: seen.append(beliefs(p, urls)))
        read = {one.url for one in asked if one.status == 200}
        found.append(sum(web.topic(url) == "storms" for url in read))
    assert found[1] >= 2 * found[0]
    x = importance({url: Node(tuple(web.links(url)), len(web.links(url))) for url in read})
    known = [n for n, url in enumerate(urls) if url in x]
    true = np.array([x[urls[n]] for n in known])
    assert rank_correlation(seen[1].importance[known], true) >= 0.95
