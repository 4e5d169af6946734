"""Crawl orders of surveys, compared by how soon each finds the important pages."""

from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say
from evercrawl.lab.papers.accuracy import importance
from evercrawl.lab.papers.collecting import ORDERS, collect
from evercrawl.lab.papers.webs import KINDS, read, sites_of, web_of
from evercrawl.lab.tables import percent
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

ASSERTED: Final = (
    ("pagerank", "in_degree"),
    ("pagerank", "breadth_first"),
    ("pagerank", "opic"),
    ("pagerank", "larger_sites"),
    ("opic", "breadth_first"),
    ("larger_sites", "breadth_first"),
)
"""The claims of surveys: the better order and the worse one."""
POINTS: Final = (0.1, 0.2, 0.5)
"""Shares of the pages read at which the collected importance is printed."""

_GRID: Final = np.round(np.linspace(0.02, 1.0, 50), 2)
_SEEDS: Final = 5  # seeds per crawl
_DRAWS: Final = 3  # crawls of each web, each from different seeds
_TRIES: Final = 12
_NEAR: Final = 0.5  # minimum reach of a draw of seeds, as a share of the largest reach of any draw
_FEW: Final = 3  # minimum number of sites at which larger-sites differs from breadth-first
_DRAWN: Final = ("power-law", "sites", "copying", "bow-tie")


class Curves(NamedTuple):
    """The share of importance collected after each share of visits in `_GRID`, and its mean over all visits."""

    at: Floats
    area: float


class Orders(Experiment):
    """How soon a crawl reaches the important pages, by order of the crawl.

    Without `--graph`, webs of several kinds are generated. `--graph` may name a folder: every NAME.edges.parquet in it
    is read. A crawl begins with five pages and reads each page once. Importance is PageRank on the whole web, as a
    share of what can be reached. In a file, the site of a page is the first folder of its path. Politeness is not
    modelled, although it is the reason to visit larger sites first: no large site is left over at the end.

    References
    ----------
    Cho, Garcia-Molina, Page (1998). Efficient crawling through URL ordering. Baeza-Yates, Castillo, Marin, Rodriguez
    (2005). Crawling a country: better strategies than breadth-first for web page ordering. Both as reported in a survey
    of web crawling: Olston, Najork (2010).
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Crawl each web in every order, from several seeds, and compare areas under the curves."""
        found = Results("Importance collected, by order of the crawl")
        curves = dict[str, dict[str, Curves]]()
        for name, web in _webs(options, self.pages).items():
            curves[name] = compare(name, web, options.seed, say)
            found.rows += _rows(name, curves[name])
            found.panels.append(_panel(name, curves[name]))
        found.claims = _claims(curves)
        return found


def compare(name: str, web: Web, seed: int, say: Say) -> dict[str, Curves]:
    """Return the curve of each order, averaged over crawls from several draws of seeds."""
    truth = importance(web)
    draws = seeds_of(web, seed)
    sites = web.site is not None and len(np.unique(web.site)) >= _FEW
    found = dict[str, Curves]()
    for order in ORDERS:
        if order == "larger_sites" and not sites:
            continue
        say(f"{name}, {order}")
        each = [collected(truth[collect(web, order, seeds, truth, seed)]) for seeds in draws]
        found[order] = Curves(np.mean([one.at for one in each], axis=0), float(np.mean([one.area for one in each])))
    return found


def collected(importance: Floats) -> Curves:
    """Return the curve of a crawl from the importance of its pages in the order in which they were read.

    >>> collected(np.array([0.4, 0.1, 0.0, 0.0])).area
    0.95
    """
    below: Floats = np.cumsum(importance) / importance.sum()
    return Curves(below[np.maximum((_GRID * len(below)).astype(int) - 1, 0)], float(below.mean()))


def seeds_of(web: Web, seed: int) -> list[Ints]:
    """Return the seeds of several crawls: random pages with links that reach at least half as much as the best draw."""
    random, linking = np.random.default_rng((seed, 29)), np.flatnonzero(web.out)
    tried = [random.choice(linking, min(_SEEDS, len(linking)), replace=False) for _ in range(_TRIES)]
    reach = [len(collect(web, "breadth_first", seeds, np.zeros(0))) for seeds in tried]
    return [seeds for seeds, count in zip(tried, reach, strict=True) if count >= _NEAR * max(reach)][:_DRAWS]


def _webs(options: LabOptions, pages: int) -> dict[str, Web]:
    if options.graph is not None:
        return {file.name.split(".")[0]: _read(file) for file in _files(options.graph)}
    kinds = (options.kind,) if options.kind else _DRAWN
    assert set(_DRAWN) <= set(KINDS), "every kind can be generated"
    return {kind: web_of(replace(options, kind=kind), pages) for kind in kinds}


def _files(graph: Path) -> list[Path]:
    if not graph.is_dir():
        return [graph]
    files = sorted(graph.glob("*.edges.parquet"))
    if not files:
        raise ConfigError(f"--graph {graph} is a folder without any NAME.edges.parquet")
    return files


def _read(file: Path) -> Web:
    web, site = read(file), sites_of(file)
    return web if site is None or len(site) != web.pages else replace(web, site=site)


def _rows(name: str, curves: dict[str, Curves]) -> list[Row]:
    return [
        {"graph": name, "order": order, "area": one.area, "read": float(part), "collected": float(share)}
        for order, one in curves.items()
        for part, share in zip(_GRID, one.at, strict=True)
    ]


def _panel(name: str, curves: dict[str, Curves]) -> Panel:
    lines = list[PanelCurve]()
    for order in ORDERS:  # all orders, so that each has the same colour in all panels
        y: list[float] = (100 * curves[order].at).tolist() if order in curves else []
        x: list[float] = (100 * _GRID[: len(y)]).tolist()
        lines.append(PanelCurve(order.replace("_", " "), x, y, ours=order == "push"))
    return Panel(name, "pages read, %", "importance collected, %", lines)


def _claims(curves: dict[str, dict[str, Curves]]) -> list[Claim]:
    claims = list[Claim]()
    for better, worse in ASSERTED:
        pairs = {name: (each[better], each[worse]) for name, each in curves.items() if {better, worse} <= set(each)}
        claims += [_claim(f"{_said(better, worse)}: {name}", *pair) for name, pair in pairs.items()]
        claims.append(_over_all(_said(better, worse), list(pairs.values())))
    ours = [(each["push"], max((each[o] for o in ("breadth_first", "in_degree", "opic")), key=lambda c: c.area))
            for each in curves.values()]  # fmt: skip
    claims.append(
        _over_all("push, our default, is better than the best of breadth-first, in-degree and OPIC", ours, "(ours)")
    )
    return claims


def _said(better: str, worse: str) -> str:
    return f"{better} is better than {worse}".replace("_", "-")


def _claim(claim: str, better: Curves, worse: Curves) -> Claim:
    at = [int(np.searchsorted(_GRID, point)) for point in POINTS]
    said = "; ".join(f"at {percent(_GRID[i])} read, {percent(better.at[i])} vs. {percent(worse.at[i])}" for i in at)
    return Claim(claim, "", f"area {better.area:.4f} vs. {worse.area:.4f}; {said}", better.area > worse.area)


def _over_all(claim: str, pairs: list[tuple[Curves, Curves]], printed: str = "") -> Claim:
    if not pairs:
        return Claim(f"{claim}: all graphs", printed, "no graph with sites", None)
    means = [Curves(np.mean([p[i].at for p in pairs], axis=0), float(np.mean([p[i].area for p in pairs])))
             for i in (0, 1)]  # fmt: skip
    one = _claim(f"{claim}: all graphs", *means)
    won = sum(better.area > worse.area for better, worse in pairs)
    return one._replace(printed=printed, found=f"{one.found}; better on {won} of {len(pairs)} graphs")
