"""Which pages are made by a program as they are asked for, rather than written: their links vouch for less.

Results of a query, days of a calendar, sheets of a listing: anybody may make as many of them as he likes, by his
questions alone, and each links on to the next. Told by the address, and only where it says so plainly: a page that is
written and taken for one of these would lose the weight of its links to other sites.

References
----------
Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 6, on dynamic pages.
"""

import re
from typing import Final

_YEAR: Final = r"(?:19|20)\d\d"
_MONTH: Final = r"(?:0?[1-9]|1[0-2])"
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_SIGNS: Final = re.compile(
    "|".join((
        r"\?.",  # a query that is not empty
        r";(?:jsessionid|phpsessid|session_?id|session|sid)=",  # a session in the path
        rf"/{_YEAR}[/-]{_MONTH}(?:[/-]{_DAY})?/?$",  # a month or a day, and nothing written in it
        r"/(?:page|seite|pagina|sheet)[/=_-]?\d+(?:/|\.[a-z]{3,5})?$",  # a sheet of a listing
    )),
    re.ASCII | re.IGNORECASE,
)  # fmt: skip

_SOME: Final = re.compile(r"[?;0-9]")  # without any of these there is no sign, nor a year

_CALENDAR: Final = re.compile(r"/(?:calendar|kalender|agenda|calendrier|calendario)/", re.IGNORECASE)
_IN_YEAR: Final = re.compile(rf"/{_YEAR}(?:\b|_)", re.ASCII)


def dynamic(url: str) -> bool:
    """Whether the page at a normalised URL is plainly one that a program makes on demand.

    Examples
    --------
    >>> [dynamic(f"http://a.example{path}") for path in ("/find?q=ant", "/events/2003-05", "/ants/page/7/")]
    [True, True, True]
    >>> [dynamic(f"http://a.example{path}") for path in ("/", "/2003/05/ants-in-may", "/page", "/find?")]
    [False, False, False, False]
    """
    path = url.find("/", url.find("//") + 2)
    if _SOME.search(url, path) is None:
        return False
    if _SIGNS.search(url, path) is not None:
        return True
    calendar = _CALENDAR.search(url, path)
    return calendar is not None and _IN_YEAR.search(url, calendar.end() - 1) is not None
