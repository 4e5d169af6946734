"""Virtual cash: who has a share of it, and that none is made or lost whatever happens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.store.cash.accounts import Accounts


def test_sources_are_one_a_site():
    accounts = Accounts(handout=False)
    a, b = accounts.add_site(), accounts.add_site()
    assert (accounts.share(a), accounts.sources()) == (0.0, 0.0)
    for _ in range(4):
        assert accounts.join(a) == 0.0
    accounts.join(b)
    assert (accounts.share(a), accounts.share(b), accounts.sources()) == (0.25, 1.0, 2.0)
    accounts.leave(b)
    assert (accounts.share(b), accounts.sources()) == (0.0, 1.0)
    accounts.virtual = 5.0
    accounts.spend()
    assert accounts.virtual == 5.0


def test_what_was_given_before_is_not_a_newcomers():
    accounts = Accounts(handout=True)
    site = accounts.add_site()
    assert accounts.join(site) == 0.0
    accounts.spend()
    assert accounts.join(site) == 1.0  # its cell is lowered by as much
    assert accounts.share(site) == 1.0
    assert accounts.leave(site) == 1.0


@pytest.mark.parametrize(("pages", "in_turn"), [(False, False), (True, False), (True, True), (False, True)])
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(0.0, 1.0)), max_size=60))
def test_nothing_is_made_or_lost(pages, in_turn, steps):
    """Cells and shares and what the virtual page has are always one."""
    accounts = Accounts(handout=True, pages=pages, in_turn=in_turn)
    for site in range(4):
        accounts.add_site(trusted=site != 2)
    members: list[list[float]] = [[], [], [], []]  # the cells of each site's members
    for site, what, amount in steps:
        cells = members[site]
        if what == 0:
            cells.append(-accounts.join(site))
        elif cells and what == 1:
            cell = cells.pop() + accounts.leave(site)
            accounts.virtual += cell
        elif cells:
            moved = amount * (cells[0] + accounts.share(site))
            cells[0] -= moved
            accounts.virtual += moved
        accounts.spend()
        assert sum(map(sum, members)) + accounts.held() == pytest.approx(1.0, abs=1e-9)
        shares = [accounts.share(i) for i in range(4)]
        assert accounts.shares().tolist() == pytest.approx(shares)
        assert shares[2] == 0.0
        fixed = float(accounts.fixed_shares(np.arange(1, dtype=np.uint32)).sum())
        assert sum(map(sum, members)) + accounts.owed(fixed) == pytest.approx(0.0, abs=1e-9)


def test_as_published_every_page_is_given_as_much():
    accounts = Accounts(handout=True, pages=True)
    large, small = accounts.add_site(), accounts.add_site()
    for site in (large, large, large, small):
        accounts.join(site)
    accounts.spend()
    assert (accounts.share(large), accounts.share(small)) == (0.25, 0.25)
    assert accounts.join(small) == 0.25  # which it was not there to be given


def test_in_its_turn_the_virtual_page_waits_until_it_has_what_a_page_has():
    accounts = Accounts(handout=True, pages=True, in_turn=True)
    site = accounts.add_site()
    for _ in range(3):
        accounts.join(site)
    accounts.spend()
    accounts.virtual = 0.2
    accounts.spend()
    assert accounts.virtual == 0.2
    accounts.virtual = 0.25
    accounts.spend()
    assert accounts.virtual == 0.0


def test_it_becomes_what_was_saved():
    accounts, again = Accounts(handout=True), Accounts(handout=True)
    for site in (accounts.add_site(), accounts.add_site(), 0, 0, 1):
        accounts.join(site)
        accounts.spend()
    accounts.sites["date_true"][1] = 7
    again.restore(accounts.save())
    again.sites[:2] = accounts.sites[:2]  # which are a column of the snapshot
    assert again.save() == accounts.save()
    assert again.shares(np.array([1, 0])).tolist() == accounts.shares(np.array([1, 0])).tolist()
    accounts.virtual += 0.5
    again.virtual += 0.5
    accounts.spend()
    again.spend()
    assert (again.share(0), again.held()) == (accounts.share(0), accounts.held())


@pytest.mark.parametrize("handout", [False, True])
def test_only_trusted_sites_are_given_anything(handout):
    accounts = Accounts(handout=handout)
    for site, trusted in enumerate((True, False, True)):
        accounts.add_site(trusted=trusted)
        for _ in range(site + 1):
            accounts.join(site)
    accounts.spend()
    assert accounts.shares().tolist() == ([0.5, 0.0, 0.5 / 3] if handout else [1.0, 0.0, 1.0 / 3])
    assert [accounts.share(site) for site in range(3)] == accounts.shares().tolist()
    assert accounts.sources() == (0.0 if handout else 2.0)
    assert accounts.leave(1) == 0.0
    accounts.leave(1)
    assert accounts.held() == (1.0 if handout else 0.0)
    accounts.leave(0)
    assert accounts.sources() == (0.0 if handout else 1.0)


def test_beginning_anew_forgets_the_cash_and_keeps_the_members():
    accounts = Accounts(handout=True)
    for site in (0, 1):
        accounts.add_site()
        accounts.join(site)
    accounts.spend()
    accounts.total = 7.0
    accounts.join(0)
    accounts.sites["date_true"][1] = 3
    accounts.begin(handout=False, trusted=[True, True])
    assert (accounts.virtual, accounts.total, accounts.held()) == (0.0, 0.0, 0.0)
    assert accounts.shares().tolist() == [0.5, 1.0]
    assert accounts.join(1) == 0.0
    assert accounts.sites["date_true"][1] == 3
    accounts.begin(handout=True, trusted=[False, True])
    accounts.spend()
    assert accounts.shares().tolist() == [0.0, 0.5]
    assert accounts.held() == 1.0
