"""A crawl is followed while it goes on, is stopped, is repaired after a crash, and is started again."""

from pathlib import Path

import pytest

from evercrawl.ask.changes.following import FollowedCrawl
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.model.stored.reader import events
from tests.helpers.hand_made import SITE, HandMade


class Follower:
    """Reads all changes after what it knows, turn by turn."""

    def __init__(self, directory: Path) -> None:
        self.crawl = FollowedCrawl(directory)
        self.known = 0

    def news(self) -> list[tuple[str, str]]:
        self.crawl.turn()
        found = list[tuple[str, str]]()
        while True:
            part = self.crawl.part(ChangeQuestion(after=self.known, all=True), 2)
            found += [(change.kind, change.title) for change in part.changes]
            self.known = part.upto
            if self.known == self.crawl.sequence:
                return found


@pytest.fixture
def made(tmp_path: Path) -> HandMade:
    crawl = HandMade(tmp_path / "crawl")
    crawl.seed(f"{SITE}/")
    crawl.visit(f"{SITE}/", crawl.page("Home"))
    crawl.save()
    return crawl


def change(made: HandMade, word: str) -> None:
    made.visit(f"{SITE}/", made.page(word, text=f"the words of this page are {word}"))
    made.save()


def test_each_change_is_told_once_while_the_crawl_goes_on(made):
    follower = Follower(made.directory)
    assert follower.news() == []
    for word in ("one", "two", "three"):
        change(made, word)
        assert follower.news() == [("changed", word)]
        assert follower.news() == []
    change(made, "four")
    change(made, "five")
    change(made, "six")
    assert follower.news() == [("changed", "four"), ("changed", "five"), ("changed", "six")]
    made.partition.close()
    follower.crawl.close()


def test_a_crawl_that_was_stopped_and_started_is_followed(made):
    follower = Follower(made.directory)
    made.stop()
    assert follower.news() == []
    again = HandMade(made.directory)
    change(again, "after")
    assert follower.news() == [("changed", "after")]
    again.partition.close()
    follower.crawl.close()


@pytest.mark.parametrize("grown", [0, 3])
def test_a_journal_that_a_crash_cut_is_followed_from_what_is_left(made, grown):
    change(made, "kept")
    follower = Follower(made.directory)
    change(made, "lost")
    assert follower.news() == [("changed", "kept"), ("changed", "lost")]
    *_, (pointer, _, _) = events(follower.crawl.crawl, follower.crawl.sequence)
    made.partition.close()
    (journal,) = made.directory.glob("journal-*.log")
    with journal.open("r+b") as file:
        file.truncate(pointer >> 8)
    if not grown:
        assert follower.news() == []
    again = HandMade(made.directory)
    for number in range(max(grown, 1)):
        change(again, f"new {number}")
    told = [each for _ in range(8) for each in follower.news()]
    expected = [("changed", f"new {number}") for number in range(max(grown, 1))]
    assert told == expected[-len(told) :]
    assert told[-1] == expected[-1]
    assert follower.crawl.sequence == again.partition.journal.sequence
    again.partition.close()
    follower.crawl.close()


def test_a_long_follower_opens_the_crawl_anew(made, monkeypatch):
    monkeypatch.setattr("evercrawl.ask.changes.following.EVENTS", 3)
    follower = Follower(made.directory)
    first, told = follower.crawl.crawl, list[tuple[str, str]]()
    for number in range(12):
        change(made, f"word {number}")
        told += follower.news()
    assert told == [("changed", f"word {number}") for number in range(12)]
    assert follower.crawl.crawl is not first
    made.partition.close()
    follower.crawl.close()
