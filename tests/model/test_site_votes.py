"""Which sites have a vote of their own for what is believed of new sites."""

import pytest

from evercrawl.crawl.learn.changes import Changes
from evercrawl.model.site_votes import SiteVotes

LINKED = ("http://ant.test/", "http://a.github.io/", "http://b.duckdns.org/", "http://8.8.8.8/")
SEEDS = ("http://example.org/", "http://c.github.io/", "http://9.9.9.9/")


@pytest.fixture
def found(made):
    """Three seeds, one of which links to four other sites."""
    made.limited(scope="any")
    made.seed(*SEEDS)
    made.visit(SEEDS[0], made.page("Home", *LINKED))
    return made


def shares(votes, made) -> dict[str, bool]:
    names = ["example.org", "ant.test", "a.github.io", "b.duckdns.org", "8.8.8.0/24", "c.github.io", "9.9.9.9"]
    return {name: votes.shares(made.state.sites.find(name)) for name in names}


def test_names_below_a_free_suffix_and_networks_share_a_vote_unless_they_are_seeds(found):
    assert shares(SiteVotes(found.state), found) == {
        "example.org": False, "ant.test": False, "a.github.io": True, "b.duckdns.org": True, "8.8.8.0/24": True,
        "c.github.io": False, "9.9.9.9": False,
    }  # fmt: skip


def test_a_site_without_a_source_shares_a_vote(found):
    found.state.accounts.begin(handout=False, trusted=[False] * len(found.state.sites))
    votes = SiteVotes(found.state)
    assert set(shares(votes, found).values()) == {True}
    assert not votes.gives_own_vote(found.state.sites.find("example.org"), found.state.find_one(SEEDS[0]))


def test_a_seed_that_is_added_later_gives_its_name_a_vote_at_its_second_visit(found):
    changes, site = found.changes, found.state.sites.find("a.github.io")
    found.visit(LINKED[1], b"<p>one")
    found.visit(LINKED[1], b"<p>two")
    assert changes.priors.shares_vote(site)
    found.seed("http://a.github.io/new")
    for text in (b"<p>one", b"<p>two"):
        found.visit("http://a.github.io/new", text)
    assert not changes.priors.shares_vote(site)
    assert not Changes(found.state, changes.notices).priors.shares_vote(site)


def test_a_name_that_a_seed_redirects_to_gets_no_vote_of_its_own(found):
    """Whoever has the seed could have any number of them."""
    found.visit("http://c.github.io/", b"", 302, location="http://d.github.io/")
    for text in (b"<p>one", b"<p>two"):
        found.visit("http://d.github.io/", text)
    site = found.state.sites.find("d.github.io")
    assert found.state.known.row(found.state.find_one("http://d.github.io/"))["depth"] == 0
    assert found.changes.priors.shares_vote(site)
    assert SiteVotes(found.state).shares(site)
