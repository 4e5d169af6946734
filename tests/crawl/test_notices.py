"""What was announced, until somebody looks."""

import numpy as np

from evercrawl.change import dates
from evercrawl.crawl.notices import Notices
from evercrawl.store.accounts import Accounts


def test_what_is_announced_counts_as_much_as_its_site_was_right():
    accounts = Accounts(handout=False)
    honest, liar = accounts.add_site(), accounts.add_site()
    accounts.sites["listed_true"][honest] = accounts.sites["listed_false"][liar] = 20
    notices = Notices(accounts)
    slots, sites = np.array([3, 5, 9], np.uint32), np.array([honest, liar, honest], np.uint32)
    assert notices.of(slots, sites).tolist() == [0.0, 0.0, 0.0]
    notices.listed([3, 5], [100.0, 200.0])
    assert notices.of(slots, sites).tolist() == [dates.notice(20, 0), dates.notice(0, 20), 0.0]
    assert dates.notice(20, 0) > dates.notice(0, 20)


def test_a_visit_settles_it():
    notices = Notices(Accounts(handout=False))
    notices.listed([3], [100.0])
    notices.listed([3], [150.0])
    assert (notices.date(3), notices.first(3)) == (150.0, 100.0)
    notices.visited(3)
    notices.visited(3)
    assert (notices.date(3), notices.first(3)) == (0.0, 0.0)


def test_how_much_a_site_announces_is_told_once_it_did():
    notices, sites = Notices(Accounts(handout=False)), np.array([2, 0], np.uint32)
    notices.learn(2, told=False, changed=True, belief=(1.0, 10.0), passed_s=0.0)
    assert notices.recall(sites) is None
    for _ in range(8):
        notices.learn(2, told=True, changed=True, belief=(1.0, 10.0), passed_s=0.0)
    believed, mute = notices.recall(sites).tolist()
    assert mute == 0.0
    assert 0.5 < believed < 1.0
    assert notices.recall(np.array([7], np.uint32)).tolist() == [0.0]
