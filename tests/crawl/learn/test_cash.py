"""What a visit does to the cash of one page and of those it links to, by the real learner."""

import numpy as np
import pytest

from evercrawl.store.cash.transfers import unpack
from evercrawl.store.journal.events import HAS_LINKS, Lost, Visit
from evercrawl.types import NO_SLOT

SITE = "http://example.org"


def slot_of(made, url: str) -> int:
    return made.state.urls.get_many(range(made.state.known.count)).index(url)


def row_of(made, url: str):
    return made.state.records.rows[made.state.record_of(slot_of(made, url))]


def cell(made, url: str) -> float:
    return float(made.state.table.cash[slot_of(made, url)])


def last_visit(made) -> Visit:
    return [event for _, _, event in made.partition.journal.replay() if isinstance(event, Visit)][-1]


def columns(made):
    return made.columns(np.arange(made.state.known.count, dtype=np.uint32))


def test_a_page_too_coarse_to_give_a_little_gives_nothing(made):
    """Its cell is -1/3, which has no 32 bits; what is left over then is nobody's to give, visit after visit."""
    made.seed(f"{SITE}/", f"{SITE}/a", f"{SITE}/b")
    for path in ("/", "/a", "/b") * 3:
        made.visit(f"{SITE}{path}", made.page(path, f"{SITE}/out"))
    before = float(row_of(made, f"{SITE}/a")["importance"])
    for _ in range(300):
        made.visit(f"{SITE}/a", made.page("/a", f"{SITE}/out"))
    assert float(row_of(made, f"{SITE}/a")["importance"]) == before == pytest.approx(1 / 3)
    made.state.cashbook.audit()


@pytest.mark.parametrize("status", [301, 302])
def test_a_ring_of_redirects_does_not_blow_up(made, status):
    made.seed(f"{SITE}/", f"{SITE}/a", f"{SITE}/b")
    for _ in range(60):
        made.visit(f"{SITE}/", made.page("Home", "/a"))
        made.visit(f"{SITE}/a", b"", status, location="/b")
        made.visit(f"{SITE}/b", b"", status, location="/a")
    total = sum(float(row_of(made, f"{SITE}{path}")["importance"]) for path in ("/", "/a", "/b"))
    assert total < 13.0  # 0.85 goes round, as between two pages that link to each other alone
    assert not (row_of(made, f"{SITE}/a")["alias"] != NO_SLOT and row_of(made, f"{SITE}/b")["alias"] != NO_SLOT)
    made.state.cashbook.audit()


def test_a_redirect_beyond_the_limit_leaves_what_was_given(made):
    """It is a visit in vain: the links that the page had still hold, and their cash."""
    made.seed(f"{SITE}/0")
    for hop in range(10):
        made.visit(f"{SITE}/{hop}", b"", 302, location=f"/{hop + 1}")
    made.visit(f"{SITE}/10", made.page("Ten", "/kept"))
    links, given = int(row_of(made, f"{SITE}/10")["event"]), cell(made, f"{SITE}/kept")
    made.visit(f"{SITE}/10", b"", 302, location="/11")
    assert last_visit(made).error.startswith("redirect: more than 10")
    assert not last_visit(made).flags & HAS_LINKS
    assert int(row_of(made, f"{SITE}/10")["event"]) == links
    made.visit(f"{SITE}/10", made.page("Ten again", "/other"))
    assert given > 0
    assert cell(made, f"{SITE}/kept") == pytest.approx(0.0, abs=1e-7)


def test_what_a_lost_page_has_had_is_not_lost(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a"))
    before = columns(made)
    made.partition.remember(Lost(0, 0, made.now, (0, 0, 1), "test"))
    after = columns(made)
    assert after.importance.tolist() == pytest.approx(before.importance.tolist())
    assert after.cash.tolist() == before.cash.tolist()
    made.visit(f"{SITE}/", made.page("Home", "/b"))
    assert cell(made, f"{SITE}/a") == pytest.approx(0.0, abs=1e-7)
    assert unpack(last_visit(made).transfer).takes_back
    made.state.cashbook.audit()
