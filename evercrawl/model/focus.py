"""Focus weights: the factors that `[[focus]]` and `discovery` put on the keys by which visits are chosen.

In the paper the virtual page decides what a crawl looks for: it shares its cash among classes of pages k with weights
b_k, or between read and unread pages, and the total stays the same. Actually moving that cash would bias importance,
on which rankings depend. So no cash is moved here: the *key* by which visits are chosen is importance, or cash, times
the weight of the page's class, as if the virtual page had shifted that much from all other classes to this one. To
keep the total, all keys would have to be divided by the mean weight; that factor is the same for all pages and
policies only compare, so it is left out. Nor does every known URL get an equal share, which would feed traps: a page
without cash has none after any multiplication.

The published form is an option, `virtual_page = focused`: see `learn.virtual_turns`. There weights move cash and
leave keys unchanged.

A page's class follows from its URL (matched once per known URL), from the words near the link that made it known
(kept in the journal, see `link_words`), and from its title and content type, both read from the event of its last
visit with content.
"""

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import grown
from evercrawl.config import Config, Focus
from evercrawl.config.patterns import UrlPattern
from evercrawl.model.link_words import marks_of, words_in
from evercrawl.model.worth.weights import ACCESS, IMPORTANCE
from evercrawl.schedule.base import Policy
from evercrawl.store.journal.events import Event, Visit
from evercrawl.store.state import State
from evercrawl.types import Floats, Slots

MOST_DISCOVERY: Final = 1e6
"""Times as much as one that was read a page counts at most that was never read, and the reverse."""
AT_ONCE: Final = 512
"""Pages of which the journal is asked at once, at most; of others what it would say is not known until later."""
_PIECE: Final = 1 << 14  # URLs matched in one batch
_ALL: Final = 0xFFFF
_MATCHED: Final = 1 << 31
EVEN: Final = 0.5
"""The `discovery` with which all pages count what they are worth, read or not."""
_UNASKED: Final = "{} does not ask what pages are worth, so {} {} nothing"


def discovery_weight(discovery: float) -> float:
    """Return the factor on the keys of unread pages: the square of d / (1 - d), within bounds.

    The paper has two parameters for this: the share of the virtual page's cash that goes to unread pages, and the
    tax, which is the cash the virtual page gets. Both have the same effect on the order of visits: they move worth
    between read and unread pages. A share d for unread and 1 - d for read pages weighs them as d to 1 - d, and a
    higher tax, whose proceeds go to unread pages, takes more from what read pages earn by links. So one number stands
    for both, and the tax itself, which is part of what importance *means*, stays unchanged. The ratio is squared
    because the worth of a visit at first grows with the square of the time since the last one: that time then changes
    as d to 1 - d. With d a quarter, read pages are revisited after a third of the time.

    Examples
    --------
    >>> [round(discovery_weight(d), 4) for d in (0.0, 0.25, 0.5, 0.75, 1.0)]
    [0.0, 0.1111, 1.0, 9.0, 1000000.0]

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive on-line page importance computation, on the focus of a crawl.
    """
    odds = discovery / (1 - discovery) if discovery < 1 else MOST_DISCOVERY
    return min(max(odds**2, 1 / MOST_DISCOVERY), MOST_DISCOVERY)


def discovery_share(discovery: float) -> tuple[float, float]:
    """Return the weights of unread and of read pages if `discovery` distributes the virtual page's cash.

    This is the published form, so the odds are not squared as in `discovery_weight`: cash accumulates while a page
    waits.

    >>> discovery_share(0.5), discovery_share(0.8), discovery_share(1.0)
    ((1.0, 1.0), (4.0, 1.0), (1.0, 0.0))
    """
    if discovery == 1:
        return 1.0, 0.0
    return min(round(discovery / (1 - discovery), 9), MOST_DISCOVERY), 1.0


class Focusing:
    """Matches pages to the entries of the focus.

    Parameters
    ----------
    state
        The state of the pages.
    entries
        The entries of `[[focus]]`; the first that matches a page counts.
    event
        Journal pointer -> the event.
    """

    def __init__(self, state: State, entries: Sequence[Focus], event: Callable[[int], Event]) -> None:
        self._state, self._entries, self._event_of = state, entries, event
        self._urls = [UrlPattern(entry.url) if entry.url else None for entry in entries]
        self._words = [words_in(entry.words) if entry.words else None for entry in entries]
        self._types = [of_type(entry.content_type) if entry.content_type else None for entry in entries]
        self._bit_of_mark = {mark: 1 << i for i, mark in marks_of(entries).items()}
        self._wordless = sum(1 << i for i, words in enumerate(self._words) if words is None)
        self._typeless = sum(1 << i for i, kind in enumerate(self._types) if kind is None)
        self._asks = any(self._words) or any(self._types)
        self._at: NDArray[np.uint32] = np.zeros(0, np.uint32)  # by slot: matching `url`s, and a bit
        self._said: NDArray[np.uint16] = np.zeros(0, np.uint16)  # by slot: entries by link words
        self._events: NDArray[np.uint64] = np.zeros(0, np.uint64)  # by record: event of the two below
        self._titled: NDArray[np.uint16] = np.zeros(0, np.uint16)  # by record: entries by title
        self._typed: NDArray[np.uint16] = np.zeros(0, np.uint16)  # by record: entries whose `content_type` matches

    def weights(self, slots: Slots) -> Floats:
        """Return the focus weight of each page, shape (n,)."""
        entries, weights = self.entries(slots), np.ones(len(slots))
        for i, entry in enumerate(self._entries):
            weights[entries == i] = entry.weight
        return weights

    def entries(self, slots: Slots) -> NDArray[np.int64]:
        """Return the index of the entry that matches each page, shape (n,); -1 where none does."""
        self._look(slots)
        cells = self._state.table.record.take(slots)
        said, typed = self._said.take(slots), np.full(len(slots), self._typeless, np.uint16)
        seen = np.flatnonzero(cells < self._state.records.count)
        if len(seen) and self._asks:
            self._ask(cells[seen])
            said[seen] |= self._titled[cells[seen]]
            typed[seen] |= self._typed[cells[seen]]
        meant = self._at.take(slots).astype(np.uint16) & said & typed
        first = np.full(len(slots), -1)
        for i in reversed(range(len(self._entries))):
            first[(meant >> np.uint16(i) & np.uint16(1)) != 0] = i
        return first

    def _look(self, slots: Slots) -> None:
        """Match those of some URLs that were not matched yet: a start need not look at every URL."""
        state, least = self._state, int(slots.max(initial=0)) + 1
        self._at, self._said = grown(self._at, least), grown(self._said, least)
        unmatched = np.unique(slots[self._at[slots] == 0])
        for first in range(0, len(unmatched), _PIECE):
            new = unmatched[first : first + _PIECE]
            self._at[new], self._said[new] = _MATCHED | _ALL, self._wordless
            if any(self._urls):
                self._at[new] = [_MATCHED | self._of_url(url) for url in state.urls.get_many(new.tolist())]
            if self._bit_of_mark:
                marks = state.known.anchor_marks_of(new)
                for mark, bit in self._bit_of_mark.items():
                    self._said[new[marks == mark]] |= np.uint16(bit)

    def _of_url(self, url: str) -> int:
        return sum(1 << i for i, pattern in enumerate(self._urls) if pattern is None or pattern.search(url))

    def _ask(self, records: NDArray[Any]) -> None:
        """Read title and content type of some pages from the journal where they are not known yet."""
        count = int(records.max()) + 1
        self._events = grown(self._events, count)
        self._titled, self._typed = grown(self._titled, count), grown(self._typed, count)
        pointers = self._state.records.rows["event"][records]
        for place in np.flatnonzero(pointers != self._events.take(records))[:AT_ONCE].tolist():
            index = int(records[place])
            event = self._event_of(int(pointers[place]))
            self._events[index] = pointers[place]
            if isinstance(event, Visit):
                self._titled[index] = _bits(words.search(event.title) if words else None for words in self._words)
                self._typed[index] = _bits(kind.match(event.mime) if kind else None for kind in self._types)


def of_type(media_type: str) -> re.Pattern[str]:
    """Return a pattern that matches the media types of an entry.

    >>> [bool(of_type("text/*").match(each)) for each in ("text/html", "image/png", "text")]
    [True, False, False]
    """
    return re.compile(translate(media_type))


def unasked(config: Config, policy: Policy) -> str:
    """Return the settings without effect because the policy ignores the worth of pages; "" for none.

    Examples
    --------
    >>> from evercrawl.config import Config
    >>> from evercrawl.schedule.policies.cycle import Cycle
    >>> unasked(Config(policy="cycle", weight="learned"), Cycle())
    'cycle does not ask what pages are worth, so weight = learned changes nothing'
    >>> unasked(Config(policy="cycle"), Cycle())
    ''
    """
    if policy.weighs:
        return ""
    settings = [f"weight = {config.weight}"] if config.weight not in (IMPORTANCE, ACCESS) else []
    settings += ["lasting"] if config.lasting else []
    settings += ["focus"] if config.focus else []
    settings += [f"discovery = {config.discovery:g}"] if config.discovery != EVEN else []
    change = "changes" if len(settings) == 1 else "change"
    return _UNASKED.format(config.policy, " and ".join(settings), change) if settings else ""


def _bits(found: Any) -> int:
    return sum(1 << i for i, one in enumerate(found) if one)
