"""A policy is made as the settings say, changed while the crawl runs, and shown all pages when it asks to be."""

import asyncio
import math
from types import SimpleNamespace

import numpy as np
import pytest

from evercrawl.config import FILE_NAME, Config, SiteRules, amend, save
from evercrawl.crawl import adjusting
from evercrawl.crawl.adjusting import Adjusting, keep_adjusted
from evercrawl.errors import ConfigError
from evercrawl.model.policy import planning
from evercrawl.model.policy.planning import Planning
from evercrawl.model.policy.policies import names, parameters, policy_of
from evercrawl.schedule import Pages, Policy
from evercrawl.schedule.abilities import Plans, Tunable
from evercrawl.schedule.base import Context, Surroundings
from evercrawl.schedule.policies.xyleme import Xyleme
from evercrawl.store.resuming import to_try
from evercrawl.types import Floats

SITE = "http://example.org"


class Adjustable(Tunable, Policy):
    """Has parameters of all kinds, of which one can be changed while it runs."""

    def __init__(self, much: float = 0.5, many: int = 3, kind: str = "plain") -> None:
        self.much, self.many, self.kind = much, many, kind

    def value(self, pages: Pages, context: Context) -> Floats:
        return np.zeros(len(pages.slot))

    def adjust(self, options) -> None:
        if set(options) - {"much"}:
            raise ConfigError(f"Adjustable cannot change {', '.join(options)} while it runs; restart the crawl")
        self.much = float(options["much"])


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Let the class be found by its name, as one from outside the tree is."""
    monkeypatch.setitem(__import__("sys").modules, "outside_the_tree", SimpleNamespace(Adjustable=Adjustable))


@pytest.mark.usefixtures("trusted")
def test_parameters_are_taken_from_options():
    made = policy_of("outside_the_tree:Adjustable", ["much=0.25", "many=7", "kind=odd", "xyleme.cycle=0.3"])
    assert (made.much, made.many, made.kind) == (0.25, 7, "odd")
    assert parameters(Adjustable) == {"much": 0.5, "many": 3, "kind": "plain"}


def test_who_writes_no_policy_is_told_those_that_a_crawl_can_follow_and_no_others():
    with pytest.raises(ConfigError, match="choose one of") as raised:
        policy_of("dearest")
    listed = str(raised.value).partition("choose one of: ")[2].split(", ")
    assert listed == names()
    with pytest.raises(ConfigError, match="a reference for backtests"):
        policy_of("notices")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["cycel=0.1"], "did you mean cycle"),
        (["cycle=often"], "must be a number such as 0.2, not 'often'"),
        (["cycle=nan"], "must be a number such as 0.2, not 'nan'"),
        (["cycle=inf"], "must be a number such as 0.2, not 'inf'"),
        (["zzzz=1"], "it has cycle"),
        (["xyleme.zzzz=1"], "it has cycle"),
    ],
)
def test_what_is_no_parameter_is_refused_with_what_is_possible(options, said):
    with pytest.raises(ConfigError, match=said):
        policy_of("xyleme", options)


@pytest.mark.usefixtures("trusted")
def test_a_whole_number_is_asked_for_where_one_is_needed():
    with pytest.raises(ConfigError, match=r"many must be a whole number such as 3, not '2\.5'"):
        policy_of("outside_the_tree:Adjustable", ["many=2.5"])


def test_what_is_said_of_another_policy_is_passed_over():
    assert isinstance(policy_of("xyleme", ["chile.a=2", "elsewhere:Other.much=1"]), Xyleme)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            "nopolicy.a=1",
            "'nopolicy.a=1' is for no policy there is: no policy is called 'nopolicy'; choose one of: azar",
        ),
        ("chile.aa=1", "'aa' is no parameter of chile; did you mean a"),
        ("chile.a=zz", "chile: a must be a number such as 1, not 'zz'"),
        ("chile.a=99", "chile: a must be from 0 to 10"),
    ],
)
def test_what_is_said_of_another_policy_must_fit_it(option, said):
    with pytest.raises(ConfigError, match=said):
        policy_of("price", [option])


@pytest.mark.usefixtures("trusted")
def test_a_yardstick_that_must_be_told_the_future_is_for_no_crawl(monkeypatch):
    monkeypatch.setattr(Adjustable, "clairvoyant", True)
    with pytest.raises(ConfigError, match="reference for backtests"):
        policy_of("outside_the_tree:Adjustable")


def test_every_policy_can_be_made_without_options():
    for name in names():
        assert isinstance(policy_of(name), Policy)


def test_settings_hold_options_and_refuse_what_is_none():
    assert Config(policy_options=["cycle = 0.1"]).policy_options == ("cycle=0.1",)
    with pytest.raises(ConfigError, match="new_share"):
        Config(policy_options=["cycle"])


@pytest.fixture
def crawl(tmp_path):
    save(Config(policy="adjustable"), tmp_path)
    policy = Adjustable()
    return SimpleNamespace(
        directory=tmp_path, policy=policy, adjusting=Adjusting(tmp_path / FILE_NAME, "adjustable", policy)
    )


def test_what_is_changed_in_the_file_is_taken_while_the_crawl_runs(crawl):
    assert crawl.adjusting.look() == ""
    amend(crawl.directory, {"policy_options": ["much=0.75"]})
    assert crawl.adjusting.look() == "adjustable now runs with much = 0.75"
    assert crawl.policy.much == 0.75
    assert crawl.adjusting.look() == ""
    amend(crawl.directory, {"delay_s": 7.0})
    assert crawl.adjusting.look() == ""


def test_what_cannot_be_changed_is_said_and_the_rest_can_be_tried_again(crawl):
    amend(crawl.directory, {"policy_options": ["kind=odd"]})
    assert "cannot change kind while it runs" in crawl.adjusting.look()
    assert crawl.policy.kind == "plain"
    (crawl.directory / FILE_NAME).write_text("policy_options = 3")
    assert "policy_options" in crawl.adjusting.look()
    save(Config(policy="adjustable", policy_options=["much=0.1"]), crawl.directory)
    assert crawl.adjusting.look() == "adjustable now runs with much = 0.1"


@pytest.mark.parametrize("left", [None, ""], ids=["gone", "empty"])
def test_a_file_that_is_empty_for_a_moment_changes_nothing(tmp_path, left):
    """Editors empty a file before they write it, and a full disk leaves it so."""
    save(Config(sites=(SiteRules("b.example", exclude=("/private/",)),)), tmp_path)
    file, taken = tmp_path / FILE_NAME, []
    adjusting = Adjusting(file, "price", Adjustable(), lambda sections: not taken.append(sections))
    file.unlink() if left is None else file.write_text(left)
    assert "is missing or empty; the settings stay as they are" in adjusting.look()
    save(Config(sites=(SiteRules("b.example", exclude=("/private/", "/tmp/")),)), tmp_path)
    assert "apply from now on" in adjusting.look()
    assert [[site.exclude for site in sites] for sites, _ in taken] == [[("/private/", "/tmp/")]]


def test_what_the_file_says_of_its_own_policy_is_nothing_to_one_that_was_named_for_a_run(crawl):
    save(Config(policy="chile", policy_options=["a=2"]), crawl.directory)
    adjusting = Adjusting(crawl.directory / FILE_NAME, "adjustable", crawl.policy)
    amend(crawl.directory, {"policy_options": ["a=3"]})
    assert adjusting.look() == ""
    amend(crawl.directory, {"policy": "adjustable", "policy_options": ["much=0.75"]})
    assert adjusting.look() == "adjustable now runs with much = 0.75"


def test_what_stood_beside_something_impossible_is_taken_once_that_is_gone(crawl):
    amend(crawl.directory, {"policy_options": ["much=0.25", "kind=odd"]})
    assert "cannot change much, kind while it runs" in crawl.adjusting.look()
    amend(crawl.directory, {"policy_options": ["much=0.25"]})
    assert crawl.adjusting.look() == "adjustable now runs with much = 0.25"
    assert crawl.policy.much == 0.25


def test_what_the_file_names_no_more_is_as_by_default(crawl):
    amend(crawl.directory, {"policy_options": ["much=0.25"]})
    crawl.adjusting.look()
    amend(crawl.directory, {"policy_options": []})
    assert crawl.adjusting.look() == "adjustable now runs with much = 0.5"
    assert crawl.policy.much == 0.5


def test_a_running_crawl_looks_again_and_again(crawl, monkeypatch):
    monkeypatch.setattr(adjusting, "LOOK_S", 0.0)
    told = []
    tuning = SimpleNamespace(config=Config(policy="adjustable", policy_options=["much=0.3", "other.kind=odd"]))

    async def run() -> None:
        partition = SimpleNamespace(directory=crawl.directory, state=SimpleNamespace(known=SimpleNamespace(count=5)))
        clock = SimpleNamespace(now=lambda: 9.0)
        task = asyncio.ensure_future(
            keep_adjusted(partition, Config(policy="adjustable"), crawl.policy, clock, told.append, tuning)
        )
        await asyncio.sleep(0)
        amend(crawl.directory, {"policy_options": ["much=0.75"]})
        for _ in range(9):
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(run())
    assert (told[0].message, told[0].known) == ("adjustable now runs with much = 0.75", 5)
    assert tuning.config.policy_options == ("other.kind=odd", "much=0.75"), (
        "so that it holds when the crawl is reopened"
    )


class Planner(Plans, Adjustable):
    """Notes what it is shown, and wants to see it again after 100 s."""

    def __init__(self) -> None:
        self.shown = []

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        self.shown.append((pages.slot.tolist(), unread, context.now))
        return context.now + 100.0


def test_all_pages_that_were_visited_are_shown_when_the_policy_wants_to_see_them(made):
    planner = Planner()
    one = Planning(planner, made.state, made.columns, Surroundings())
    made.seed(f"{SITE}/")
    one.turn(0.0, 1)
    assert planner.shown == []
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/c"))
    one.turn(10.0, 3)
    made.visit(f"{SITE}/b", made.page("B"))
    for now in (109.9, 110.0, 111.0):
        one.turn(now, 2)
    assert planner.shown == [([0], 3, 10.0), ([0, 2], 2, 110.0)]


def test_a_policy_that_does_not_want_to_see_them_again_is_not_shown_them(made, monkeypatch):
    monkeypatch.setattr(
        Planner, "plan", lambda self, pages, unread, context: self.shown.append(context.now) or math.inf
    )
    planner = Planner()
    one = Planning(planner, made.state, made.columns, Surroundings())
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"))
    for now in (1.0, 1e9):
        one.turn(now, 0)
    assert planner.shown == [1.0]


def test_while_every_visit_is_in_vain_it_is_looked_for_others_once_a_second(made, monkeypatch):
    looked = []
    monkeypatch.setattr(planning, "to_try", lambda state: looked.append(1) or to_try(state))
    planner = Planner()
    one = Planning(planner, made.state, made.columns, Surroundings())
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", error="timeout", status=0)
    for now in (1.0, 1.5, 2.5):
        one.turn(now, 1)
    assert (len(looked), planner.shown) == (2, [])
    made.visit(f"{SITE}/", made.page("Home"))
    one.turn(3.6, 0)
    assert planner.shown == [([0], 0, 3.6)]
