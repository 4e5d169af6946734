"""How much of what a page's changes bring stays has a say in what it is worth, where the crawl asks for that."""

import os

import numpy as np
import pytest

from evercrawl.ask.why.why import why
from evercrawl.cli.verbs.asking.why import rows as told
from evercrawl.config import Config
from evercrawl.importance.push import Push
from evercrawl.model.columns import Columns
from evercrawl.model.focus import unasked
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.rates import priors_of
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.model.worth.choice import weight_of
from evercrawl.model.worth.lasting_weight import ENOUGH, counted, parts
from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.parse.sites import found_site
from evercrawl.schedule.base import Context
from evercrawl.store.partition import Partition

SITE = "http://example.org"
FLICKERS, STAYS, STILL, UNREAD = (f"{SITE}/{name}" for name in ("flickers", "stays", "still", "unread"))


def text(seed: int) -> str:
    draw = np.random.default_rng(seed)
    return " ".join(f"w{number}" for number in draw.integers(0, 10**9, 200).tolist())


@pytest.fixture
def four(made):
    """One page that is another at each visit, one that is replaced and stays so for a visit, one still, one unread."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/flickers", "/stays", "/still", "/unread"))
    for turn in range(16):
        made.visit(FLICKERS, made.page("Same", text=text(350 + turn)))
        made.visit(STAYS, made.page("Same", text=text(100 + turn // 2)))
        made.visit(STILL, made.page("Same", text=text(200)))
    return made


def slots(state, *urls: str):
    return state.find(list(urls))


def columns(made, weight="importance", *, lasting=False):
    how = weight_of(weight, made.partition, lasting=lasting)
    return Columns(
        made.state, Push(), priors_of(made.state), AnnouncedDates(made.state.accounts), in_bytes=False, weight=how
    )


def test_what_flickers_counts_next_to_nothing_and_what_is_unread_in_full(four):
    asked = slots(four.state, FLICKERS, STAYS, STILL, UNREAD)
    found = parts(four.state, asked)
    assert found[0] < 0.25  # nine tenths of two changes among them
    assert found[1] > 0.75  # by seven changes, each off by 0.3 at times
    assert found[2:].tolist() == pytest.approx([0.9, 1.0], abs=1e-3)
    plain, weighed = columns(four)(asked), columns(four, lasting=True)(asked)
    expected = counted(found)
    assert expected[0] == pytest.approx(max(found[0] / ENOUGH, 0.01))
    assert expected[0] < 0.3
    assert expected[1:].tolist() == [1.0, 1.0, 1.0]
    assert weighed.importance == pytest.approx(plain.importance * expected)
    assert weighed.cash == pytest.approx(plain.cash * expected)
    assert weighed.weight_ratio == pytest.approx(expected)


def test_it_goes_with_any_other_weight(four):
    UsageWriter(four.directory).add([Question(float(i), "", (), (FLICKERS,)) for i in range(300)], once=False)
    asked = slots(four.state, FLICKERS, STAYS, UNREAD)
    access, both = columns(four, "access")(asked), columns(four, "access", lasting=True)(asked)
    assert both.importance == pytest.approx(access.importance * counted(parts(four.state, asked)))


def test_nothing_is_weighed_unless_it_is_asked_for(four):
    assert Config().lasting is False
    assert weight_of("importance", four.partition) is None
    assert columns(four)(slots(four.state, FLICKERS)).weight_ratio is None


def test_the_choice_is_another(four):
    policy, asked, now = policy_of("price_gamma"), slots(four.state, FLICKERS, STAYS), four.now + 10.0
    plain, weighed = (policy.value(columns(four, lasting=on)(asked), Context(now)) for on in (False, True))
    assert plain[0] > plain[1]
    assert weighed[0] < weighed[1]


def test_why_says_it_and_that_it_has_a_say(four):
    four.stop()
    crawl = opened(four.directory)
    try:
        for lasting in (False, True):
            view = View(crawl, Config(lasting=lasting), four.now)
            found = {url: why(view, url) for url in (FLICKERS, STILL, UNREAD)}
            assert found[FLICKERS].change.judged == 14
            assert found[FLICKERS].change.lasting == pytest.approx(parts(view.state, slots(view.state, FLICKERS))[0])
            assert found[STILL].change.lasting is None
            assert found[UNREAD].change.lasting is None
            assert dict(told(found[FLICKERS]))["lasts"].endswith("of the page, on average over its last 14 changes")
            assert "lasts" not in dict(told(found[STILL]))
            wanted = found[FLICKERS].worth
            assert wanted.because == ("what lasts of its changes" if lasting else "")
            assert (wanted.wanted < 0.3) == lasting
    finally:
        crawl.close()


def test_a_policy_that_does_not_ask_says_so():
    assert unasked(Config(policy="cycle", lasting=True), policy_of("cycle")).endswith("so lasting changes nothing")


@pytest.mark.parametrize("fold_all", [False, True])
def test_what_is_known_of_it_comes_back_from_a_snapshot_and_from_the_journal(four, fold_all):
    before = four.state.records.rows[: four.state.records.count].copy()
    four.stop()
    crawl = Partition(
        four.directory, os.urandom, now=four.now, writable=False, fold_all=fold_all, site=found_site
    )  # fmt: skip
    rows = crawl.state.records.rows[: crawl.state.records.count]
    assert rows["lasting"].tolist() == before["lasting"].tolist()
    assert rows["earlier"].tolist() == before["earlier"].tolist()
    assert rows["earlier"].any()
    crawl.close()
