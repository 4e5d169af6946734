"""Where the policy wants validity by HEAD, a page is asked for whole only if its head names another copy."""

from functools import partial

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.model.policy.policies import policy_of
from evercrawl.progress import Limits
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.types import Outcome

URL = "http://a.example/"


class Checking(Cycle):
    """Page by page, and by the head first."""

    freshness_check = "head"


def page(run, asked, changes, headers, at):
    """Answer in full whatever the conditions are, as many servers do; another text every three minutes."""
    asked.append(dict(headers))
    version = int(at % 1800 // 180) if changes else 0
    answer = run.html(text=f"The {version}th form of the page")
    date = {"last-modified": f"Mon, 01 Jan 2024 0{version}:00:00 GMT"}
    return run.Answer(200, dict(answer.headers) | date, answer.body)


@pytest.fixture
def crawl(run):
    """Visit one page once a minute for nine; return what was asked, and the visits."""

    def crawls(changes, policy):  # noqa: ANN202
        asked, world = [], run.World()
        world.pages[URL] = partial(page, run, asked, changes)
        ran = run(world, [URL], Limits(seconds=560), policy=policy, refresh_after_s=60.0, sitemaps=False)
        assert verify(run.directory).wrong == []
        heads = [each.head for each in ran.network.log if each.url == URL]
        assert len(heads) == len(asked)
        return asked, ran.visits, heads

    return crawls


def test_a_page_that_is_the_same_is_asked_for_its_head_alone(crawl):
    asked, visits, heads = crawl(False, Checking())
    assert len(visits) == len(asked) >= 8
    assert [visit.status for visit in visits[1:]] == [304] * (len(visits) - 1)
    assert all(visit.outcome == Outcome.OK and visit.wire_bytes == 0 for visit in visits[1:])
    assert not any("if-modified-since" in headers for headers in asked)
    assert heads == [False] + [True] * (len(visits) - 1)


def test_a_page_that_changed_is_asked_for_at_its_hosts_next_turn(crawl):
    asked, visits, heads = crawl(True, Checking())
    whole = [visit for visit in visits[1:] if visit.status == 200]
    assert len(whole) >= 2
    assert len(asked) == len(visits) + len(whole), "each of these was asked for its head first"
    assert heads.count(True) == len(visits) - 1
    assert all(visit.changes for visit in whole)


def test_without_it_pages_are_asked_for_on_condition(crawl):
    asked, visits, heads = crawl(False, Cycle())
    assert len(asked) == len(visits)
    assert all("if-modified-since" in headers for headers in asked[1:])
    assert not any(heads)


@pytest.mark.parametrize("validity", ["head", "get"])
def test_rpuc_asks_as_its_option_says(crawl, validity):
    _, visits, heads = crawl(False, policy_of("rpuc", [f"validity={validity}"]))
    assert len(visits) >= 4
    assert heads == [False] + [validity == "head"] * (len(visits) - 1)
