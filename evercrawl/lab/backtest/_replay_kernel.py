"""A replay's inner loops: what polls find, and how long copies were fresh."""

import math
from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.lab.backtest._replay_layout import HELD, NEVER

_FLOATS: Final = pointer(np.float64)
_INTS: Final = pointer(np.int64)
_WORDS: Final = pointer(np.uint64)
_FLAGS: Final = pointer(np.bool_)
_SIMILAR_BITS: Final = 3

_HELD: Final = pointer(HELD)


@compiled
def _bits(word: Any) -> int:
    count = 0
    while word:
        word &= word - np.uint64(1)
        count += 1
    return count


@compiled
def _count(held: Any, state: Any, simhash: Any, since: float, until: float) -> None:
    """Count a stretch of time in which the page was one version."""
    lasted = until - since
    if state < 0 or lasted <= 0.0:
        return
    held.alive_s += lasted
    if state == held.state:
        held.fresh_s += lasted
        held.similar_s += lasted
        return
    early, late = since - held.stale_at, until - held.stale_at
    held.stale_s2 += 0.5 * (late * late - early * early)
    if held.state >= 0 and _bits(simhash ^ held.simhash) <= _SIMILAR_BITS:
        held.similar_s += lasted


@compiled
def _settle(
    held: Any, begin: int, last: int, at: Any, state: Any, simhash: Any, now: float, counted_from: float
) -> None:
    """Go through the versions of a page up to `now`, and count what of it counts."""
    row = max(held.version, begin - 1)
    while True:
        until = at[row + 1] if row + 1 < last else np.inf
        if row >= begin:
            _count(held, state[row], simhash[row], max(held.settled_at, at[row], counted_from), min(until, now))
            held.settled_at = min(until, now)
        if until > now:
            break
        row += 1
        if state[row] < 0 or state[row] == held.state:
            held.stale_at = np.inf
        elif held.stale_at == np.inf:
            held.stale_at = at[row]
    held.version = row


@entry(
    i64, _INTS, _FLOATS, i64, f64, _INTS, _FLOATS, _INTS, _WORDS, _FLOATS, i64, i64, _HELD,
    _FLAGS, _FLAGS, _FLAGS, _FLOATS,
)  # fmt: skip
def poll(
    rows: Any, instants: Any, n: int, counted_from: float, first: Any, at: Any, state: Any, simhash: Any,
    modified_at: Any, versions: int, pages: int, held: Any, changed: Any, gone: Any, fresh: Any, age_s: Any,
) -> int:  # fmt: skip
    """Take copies of some pages, each at its instant, and write what was found; return how many are gone."""
    starts, since, states = view(first, pages + 1), view(at, versions), view(state, versions)
    hashes, modified, copies = view(simhash, versions), view(modified_at, versions), view(held, pages)
    which, when = view(rows, n), view(instants, n)
    to, lost, same, aged = view(changed, n), view(gone, n), view(fresh, n), view(age_s, n)
    missing = 0
    for i in range(n):
        page, now = which[i], when[i]
        copy: Any = copies[page]
        begin: Any = starts[page]
        last: Any = starts[page + 1]
        _settle(copy, begin, last, since, states, hashes, now, counted_from)
        row: Any = copy.version
        there: Any = row >= begin and states[row] >= 0
        lost[i] = not there
        same[i] = there and copy.state == states[row]
        to[i] = there and copy.state != NEVER and not same[i]
        aged[i] = now - modified[row] if there else np.nan
        missing += not there
        if now > counted_from:
            copy.polls += 1
            copy.unchanged += same[i]
        if there and math.isnan(copy.seen_at):
            copy.seen_at = now
        copy.state = states[row] if there else NEVER
        copy.simhash = hashes[row] if there else np.uint64(0)
        copy.stale_at = np.inf
    return missing


@entry(i64, f64, f64, _INTS, _FLOATS, _INTS, _WORDS, i64, i64, _HELD)
def settle(
    now: float, counted_from: float, first: Any, at: Any, state: Any, simhash: Any, versions: int, pages: int, held: Any
) -> int:
    """Count all pages up to `now`."""
    starts, since, states = view(first, pages + 1), view(at, versions), view(state, versions)
    hashes, copies = view(simhash, versions), view(held, pages)
    for page in range(pages):
        _settle(copies[page], starts[page], starts[page + 1], since, states, hashes, now, counted_from)
    return 0


@entry(i64, f64, _INTS, _FLOATS, _INTS, i64, i64, _HELD, _FLAGS)
def stale(now: float, first: Any, at: Any, state: Any, versions: int, pages: int, held: Any, out: Any) -> int:
    """Write of which pages there is a copy that is not the page any more, or a page that is gone."""
    starts, since, states = view(first, pages + 1), view(at, versions), view(state, versions)
    copies, to = view(held, pages), view(out, pages)
    for page in range(pages):
        row = max(copies[page].version, starts[page] - 1)
        while row + 1 < starts[page + 1] and since[row + 1] <= now:
            row += 1
        to[page] = copies[page].state != NEVER and row >= starts[page] and states[row] != copies[page].state
    return 0


@entry(i64, _INTS, i64, f64, _INTS, _FLOATS, _INTS, _FLAGS, i64, i64, _INTS, _FLAGS, _INTS, _INTS)
def name(
    rows: Any, n: int, now: float, first: Any, at: Any, target: Any, present: Any, links: int, pages: int,
    looked: Any, named: Any, out: Any, by: Any,
) -> int:  # fmt: skip
    """Write the pages that are named for the first time by some pages as these are at `now`; return how many.

    In `by` is written which of the pages, from 0, names each.
    """
    which, starts, since, to = view(rows, n), view(first, pages + 1), view(at, links), view(target, links)
    there, seen, known, found = view(present, links), view(looked, pages), view(named, pages), view(out, pages)
    namer = view(by, pages)
    count = 0
    for i in range(n):
        page = which[i]
        for k in range(starts[page + 1] - 1, starts[page] - 1, -1):  # the latest word on a link is the one that holds
            if since[k] > now or known[to[k]] or seen[to[k]] == page:
                continue
            seen[to[k]] = page
            if there[k]:
                known[to[k]] = True
                found[count], namer[count] = to[k], i
                count += 1
        for k in range(starts[page], starts[page + 1]):
            seen[to[k]] = -1
    return count
