"""Linear growth of cash between visits, as interpolation assumes, and a picture of interpolation."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from evercrawl.importance.windows.base import TURN
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say, judged
from evercrawl.lab.engine.engine import Moves, OpicEngine, VisitWatcher
from evercrawl.lab.engine.picking import CyclePicker, GreedyPicker, Picker, RandomPicker
from evercrawl.lab.papers.accuracy import importance
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import listed
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

_LOOKS: Final = 40  # observations of all cash per turn
_SAMPLED: Final = 4000  # pages that are observed
_LEAST: Final = 4  # minimum number of observations within an interval; shorter intervals are skipped
_BINS: Final = 10
_MEAN_OFF: Final = 0.03  # maximum distance of the average from the straight line
_PAGE_OFF: Final = 0.1  # maximum distance of the median interval
_TENTH: Final = 10
_WARM: Final = 0.4  # share of the turns that is skipped: first visits move the initial cash
_WINDOW: Final = 4 * TURN


class Shapes(NamedTuple):
    """The growth of cash between visits.

    Attributes
    ----------
    time, cash
        Of each observation: the share of the interval that had passed, and the share of its cash that had arrived.
    interval
        Of each observation: the number of its interval, from 0.
    page
        The page of each interval.
    """

    time: Floats
    cash: Floats
    interval: Ints
    page: Ints


class Linear(Experiment):
    """Whether a page's cash grows linearly between visits, as interpolation assumes, with a picture.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.5 and figure 1.
    """

    pages = 20_000

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit a static web in three orders, and observe the cash of pages between visits."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        found, best = Results(f"How cash grows between visits, {web.pages:,} pages"), _best(importance(web))
        orders: dict[str, Picker] = {
            "random": RandomPicker(options.seed), "cycle": CyclePicker(options.seed), "greedy": GreedyPicker(),
        }  # fmt: skip
        for name, picker in orders.items():
            say(name)
            noted = _Noted(web, picker, turns, options.seed)
            shapes = noted.shapes()
            found.rows += _rows(name, "all", shapes, np.ones(len(shapes.page), bool))
            found.rows += _rows(name, "tenth", shapes, best[shapes.page])
            if name == "cycle":
                found.panels.append(noted.picture())
        found.panels.insert(0, _panel(found.rows))
        found.claims = _claims(found.rows, list(orders))
        return found


class _Noted(VisitWatcher):
    """A watcher that records visits and, between them, the cash of sampled pages."""

    def __init__(self, web: Web, picker: Picker, turns: int, seed: int) -> None:
        draw = np.random.default_rng((seed, 29))
        self._pages = np.sort(draw.permutation(web.pages)[:_SAMPLED])
        self._visits: list[Moves] = []
        opic, looks = OpicEngine(web, picker, watchers=[self]), list[tuple[float, Floats]]()
        for visits in np.diff(np.linspace(0, turns * web.pages, turns * _LOOKS + 1).astype(int)).tolist():
            opic.run(visits)
            looks.append((opic.total, opic.earned[self._pages]))
        self._at = np.array([at for at, _ in looks])
        self._cash = np.array([cash for _, cash in looks])
        self._from = self._at[int(_WARM * len(self._at))]

    def watch(self, visits: Moves) -> None:
        """Record the visits."""
        self._visits.append(visits)

    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the cash unchanged: this watcher estimates nothing."""
        return earned

    def measures(self) -> tuple[Ints, Floats, Floats]:
        """Return the visits to the sampled pages, page by page: index among these pages, cash and clock."""
        page, earned, clock = (np.concatenate(each) for each in zip(*self._visits, strict=True))
        place = np.searchsorted(self._pages, page)
        kept = self._pages[np.minimum(place, len(self._pages) - 1)] == page
        place, earned, clock = place[kept], earned[kept], clock[kept]
        order = np.lexsort((clock, place))
        return place[order], earned[order], clock[order]

    def shapes(self) -> Shapes:
        """Return the growth of cash in each interval with enough observations."""
        time, cash, number, page = list[Floats](), list[Floats](), list[Ints](), list[int]()
        for place, begin, end, earned in self._intervals():
            first, last = np.searchsorted(self._at, [begin, end], side="right")
            inside = slice(int(first), int(last) - 1)
            if earned <= 0 or inside.stop - inside.start < _LEAST:
                continue
            time.append((self._at[inside] - begin) / (end - begin))
            cash.append(self._cash[inside, place] / earned)
            number.append(np.full(len(time[-1]), len(page)))
            page.append(int(self._pages[place]))
        return Shapes(np.concatenate(time), np.concatenate(cash), np.concatenate(number), np.array(page))

    def _intervals(self) -> Iterator[tuple[int, float, float, float]]:
        place, earned, clock = self.measures()
        after = np.flatnonzero((place[1:] == place[:-1]) & (clock[:-1] >= self._from)) + 1
        for k in after.tolist():
            yield int(place[k]), float(clock[k - 1]), float(clock[k]), float(earned[k])

    def picture(self) -> Panel:
        """Return figure 1: the cash that came to a page, and interpolation's straight lines between its visits."""
        place, earned, clock = self.measures()
        chosen = int(np.argsort(self._cash.mean(axis=0))[-max(len(self._pages) // _TENTH // 2, 1)])
        at = place == chosen
        seen = np.cumsum(earned[at])
        visits = np.arange(1.0, float(at.sum()) + 1)
        moved: Ints = np.floor(np.interp(self._at, clock[at], visits, left=0.0)).astype(np.int64)
        came = np.concatenate([[0.0], seen])[moved] + self._cash[:, chosen]
        end = float(clock[at][-1])
        cut = max(end - _WINDOW, float(clock[at][0]))
        level = float(np.interp(cut, clock[at], seen))
        return Panel(
            "interpolation, one page", "G: cash moved so far", "cash that came to the page",
            [PanelCurve("came", self._at.tolist(), came.tolist()),
             PanelCurve("between visits, interpolated", clock[at].tolist(), seen.tolist(), ours=True),
             PanelCurve("the window, T = 4 turns", [cut, end], [level, level])],
        )  # fmt: skip


def _best(true: Floats) -> np.ndarray:
    """Return which pages belong to the most important tenth, shape (n,)."""
    return np.asarray(true >= np.sort(true)[-max(len(true) // _TENTH, 1)])


def _rows(order: str, whom: str, shapes: Shapes, chosen: np.ndarray) -> Iterator[Row]:
    """Yield the average growth over intervals, and the distance of the median interval from the line."""
    kept = chosen[shapes.interval]
    time, cash, interval = shapes.time[kept], shapes.cash[kept], shapes.interval[kept]
    off = np.sqrt(np.bincount(interval, (cash - time) ** 2) / np.maximum(np.bincount(interval), 1))
    single = float(np.median(off[np.unique(interval)])) if len(interval) else float("nan")
    which = np.minimum((time * _BINS).astype(int), _BINS - 1)
    for k in np.unique(which).tolist():
        here = which == k
        yield {
            "order": order, "pages": whom, "intervals": int(chosen.sum()), "time": float(time[here].mean()),
            "cash": float(cash[here].mean()), "off": single,
        }  # fmt: skip


def _panel(rows: list[Row]) -> Panel:
    curves = [PanelCurve("linear", [0.0, 1.0], [0.0, 1.0], ours=True)]
    for name in dict.fromkeys((str(row["order"]), str(row["pages"])) for row in rows):
        at = [row for row in rows if (row["order"], row["pages"]) == name]
        label = f"{name[0]}, {'all pages' if name[1] == 'all' else 'important tenth'}"
        curves.append(PanelCurve(label, [float(row["time"]) for row in at], [float(row["cash"]) for row in at]))
    return Panel("cash between visits", "share of the interval, in G", "share of its cash, average", curves)


def _claims(rows: list[Row], orders: list[str]) -> list[Claim]:
    most, single = dict[str, float](), dict[str, tuple[float, float]]()
    for order in orders:
        here = [row for row in rows if row["order"] == order]
        most[order] = max(abs(float(row["cash"]) - float(row["time"])) for row in here)
        single[order] = (
            next(float(row["off"]) for row in here if row["pages"] == "all"),
            next(float(row["off"]) for row in here if row["pages"] == "tenth"),
        )
    return [
        judged("a page's cash grows linearly between visits, on average over pages and intervals", "",
               "largest distance of the average from the line, as a share of the interval's cash: "
               + ", ".join(f"{order} {value:.3f}" for order, value in most.items()),
               [value <= _MEAN_OFF for value in most.values()]),
        judged("the cash of each single page grows linearly", "",
               "distance from the line (root mean square) in the median interval, all pages / most important tenth: "
               + ", ".join(f"{order} {listed(value, 2).replace(', ', ' / ')}" for order, value in single.items()),
               [each <= _PAGE_OFF for value in single.values() for each in value]),
    ]  # fmt: skip
