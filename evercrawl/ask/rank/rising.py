"""Which pages gain importance: what the journal tells of links that came and went, in two windows."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from evercrawl.ask.rank.link_steps import link_steps
from evercrawl.ask.rank.top import largest
from evercrawl.importance.sites.rising import rising
from evercrawl.model.view import View

SHORT: Final = 1 / 8
"""The short window, in parts of the time since the crawl began; the long one is then all of that time."""


@dataclass(frozen=True, slots=True)
class RisingPage:
    """One page of the list.

    Attributes
    ----------
    rank, url
        From 1.
    score
        How much it rises, little evidence shrunk; see `evercrawl.importance.sites.rising`.
    importance, times_mean
        Its share of all importance now, and the same in units of the mean page.
    short, long
        The mean of that over the short window and over the long one, in units of the mean page.
    came, went
        Pages whose links to it came, and went, while the crawl looked on.
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
    """Return up to `most` pages that rise, by their score.

    Time ends with the last visit, so that a crawl that rests tells the same each time it is asked.

    Parameters
    ----------
    view, most
        The crawl, and how many pages.
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
    rows: Any = state.known.rows()
    return [
        RisingPage(
            rank, state.urls.get(slot), float(score[slot]), float(view.importance[slot]),
            float(view.importance[slot]) / usual, float(short[slot]) / usual, float(long[slot]) / usual,
            came[slot], went[slot], state.instant(float(rows["found"][slot])),
        )
        for rank, slot in enumerate(best, 1)
    ]  # fmt: skip
