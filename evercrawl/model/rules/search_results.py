"""Results of sites' own search forms: links to them are pages without end, and only so many are taken in.

What is a result is told by the forms that a site's pages hold (`parse.search_forms`): the address that one is sent to,
with the name of its field in the query. A form speaks for its own site alone, for else anybody could keep us from the
pages of others. Forms are not remembered from run to run: pages of results hold the form that made them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from evercrawl.parse.urls import hostname
from evercrawl.store.state import State

MOST_FORMS: Final = 16
"""Addresses of forms that one site may have; of others nothing is known."""
SAMPLE: Final = 4_096
"""Known URLs of a site that are looked at, to tell how many of them are results."""


class SearchResults:
    """Knows sites' search forms, and counts the results that were taken in.

    Parameters
    ----------
    state
        What is known already.
    most
        Results that are taken in of a site; 0 for any number.
    """

    def __init__(self, state: State, most: int) -> None:
        self._state, self._most = state, most
        self._fields: dict[str, set[str]] = {}  # by the address that a form is sent to
        self._forms = Counter[int]()  # addresses, by site
        self._taken: dict[int, int] = {}  # results, by site

    def learned(self, host: int, forms: Iterable[str]) -> None:
        """Take in the search forms of a page of a host."""
        own = int(self._state.site_of[host])
        for form in forms if self._most else ():
            address, _, name = form.partition("?")
            if name in self._fields.get(address, ()) or self._state.site_number(hostname(address)) != own:
                continue
            if address not in self._fields:
                if self._forms[own] == MOST_FORMS:
                    continue
                self._forms[own] += 1
            self._fields.setdefault(address, set()).add(name)
            self._taken.pop(own, None)  # some that are known may be results, as we see now

    def within(self, urls: Sequence[str]) -> list[str]:
        """Return those of `urls`, none of them known, that are no results, or of which there are not too many yet."""
        if not self._fields:
            return list(urls)
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
        """Count URLs that became known."""
        for url in urls if self._fields else ():
            of = self._result_of(url)
            if of in self._taken:
                self._taken[of] += 1

    def _result_of(self, url: str) -> int | None:
        """Return the site whose search form a URL is a result of; None where it is none."""
        address, mark, query = url.partition("?")
        names = self._fields.get(address) if mark else None
        if names is None or not any(part.partition("=")[0] in names for part in query.split("&")):
            return None
        return self._state.site_number(hostname(address))

    def _count(self, of: int) -> int:
        """Return how many results of a site are known; counted at the first question, and kept from then on."""
        if of not in self._taken:
            state = self._state
            hosts = np.flatnonzero(state.site_of[: len(state.hosts)] == of)
            slots = np.flatnonzero(np.isin(state.known.rows()["host"], hosts))
            step = max(-(-len(slots) // SAMPLE), 1)
            known = state.urls.get_many(slots[::step].tolist())
            self._taken[of] = step * sum(self._result_of(url) == of for url in known)
        return self._taken[of]
