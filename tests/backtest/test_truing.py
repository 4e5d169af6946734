"""P(fresh) on a recorded history: as often true as it is said."""

import numpy as np
import pytest

from evercrawl.backtest.replay import replay
from evercrawl.backtest.setting import Setting
from evercrawl.histories import load
from evercrawl.schedule.exposure import Exposure


def error(history) -> float:
    return replay(history, "price", Setting(0.01)).calibration.expected_error


def test_what_is_said_of_copies_is_truer_for_being_compared_with_what_was_found():
    [history] = load("peps")
    trued, told = error(history), Exposure.fresh
    with pytest.MonkeyPatch.context() as patch:
        none = np.zeros(1)
        patch.setattr(Exposure, "fresh", lambda self: told(self._replace(level=none, slope=none + 1)))
        plain = error(history)
    assert trued < 0.05
    assert trued < 0.8 * plain
