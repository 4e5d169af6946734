"""What changed, appeared and vanished, the most important first; and what is noise."""

import random

import pytest

from evercrawl.ask.changes import listing, noise_book
from evercrawl.ask.changes.listing import changes
from evercrawl.ask.changes.page_change import ChangeList
from evercrawl.ask.changes.past import content_at, page_history
from evercrawl.ask.changes.question import ChangeQuestion, moment
from evercrawl.ask.changes.streaming import latest, part_after
from evercrawl.ask.changes.texts import VersionTexts, diff_of, word_diff
from evercrawl.config import Config
from evercrawl.errors import ConfigError, NotHeldError
from evercrawl.model.stored.derived.derived import Derived
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from tests.helpers.hand_made import SITE, HandMade

TEXT = "many words stand on this page and most of them stay as they are from one visit to the next one"


class Open:
    """A crawl that was made by hand, opened to be asked."""

    def __init__(self, made: HandMade) -> None:
        made.save()
        self.crawl = opened(made.directory)
        self.derived = Derived(self.crawl).current()
        self.view = View(self.crawl, Config(), made.now)

    def __call__(self, **question: object) -> ChangeList:
        asked = ChangeQuestion(**question)  # type: ignore[arg-type]
        return changes(self.view, self.derived.runs, asked, self.derived.events)

    def stream(self, **question: object) -> list[tuple[str, str]]:
        asked = ChangeQuestion(**question)  # type: ignore[arg-type]
        found = part_after(self.view, self.derived.runs, asked, self.derived.events)
        assert found.upto == self.derived.events
        return [(change.kind, change.url) for change in found.changes]


@pytest.fixture
def ask(made):
    crawls = []

    def asked(**question: object) -> ChangeList:
        crawls.append(Open(made))
        return crawls[-1](**question)

    asked.open = lambda: crawls.append(Open(made)) or crawls[-1]
    yield asked
    for one in crawls:
        one.derived.close()
        one.crawl.close()


def told(found: ChangeList) -> dict[str, str]:
    return {change.url.removeprefix(SITE): change.kind for change in found.changes}


@pytest.fixture
def site(made: HandMade) -> HandMade:
    """A front page that links to three pages, all read."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/c", text=TEXT))
    for name in "abc":
        made.visit(f"{SITE}/{name}", made.page(name, text=f"{TEXT} {name}"))
    return made


def test_first_readings_are_no_changes(site, ask):
    found = ask()
    assert (found.changes, found.pages, found.upto) == ((), {}, site.partition.journal.sequence)


def test_a_site_that_is_not_known_is_no_site_without_changes(site, ask):
    for name in ("example.net", "nothing.example", "::", "x" * 300):
        with pytest.raises(ConfigError, match="does not know"):
            ask(site=name)
    site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT} other"))
    for name in (SITE, f"{SITE}/a", SITE.removeprefix("https://").upper()):
        assert told(ask(site=name)) == {"/a": "changed"}


def test_a_page_that_a_page_read_before_now_links_to_has_appeared(site, ask):
    site.visit(f"{SITE}/", site.page("Home", "/a", "/b", "/c", "/new", text=TEXT))
    site.visit(f"{SITE}/new", site.page("New", "/deeper"))
    site.visit(f"{SITE}/deeper", site.page("Deeper"))  # the first reading of its source named it
    found = ask()
    assert told(found) == {"/": "changed", "/new": "appeared"}
    assert [change.before for change in found.changes if change.kind == "appeared"] == [None]


def test_a_page_of_another_site_has_not_appeared(made, ask):
    made.limited(scope="any")
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"))
    made.visit(f"{SITE}/", made.page("Home", "http://other.example/", "/own"))
    made.visit("http://other.example/", made.page("Other"))
    made.visit(f"{SITE}/own", made.page("Own"))
    assert told(ask()) == {"/": "changed", "/own": "appeared"}


def test_a_page_whose_source_could_not_be_read_before_has_not_appeared(made, ask):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", b"", 0, error="timeout")
    made.visit(f"{SITE}/", made.page("Home", "/a"))
    made.visit(f"{SITE}/a", made.page("A"))
    assert told(ask()) == {}


def test_listed_pages_appear_once_the_lists_of_the_host_were_read(site, ask):
    site.learner.admit_listing([f"{SITE}/old"], [None], site.now)
    site.visit(f"{SITE}/old", site.page("Old"))
    site.now += 7200.0
    site.learner.admit_listing([f"{SITE}/listed"], [None], site.now)
    site.visit(f"{SITE}/listed", site.page("Listed"))
    assert told(ask()) == {"/listed": "appeared"}


def test_what_changed_vanished_returned_and_moved_is_told_apart(site, ask):
    site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT} other"))
    site.visit(f"{SITE}/b", b"", 404)
    site.visit(f"{SITE}/c", b"", 301, location="/a")
    assert told(ask()) == {"/a": "changed", "/b": "vanished", "/c": "moved"}
    known = ask().upto
    site.visit(f"{SITE}/b", site.page("b", text=f"{TEXT} b"))
    assert told(ask(after=known)) == {"/b": "returned"}
    assert ask().pages == {"changed": 1, "moved": 1, "returned": 1}


def test_an_error_is_no_change(site, ask):
    site.visit(f"{SITE}/a", b"", 0, error="timeout")
    site.visit(f"{SITE}/a", b"", 503)
    site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT} a"))
    assert told(ask()) == {}


def test_bytes_around_the_same_words_are_no_change_and_a_title_is_one(site, ask):
    body = site.page("a", text=f"{TEXT} a")
    site.visit(f"{SITE}/a", body.replace(b"<p>", b'<p id="token-1234">'))
    assert told(ask()) == {}
    site.visit(f"{SITE}/b", site.page("Another title", text=f"{TEXT} b"))
    assert told(ask()) == {"/b": "changed"}


def test_several_changes_of_a_page_are_one_entry_with_what_they_come_to(site, ask):
    for word in ("one", "two", "three"):
        site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT} {word}"))
    (change,) = ask().changes
    assert (change.times, change.kind) == (3, "changed")
    assert Open(site).stream() == [("changed", f"{SITE}/a")] * 3
    site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT} a"))
    assert ask().changes[0].extent == 0.0  # as it was


def test_copies_are_told_by_their_original_alone(site, ask):
    for version in ("first", "second"):
        for name in "ab":
            site.visit(f"{SITE}/{name}", site.page("same", text=f"{TEXT} {version}"))
    assert "/b" not in told(ask(since=site.now - 15))


def test_more_important_and_larger_changes_come_first(site, ask):
    site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT} a small"))
    site.visit(f"{SITE}/b", site.page("b", text="every word of this one differs quite a lot indeed"))
    site.visit(f"{SITE}/", site.page("Home", "/a", "/b", "/c", text="nothing is left of what there was before at all"))
    found = ask()
    weights = [change.importance * max(change.extent, 0.02) for change in found.changes]
    assert weights == sorted(weights, reverse=True)
    assert [*told(found)][-1] == "/a"
    assert (ask(limit=1).changes, ask(limit=1).total) == (found.changes[:1], 3)


def test_time_site_and_pattern_choose(site, ask):
    at = site.now
    site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT} other"))
    site.visit(f"{SITE}/b", site.page("b", text=f"{TEXT} other yet"))
    assert told(ask(since=at + 15)) == {"/b": "changed"}
    assert told(ask(until=at + 15)) == {"/a": "changed"}
    assert told(ask(pattern="/a$")) == {"/a": "changed"}
    assert told(ask(site="example.org")) == {"/a": "changed", "/b": "changed"}
    with pytest.raises(ConfigError, match="not a regular expression"):
        ask(pattern="(")


def test_the_stream_goes_on_after_what_is_known(site, ask):
    site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT} other"))
    (first,) = ask().changes
    site.visit(f"{SITE}/b", site.page("b", text=f"{TEXT} other"))
    crawl = ask.open()
    assert crawl.stream() == [("changed", f"{SITE}/a"), ("changed", f"{SITE}/b")]
    assert crawl.stream(after=first.sequence) == [("changed", f"{SITE}/b")]


def test_parts_and_the_latest_agree_with_the_whole(site, ask, monkeypatch):
    for step in range(12):
        site.visit(f"{SITE}/{'abc'[step % 3]}", site.page("page", text=f"{TEXT} {'x' * step} {step * step}"))
    crawl = ask.open()
    view, runs, known = crawl.view, crawl.derived.runs, crawl.derived.events
    whole = part_after(view, runs, ChangeQuestion(all=True), known).changes
    assert len(whole) == 12
    monkeypatch.setattr("evercrawl.ask.changes.streaming.VISITS", 5)
    for most in (1, 2, 100):
        found, at = list[object](), 0
        while at < known:
            part = part_after(view, runs, ChangeQuestion(all=True, after=at), known, most)
            assert part.upto > at
            found += part.changes
            at = part.upto
        assert tuple(found) == whole
    newest = whole[::-1]
    assert latest(view, runs, ChangeQuestion(all=True, limit=7), known) == list(newest[:7])
    assert latest(view, runs, ChangeQuestion(all=True, limit=None), known) == list(newest)
    assert latest(view, runs, ChangeQuestion(all=True, after=whole[8].sequence), known) == list(newest[:3])


def footer(step: int) -> str:
    return f"this page was made at 12:{step:02d}:{step * 7 % 60:02d} on our server"


def views(step: int) -> str:
    return f"it was seen {1000 + step * step} times"


def token(step: int) -> str:
    return "code " + "".join(random.Random(step).choice("abcdefgh") for _ in range(32)) + " end"


def advertisement(step: int) -> str:
    texts = ("buy a kettle today", "fly to Rome for less", "your roof deserves better")
    return f"Advertisement {texts[step % 3]} end of advertisement"


@pytest.mark.parametrize("kind", [footer, views, token, advertisement])
def test_noise_is_left_out_and_an_edit_beside_it_is_not(made, ask, kind):
    made.seed(f"{SITE}/")
    for step in range(8):
        made.visit(f"{SITE}/", made.page("Home", text=f"{TEXT} {kind(step)}"))
    found = ask(since=made.now - 5)
    assert (found.changes, found.noise, found.pages) == ((), 1, {"changed": 1})
    (change,) = ask(since=made.now - 5, all=True).changes
    assert change.noise
    for edited in (f"{TEXT} and a paragraph more {kind(8)}", f"{TEXT.replace('most', 'some')} {kind(8)}"):
        made.visit(f"{SITE}/", made.page("Home", text=edited))
        assert told(ask(since=made.now - 5)) == {"/": "changed"}
    made.visit(f"{SITE}/", made.page("A new title", text=edited))
    assert told(ask(since=made.now - 5)) == {"/": "changed"}


def test_what_was_judged_is_kept_and_the_rest_is_judged_as_time_allows(made, ask, monkeypatch):
    made.seed(f"{SITE}/")
    for step in range(8):
        made.visit(f"{SITE}/", made.page("Home", text=f"{TEXT} {footer(step)}"))
    monkeypatch.setattr(listing, "JUDGED_S", -1.0)
    found = ask(since=made.now - 5)
    assert (told(found), found.noise, found.unjudged) == ({"/": "changed"}, 0, 1)
    assert ask(since=made.now - 5, limit=None).noise == 1  # which is exact, whatever it takes

    def unread(*_: object) -> None:
        raise AssertionError("it was judged before")

    monkeypatch.setattr(VersionTexts, "words", unread)
    assert ask(since=made.now - 5).noise == 1
    crawl = ask.open()
    assert crawl.stream(after=crawl.derived.events - 1) == []
    (made.directory / "derived" / noise_book.FILE).write_bytes(b"\x01" * 100)  # what is damaged counts for nothing
    assert ask(since=made.now - 5).unjudged == 1


def test_a_change_among_noise_is_told_though_the_last_one_is_noise(made, ask):
    made.seed(f"{SITE}/")
    for step in range(10):
        price = 12 if step < 8 else 15
        made.visit(f"{SITE}/", made.page("Shop", text=f"{TEXT} it costs {price} EUR with postage {footer(step)}"))
    assert told(ask(since=made.now - 15)) == {"/": "changed"}
    assert told(ask(since=made.now - 5)) == {}


def test_a_diff_says_which_words_went_and_came(site, ask):
    site.visit(f"{SITE}/a", site.page("a", text=f"{TEXT.replace('many', 'few')} a"))
    crawl = ask.open()
    diff = diff_of(VersionTexts(crawl.crawl, crawl.derived.runs), crawl().changes[0])
    assert ("went", "many") in diff.pieces
    assert ("came", "few") in diff.pieces
    assert (diff.went, diff.came, diff.cut) == (1, 1, False)


def test_a_diff_shows_no_more_than_was_asked_for():
    diff = word_diff(["a"] * 9, [*"bcdefghij" * 1000], 50)
    assert diff.cut
    assert sum(len(words.split()) for _, words in diff.pieces) <= 2 * 50
    assert all(len(words) < 5000 for _, words in word_diff([], ["x" * 100_000]).pieces)


def test_versions_and_the_content_at_an_instant(made, ask):
    made.seed(f"{SITE}/")
    marks = []
    for text in ("one", "two", "two", "three"):
        made.visit(f"{SITE}/", made.page("Home", text=f"{TEXT} {text}"))
        marks.append(made.now)
    made.visit(f"{SITE}/", b"", 410)
    crawl = ask.open()
    seen = page_history(crawl.crawl, crawl.derived, f"{SITE}/")
    assert [(v.at, v.seen_at, v.visits) for v in seen.versions] == [
        (marks[3], marks[3], 1), (marks[1], marks[2], 2), (marks[0], marks[0], 1),
    ]  # fmt: skip
    assert (seen.visits, seen.away_at, seen.away_status) == (5, made.now, 410)
    assert seen.versions[-1].extent is None
    for at, text in ((marks[0], b"next one one"), (marks[2] + 1, b"next one two"), (marks[3], b"next one three")):
        assert text in content_at(crawl.crawl, crawl.derived, f"{SITE}/", at).body
    gone = content_at(crawl.crawl, crawl.derived, f"{SITE}/", made.now)
    assert b"three" in gone.body
    assert "was gone (410)" in gone.notes[1]
    with pytest.raises(NotHeldError, match="first read"):
        content_at(crawl.crawl, crawl.derived, f"{SITE}/", marks[0] - 5)
    with pytest.raises(NotHeldError, match="never seen"):
        content_at(crawl.crawl, crawl.derived, f"{SITE}/never", made.now)


@pytest.mark.parametrize("text", ["soon", "2026-13-01", "", "-", "1e400s"])
def test_a_time_that_is_none_is_refused_with_examples(text):
    with pytest.raises(ConfigError, match="--since must be a time such as 2h"):
        moment(text, 0.0, "--since")
