"""Results of sites' own search forms: so many are taken in, and no more."""

from evercrawl.model.rules import search_results
from evercrawl.store.journal.events import PARTIAL, Visit
from evercrawl.types import NO_SLOT

SITE = "http://example.org"
FORM = "<form action=/find><input name=q></form>"


def results(count: int, first: int = 0, site: str = SITE) -> list[str]:
    return [f"{site}/find?lang=en&q={number}" for number in range(first, first + count)]


def known(made, urls: list[str]) -> int:
    return sum(slot != NO_SLOT for slot in made.state.find(urls).tolist())


def test_so_many_results_come_in_and_other_links_all_do(begun):
    budgets = begun.limited(max_search_results=5)
    others = [f"{SITE}/find?page={i}" for i in range(20)] + [f"{SITE}/list?q={i}" for i in range(20)] + [f"{SITE}/find"]
    begun.visit(f"{SITE}/", begun.page("Home", *results(9), *others, text=FORM))
    assert known(begun, results(9)) == 5
    assert known(begun, others) == len(others)
    assert budgets.refused == {"max_search_results": 4}
    begun.visit(f"{SITE}/find", begun.page("Find", *results(9, 50)))
    assert known(begun, results(9, 50)) == 0
    (*_, last) = [event for _, _, event in begun.partition.journal.replay() if isinstance(event, Visit)]
    assert not last.flags & PARTIAL  # it is no reason to read a page again


def test_what_was_known_before_the_form_was_seen_counts(begun):
    begun.limited(max_search_results=5)
    begun.visit(f"{SITE}/", begun.page("Home", *results(4)))
    begun.visit(results(1)[0], begun.page("Result", *results(20), text=FORM))
    assert known(begun, results(20)) == 5


def test_it_is_as_before_after_a_restart(begun):
    begun.limited(max_search_results=5)
    begun.visit(f"{SITE}/", begun.page("Home", *results(4), text=FORM))
    begun.limited(max_search_results=5)
    begun.visit(results(1)[0], begun.page("Result", *results(20), text=FORM))
    assert known(begun, results(20)) == 5


def test_a_second_form_shares_what_the_first_may_have(begun):
    begun.limited(max_search_results=5)
    begun.visit(f"{SITE}/", begun.page("Home", *results(4), f"{SITE}/b", text=FORM))
    others = [f"{SITE}/b?q={i}" for i in range(9)]
    begun.visit(f"{SITE}/b", begun.page("B", *others, text="<form><input name=q></form>"))
    assert known(begun, others) == 1


def test_a_form_has_few_names_whatever_its_pages_say(begun):
    """Each further name would have the site's known pages looked at again."""
    results = search_results.SearchResults(begun.state, 2)
    for number in range(6):
        results.learned(0, [f"{SITE}/find?f{number}"])
    links = [f"{SITE}/find?f{number}={i}" for number in range(6) for i in range(5)]
    assert results.within(links) == [*links[:2], *links[5 * search_results.MOST_NAMES :]]


def test_nought_is_any_number(begun):
    begun.limited(max_search_results=0)
    begun.visit(f"{SITE}/", begun.page("Home", *results(200), text=FORM))
    assert known(begun, results(200)) == 200


def test_a_form_says_nothing_of_another_site(begun):
    begun.limited(max_search_results=5)
    begun.scope.add_root("b.example")
    there = results(20, site="http://b.example")
    begun.visit(f"{SITE}/", begun.page("Home", *there, text="<form action=http://b.example/find><input name=q></form>"))
    assert known(begun, there) == 20


def test_where_much_is_known_a_part_of_it_is_gone_through_with_each_page(begun, monkeypatch):
    monkeypatch.setattr(search_results, "AT_ONCE", 16)
    monkeypatch.setattr(search_results, "WITH_A_PAGE", 10)
    begun.limited(max_search_results=20)
    pages = [f"{SITE}/{number}" for number in range(60)]
    begun.visit(f"{SITE}/", begun.page("Home", *results(15), *pages, text=FORM))
    begun.limited(max_search_results=20)  # as after a restart
    rows, most = begun.state.known.rows, list[int]()
    monkeypatch.setattr(begun.state.known, "rows", lambda first, last: most.append(last - first) or rows(first, last))
    for number, page in enumerate(pages[:20]):
        begun.visit(page, begun.page(f"Page {number}", *results(1, 100 + number), text=FORM))
    assert max(most) == 10
    assert known(begun, results(20, 100)) == 5  # 15 were known, and those that came during the count are counted once
