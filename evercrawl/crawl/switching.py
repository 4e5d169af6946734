"""Switches a crawl to another scheme of importance: its journal is judged again.

The journal only grows. A `Switched` event voids all cash and history so far. It is followed by `Passed` events, which
hold the past under the new scheme. Where cash circulates (AOPIC), every visit that read a page moves its cash again,
in order, along the links that the page then had. Where a solution is approached (push), every page passes on its
residual along the links that it has now, in a few rounds, and the idle crawl does the rest (`settling`).

`crawl.json` names the new scheme only when all of that is on the disk. Until then the fold is incomplete, and answers
use what has been judged so far. A switch that is asked to end records its progress there, and the next start
continues it. After a crash the switch begins again with another `Switched`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from evercrawl.clock import Clock
from evercrawl.config import Config
from evercrawl.crawl.learn.cash import READ, Cashier
from evercrawl.crawl.learn.settling import PIECE, pass_on, residuals
from evercrawl.crawl.learn.virtual_turns import VirtualTurns
from evercrawl.model.focus import EVEN
from evercrawl.model.policy.schemes import scheme_of, wanted
from evercrawl.model.view import View
from evercrawl.model.web.farms import farmers
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.scheme import Scheme
from evercrawl.types import Outcome

BATCH: Final = 2048
"""The number of events between two commits: a hundredth of a second's work, or two."""
BARS: Final = (0.0, 0.5, 0.2, 0.2, 0.1, 0.1)
"""For each round of push, the part of a page's value above which its residual is passed on."""
TOLD_S: Final = 2.0
"""The interval of progress messages."""


def due(partition: Partition, goal: Scheme) -> bool:
    """Whether a crawl's scheme differs from `goal`, or a switch is incomplete."""
    return goal != partition.birth.scheme or partition.unswitched


def goal_of(partition: Partition, config: Config, now: float) -> Scheme:
    """Return the scheme that the settings demand; if farms are to be capped, look for them."""
    goal = wanted(config, partition.birth.scheme)
    if config.suspects != "cap":
        return goal
    return replace(goal, distrusted=farmers(View(partition, config, now)))


async def switch(
    partition: Partition,
    goal: Scheme,
    clock: Clock,
    offload: Callable[..., Awaitable[Any]],
    say: Callable[[str], None] = lambda _: None,
    ends: Callable[[], bool] = lambda: False,
    turns: VirtualTurns | None = None,
) -> bool:
    """Judge the past by another scheme; return whether the switch is complete.

    Parameters
    ----------
    partition
        Open for writing, with no other writer.
    goal
        The new scheme.
    clock, offload
        The clock, and a place for slow work.
    say
        Called now and then with a sentence about the progress.
    ends
        Whether to end early; then False is returned, and the next start continues from here.
    turns
        Distributes the virtual page's cash where it is visited in turns of its own; by default to all pages equally.

    Raises
    ------
    NoRoomError, StoreError
        The disk is full, or has failed; the next start begins again.
    """
    began, upto, begun = clock.now(), partition.journal.sequence, 0
    resumed = partition.resume_switch(goal)
    if resumed is not None:
        begun, upto = resumed.events, resumed.upto
        say(f"importance by {in_words(goal)}: the rest of the history is settled")
    else:
        say(f"from now on importance is learned by {in_words(goal)}: the history is settled again")
        partition.switching(began, goal)
    cashier, told_at = Cashier(partition.state, scheme_of(goal)), began
    turns = turns or VirtualTurns(partition, EVEN, ())
    turns.turn()
    for count, (done, part) in enumerate(_judged(partition, cashier, upto, began, begun), 1):
        turns.turn()
        if count % BATCH == 0:
            await _commit(partition, offload)
            await asyncio.sleep(0)  # lets a request to end arrive
        if ends():
            await _commit(partition, offload)
            partition.pause_switch(done, upto)
            say(f"importance by {in_words(goal)}: {part:.0%} of the history is settled, the next start continues there")
            return False
        if clock.now() >= told_at + TOLD_S:
            told_at = clock.now()
            say(f"importance by {in_words(goal)}: {part:.0%} of the history is settled")
    partition.state.cashbook.audit()
    await _commit(partition, offload)
    partition.switched()

    async def commit() -> None:
        await _commit(partition, offload)

    await partition.snapshot(commit, offload)
    say(f"importance is learned by {in_words(goal)}; settling the history took {clock.now() - began:.1f} s")
    return True


def in_words(scheme: Scheme) -> str:
    """Describe a scheme for people.

    Examples
    --------
    >>> from evercrawl.store.scheme import Scheme
    >>> in_words(Scheme("aopic", True, 0.1, "two_windows", trusted=("a.example",)))
    'aopic (window two_windows, internal links 0.1, trusted sites 1)'
    """
    more = [f"window {scheme.window}"] if scheme.window else []
    more += [f"internal links {scheme.internal:g}"]
    if scheme.convention == "link":
        more += ["virtual page one more link"]
    elif scheme.tax != Scheme().tax:
        more += [f"tax {scheme.tax:g}"]
    more += [f"virtual page to {scheme.virtual}"] if scheme.virtual != "sites" else []
    more += ["virtual page in its turn"] if scheme.in_turn and scheme.virtual != "focused" else []
    more += [f"trusted sites {len(scheme.trusted)}"] if scheme.trusted else []
    more += [f"distrusted sites {len(scheme.distrusted)}"] if scheme.distrusted else []
    return f"{scheme.name} ({', '.join(more)})"


def _judged(partition: Partition, cashier: Cashier, upto: int, now: float, begun: int) -> Iterator[tuple[int, float]]:
    """Judge the first `upto` events by the new scheme; yield the number of steps done and their share of the total.

    The first `begun` steps are skipped.
    """
    scheme = scheme_of(partition.state.scheme)
    if scheme.handout:
        yield from _visits_again(partition, cashier, upto, now, begun)
    elif scheme.settles:
        yield from _rounds(partition, cashier, now, begun)


def _visits_again(
    partition: Partition, cashier: Cashier, upto: int, now: float, begun: int
) -> Iterator[tuple[int, float]]:
    """Move the cash of every visit that read a page, or found it gone for good, along the links that it then had."""
    state = partition.state
    held, outcome = np.zeros(state.records.count, np.uint64), np.zeros(state.records.count, np.uint8)
    for pointer, number, event in partition.journal.replay():
        if number >= upto:
            return
        if isinstance(event, Visit):
            index = state.record_of(event.slot)
            index = state.lost[event.slot] if index is None else index
            own = event.flags & HAS_LINKS
            if own:
                held[index] = pointer
            cashier.renew(event.at)
            if number < begun:
                pass
            elif event.outcome in READ:
                pass_on(partition, cashier, event.slot, int(held[index]), now, event if own else None)
            elif event.outcome == Outcome.GONE == outcome[index]:
                pass_on(partition, cashier, event.slot, 0, now, gone=True)
            outcome[index] = event.outcome
        yield max(number + 1, begun), number / upto


def _rounds(partition: Partition, cashier: Cashier, now: float, begun: int) -> Iterator[tuple[int, float]]:
    """Let pages pass on their residuals in a few rounds, without those that have little."""
    state = partition.state
    steps = max(len(BARS) * state.records.count, 1)
    for place, bar in enumerate(BARS):
        for start in range(0, state.records.count, PIECE):
            done = place * state.records.count + start
            if done < begun:
                continue
            rows: Any = state.records.rows[start : min(start + PIECE, state.records.count)]
            residual, has = residuals(state, rows)
            for row in rows[residual > bar * has]:
                pass_on(partition, cashier, int(row["slot"]), int(row["event"]), now)
                yield done, done / steps


async def _commit(partition: Partition, offload: Callable[..., Awaitable[Any]]) -> None:
    """Store what was judged so far."""
    await offload(partition.journal.write, partition.journal.seal())
