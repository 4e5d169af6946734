"""What looks like spam in crawls made by hand."""

import pytest

from evercrawl.config import Config
from evercrawl.crawl.farms import farms, owners
from evercrawl.crawl.reader import opened
from evercrawl.crawl.suspects import suspects
from evercrawl.crawl.view import View

HONEST = [f"http://honest{i}.example" for i in range(30)]
FARM = [f"http://farm{i}.example" for i in range(9)]


@pytest.fixture
def asked(made):
    """Return what opens the crawl for questions once it is made."""
    crawls = []

    def ask() -> View:
        made.stop()
        crawls.append(opened(made.directory))
        return View(crawls[-1], Config(), made.now)

    yield ask
    for crawl in crawls:
        crawl.close()


def web(made, *, back: bool = True) -> None:
    """Thirty sites in a ring of two steps, one of which links to the first of nine that link to it, and it to them."""
    for site in HONEST + FARM:
        made._learner._scope.add_root(site.removeprefix("http://"))
    made.seed(*(f"{site}/" for site in HONEST))
    for i, site in enumerate(HONEST):
        others = [f"{HONEST[(i + step) % 30]}/" for step in (1, 2)]
        links = [*others, f"{FARM[0]}/", *(f"{one}/" for one in FARM if not back)] if i == 3 else others
        made.visit(f"{site}/", made.page(site, *links, text=f"this is {site}"))
    made.seed(*(f"{one}/" for one in FARM))
    for one in FARM:
        links = FARM[1:] if one == FARM[0] else FARM[:1]
        made.visit(f"{one}/", made.page(one, *(f"{link}/" for link in links), text=f"this is {one}"))


def test_a_farm_is_named_with_the_evidence(made, asked):
    web(made)
    view = asked()
    (farm,) = suspects(view)
    assert (farm.kind, farm.sites[0], set(farm.sites)) == (
        "farm", "farm0.example", {one.removeprefix("http://") for one in FARM},
    )  # fmt: skip
    assert farm.score == farm.evidence["gain"] > 5
    assert farm.evidence["mutual"] == 1.0
    assert "of what links bring to these 9 sites comes from themselves" in farm.reason
    assert "no other site links to 89% of them" in farm.reason


def test_a_farm_without_a_source_is_one_still(made, asked):
    web(made)
    view = asked()
    view.state.accounts.sites["trusted"][30:39] = 0
    assert [one.kind for one in farms(view)] == ["farm"]


def test_whom_another_site_vouches_for_one_by_one_is_none(made, asked):
    web(made, back=False)
    assert suspects(asked()) == []


def test_a_crawl_that_knows_nothing_suspects_nobody(made, asked):
    made.save()
    assert suspects(asked()) == []


def test_addresses_are_owners_of_their_own():
    assert len(set(owners(["127.0.1.1", "127.0.1.2", "[::1]", "a.example"]).tolist())) == 4
