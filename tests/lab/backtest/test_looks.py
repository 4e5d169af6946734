"""How often a replay asks a policy is told by what sways it."""

from typing import ClassVar

import numpy as np
import pytest

from evercrawl.lab.backtest.announced import looks
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.model.policy.policies import names, policy_of
from evercrawl.schedule import Pages, Policy
from evercrawl.schedule.base import Context, InvalidatedBy
from evercrawl.types import Floats


class Plain(Policy):
    def value(self, pages: Pages, context: Context) -> Floats:
        return np.zeros(len(pages.slot))


class Still(Plain):
    invalidated_by: ClassVar[InvalidatedBy] = "nothing"


def test_who_says_nothing_is_asked_at_each_tick():
    assert looks(Plain(), ReplaySetting(0.1)).ticks == 1
    assert looks(Still(), ReplaySetting(0.1)).ticks > 1


def test_where_changes_are_announced_all_are_asked_at_each_tick():
    assert looks(Still(), ReplaySetting(0.1, lastmod=0.5)).ticks == 1


def test_who_is_told_what_is_stale_is_asked_at_each_tick():
    class Told(Still):
        clairvoyant = True

    assert looks(Told(), ReplaySetting(0.1)).ticks == 1


@pytest.mark.parametrize("discovery", ["born", "links"])
def test_polls_are_chosen_ahead_where_only_waiting_counts_and_no_page_is_found_by_them(discovery):
    steady = {name for name in names() if looks(policy_of(name), ReplaySetting(0.1, discovery=discovery)).steady}
    assert steady == ({"uniform", "cycle"} if discovery == "born" else set())


def test_only_prices_are_stirred_by_batches():
    stirred = {name for name in names() if looks(policy_of(name), ReplaySetting(0.1)).stirred}
    assert stirred == {"price", "price_gamma", "bayes_classes"}
