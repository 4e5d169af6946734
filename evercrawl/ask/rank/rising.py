"""Pages that gain importance, from the links that appeared and vanished in two windows of the journal."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from evercrawl.ask.rank.link_steps import link_steps
from evercrawl.ask.rank.top import largest
from evercrawl.importance.sites.rising import rising
from evercrawl.model.view import View

SHORT: Final = 1 / 8
"""Length of the short window, as a part of the time since the crawl began; the long window is that whole time."""


@dataclass(frozen=True, slots=True)
class RisingPage:
    """One page of the list.

    Attributes
    ----------
    rank, url
        Rank, from 1, and URL.
    score
        Score of its rise, shrunk where there is little evidence; see `evercrawl.importance.sites.rising`.
    importance, times_mean
        Its share of all importance now, and the same in units of the mean page.
    short, long
        Its mean importance over the short and over the long window, in units of the mean page.
    came, went
        Number of pages whose links to it appeared, and vanished, during the crawl.
    found_at
        When it became known, in seconds since the epoch.
    """

    rank: int
    url: str
    score: float
    importance: float
    times_mean: float
    short: float
    long: float
    came: int
    went: int
    found_at: float


def rising_pages(view: View, most: int, within_s: float | None = None) -> list[RisingPage]:
    """Return up to `most` rising pages, by score.

    Both windows end with the last visit, so that a stopped crawl gives the same answer each time.

    Parameters
    ----------
    view, most
        The crawl, and the maximum number of pages.
    within_s
        Length of the short window; the long one is eight times as long.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    state, now = view.state, view.state.last_at()
    length_s = within_s or max(SHORT * (now - state.epoch), 1e-3)
    steps = link_steps(view)
    usual = 1 / max(view.counted, 1)
    score, short, long = rising(view.importance, steps, now, length_s, usual)
    came, went = (Counter[int](steps.page[way].tolist()) for way in (steps.amount > 0, steps.amount < 0))
    best: list[int] = [slot for slot in largest(score, most).tolist() if score[slot] > 0]
    return [
        RisingPage(
            rank, state.urls.get(slot), float(score[slot]), float(view.importance[slot]),
            float(view.importance[slot]) / usual, float(short[slot]) / usual, float(long[slot]) / usual,
            came[slot], went[slot], state.instant(float(state.known.row(slot)["found"])),
        )
        for rank, slot in enumerate(best, 1)
    ]  # fmt: skip
