"""What a crawl may expect of its budget: where it is, and what more or less of it would bring."""

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
"""Budgets that are looked at, in units of the present one."""
LATELY: Final = 1 / 3
"""Part of the crawl's age by whose visits its pace is told, a day at most."""
LONGEST_S: Final = 86_400.0


class Spent(NamedTuple):
    """How fast a crawl has been going of late.

    Attributes
    ----------
    within_s
        The time that is looked at; it ends with the last visit.
    refreshes_per_s, new_per_s
        Visits to pages that had been visited before, and first visits, a second.
    budget
        What the former cost, in units of the budget a second.
    freshness
        How fresh the copies held now were in that time, by what they are worth, as far as visits showed.
    """

    within_s: float
    refreshes_per_s: float
    new_per_s: float
    budget: float
    freshness: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a crawl, or a site of it, may expect.

    Attributes
    ----------
    at, site
        When, in seconds since the epoch; "" for the whole crawl.
    unit
        What the budget counts: "fetches" or "bytes".
    copies, pages, unread
        Pages whose content is held; pages that were visited and will be again; known pages that were never visited.
    polite_per_s
        Visits a second that the rest of their hosts leaves room for; infinity where there is none.
    refresh_after_s, again_per_s
        The least time between two visits of a page, by crawl.toml; and how many visits a second that leaves room for.
    fresh
        Probability that a copy is fresh now: mean over the copies, by what they are worth.
    spent
        The pace of late.
    policy, curve
        The policy that the crawl follows; whose `now` and `points` are: "price", where it goes by a price itself, else
        "best", those of the best order there is.
    now
        What is to be expected in the long run at this pace; None where no page was visited twice of late.
    points
        The same for several budgets.
    line
        Those, `now`, and more between them where they are far apart: enough to draw the curve, by budget.
    planned
        What is to be expected at this pace of the rates that the policy has planned; None where it plans none.
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
    """Return what the crawl may expect.

    Parameters
    ----------
    view
        The crawl; it may run meanwhile.
    site
        Registrable domain, host or URL of the one site to look at; "" for all.
    budgets
        Units a second; by default eighths to eightfold of what is spent, or what visits each page between once in a
        hundred days and once in an hour where nothing was of late.

    Raises
    ------
    ConfigError
        The crawl does not know the site, or holds no copies that are worth something; the message says what to do.
    """
    number = _site(view, site) if site else None
    held, unread, fresh = _held(view, number)
    if not (held.copies & (held.pages.importance > 0)).any():
        where = f"of {view.state.sites[number]} " if number is not None else ""
        raise ConfigError(f"no copies {where}are held yet, so there is nothing to plan; crawl on, and ask again")
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
    """Return the pages that share the budget: those that were visited, and are not given up."""
    return _held(view, None)[0]


def _planned(view: View, held: PlannedPages, budget: float) -> AtRates | None:
    """Return what the rates bring that the policy plans; None where it plans none."""
    if not isinstance(view.policy, Allocates):
        return None
    policy = view.informed
    assert isinstance(policy, Allocates), "it is the same"
    per_s = policy.rates(held.pages.slot)
    return at_rates(held, per_s, budget, at_random=policy.at_random) if (per_s > 0).any() else None


def _usual(budget: float, round_: float) -> list[float]:
    """Return budgets around the present one; without one, around what it takes to visit all pages once."""
    if budget > 0:
        return [budget * factor for factor in FACTORS]
    return [round_ / (days * 86_400.0) for days in (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 1 / 24)]


def _polite_per_s(view: View, held: PlannedPages) -> float:
    """Return how many visits a second hosts leave room for, by the crawl's own rest alone."""
    config, hosts = view.config, len(np.unique(view.records(held.pages.slot)[1]["host"]))
    return hosts * config.connections_per_host / config.delay_s if config.delay_s > 0 else math.inf


def _again_per_s(held: PlannedPages) -> float:
    """Return how many visits a second there are where each page is visited as soon as it may be."""
    return float((held.times / held.wait_s).sum()) if (held.wait_s > 0).all() else math.inf


def _site(view: View, name: str) -> int:
    url = normalise(name) or normalise(f"http://{name}")
    wanted = site_of_host(hostname(url)) if url is not None else name
    if wanted not in view.state.sites:
        raise ConfigError(f"the crawl does not know {name}; evercrawl top --sites lists those it knows best")
    return view.state.sites.index(wanted)


def _held(view: View, number: int | None) -> tuple[PlannedPages, int, float]:
    """Return the pages that share the budget, how many were never visited, and how fresh the copies are."""
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
    """Yield the slots of all known pages, or those of one site, some at a time."""
    if number is None:
        yield from view.pieces()
        return
    hosts = view.state.known.rows()["host"]
    mine = np.flatnonzero(view.state.site_of[hosts] == number).astype(np.uint32)
    for first in range(0, len(mine), PIECE):
        yield mine[first : first + PIECE]


def joined(pieces: list[Pages]) -> Pages:
    """Return columns one after another, but for those that only some policies need."""
    names = "slot", "visited_at", "importance", "cash", "shape", "scale_s", "cost", "cost_changed", "neg_log_unchanged"
    columns: dict[str, Any] = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in names}
    back = [piece.comeback_scale_s for piece in pieces]
    if any(each is not None for each in back):
        columns["comeback_scale_s"] = np.concatenate([
            np.zeros(len(piece.slot)) if each is None else each for piece, each in zip(pieces, back, strict=True)
        ])  # fmt: skip
    return Pages(**columns)


def pace(view: View, held: PlannedPages, number: int | None = None) -> Spent:
    """Return how fast the crawl has been going of late, or has visited the site with that number.

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
    """Return how fresh copies were in a span of time, as far as visits showed, by what they are worth.

    A visit that found no change shows that the copy was fresh since the one before; one that found a change, that it
    was for as long as is to be expected then. What was since the last visit, nobody knows but by expectation.

    Parameters
    ----------
    held
        The pages, one by one.
    visits
        Those to pages visited before, that began in the span.
    since, until
        The span, in seconds since the epoch.
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
    begun_s = np.maximum(last_at - pages.visited_at, 0.0)  # where it was visited before the span, and not in it
    old_s, age_s = np.maximum(begun_s, 1e-9), np.maximum(begun_s + until - last_at, 1e-9)
    fresh_s += _part(pages, every, age_s) * age_s - _part(pages, every, old_s) * old_s
    told = float(worth @ fresh_s) / max(float(worth.sum()) * (until - since), 1e-300)
    return min(told, 1.0)  # instants are kept in sixteenths of a second, which count in a crawl that has just begun


def _part(pages: Pages, place: Ints, tau: Floats) -> Floats:
    """Return for which part of an interval after a visit copies are expected to be fresh, shape (n,)."""
    shape, scale_s = pages.shape[place], pages.scale_s[place]
    return parts(shape, scale_s, tau).fresh / tau + survival(shape, scale_s, tau)


def _lately(view: View, since: float, number: int | None) -> Iterator[Visit]:
    """Yield the visits to a site, or to all, since an instant; what was never asked for is none."""
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
