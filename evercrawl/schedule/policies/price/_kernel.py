"""The price policy's inner loops, compiled: values, due times and freshness from the columns of pages."""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.kernels.prefetch import prefetch
from evercrawl.schedule.clocks._chances import log1p
from evercrawl.schedule.clocks._exposure_kernel import (
    WORDS,
    CopyBelief,
    Mixture,
    Tables,
    by_age,
    mixture,
    tables,
)
from evercrawl.schedule.policies.price._deaths import BACK_SHAPE, dying, weight_back
from evercrawl.schedule.policies.price._worth import announced, due_after, heard, parts
from evercrawl.schedule.shared import _price_layout as layout
from evercrawl.schedule.shared._price_layout import (
    ALWAYS,
    ANNOUNCED,
    COMEBACK,
    FOUND_AT,
    HOST_RATIO,
    OPTIONAL,
    OWED,
    OWED_TIMES,
    TERMS,
)  # fmt: skip

_NOTHING: Final = 1e-300
_HALVINGS: Final = 40
_NEAR: Final = 0.1  # tolerance of the search for a due time, as a fraction of the precision
_LEAST: Final = 1e-6  # minimum of a probability and of its complement
_FLOATS: Final = pointer(np.float64)
_COLUMNS: Final = (pointer(np.uint32), _FLOATS, i64, i64)
"""Slots, the other columns in one array, the number of pages, and the flags of the optional columns."""


class PriceColumns(NamedTuple):
    """The columns of `Pages` that the price needs."""

    row: Any
    visited_at: Any
    weight: Any
    shape: Any
    scale: Any
    cost: Any
    changed: Any
    notice: Any
    recall: Any
    host_ratio: Any
    found_at: Any
    comeback: Any
    owed: Any


class Terms(NamedTuple):
    """The terms that do not depend on the page; `assess` documents each."""

    now: float
    price: float
    patience: float
    theta: float
    theta_new: float
    never: float
    close: float
    known: float
    deaths: float


@compiled
def _terms(t: Any) -> Terms:
    """Return the terms that entries receive as an array."""
    return Terms(
        t[layout.NOW], t[layout.PRICE], t[layout.PATIENCE], t[layout.THETA], t[layout.THETA_NEW], t[layout.NEVER],
        t[layout.CLOSE], t[layout.KNOWN], t[layout.DEATHS],
    )  # fmt: skip


@compiled
def _on_host(s: Terms, c: PriceColumns, i: int) -> Terms:
    """Return the terms on a page's host, where the price differs by the host's ratio."""
    if len(c.host_ratio) == 0:
        return s
    price = s.price * c.host_ratio[i]
    return Terms(s.now, price, s.patience, s.theta, s.theta_new, s.never, s.close, s.known, s.deaths)


@compiled
def _given(rows: Any, given: int, k: int) -> Any:
    """Return optional column k; an empty one if it is absent."""
    before = 0
    for other in range(k):
        before += given >> other & 1
    return rows[ALWAYS + before][: rows.shape[1] * (given >> k & 1)]


@compiled
def _columns(numbers: Any, columns: Any, n: int, given: int) -> PriceColumns:
    """Return the columns that entries receive as `_COLUMNS`."""
    rows = view(columns, (ALWAYS + OPTIONAL, n))  # the last rows may be absent
    return PriceColumns(
        view(numbers, n), rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], _given(rows, given, ANNOUNCED),
        _given(rows, given, HOST_RATIO), _given(rows, given, FOUND_AT), _given(rows, given, COMEBACK),
        _given(rows, given, OWED),
    )  # fmt: skip


@compiled
def _recall(c: PriceColumns, i: int, told: CopyBelief, both: CopyBelief) -> float:
    """Return the announced fraction of the events that make a copy invalid; deaths are never announced."""
    if len(c.recall) == 0:
        return 0.0
    return float(c.recall[i] * (told.shape / told.scale) / (both.shape / both.scale))


@compiled
def _told(c: PriceColumns, i: int, now: float, known: float, t: Tables) -> Mixture:
    """Return the state of a copy, including its folder's clock unless its rate is known in seconds."""
    if c.shape[i] > known:
        plain = by_age(c.visited_at[i], c.shape[i], c.scale[i], now)
        return Mixture(plain, plain, 0.0)
    return mixture(np.int64(c.row[i]), c.visited_at[i], c.shape[i], c.scale[i], now, t)


@compiled
def _see(c: PriceColumns, t: Tables) -> None:
    """Prefetch the learned state of pages, then of their folders, which is scattered in memory."""
    for i in range(len(c.row)):
        if c.row[i] < len(t.pages):
            prefetch(t.pages, np.int64(c.row[i]))
    for i in range(len(c.row)):
        if c.row[i] < len(t.pages):
            prefetch(t.folders, np.int64(t.pages[np.int64(c.row[i])].folder))


@compiled
def _longing(c: PriceColumns, first: int, t: Any) -> float:
    """Return the worth of a second of age for weight 1; update the usual weight by the pages from `first` on."""
    known, wanted, few = t[layout.KNOWN], t[layout.WANTED], t[layout.FEW]
    total, seen, given = 0.0, 0, False
    for i in range(first, len(c.row)):
        given = given or c.shape[i] > known
        if not math.isnan(c.visited_at[i]):
            total += c.weight[i] / c.cost[i]
            seen += 1
    if seen:
        t[layout.WEIGHED] += min(seen / few, 1.0) * (total / seen - t[layout.WEIGHED])
    return 0.0 if given or not t[layout.WEIGHED] > 0.0 else wanted / t[layout.WEIGHED]


@compiled
def _value_of_new(c: PriceColumns, i: int, s: Terms) -> float:
    """Return the worth of a first visit: the page has the age `patience`, or that since discovery, and costs both.

    The more certain its rate, the longer the assumed wait, up to a copy that will last: a page known to change seldom
    is worth a first visit, however little another visit after `patience` would be worth.
    """
    told = dying(by_age(s.now, c.shape[i], c.scale[i], s.now), 0.0, s.deaths)
    a, b, waited = told.shape, told.scale, s.patience
    if len(c.found_at) > 0 and s.now - c.found_at[i] > waited:
        waited = s.now - c.found_at[i]
    if a > 1.0:
        fresh, _, _, _ = parts(a, b, waited * a, 0.0)
        harmonic, _, _, _ = parts(a, b, waited, 1.0)
        worth = (1.0 - s.theta_new) * fresh + s.theta_new * harmonic
    else:
        worth, _, _, _ = parts(a, b, waited, s.theta_new)
    times = OWED_TIMES if len(c.owed) > 0 and c.owed[i] > 0.0 else 1.0
    return float(times * c.weight[i] * worth / (c.cost[i] + c.changed[i]))


@compiled
def _mates_weigh(c: PriceColumns, i: int, s: Terms, usual: float, told: CopyBelief) -> float:
    """Return the expected weight of the other pages that are to be visited too if a visit finds a change.

    They are assumed to be like the page itself, with at most the usual weight.
    """
    if told.mates == 0.0 or not s.price > 0.0:
        return 0.0
    a, b, later = told.shape, told.scale, told.exposure + told.jump
    w = min(c.weight[i], usual * c.cost[i])
    alike = 1.0 - math.exp(a * (log1p(max(told.exposure, 0.0) / b) - log1p(later / b)))
    worth, _, _, _ = parts(a, b, later, 0.0)
    gained = 1.0 - s.price * (c.cost[i] + c.changed[i]) / max(w * worth, _NOTHING)  # net fraction of their worth
    return float(told.mates * alike * max(gained, 0.0) * w)


@compiled
def _worth(c: PriceColumns, i: int, s: Terms, told: CopyBelief, rho: float, later: float) -> tuple[float, float]:
    """Return the worth of another visit by one model for weight 1 after `later`, and the probability of extra cost."""
    a, b, exposure = told.shape, told.scale, max(told.exposure + told.speed * later, 0.0)
    if c.notice[i] > 0.0:
        worth, dear, _, _ = announced(a, b, exposure, s.theta, rho, c.notice[i])
    else:
        worth, dear, _, _ = heard(a, b, exposure, s.theta, rho) if rho > 0.0 else parts(a, b, exposure, s.theta)
    return worth, dear


@compiled
def _value(c: PriceColumns, i: int, s: Terms, longing: float, both: Mixture, usual: float) -> float:
    """Return the worth of another visit now: the mean over both models, weighted by their probabilities."""
    earned, dear, age = 0.0, 0.0, max(s.now - c.visited_at[i], 0.0)
    for k in range(2):
        share = both.believed if k else 1.0 - both.believed
        if share > 0.0:
            plain = both.clock if k else both.time
            told = dying(plain, age, s.deaths)
            worth, likely = _worth(c, i, s, told, _recall(c, i, plain, told), 0.0)
            earned += share * (c.weight[i] + _mates_weigh(c, i, s, usual, told)) * worth
            dear += share * likely
    return float(earned / (c.cost[i] + c.changed[i] * dear) + longing * age * c.weight[i] / c.cost[i])


@compiled
def _fresh(c: PriceColumns, i: int, now: float, deaths: float, both: Mixture) -> float:
    """Return the probability that a copy is fresh, as in `Exposure`, and neither announced as changed nor dead."""
    doubt = c.notice[i] + deaths * max(now - c.visited_at[i], 0.0)
    said, quiet, listens = 0.0, 0.0, len(c.recall) > 0 and c.recall[i] > 0.0
    for k in range(2):
        share = both.believed if k else 1.0 - both.believed
        if share > 0.0:
            told = both.clock if k else both.time
            if not told.exposure > 0.0:
                return math.exp(-doubt)
            alone = math.exp(-told.shape * log1p(told.exposure / told.scale))
            said += share * alone
            if listens:  # changes that would have been announced did not happen
                quiet += share * alone * math.exp(told.shape * log1p(c.recall[i] * told.exposure / told.scale))
    quiet = quiet / said if listens and said > 0.0 else 1.0
    said = min(max(said, _LEAST), 1.0 - _LEAST)
    if both.time.level != 0.0 or both.time.slope != 1.0:
        said = 1.0 / (1.0 + math.exp(both.time.slope * math.log(1.0 / said - 1.0) - both.time.level))
    if listens:
        said = min(said * quiet, 1.0 - _LEAST)
    return said if doubt == 0.0 else said * math.exp(-doubt)


@compiled
def _due_by(c: PriceColumns, i: int, s: Terms, longing: float, plain: CopyBelief, usual: float) -> float:
    """Return the time until a visit is worth the price by one model; infinity for never, nan for an unvisited page.

    It is negative if a visit is already worth more.
    """
    told = dying(plain, max(s.now - c.visited_at[i], 0.0), s.deaths)
    rho = _recall(c, i, plain, told)
    w = c.weight[i] + _mates_weigh(c, i, s, usual, told)
    longing *= c.weight[i] / max(w, _NOTHING)
    age = due_after(
        w, told.shape, told.scale, c.cost[i], c.changed[i], s.price, s.theta, longing, s.never, s.close, rho,
        c.notice[i],
    )  # fmt: skip
    return float((age - told.exposure) / told.speed)


@compiled
def _over_price(c: PriceColumns, i: int, s: Terms, longing: float, both: Mixture, usual: float, later: float) -> float:
    """Return the logarithm of the ratio of a visit's worth after `later` to its cost at the price."""
    earned, dear, age = 0.0, 0.0, max(s.now - c.visited_at[i], 0.0)
    for k in range(2):
        plain = both.clock if k else both.time
        told, share = dying(plain, age, s.deaths), both.believed if k else 1.0 - both.believed
        worth, likely = _worth(c, i, s, told, _recall(c, i, plain, told), later)
        longed = longing * c.weight[i] * max(told.exposure + told.speed * later, 0.0)
        earned += share * ((c.weight[i] + _mates_weigh(c, i, s, usual, told)) * worth + longed)
        dear += share * likely
    return math.log(max(earned, _NOTHING)) - math.log(s.price * (c.cost[i] + c.changed[i] * dear))


@compiled
def _between(
    c: PriceColumns, i: int, s: Terms, longing: float, both: Mixture, usual: float, low: float, high: float
) -> float:  # fmt: skip
    """Return the time until a visit is worth the price by both models, given the results `low` and `high` of each."""
    high = min(high, s.never)
    under = _over_price(c, i, s, longing, both, usual, low)
    over = _over_price(c, i, s, longing, both, usual, high)
    for _ in range(_HALVINGS):
        if not under < 0.0 or not over > 0.0:
            break
        middle = low + (high - low) * under / (under - over)
        told = _over_price(c, i, s, longing, both, usual, middle)
        if abs(told) <= _NEAR * s.close:
            return middle
        if told < 0.0:
            low, under, over = middle, told, 0.5 * over  # the Illinois rule: halve the value at the retained end
        else:
            high, over, under = middle, told, 0.5 * under
    return low if not under < 0.0 else high


@compiled
def _due(c: PriceColumns, i: int, s: Terms, longing: float, t: Tables, usual: float) -> float:
    """Return when a visit is worth the price; infinity for never, nan for an unvisited page."""
    both, begun = _told(c, i, s.now, s.known, t), max(s.now, c.visited_at[i])
    if both.believed == 0.0:
        return float(begun + _due_by(c, i, s, longing, both.time, usual))
    by_clock = _due_by(c, i, s, longing, both.clock, usual)
    if both.believed == 1.0:
        return float(begun + by_clock)
    by_time = _due_by(c, i, s, longing, both.time, usual)
    low, high = min(by_clock, by_time), max(by_clock, by_time)
    return float(begun + (high if low == high else _between(c, i, s, longing, both, usual, low, high)))


@compiled
def _alive(c: PriceColumns, i: int, s: Terms, longing: float) -> float:
    """Return the weight of a gone page after its return, until it falls due again; see `weight_back`."""
    plain = by_age(s.now, c.shape[i], c.scale[i], s.now)
    told = dying(plain, 0.0, s.deaths)
    return weight_back(
        c.weight[i], told.shape, told.scale, c.cost[i], c.changed[i], s.price, s.theta, longing, s.never, s.close,
        _recall(c, i, plain, told),
    )  # fmt: skip


@compiled
def _value_of_gone(c: PriceColumns, i: int, s: Terms, longing: float) -> float:
    """Return the worth of checking whether a gone page is back."""
    age = max(s.now - c.visited_at[i], 0.0)
    if c.notice[i] > 0.0:
        worth, likely, _, _ = announced(BACK_SHAPE, c.comeback[i], age, 0.0, 0.0, c.notice[i])
    else:
        worth, likely, _, _ = parts(BACK_SHAPE, c.comeback[i], age, 0.0)
    return float(_alive(c, i, s, longing) * worth / (c.cost[i] + c.changed[i] * likely))


@compiled
def _due_of_gone(c: PriceColumns, i: int, s: Terms, longing: float) -> float:
    """Return when it is worth the price to check whether a gone page is back; infinity for never."""
    return float(c.visited_at[i] + due_after(
        _alive(c, i, s, longing), BACK_SHAPE, c.comeback[i], c.cost[i], c.changed[i], s.price, 0.0, 0.0, s.never,
        s.close, 0.0, c.notice[i],
    ))  # fmt: skip


@compiled
def _is_gone(c: PriceColumns, i: int) -> bool:
    """Return whether a page was found gone."""
    return bool(len(c.comeback) > 0 and c.comeback[i] > 0.0)


@entry(i64, *_COLUMNS, _FLOATS, WORDS, i64, i64, i64, _FLOATS)
def assess(
    numbers: Any, columns: Any, n: int, given: int, terms: Any, clocks: Any, valued: int, due_from: int, claimed: int,
    out: Any,
) -> int:  # fmt: skip
    """Write the worth of visits to the first `valued` pages now, and the due times of the pages from `due_from` on.

    For the first `claimed` of the valued pages, the probability that their copies are fresh is written too, nan without
    a copy. These come last in `out`.

    All pages together, and those whose due times are requested, update `WEIGHED`, the usual ratio of weight to cost;
    age adds `WANTED` over that. Rates with a shape above `KNOWN` were given, in seconds. The column `COMEBACK` is above
    0 for pages found gone: the slowness of their return.
    """
    c, t, of = _columns(numbers, columns, n, given), tables(clocks), view(terms, TERMS)
    _see(c, t)
    s, ends = _terms(of), valued + n - due_from
    answers = view(out, ends + claimed)
    worth, when, likely = answers[:valued], answers[valued:ends], answers[ends:]
    if valued:
        longing = _longing(c, 0, of)
        usual = of[layout.WEIGHED]
        for i in range(valued):
            new, here = math.isnan(c.visited_at[i]), _on_host(s, c, i)
            none = by_age(s.now, 1.0, 1.0, s.now)
            told = Mixture(none, none, 0.0) if new else _told(c, i, s.now, s.known, t)
            worth[i] = (
                _value_of_new(c, i, here) if new
                else _value_of_gone(c, i, here, longing) if _is_gone(c, i)
                else _value(c, i, here, longing, told, usual)
            )  # fmt: skip
            if i < claimed:
                likely[i] = np.nan if new else _fresh(c, i, s.now, s.deaths, told)
    if due_from < n:
        longing = _longing(c, due_from, of)
        usual = of[layout.WEIGHED]
        for i in range(due_from, n):
            here = _on_host(s, c, i)
            when[i - due_from] = (
                _due_of_gone(c, i, here, longing) if _is_gone(c, i) else _due(c, i, here, longing, t, usual)
            )
    return 0


@entry(i64, *_COLUMNS, _FLOATS, WORDS, _FLOATS)
def fresh(numbers: Any, columns: Any, n: int, given: int, terms: Any, clocks: Any, out: Any) -> int:
    """Write the probability that each copy is fresh; nan without a copy."""
    c, t, s, to = _columns(numbers, columns, n, given), tables(clocks), _terms(view(terms, TERMS)), view(out, n)
    for i in range(n):
        new = math.isnan(c.visited_at[i])
        to[i] = np.nan if new else _fresh(c, i, s.now, s.deaths, _told(c, i, s.now, s.known, t))
    return 0


@entry(f64, _FLOATS, i64, f64, i64, f64, f64)
def follow(values: Any, n: int, price: float, before: int, step: float, surprise: float) -> float:
    """Return the price after visits with these values; `before` other visits were made earlier."""
    logarithm, of = math.log(price), view(values, n)
    for i in range(n):
        off = math.log(max(of[i], 1e-300)) - logarithm
        logarithm += max(step, 1.0 / (before + i + 1)) * min(max(off, -surprise), surprise)
    return math.exp(logarithm)
