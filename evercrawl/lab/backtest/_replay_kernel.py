"""A replay's compiled inner loops: the results of polls, and the time in which copies were fresh."""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.addresses import floats_at, ints_at, pointer_at
from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.lab.backtest._replay_layout import HELD, NEVER

_FLOATS: Final = pointer(np.float64)
_INTS: Final = pointer(np.int64)
_words_at: Final = pointer_at(np.uint64)
_flags_at: Final = pointer_at(np.bool_)
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
    """Update the counters for a period in which the page had one version."""
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
    """Update the counters of a page to `now`, version by version."""
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


class RecordedPast(NamedTuple):
    """The start of each page's versions, (pages + 1,); and time, state, word hash and last change of each version."""

    first: Any
    at: Any
    state: Any
    simhash: Any
    modified_at: Any


@compiled
def _past(columns: Any, versions: int, pages: int) -> RecordedPast:
    """Return the arrays at the addresses `columns`."""
    at = view(columns, 5)
    return RecordedPast(
        view(ints_at(at[0]), pages + 1), view(floats_at(at[1]), versions), view(ints_at(at[2]), versions),
        view(_words_at(at[3]), versions), view(floats_at(at[4]), versions),
    )  # fmt: skip


@entry(i64, _INTS, _FLOATS, i64, f64, _INTS, i64, i64, _HELD, _INTS)
def poll(
    rows: Any, instants: Any, n: int, counted_from: float, columns: Any, versions: int, pages: int, held: Any, out: Any
) -> int:
    """Copy pages, each at its instant, and write the results; return the number of pages that are gone.

    The arrays at the addresses `out` are: whether each page was changed, is gone, and was fresh, and its age.
    """
    starts, since, states, hashes, modified = _past(columns, versions, pages)
    copies, which, when, found = view(held, pages), view(rows, n), view(instants, n), view(out, 4)
    to, lost, same = view(_flags_at(found[0]), n), view(_flags_at(found[1]), n), view(_flags_at(found[2]), n)
    aged = view(floats_at(found[3]), n)
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
        to[i] = there and copy.read != NEVER and copy.read != states[row]
        aged[i] = now - modified[row] if there else np.nan
        missing += not there
        if now > counted_from:
            copy.polls += 1
            copy.unchanged += same[i]
        if there and math.isnan(copy.seen_at):
            copy.seen_at = now
        copy.read = states[row] if there else copy.read
        copy.state = states[row] if there else NEVER
        copy.simhash = hashes[row] if there else np.uint64(0)
        copy.stale_at = np.inf
    return missing


@entry(i64, f64, f64, _INTS, i64, i64, _HELD)
def settle(now: float, counted_from: float, columns: Any, versions: int, pages: int, held: Any) -> int:
    """Update the counters of all pages to `now`."""
    starts, since, states, hashes, _ = _past(columns, versions, pages)
    copies = view(held, pages)
    for page in range(pages):
        _settle(copies[page], starts[page], starts[page + 1], since, states, hashes, now, counted_from)
    return 0


@entry(i64, f64, _INTS, i64, i64, _HELD, pointer(np.bool_))
def stale(now: float, columns: Any, versions: int, pages: int, held: Any, out: Any) -> int:
    """Write which pages have a copy that differs from the page, or whose page is gone."""
    starts, since, states, _, _ = _past(columns, versions, pages)
    copies, to = view(held, pages), view(out, pages)
    for page in range(pages):
        row = max(copies[page].version, starts[page] - 1)
        while row + 1 < starts[page + 1] and since[row + 1] <= now:
            row += 1
        to[page] = copies[page].state != NEVER and row >= starts[page] and states[row] != copies[page].state
    return 0


@entry(i64, _INTS, i64, f64, _INTS, i64, i64, _INTS)
def name(rows: Any, n: int, now: float, log: Any, links: int, pages: int, names: Any) -> int:
    """Write the pages that links of the given pages name for the first time, at `now`; return their number.

    The arrays at the addresses `log` are: the start of each page's entries; and of each entry its time, its target, and
    whether the link was added or removed. Those at `names` are: scratch space per page, which pages are named, the
    pages that this call names, and the index in `rows` of the page that names each.
    """
    at, to_write, which = view(log, 4), view(names, 4), view(rows, n)
    starts, since, to = view(ints_at(at[0]), pages + 1), view(floats_at(at[1]), links), view(ints_at(at[2]), links)
    there, seen = view(_flags_at(at[3]), links), view(ints_at(to_write[0]), pages)
    known, found = view(_flags_at(to_write[1]), pages), view(ints_at(to_write[2]), pages)
    namer = view(ints_at(to_write[3]), pages)
    count = 0
    for i in range(n):
        page = which[i]
        for k in range(starts[page + 1] - 1, starts[page] - 1, -1):  # the latest entry of a link decides
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
