"""Who may take a page's place by what the page itself says: its canonical URL, a permanent redirect, a refresh."""

import pytest

from evercrawl.model.web.claims import CONTENTS
from evercrawl.store.journal.events import Visit
from evercrawl.types import NO_SLOT, Outcome

SITE, OTHER = "http://example.org", "http://other.example"
CLAIMS = ("canonical", "301", "308")
TO = f"{OTHER}/x"


def begin(made, *paths: str) -> None:
    made.scope.add_root("other.example")
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *paths))


def own(made, name: str = "mine") -> bytes:
    return made.page(name, "/further", text=f"{name} words " * 200)


def claim(made, how: str, target: str = TO, path: str = "/a", text: str = "given away ") -> Visit:
    """Visit a page that says that it only leads to the target."""
    if how == "canonical":
        made.visit(SITE + path, f"<link rel=canonical href={target}>{text * 200}".encode())
    else:
        made.visit(SITE + path, status=int(how), location=target)
    return [event for _, _, event in made.partition.journal.replay()][-1]


@pytest.mark.parametrize("how", CLAIMS)
@pytest.mark.parametrize("read", [False, True])
def test_a_page_with_a_history_is_not_given_away_to_a_younger_page_of_another_site(made, how, read):
    begin(made, "/a", TO)
    made.visit(f"{SITE}/a", own(made))
    if read:
        made.visit(TO, own(made, "theirs"))
    assert claim(made, how).alias == NO_SLOT
    assert claim(made, how, text="again ").alias == NO_SLOT
    made.visit(f"{SITE}/a", own(made))
    assert made.state.find_one(f"{SITE}/a") is not None
    row = made.state.records.rows[made.state.record_of(made.state.find_one(f"{SITE}/a"))]
    assert (row["alias"], row["outcome"]) == (NO_SLOT, Outcome.OK)


@pytest.mark.parametrize("how", CLAIMS)
def test_nor_to_an_older_one_that_matters_less_or_was_never_read(made, how):
    begin(made, TO, f"{OTHER}/y", "/a", "/b", "/c", "/d")
    for name in "bcd":
        made.visit(f"{SITE}/{name}", made.page(name, "/a"))
    made.visit(f"{SITE}/a", own(made))
    made.visit(TO, own(made, "theirs"))
    for target in (TO, f"{OTHER}/y"):
        assert claim(made, how, target).alias == NO_SLOT


@pytest.mark.parametrize("how", CLAIMS)
def test_but_to_an_older_one_that_was_read_and_matters_more(made, how):
    begin(made, TO, "/a", "/b", "/c", "/d")
    for name in "bcd":
        made.visit(f"{SITE}/{name}", made.page(name, TO))
    made.visit(TO, own(made, "theirs"))
    made.visit(f"{SITE}/a", own(made))
    assert claim(made, how).alias == made.state.find_one(TO)


@pytest.mark.parametrize("how", CLAIMS)
@pytest.mark.parametrize("target", [f"{SITE}/b", "http://www.example.org/"])
def test_within_its_site_a_page_says_itself_where_it_belongs(made, how, target):
    made.scope.add_root("www.example.org")
    begin(made, "/a", target)
    made.visit(f"{SITE}/a", own(made))
    assert claim(made, how, target).alias == made.state.find_one(target)


@pytest.mark.parametrize("how", CLAIMS)
def test_a_page_that_was_never_anything_else_leads_where_it_says(made, how):
    begin(made, "/a", TO)
    assert claim(made, how).alias == made.state.find_one(TO)


def test_a_site_that_moved_is_believed_after_eight_visits_and_one_content_of_its_own_begins_anew(made):
    begin(made, "/a", TO)
    made.visit(f"{SITE}/a", own(made))
    assert [claim(made, "301").alias for _ in range(CONTENTS - 1)] == [NO_SLOT] * (CONTENTS - 1)
    made.visit(f"{SITE}/a", own(made, "back"))
    assert [claim(made, "301").alias for _ in range(CONTENTS)] == [NO_SLOT] * CONTENTS
    assert claim(made, "301").alias == made.state.find_one(TO)


@pytest.mark.parametrize("before", ["<p>", "words ", "<head></head><body>"])
def test_nor_is_a_new_page_by_what_stands_below_its_head(made, before):
    begin(made, "/a", TO)
    made.visit(f"{SITE}/a", f"<title>A</title>{before}<link rel=canonical href={TO}>{'mine ' * 200}".encode())
    event = [event for _, _, event in made.partition.journal.replay()][-1]
    assert (event.outcome, event.alias) == (Outcome.OK, NO_SLOT)


@pytest.mark.parametrize("how", ["canonical", "301"])
def test_trouble_in_between_makes_no_difference(made, how):
    begin(made, "/a", TO)
    made.visit(f"{SITE}/a", own(made))
    for status in (500, 404, 404):
        made.visit(f"{SITE}/a", b"", status)
        assert claim(made, how).alias == NO_SLOT


def test_a_refresh_is_a_link_like_any_other(made):
    begin(made, "/a", TO)
    made.visit(f"{SITE}/a", f"<meta http-equiv=refresh content='0;url={TO}'>words".encode())
    event = [event for _, _, event in made.partition.journal.replay()][-1]
    assert (event.outcome, event.alias, event.out) == (Outcome.OK, NO_SLOT, 1)


@pytest.mark.parametrize("how", CLAIMS)
def test_nobody_gains_by_claiming_to_lead_to_another_s_page(made, how):
    """Such a page passes on what it has; the other one keeps its place, and is read as before."""
    begin(made, "/a", TO)
    made.visit(TO, own(made, "theirs"))
    claim(made, how)
    made.visit(TO, own(made, "changed"))
    row = made.state.records.rows[made.state.record_of(made.state.find_one(TO))]
    assert (row["alias"], row["outcome"]) == (NO_SLOT, Outcome.OK)
