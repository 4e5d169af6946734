"""How soon a crawl read the pages it knew, from its requests to sites without missing pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from evercrawl.parse.urls import origin, path_query
from evercrawl.simulate.living.documentation import DocumentationWeb
from evercrawl.simulate.living.web import CALENDAR


@dataclass(slots=True)
class Coverage:
    """Statistics of a crawl's requests.

    Attributes
    ----------
    visits
        Requests for pages by site, including calendar pages.
    calendar
        Requests for calendar days by site.
    read
        Pages read by site, without calendars.
    whole_after
        Visits to a site when the last of its pages was read; only for sites read completely.
    overdue
        Maximum ratio of visits to known pages of a site while one of these was still unread. Calendars are held back
        by budgets, so only other pages are awaited, but linked calendar days count as known.
    """

    visits: Counter[str]
    calendar: Counter[str]
    read: Counter[str]
    whole_after: dict[str, int]
    overdue: dict[str, float]


def coverage(web: DocumentationWeb, log: Iterable[tuple[str, int]]) -> Coverage:
    """Return the statistics of requests: URL and status of each, in order."""
    found = Coverage(Counter(), Counter(), Counter(), {}, {})
    known: defaultdict[str, set[str]] = defaultdict(lambda: {"/"})
    read: defaultdict[str, set[str]] = defaultdict(set)
    unread: Counter[str] = Counter(dict.fromkeys(web.origins, 1))
    for url, status in log:
        site, path = origin(url), path_query(url)
        if path == "/robots.txt" or status not in (200, 304):
            continue
        found.visits[site] += 1
        if path.startswith(CALENDAR):
            found.calendar[site] += 1
        if unread[site]:
            ratio = found.visits[site] / len(known[site])
            found.overdue[site] = max(found.overdue.get(site, 0.0), ratio)
        if path in read[site]:
            continue
        read[site].add(path)
        new = set(web.links(site, path) or ()) - known[site]
        known[site] |= new
        unread[site] += sum(not link.startswith(CALENDAR) for link in new)
        if not path.startswith(CALENDAR):
            unread[site] -= 1
            found.read[site] += 1
            if found.read[site] == len(web.paths):
                found.whole_after[site] = found.visits[site]
    return found
