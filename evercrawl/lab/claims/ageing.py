"""Importance by age in each part of the bow-tie, and in-degree over time, on recorded links."""

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.errors import ConfigError
from evercrawl.importance.sites.cycles import cycles
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say, judged
from evercrawl.lab.engine.recorded import RecordedWeb
from evercrawl.lab.papers.accuracy import importance, ranks_of
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats

PARTS: Final = ("core", "in", "out", "other")
_LOOKS: Final = 10
_QUARTERS: Final = 4
_FEW: Final = 20  # minimum number of pages of a part; smaller parts are skipped
_CLEAR: Final = 0.1  # minimum rank correlation that counts as a dependence


class Ageing(Experiment):
    """How importance depends on age in each part of the bow-tie, and in-degree on time (`--graph FILE`, a link log).

    A page's age is the time since the log first names it. The core is the largest strongly connected component. Pages
    of `in` lead to the core, and the core leads to pages of `out`. Importance is PageRank, in units of the mean page.

    References
    ----------
    Meng, Wang, Yan (2006), section 1.5 of the survey: importance against age, and in-degree against time. Broder et al.
    (2000). Graph structure in the web.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Analyse the links at ten instants of the log's last nine tenths."""
        if options.graph is None:
            raise ConfigError("ageing reads a link log: name one, such as --graph SITE.links.parquet")
        log = RecordedWeb.read(options.graph, 1, begins=0.1)
        born, rows = log.named_at(), list["Row"]()
        for look in range(_LOOKS + 1):
            if look:
                log.some_change(log.pages / _LOOKS)
            say(f"look {look + 1} of {_LOOKS + 1}")
            rows += _looked(look, log.now(), log.at, born)
        found = Results(f"Age, importance and in-degree, {options.graph.name}", rows, _claims(rows))
        found.panels = [_over_time(rows), _by_age(rows)]
        return found


def parts(web: Web) -> NDArray[np.int64]:
    """Return the bow-tie part of each page, as an index into `PARTS`, shape (n,).

    >>> web = Web.of(5, np.array([0, 1, 2, 3]), np.array([1, 2, 1, 4]))
    >>> [PARTS[part] for part in parts(web)]
    ['in', 'core', 'core', 'other', 'other']
    """
    source, target = web.source.astype(np.int64), web.target.astype(np.int64)
    label = cycles(web.pages, source, target)
    core = label == np.bincount(label).argmax()
    leads, led = _spread(core, target, source), _spread(core, source, target)
    return np.select([core, leads, led], [0, 1, 2], 3)


def _spread(begin: NDArray[np.bool_], source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which pages can be reached from the pages in `begin`, shape (n,)."""
    reached = begin.copy()
    while True:
        more = reached.copy()
        more[target[reached[source]]] = True
        if (more == reached).all():
            return reached
        reached = more


def _looked(look: int, web: Web, now: float, born: Floats) -> list[Row]:
    """Return a row for each part and each quarter of its pages by age, youngest first."""
    there = (born <= now) & ((web.into > 0) | (web.out > 0))
    part, true, found = parts(web), importance(web) * web.pages, list["Row"]()
    for k, name in enumerate(PARTS):
        mine = np.flatnonzero(there & (part == k))
        if len(mine) < _FEW:
            continue
        age = now - born[mine]
        tied = _correlation(age, true[mine]), _correlation(age, web.into[mine].astype(np.float64))
        for quarter, some in enumerate(np.array_split(mine[np.argsort(age, kind="stable")], _QUARTERS)):
            found.append({
                "look": look, "at": now, "part": name, "quarter": quarter, "pages": len(some),
                "age_days": float((now - born[some]).mean() / 86_400.0), "importance": float(true[some].mean()),
                "in_degree": float(web.into[some].mean()), "importance_by_age": tied[0], "in_degree_by_age": tied[1],
            })  # fmt: skip
    return found


def _correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation; 0 if either column is constant."""
    first, second = ranks_of(one), ranks_of(other)
    return float(np.corrcoef(first, second)[0, 1]) if np.ptp(first) and np.ptp(second) else 0.0


def _claims(rows: list[Row]) -> list[Claim]:
    last = max(int(row["look"]) for row in rows) if rows else 0
    end = {str(row["part"]): row for row in rows if row["look"] == last}
    claims = list[Claim]()
    for what, column in (("importance", "importance_by_age"), ("in-degree", "in_degree_by_age")) if end else ():
        tied = {part: float(row[column]) for part, row in end.items()}
        told = "rank correlation with age: " + ", ".join(f"{part} {value:.2f}" for part, value in tied.items())
        name = f"older pages have a higher {what} in each part of the bow-tie"
        claims.append(judged(name, "", told, [value > _CLEAR for value in tied.values()]))
    course = _course(rows)
    grows = [after >= before for before, after in pairwise(course)]
    if grows:
        told = ", ".join(f"{value:.2f}" for value in course)
        claims.append(judged("the mean in-degree grows with time", "", f"at each instant: {told}", grows))
    return claims


def _course(rows: list[Row]) -> list[float]:
    """Return the mean in-degree of all pages at each instant analysed."""
    course = list[float]()
    for look in sorted({int(row["look"]) for row in rows}):
        here = [(float(row["in_degree"]), int(row["pages"])) for row in rows if row["look"] == look]
        course.append(sum(value * pages for value, pages in here) / sum(pages for _, pages in here))
    return course


def _over_time(rows: list[Row]) -> Panel:
    course = _course(rows)
    curve = PanelCurve("all pages", [float(look) for look in range(len(course))], course, ours=True)
    return Panel("in-degree against time", "time, in tenths of the period analysed", "mean in-degree", [curve])


def _by_age(rows: list[Row]) -> Panel:
    last = max((int(row["look"]) for row in rows), default=0)
    curves = list[PanelCurve]()
    for name in PARTS:
        here = [row for row in rows if row["look"] == last and row["part"] == name]
        if here:
            ages, values = ([float(row[column]) for row in here] for column in ("age_days", "importance"))
            curves.append(PanelCurve(name, ages, values, ours=name == "core"))
    return Panel("importance against age", "age, days", "importance, times the mean page", curves)
