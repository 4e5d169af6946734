"""Detection of pages generated on demand by a program, whose external links count for less.

Query results, calendar days, pages of a listing: anyone can create any number of them by requesting them, and each
links to the next. They are recognised by the address, and only if it is unambiguous: a written page mistaken for one
of these would lose the weight of its links to other sites.

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
        r"\?.",  # a non-empty query
        r";(?:jsessionid|phpsessid|session_?id|session|sid)=",  # a session id in the path
        rf"/{_YEAR}[/-]{_MONTH}(?:[/-]{_DAY})?/?$",  # a month or a day without a title
        r"/(?:page|seite|pagina|sheet)[/=_-]?\d+(?:/|\.[a-z]{3,5})?$",  # a page of a listing
    )),
    re.ASCII | re.IGNORECASE,
)  # fmt: skip

_SOME: Final = re.compile(r"[?;0-9]")  # without any of these there is no sign of a generated page, nor a year

_CALENDAR: Final = re.compile(r"/(?:calendar|kalender|agenda|calendrier|calendario)/", re.IGNORECASE)
_IN_YEAR: Final = re.compile(rf"/{_YEAR}(?:\b|_)", re.ASCII)


def dynamic(url: str) -> bool:
    """Return whether the page at a normalised URL is clearly generated on demand.

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
