"""P(fresh) on a recorded history: as often true as it is said."""

import numpy as np
import pytest

from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.histories import load
from evercrawl.schedule.policies.price.price import Price


def error(history) -> float:
    return replay(history, "price", ReplaySetting(0.01)).calibration.expected_error


def untrued(policy, pages, context):
    none = np.zeros(1)
    return policy.clocks.exposures(pages, context.now)._replace(level=none, slope=none + 1).fresh()


def test_what_is_said_of_copies_is_truer_for_being_compared_with_what_was_found():
    [history] = load("peps")
    trued = error(history)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Price, "fresh", untrued)
        plain = error(history)
    assert trued < 0.034
    assert trued < 0.8 * plain
