"""What rendering has brought is counted by site, within bounds."""

import pytest

from evercrawl.store import render_gains
from evercrawl.store.journal.events import RENDER_GAINED, RENDER_VAIN
from evercrawl.store.render_gains import MOST_GAINED, TRIED, RenderGains, SiteGain


def learned(*flags: int) -> SiteGain:
    gains = RenderGains()
    for each in flags:
        gains.learn(3, each)
    return gains.of(3)


def test_a_site_that_becomes_another_one_is_soon_known():
    assert learned(*[RENDER_VAIN] * 1000).pays is False
    assert learned(*[RENDER_VAIN] * 1000, RENDER_GAINED, RENDER_GAINED).pays
    once = [RENDER_GAINED] * 1000
    most = TRIED * (1 + MOST_GAINED)
    assert learned(*once, *[RENDER_VAIN] * (most - 1)).pays
    assert not learned(*once, *[RENDER_VAIN] * most).pays
    assert learned(*once, *[RENDER_VAIN] * 2 * most) == SiteGain(0, 4 * 2 * TRIED)


def test_sites_beyond_the_bound_of_which_nothing_was_learned_for_longest_are_forgotten(monkeypatch):
    monkeypatch.setattr(render_gains, "MOST_SITES", 3)
    gains = RenderGains()
    for site in (1, 2, 3, 1, 4):
        gains.learn(site, RENDER_GAINED)
    assert [site for site in range(6) if gains.of(site).gained] == [1, 3, 4]
    again = RenderGains.restored(gains.save())
    again.learn(5, RENDER_GAINED)  # in the same order as before
    assert [site for site in range(6) if again.of(site).gained] == [1, 4, 5]
    assert again.of(1) == SiteGain(2, 0)


def test_damaged_counts_are_noticed():
    gains = RenderGains()
    gains.learn(1, RENDER_GAINED)
    with pytest.raises(ValueError, match="buffer size"):
        RenderGains.restored(gains.save()[:-1])
    assert len(RenderGains.restored(b"")) == 0
