"""Outlook of a crawl: its present pace and freshness, and what other budgets would bring."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.ask.plan.curve import BudgetCurve, PlannedPages, Point
from evercrawl.ask.plan.rates import AtRates, at_rates
from evercrawl.errors import ConfigError
from evercrawl.model.columns import HEAD_BYTES
from evercrawl.model.importance_view import PIECE
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.rules.waits import wait_s
from evercrawl.model.view import View
from evercrawl.parse.sites import site as site_of_host
from evercrawl.parse.urls import hostname, normalise
from evercrawl.schedule.abilities import Allocates, Priced
from evercrawl.schedule.formulas.index import parts, survival
from evercrawl.schedule.pages import Pages
from evercrawl.store.journal.events import CHANGED, Visit
from evercrawl.store.journal.segment import segments
from evercrawl.store.records.retired import retired
from evercrawl.types import Floats, Ints, Outcome, Slots

FACTORS: Final = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Budgets examined by default, in units of the present one."""
LATELY: Final = 1 / 3
"""Recent part of the crawl's age from which the pace is measured; at most a day."""
LONGEST_S: Final = 86_400.0


class Spent(NamedTuple):
    """The recent pace of a crawl.

    Attributes
    ----------
    within_s
        Length of the period examined; it ends with the last visit.
    refreshes_per_s, new_per_s
        Repeat visits, and first visits, per second.
    budget
        Cost of the repeat visits, in units of the budget per second.
    freshness
        Mean freshness in that period of the copies held now, weighted by worth, as far as visits showed.
    """

    within_s: float
    refreshes_per_s: float
    new_per_s: float
    budget: float
    freshness: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """The outlook of a crawl, or of one of its sites.

    Attributes
    ----------
    at, site
        Instant, in seconds since the epoch; the site, "" for the whole crawl.
    unit
        Unit of the budget: "fetches" or "bytes".
    copies, pages, unread
        Pages whose content is held; visited pages that will be visited again; known pages never visited.
    polite_per_s
        Visits per second that the delays of their hosts allow; infinity if there are none.
    refresh_after_s, again_per_s
        The least time between two visits of a page, from crawl.toml; the visits per second that it allows.
    fresh
        Probability that a copy is fresh now: mean over the copies, weighted by worth.
    spent
        The recent pace.
    policy, curve
        The policy of the crawl; the policy of `now` and `points`: "price" if the crawl's policy has a price, otherwise
        "best", the optimal order.
    now
        Expected long-run figures at the present pace; None if no page was visited twice recently.
    points
        The same for several budgets.
    line
        `points` and `now`, with more points between those far apart: enough to draw the curve, by budget.
    planned
        Expected figures at the present pace for the rates that the policy has planned; None if it plans none.
    """

    at: float
    site: str
    unit: str
    copies: int
    pages: int
    unread: int
    polite_per_s: float
    refresh_after_s: float
    again_per_s: float
    fresh: float
    spent: Spent
    policy: str
    curve: str
    now: Point | None
    points: tuple[Point, ...]
    line: tuple[Point, ...]
    planned: AtRates | None


def outlook(view: View, site: str = "", budgets: Sequence[float] = ()) -> Outlook:
    """Return the outlook of a crawl.

    Parameters
    ----------
    view
        The crawl; it may run meanwhile.
    site
        Registrable domain, host or URL of the site to examine; "" for all.
    budgets
        Units per second; by default one eighth to eight times the present budget, or, if nothing was spent recently,
        budgets that visit each page between once in a hundred days and once an hour.

    Raises
    ------
    ConfigError
        The crawl does not know the site, or holds no copies of positive worth; the message says what to do.
    """
    number = _site(view, site) if site else None
    held, unread, fresh = _held(view, number)
    if not (held.copies & (held.pages.importance > 0)).any():
        where = f"of {view.state.sites[number]} " if number is not None else ""
        raise ConfigError(f"no copies {where}are held yet, so there is nothing to plan; crawl further, and ask again")
    policy, some = policy_of(view.config.policy, view.config.policy_options), held.sampled()
    curve = BudgetCurve(some, 0.0, policy if isinstance(policy, Priced) else None)
    spent = pace(view, held, number)
    now = curve.spending(spent.budget, view.price if view.price > 0 else 1.0) if spent.budget > 0 else None
    pages = len(held.times)
    asked = [*budgets] or _usual(spent.budget, pages * float(np.mean(held.pages.cost)))
    points = tuple(curve.points(asked))
    return Outlook(
        at=view.now,
        site=view.state.sites[number] if number is not None else "",
        unit="bytes" if view.in_bytes else "fetches",
        copies=int(np.count_nonzero(held.copies)),
        pages=pages,
        unread=unread,
        polite_per_s=_polite_per_s(view, held),
        refresh_after_s=view.config.refresh_after_s,
        again_per_s=_again_per_s(held),
        fresh=fresh,
        spent=spent,
        policy=view.config.policy,
        curve="price" if isinstance(policy, Priced) else "best",
        now=now,
        points=points,
        line=tuple(curve.through([*points, *([now] if now is not None else [])])),
        planned=_planned(view, some, spent.budget) if spent.budget > 0 else None,
    )


def held_pages(view: View) -> PlannedPages:
    """Return the pages that share the budget: visited pages that are not given up."""
    return _held(view, None)[0]


def _planned(view: View, held: PlannedPages, budget: float) -> AtRates | None:
    """Return what the rates planned by the policy bring; None if it plans none."""
    if not isinstance(view.policy, Allocates):
        return None
    policy = view.informed
    assert isinstance(policy, Allocates), "it is the same"
    per_s = policy.rates(held.pages.slot)
    return at_rates(held, per_s, budget, at_random=policy.at_random) if (per_s > 0).any() else None


def _usual(budget: float, round_: float) -> list[float]:
    """Return budgets around the present one; without one, around the cost of visiting all pages once."""
    if budget > 0:
        return [budget * factor for factor in FACTORS]
    return [round_ / (days * 86_400.0) for days in (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 1 / 24)]


def _polite_per_s(view: View, held: PlannedPages) -> float:
    """Return the visits per second that the crawl's own delay between requests to a host allows."""
    config, hosts = view.config, len(np.unique(view.records(held.pages.slot)[1]["host"]))
    return hosts * config.connections_per_host / config.delay_s if config.delay_s > 0 else math.inf


def _again_per_s(held: PlannedPages) -> float:
    """Return the visits per second if each page is visited as soon as it may be."""
    return float((held.times / held.wait_s).sum()) if (held.wait_s > 0).all() else math.inf


def _site(view: View, name: str) -> int:
    url = normalise(name) or normalise(f"http://{name}")
    wanted = site_of_host(hostname(url)) if url is not None else name
    if wanted not in view.state.sites:
        raise ConfigError(f"the crawl does not know {name}; evercrawl top --sites lists those it knows best")
    return view.state.sites.index(wanted)


def _held(view: View, number: int | None) -> tuple[PlannedPages, int, float]:
    """Return the pages that share the budget, the number of unread pages, and the freshness of the copies."""
    pieces, copies, waits, unread, fresh = list[Pages](), list[Any](), list[Any](), 0, 0.0
    for slots in _slots(view, number):
        seen, rows = view.records(slots)
        unread += int(np.count_nonzero(~seen))
        kept = seen & ~retired(rows)
        if kept.any():
            pages = view.awaited(slots[kept])
            still = view.fresh(pages)
            fresh += float(np.nansum(still * pages.importance))
            pieces.append(pages)
            copies.append(~np.isnan(still))
            waits.append(wait_s(rows["misses"][kept], view.config.refresh_after_s))
    whole = joined(pieces or [view.awaited(np.zeros(0, np.uint32))])
    held = np.concatenate([*copies, np.zeros(0, np.bool_)])
    worth = float(whole.importance[held].sum())
    times = np.ones(len(held))
    return (
        PlannedPages(whole, held, np.concatenate([*waits, np.zeros(0)]), times),
        unread,
        fresh / worth if worth > 0 else 0.0,
    )


def _slots(view: View, number: int | None) -> Iterator[Slots]:
    """Yield the slots of all known pages, or of those of one site, in batches."""
    if number is None:
        yield from view.pieces()
        return
    hosts = view.state.known.hosts()
    mine = np.flatnonzero(view.state.site_of[hosts] == number).astype(np.uint32)
    for first in range(0, len(mine), PIECE):
        yield mine[first : first + PIECE]


def joined(pieces: list[Pages]) -> Pages:
    """Return concatenated columns, without those that only some policies need."""
    names = "slot", "visited_at", "importance", "cash", "shape", "scale_s", "cost", "cost_changed", "neg_log_unchanged"
    columns: dict[str, Any] = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in names}
    back = [piece.comeback_scale_s for piece in pieces]
    if any(each is not None for each in back):
        columns["comeback_scale_s"] = np.concatenate([
            np.zeros(len(piece.slot)) if each is None else each for piece, each in zip(pieces, back, strict=True)
        ])  # fmt: skip
    return Pages(**columns)


def pace(view: View, held: PlannedPages, number: int | None = None) -> Spent:
    """Return the recent pace of the crawl, or of its visits to the site `number`.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    until = view.state.last_at()
    within_s = max(min(LATELY * (until - view.state.epoch), LONGEST_S), 1e-9)
    visits = list(_lately(view, until - within_s, number))
    again = [event for event in visits if event.visits > 1]
    spent = sum(HEAD_BYTES + event.wire_bytes for event in again) if view.in_bytes else len(again)
    fresh = freshness_of_late(held, again, until - within_s, until)
    return Spent(within_s, len(again) / within_s, (len(visits) - len(again)) / within_s, spent / within_s, fresh)


def freshness_of_late(held: PlannedPages, visits: Sequence[Visit], since: float, until: float) -> float:
    """Return the mean freshness of copies in a period, as far as visits showed, weighted by worth.

    A visit that found no change shows that the copy was fresh since the visit before. After a visit that found a
    change, and for the time since the last visit, the expected time of being fresh counts.

    Parameters
    ----------
    held
        The pages, none of them sampled.
    visits
        The repeat visits that began in the period.
    since, until
        The period, in seconds since the epoch.
    """
    pages = held.pages
    worth = np.where(held.copies, pages.importance, 0.0)
    place_of = {slot: place for place, slot in enumerate(pages.slot.tolist())}
    mine = [event for event in visits if event.slot in place_of]
    place = np.array([place_of[event.slot] for event in mine], np.int64)
    at = np.array([event.at for event in mine])
    tau = np.maximum([event.interval_s for event in mine], 1e-9) if mine else np.zeros(0)
    changed = np.array([bool(event.flags & CHANGED) for event in mine], np.bool_)
    still, part = survival(pages.shape[place], pages.scale_s[place], tau), _part(pages, place, tau)
    found = np.where(changed, (part - still) / np.maximum(1.0 - still, 1e-12), 1.0)
    fresh_s = np.bincount(place, found * np.minimum(tau, at - since), len(worth)).astype(np.float64)
    last_at = np.full(len(worth), since)
    np.maximum.at(last_at, place, at)
    every = np.arange(len(worth))
    begun_s = np.maximum(last_at - pages.visited_at, 0.0)  # for pages visited before the period and not in it
    old_s, age_s = np.maximum(begun_s, 1e-9), np.maximum(begun_s + until - last_at, 1e-9)
    fresh_s += _part(pages, every, age_s) * age_s - _part(pages, every, old_s) * old_s
    told = float(worth @ fresh_s) / max(float(worth.sum()) * (until - since), 1e-300)
    return min(told, 1.0)  # instants are stored in sixteenths of a second, which matters in a new crawl


def _part(pages: Pages, place: Ints, tau: Floats) -> Floats:
    """Return the part of an interval after a visit for which copies are expected to be fresh, shape (n,)."""
    shape, scale_s = pages.shape[place], pages.scale_s[place]
    return parts(shape, scale_s, tau).fresh / tau + survival(shape, scale_s, tau)


def _lately(view: View, since: float, number: int | None) -> Iterator[Visit]:
    """Yield the visits to a site, or to all sites, since an instant, without refused ones."""
    for event in _newest(view, since):
        if event.outcome != Outcome.REFUSED and (number is None or view.state.site_of[event.host] == number):
            yield event


def _newest(view: View, since: float) -> Iterator[Visit]:
    """Yield the visits since an instant, file by file of the journal, the newest first."""
    journal, upto = view.partition.journal, None
    for segment in reversed(segments(view.partition.disk)):
        older = False
        for pointer, _, event in journal.replay(segment.start):
            if upto is not None and pointer >> 8 >= upto:
                break
            if isinstance(event, Visit):
                older = older or event.at < since
                if event.at >= since:
                    yield event
        if older:
            return
        upto = segment.start
