"""Explanation of when a page is visited, or why it is not: the decision in numbers."""

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np

from evercrawl.ask.changes.noises import NoiseHabit, Noises
from evercrawl.ask.rank.top import known
from evercrawl.ask.why.explanation import (
    Announcing,
    Belief,
    Origin,
    PageWeight,
    UnreadExpectation,
    VisitSummary,
    Weighed,
    Why,
    Worth,
)
from evercrawl.ask.why.feeders import FeedingPages, feeders
from evercrawl.ask.why.interest import wanted
from evercrawl.ask.why.outside import kept_out, outside
from evercrawl.ask.why.requisites import needed, requisite
from evercrawl.ask.why.waiting import ahead, hindrances, retry, robots_rule
from evercrawl.change import dates, gamma
from evercrawl.change.deaths import RETURNS
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.stored.derived.derived import Derived, asked
from evercrawl.model.stored.reader import Tell, visits
from evercrawl.model.view import View
from evercrawl.schedule.abilities import Places, Predicts, Priced, Tunable
from evercrawl.schedule.base import Policy
from evercrawl.schedule.pages import Pages
from evercrawl.store.journal.events import Visit
from evercrawl.store.quarantine import set_aside
from evercrawl.store.records import lasting
from evercrawl.store.records.records import NEAR
from evercrawl.types import NO_SLOT, OptOut, Outcome

_NEVER: Final = ("retired", "excluded")
"""States of pages for which no visit is planned."""


def why(view: View, url: str, most: int = 10, tell: Tell | None = None, derived: Derived | None = None) -> Why:
    """Return the explanation of `url`, which must be normalised, with up to `most` of the pages that feed it.

    Parameters
    ----------
    tell
        Progress callback while the journal is read, if it was not read before.
    derived
        The files derived from the journal, if they are open already.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    slot = view.state.find_one(url)
    if slot == NO_SLOT:
        return Why(url, view.now, *(requisite(view, url) or outside(view, url)))
    if derived is None:
        giving, habit = asked(view.partition, lambda made: _derived(view, slot, made, most), tell)
    else:
        giving, habit = _derived(view, slot, derived, most)
    policy = view.informed  # from here on the view has the estimates of the crawl
    slots, row = np.array([slot], np.uint32), _row(view, slot)
    pages = view.columns(slots)
    history = _history(view, slot, row) if row is not None else None
    alias = int(row["alias"]) if row is not None else NO_SLOT
    barred = kept_out(view, slot)
    state = "excluded" if barred else _state(view, slot, row)
    return Why(
        url,
        view.now,
        state,
        (barred,) if barred else tuple(_reasons(view, slot, state, history)),
        _other(view, row, alias),
        _origin(view, slot),
        history,
        _weight(view, slot, pages, giving, alias=alias != NO_SLOT),
        _belief(view, slot, pages),
        _worth(view, policy, slot, view.candidates(slots)) if state not in _NEVER else None,
        _weighed(view, slot) if state not in _NEVER and view.policy.weighs else None,
        _cut_links(view, row),
        _expected(view, slot) if row is None else None,
        habit,
        _optouts(view, row),
        needed(view, slot),
    )


def _derived(view: View, slot: int, derived: Derived, most: int) -> tuple[FeedingPages, NoiseHabit | None]:
    """Return a page's feeders and noise from the derived files."""
    return feeders(view, slot, derived, most), Noises(view.partition, derived.runs).habit(slot)


def _expected(view: View, slot: int) -> UnreadExpectation | None:
    expecting = view.expecting()
    if expecting is None or view.scheme.handout:
        return None
    slots, hosts = np.array([slot], np.uint32), np.array([view.state.known.row(slot)["host"]], np.uint32)
    cells = view.state.table.record.take(slots)
    told = expecting.prospect(cells, hosts)
    owed = expecting.owed(told, cells, hosts)
    return UnreadExpectation(
        int(told.read[0]), float(told.own[0]), float(told.doubt[0]), bool(told.ends[0]), bool(told.tries[0] > 0),
        bool(owed[0]), float(expecting.times(told, slots, cells, hosts)[0]),
    )  # fmt: skip


def _row(view: View, slot: int) -> Any:
    index = view.state.record_of(slot)
    return view.state.records.rows[index] if index is not None else None


def _state(view: View, slot: int, row: Any) -> str:
    """Return the state of a known page, in a word."""
    if row is None:
        return "waiting"
    outcome = Outcome(int(row["outcome"]))
    if outcome == Outcome.GONE:
        return "gone" if np.isfinite(view.earliest_at(np.array([slot], np.uint32))[0]) else "retired"
    if outcome in (Outcome.ERROR, Outcome.REFUSED, Outcome.REDIRECT):
        return outcome.label
    if row["alias"] != NO_SLOT:
        return "alias"
    return "near-duplicate" if row["flags"] & NEAR else "held"


def _other(view: View, row: Any, alias: int) -> str:
    """Return the URL of the page of which one is an alias or a near-duplicate; "" if there is none."""
    if alias == NO_SLOT and row is not None and row["flags"] & NEAR:
        event = view.partition.journal.read(int(row["event"]))
        alias = event.near if isinstance(event, Visit) else NO_SLOT
    return view.state.urls.get(alias) if alias != NO_SLOT else ""


def _cut_links(view: View, row: Any) -> int:
    """Return the number of links of the held content that were left out."""
    event = view.partition.journal.read(int(row["event"])) if row is not None and row["event"] else None
    return event.cut if isinstance(event, Visit) else 0


def _optouts(view: View, row: Any) -> tuple[str, ...]:
    event = view.partition.journal.read(int(row["event"])) if row is not None and row["event"] else None
    return OptOut(event.optouts).labels if isinstance(event, Visit) else ()


def _origin(view: View, slot: int) -> Origin:
    row = view.state.known.row(slot)
    source = int(row["source"])
    return Origin(
        view.state.instant(int(row["found"])),
        view.state.urls.get(source) if source != NO_SLOT else "",
        int(row["depth"]),
        int(row["hops"]),
    )


def _history(view: View, slot: int, row: Any) -> VisitSummary:
    outcome = Outcome(int(row["outcome"]))
    clean = outcome not in (Outcome.ERROR, Outcome.REFUSED, Outcome.TRUNCATED)
    clean = clean and (outcome != Outcome.GONE or row["status"] >= 400)
    last = None if clean else next(visits(view.partition, slot), None)
    changed_at = view.state.instant(int(row["changed"])) if row["changed"] else None
    return VisitSummary(
        outcome.label, int(row["status"]), view.state.instant(int(row["visited"])), last.error if last else "",
        int(row["visits"]), int(row["changes"]), int(row["misses"]), changed_at,
    )  # fmt: skip


def _reasons(view: View, slot: int, state: str, history: VisitSummary | None) -> list[str]:
    """Return sentences on why a known page is not visited now, and when it will be."""
    reasons = list[str]()
    if history is not None and history.error:
        rule = robots_rule(view, view.state.urls.get(slot)) if history.error.startswith("robots:") else ""
        reasons.append(f"{history.error}{f' ({rule})' if rule else ''}")
    if again := retry(view, slot):
        reasons.append(again)
    if why := set_aside(view.partition.disk).get(view.state.urls.get(slot)):
        reasons.append(f"set aside: evercrawl failed on it twice ({why}); see errors.log")
    return reasons if state in ("refused", "retired") else reasons + hindrances(view, slot)


def _weight(view: View, slot: int, pages: Pages, feeding: FeedingPages, *, alias: bool) -> PageWeight:
    share = float(view.importance[slot])
    back = _back(view, slot)
    giving = tuple(replace(feeder, gives=feeder.gives * back) for feeder in feeding.first)
    cash = float(pages.cash[0])
    return PageWeight(
        share,
        share * view.counted,
        None if alias else 1 + int(np.count_nonzero(view.importance > share)),
        view.counted,
        cash / view.total,
        _of_its_site(view, slot, cash, feeding.gives * back),
        giving,
        feeding.of,
        _most_off(view),
    )


def _most_off(view: View) -> float | None:
    """Return a bound on the error of one page's share: half of the bound of all, because all shares sum to 1."""
    total = view.error_bound.total
    return None if total is None else total / 2


def _weighed(view: View, slot: int) -> Weighed:
    times, saw = view.candidates.saw(slot)
    return Weighed(view.weight, times, **saw)


def _of_its_site(view: View, slot: int, cash: float, given: float) -> float:
    """Return the importance that a page gets as a page of its site, as a share of all importance.

    If the virtual page spends, its payments are not recorded by page: they are the part that links do not explain.
    """
    if view.scheme.handout:
        return max(float(view.importance[slot]) - given, 0.0)
    return (cash - float(view.state.table.cash[slot]) * _back(view, slot)) / view.total


def _back(view: View, slot: int) -> float:
    """Return the part of its importance that a page counts, because a page found gone may not be back."""
    row = _row(view, slot)
    return 1.0 if row is None else RETURNS ** int(row["misses"])


def _belief(view: View, slot: int, pages: Pages) -> Belief:
    shape, scale_s = float(pages.shape[0]), float(pages.scale_s[0])
    low, high = gamma.interval(shape, scale_s)
    row = view.state.accounts.sites[_site(view, slot)]
    policy = view.informed
    trust = policy.trust(int(pages.rows[0])) if isinstance(policy, Predicts) else None
    prior_shape, prior_scale_s = view.priors.prior(_site(view, slot))
    return Belief(
        shape / scale_s, low, high, shape, scale_s, prior_shape / prior_scale_s,
        dates.trusted(int(row["date_true"]), int(row["date_false"])),
        dates.trusted(int(row["listed_true"]), int(row["listed_false"])),
        known(view.fresh(pages)[0]),
        trust.believed > 0.5 if trust is not None else None, trust.nats if trust is not None else None,
        _announcing(view, slot, row), *_lasting(_row(view, slot)),
    )  # fmt: skip


def _lasting(row: Any) -> tuple[float | None, int]:
    """Return the lasting part of a page's changes, and the number of changes behind that estimate."""
    kept = lasting.START if row is None else int(row["lasting"])
    judged = lasting.judged(kept)
    return (float(lasting.part(np.array([kept]))[0]) if judged else None), judged


def _announcing(view: View, slot: int, row: Any) -> Announcing | None:
    """Return the record of a site's announcements; None if it never announced a change."""
    true, false = int(row["listed_true"]), int(row["listed_false"])
    if not true + false:
        return None
    part = AnnouncedDates(view.state.accounts).part(_site(view, slot))
    return Announcing(part, int(row["announced"]), int(row["unannounced"]), true, false)


def _worth(view: View, policy: Policy, slot: int, pages: Pages) -> Worth:
    first, here = ahead(view, slot)
    fresh, due_at = float(view.fresh(pages)[0]), float(view.due_at(pages)[0])
    stale = 1.0 if math.isnan(fresh) else 1.0 - fresh
    return Worth(
        view.config.policy,
        "byte" if view.in_bytes else "visit",
        known(policy.value(pages, view.context)[0]),
        known(view.price) if isinstance(policy, Priced) else None,
        float(pages.cost[0] + pages.cost_changed[0] * stale),
        known(due_at),
        known(view.earliest_at(pages.slot)[0]),
        first,
        here,
        *wanted(view, slot, never=math.isnan(pages.visited_at[0])),
        math.isinf(due_at),
        policy.ineffective_option(view.context) if isinstance(policy, Tunable) else "",
        policy.place(pages, view.context) if isinstance(policy, Places) else "",
        known(view.now - pages.visited_at[0]),
    )


def _site(view: View, slot: int) -> int:
    return int(view.state.site_of[int(view.state.known.row(slot)["host"])])
