"""Contestants: policies with parameters and conditions; each is a row of a table."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from evercrawl import catalog, schedule
from evercrawl.errors import ConfigError
from evercrawl.lab.polling.polling import USUAL, Conditions
from evercrawl.schedule import Policy

_DAY_S: Final = 86_400.0


class Contestant(NamedTuple):
    """One row of a comparison.

    Attributes
    ----------
    label
        The row's name.
    policy
        Its name in the catalogue.
    options
        Parameters that differ from the defaults; "{cycle}" stands for the length of a cycle.
    conditions
        The conditions of the run.
    like
        Name of the corresponding published row; "" for none.
    ours
        Whether the row is one of ours, which a promise may cover.
    start
        The initial price as a multiple of the optimum's; 0 to start without one.
    """

    label: str
    policy: str
    options: Mapping[str, float | str] = {}
    conditions: Conditions = USUAL
    like: str = ""
    ours: bool = False
    start: float = 0.0

    def made(self, budget: float) -> Policy:
        """Return the policy, for a budget of that many visits per page per day."""
        cycle_s = f"{round(_DAY_S / budget)}s"
        options = {name: cycle_s if value == "{cycle}" else value for name, value in self.options.items()}
        kind: type[Any] = catalog.pick(schedule.policies, Policy, self.policy)
        made: Policy = kind(**options)
        return made

    def named(self, name: str) -> bool:
        """Return whether a given name is that of the policy, or the row's label, or the first parts of the label.

        >>> one = Contestant("nutch_adaptive, a cycle", "nutch_adaptive")
        >>> one.named("nutch_adaptive"), one.named("nutch_adaptive, a cycle"), one.named("nutch")
        (True, True, False)
        """
        return name == self.policy or f"{self.label}, ".startswith(f"{name}, ")

    @property
    def there(self) -> bool:
        """Whether a policy of this name exists."""
        try:
            catalog.pick(schedule.policies, Policy, self.policy)  # type: ignore[type-abstract]
        except ConfigError:
            return False
        return True


KNOWN: Final = Conditions(known=True)
_FINE: Final = Conditions(steps=25)
_fine: Final = partial(replace, _FINE)
_GAMMA: Final = "price_gamma"
PLUGGED: Final = "evercrawl.lab.contests.plugged:Plugged"
STARTS: Final = (0.01, 100.0)
"""Initial prices, as multiples of the optimum's."""

_GROUPINGS: Final = (
    ("pf", "pf", 0), ("p", "p", 0), ("lam", "lam", 0), ("p/lam", "p_over_lam", 0), ("pf, clustered", "pf", 50),
)  # fmt: skip


_ESTIMATED: Final = ("irregular", "last_modified", "log_exact", "online_counts", "online_steps", "online_momentum")
_PLUGGED: Final = (
    ("posterior mean", "mean"), ("Thompson", "thompson"), ("Cho (13)", "log_corrected"), ("X/T", "naive"),
)  # fmt: skip


def _finely(*contestants: Contestant) -> tuple[Contestant, ...]:
    """Return the contestants with more choices per tick: in a long cycle, a page may need several visits per tick."""
    usual = [(each.conditions.ticks, each.conditions.steps) == (USUAL.ticks, USUAL.steps) for each in contestants]
    return tuple(
        each._replace(conditions=replace(each.conditions, steps=_FINE.steps)) if plain else each
        for each, plain in zip(contestants, usual, strict=True)
    )


INDEX: Final = (
    *(
        Contestant(
            f"{policy}, known rates, start price x {times:g}", policy, {}, replace(KNOWN, frontier=True),
            "index, known rates", ours=True, start=times,
        )
        for policy in ("price", _GAMMA)
        for times in STARTS
    ),
    Contestant("price_gamma", _GAMMA, {}, _FINE, "index, learned", ours=True),
    Contestant("price", "price", {}, _FINE, "index, learned", ours=True),
    Contestant("price_gamma, one prior", _GAMMA, {}, _fine(by_host=False), "index, learned, one prior for all"),
    *(
        Contestant(f"plug-in, {named}", PLUGGED, {"estimator": key}, _FINE, f"index, {named}")
        for named, key in _PLUGGED
    ),
    Contestant("price, half dated", "price", {}, _fine(dated=0.5), "index, learned, half of the pages dated"),
    Contestant("price, all dated", "price", {}, _fine(dated=1.0), "index, learned, all pages dated", ours=True),
)  # fmt: skip
"""Our index, by its knowledge; `price_gamma` is `price` without the harmonic part, like the published rows."""

SYSTEMS: Final = _finely(
    Contestant("price", "price", {}, USUAL, "index, learned", ours=True),
    Contestant("price_gamma", _GAMMA, {}, USUAL, "index, learned"),
    Contestant("notices, told all", "notices", {}, Conditions(known=True, ticks=1000)),
    Contestant("optimal", "optimal"),
    Contestant("optimal, rates by (13)", "optimal", {"estimator": "log_corrected"}),
    *(Contestant(f"optimal, {name}", "optimal", {"estimator": name}) for name in _ESTIMATED),
    Contestant("optimal, last_modified, all dated", "optimal", {"estimator": "last_modified"}, Conditions(dated=1.0)),
    Contestant("azar, random", "azar", {"spacing": "random"}, USUAL, "Azar, learned, random"),
    Contestant("azar, even", "azar", {"spacing": "even"}),
    Contestant("lambda_crawl, random", "lambda_crawl", {}, USUAL, "LambdaCrawl, learned, random"),
    Contestant("lambda_crawl, even", "lambda_crawl", {"spacing": "even"}),
    Contestant("marked_point", "marked_point"),
    *(
        Contestant(f"azar, {kind}, known rates", "azar", {"spacing": kind}, KNOWN, f"Azar, {kind}")
        for kind in ("even", "random")
    ),
    Contestant("lambda_crawl, even, known rates", "lambda_crawl", {"spacing": "even"}, replace(KNOWN, steps=100),
               "LambdaCrawl, even"),
    Contestant("lambda_crawl, random, known rates", "lambda_crawl", {}, KNOWN, "LambdaCrawl, random"),
    Contestant("marked_point, 10 visits a page, known rates", "marked_point", {"each": 10}, KNOWN,
               "Wolf, 10 visits a page"),
    Contestant("marked_point, 1 visit a page, known rates", "marked_point", {"each": 1}, KNOWN,
               "Wolf, 1 visit a page"),
    *(
        Contestant(f"partition, {short}", "partition", {"grouping": key, "steps": steps, "distance": "roots"})
        for short, key, steps in _GROUPINGS
    ),
    *(
        Contestant(f"partition, {short}, known rates", "partition",
                   {"grouping": key, "steps": steps, "distance": "roots"}, KNOWN, f"Carney {short}")
        for short, key, steps in _GROUPINGS
    ),
    Contestant("importance_proportional", "importance_proportional", {}, USUAL, "f ~ w"),
    Contestant("uniform", "uniform", {}, USUAL, "uniform"),
    Contestant("cycle", "cycle", {}, USUAL, "uniform"),
    Contestant("proportional", "proportional", {}, USUAL, "Coffman (34), f ~ lam"),
    Contestant("polling", "polling", {}, USUAL, "Coffman (34), f ~ lam"),
    Contestant("bayes_classes", "bayes_classes"),
    Contestant("sampling", "sampling"),
    Contestant("webfountain", "webfountain"),
    Contestant("chile, known rates", "chile", {}, KNOWN, "Chile, known rates"),
    Contestant("chile", "chile"),
    Contestant("tianwang", "tianwang", {}, USUAL, "Tianwang"),
    Contestant("rpuc", "rpuc", {}, USUAL, "RPUC"),
    Contestant("nutch_adaptive, 30 days", "nutch_adaptive", {}, USUAL, "Nutch, start 30 days"),
    Contestant("nutch_adaptive, a cycle", "nutch_adaptive", {"start": "{cycle}"}, USUAL, "Nutch, start one cycle"),
    Contestant("nutch_adaptive, all used", "nutch_adaptive", {"work_conserving": 1}),
    Contestant("stormcrawler_adaptive", "stormcrawler_adaptive", {}, USUAL, "StormCrawler"),
    Contestant("stormcrawler, all used", "stormcrawler_adaptive", {"work_conserving": 1}),
    Contestant("greedy", "greedy"),
    Contestant("xyleme", "xyleme"),
)  # fmt: skip
"""Every policy that revisits pages, with its default parameters unless the label says otherwise."""
