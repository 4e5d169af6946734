"""The compiled windows keep, visit by visit, what the windows of the library keep."""

import numpy as np
import pytest

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Account
from evercrawl.importance.ledger.estimates import shares
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.windows.base import Pasts
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.improved import Improved
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.two_windows import TwoWindows
from evercrawl.importance.windows.variable import Variable
from evercrawl.lab.engine.engine import OpicEngine, VisitWatcher
from evercrawl.lab.engine.picking import CyclePicker, GreedyPicker, RandomPicker, xyleme
from evercrawl.lab.engine.windows import looking_on
from evercrawl.lab.papers.accuracy import importance
from evercrawl.simulate.graphs import bow_tie, power_law

BORN = np.finfo(float).tiny
WINDOWS = [
    Exponential(2.3), Exponential(18.0), Interpolation(2.0), Interpolation(9.2), TwoWindows(18.4, 2.3),
    Variable(2), Variable(4), Variable(16), Fixed(6.0, 5), Fixed(18.4, 16), Fixed(30.0, 6), Improved(2.0, 5),
    Improved(9.2, 16), Improved(30.0, 6),
]  # fmt: skip


class OneByOne(VisitWatcher):
    """A window of the library, asked about each visit by itself."""

    def __init__(self, window, pages) -> None:
        self._window = window
        self.accounts = [Account(0.0, 0.0, born=BORN)] * pages

    def watch(self, visits):
        for page, earned, clock in zip(*(column.tolist() for column in visits), strict=True):
            past = self._window.add(self.accounts[page]._replace(cash=earned), clock)
            self.accounts[page] = Account(0.0, *past, born=BORN)

    def estimate(self, earned, total):
        width = self._window.width
        kept = np.array([a.kept or (0.0,) * width for a in self.accounts]).reshape(-1, width)
        columns = (np.array([getattr(a, name) for a in self.accounts]) for name in ("history", "mark"))
        return self._window.shares(Pasts(*columns, kept, np.full(len(self.accounts), BORN)), earned, total)


@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: f"{type(w).__name__}-{w.length:g}-{w.width}")
@pytest.mark.parametrize("picker", [GreedyPicker, RandomPicker, xyleme])
def test_many_visits_at_once_leave_what_they_leave_one_by_one(window, picker):
    web = power_law(50, 1)
    pair = OneByOne(window, 50), looking_on(window, 50)
    opic = OpicEngine(web, picker(), watchers=pair)
    for visits in (7, 43, 100, 400, 450):
        opic.run(visits)
        slow, fast = (watcher.estimate(opic.earned, opic.total) for watcher in pair)
        assert fast == pytest.approx(slow, rel=1e-11, abs=1e-17)


@pytest.mark.parametrize("window", [Variable(8), Fixed(20.0, 12), Improved(20.0, 12)])
def test_measures_held_are_counted(window):
    slow, fast = OneByOne(window, 40), looking_on(window, 40)
    OpicEngine(bow_tie(40, 2), xyleme(2), watchers=[slow, fast]).run(900)
    held = [sum(at > 0 for at in a.kept[2::2]) for a in slow.accounts]
    assert fast.held() == pytest.approx(np.mean(held) + isinstance(window, Variable))


@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: f"{type(w).__name__}-{w.length:g}-{w.width}")
def test_every_window_finds_the_importance_of_links_that_stay(window):
    web = power_law(200, 3)
    watcher = looking_on(window, 200)
    opic = OpicEngine(web, CyclePicker(3), watchers=[watcher])
    opic.run(200 * 60)
    found = watcher.estimate(opic.earned, opic.total)
    assert np.corrcoef(found, importance(web))[0, 1] > 0.9


@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: f"{type(w).__name__}-{w.length:g}-{w.width}")
def test_a_ledger_says_the_same(window):
    web = power_law(40, 5)
    ledger = Ledger(AOPIC(tax=0.15, window=window))
    for page in range(40):
        ledger.add(page, cash=1 / 40)
    order = CyclePicker(5).next(400, web)  # all are visited once before any window is over
    for page in order.tolist():
        ledger.visit(page, web.target[web.start[page] : web.start[page + 1]].tolist())
    watcher = looking_on(window, 40)
    opic = OpicEngine(web, CyclePicker(5), watchers=[watcher])
    opic.run(400)
    told = shares(ledger)
    assert watcher.estimate(opic.earned, opic.total) == pytest.approx([told[page] for page in range(40)], rel=1e-9)
