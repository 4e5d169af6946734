"""Result pages of sites' own search forms: an endless supply of pages, of which a limited number is admitted.

A URL is a result if it is the target of a search form on the site's pages (`parse.forms.search_forms`) with the name
of the form's field in the query. A form counts for its own site only; otherwise anyone could keep us from the pages
of others. Forms are not stored between runs: result pages contain the form that made them.

The known results of a site are counted on first use. If many URLs are known, they are scanned in rounds, a few with
each page, for all sites being counted; until its round ends, a site's count is that found so far.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from evercrawl.arrays.rows import Rows
from evercrawl.parse.urls import hostname
from evercrawl.store.state import State
from evercrawl.types import Slots

MOST_FORMS: Final = 16
"""Addresses of forms that one site may have; of others nothing is known."""
MOST_NAMES: Final = 4
"""Maximum number of field names of one such address; further ones are not remembered."""
SAMPLE: Final = 4_096
"""Known URLs of a site that are looked at, to tell how many of them are results."""
AT_ONCE: Final = 1 << 16
"""Known URLs that are gone through at once."""
WITH_A_PAGE: Final = 1 << 13
"""The same where there are more: with each page, while some site is to be counted."""
_LOOKED_AT: Final = 64
"""Of these, URLs that are looked at, at most; each stands for as many as there were of such sites."""


class SearchResults:
    """Knows the sites' search forms, and counts the results admitted.

    Parameters
    ----------
    state
        The state of the pages.
    most
        Maximum number of results admitted per site; 0 = unlimited.
    """

    def __init__(self, state: State, most: int) -> None:
        self._state, self._most = state, most
        self._fields: dict[str, set[str]] = {}  # by the form's target address
        self._forms = Counter[int]()  # addresses, by site
        self._taken: dict[int, int] = {}  # results, by site
        self._wanted = Rows("?")  # sites being counted
        self._until: dict[int, tuple[int, int, int]] = {}  # by site: its round and its end; URLs known before it
        self._ends: deque[tuple[int, int, int, int]] = deque()  # the same, and the site, in order
        self._round = self._at = 0

    def learned(self, host: int, forms: Iterable[str]) -> None:
        """Record the search forms of a page of a host."""
        own = int(self._state.site_of[host])
        for form in forms if self._most else ():
            address, _, name = form.partition("?")
            if name in self._fields.get(address, ()) or self._state.site_number(hostname(address)) != own:
                continue
            names = self._fields.get(address)
            if names is None:
                if self._forms[own] == MOST_FORMS:
                    continue
                self._forms[own] += 1
                names = self._fields[address] = set()
            elif len(names) == MOST_NAMES:
                continue
            names.add(name)
            self._taken.pop(own, None)  # known URLs may turn out to be results

    def within(self, urls: Sequence[str]) -> list[str]:
        """Return the unknown `urls` that are no results, or results within the limit."""
        if not self._fields:
            return list(urls)
        if self._until:
            self._go_on()
        more, taken = Counter[int](), list[str]()
        for url in urls:
            of = self._result_of(url)
            if of is not None:
                if self._count(of) + more[of] >= self._most:
                    continue
                more[of] += 1
            taken.append(url)
        return taken

    def admitted(self, urls: Iterable[str]) -> None:
        """Count newly known URLs."""
        for url in urls if self._fields else ():
            of = self._result_of(url)
            if of in self._taken:
                self._taken[of] += 1

    def _result_of(self, url: str) -> int | None:
        """Return the site of whose search form a URL is a result; None if it is none."""
        address, mark, query = url.partition("?")
        names = self._fields.get(address) if mark else None
        if names is None or not any(part.partition("=")[0] in names for part in query.split("&")):
            return None
        return self._state.site_number(hostname(address))

    def _count(self, of: int) -> int:
        """Return the number of known results of a site; counted on first use, then kept up to date."""
        if of not in self._taken:
            state, known = self._state, self._state.known.count
            self._taken[of] = 0
            if known > AT_ONCE:
                self._until[of] = end = (self._round + 1, self._at, known)
                self._ends.append((*end, of))
                self._wanted.upto(len(state.sites))[of] = True
                return 0
            slots = np.flatnonzero(self._sites(0, known) == of)
            step = max(-(-len(slots) // SAMPLE), 1)
            urls = state.urls.get_many(slots[::step].tolist())
            self._taken[of] = step * sum(self._result_of(url) == of for url in urls)
        return self._taken[of]

    def _go_on(self) -> None:
        """Scan some more known URLs, for all sites being counted."""
        known, first = self._state.known.count, self._at
        last = min(first + WITH_A_PAGE, known)
        wanted = self._wanted.upto(len(self._state.sites))
        slots = first + np.flatnonzero(wanted[self._sites(first, last)])
        step = max(-(-len(slots) // _LOOKED_AT), 1)
        looked_at = slots[::step].tolist()
        for slot, url in zip(looked_at, self._state.urls.get_many(looked_at), strict=True):
            of = self._result_of(url)
            if of in self._until and slot < self._until[of][2]:
                self._taken[of] += step
        self._round, self._at = (self._round, last) if last < known else (self._round + 1, 0)
        while self._ends and self._ends[0][:2] <= (self._round, self._at):
            *end, of = self._ends.popleft()
            if self._until.get(of) == tuple(end):
                del self._until[of]
                wanted[of] = False

    def _sites(self, first: int, last: int) -> Slots:
        """Return the sites of some known URLs, shape (last - first,)."""
        sites: Slots = self._state.site_of[self._state.known.rows(first, last)["host"]]
        return sites
