"""What the answer to a request for robots.txt means, and how long it holds (RFC 9309, sections 2.3 and 2.4)."""

import re
from typing import Literal

__all__ = ["DEFAULT_FRESH_S", "MIN_FRESH_S", "ROBOTS_REDIRECTS", "fresh_s", "verdict"]

ROBOTS_REDIRECTS = 5
"""Redirects to follow, also to other hosts; the rules found hold for the host first asked."""

MIN_FRESH_S = 60.0
DEFAULT_FRESH_S = 86_400.0

_MAX_AGE = re.compile(r'(?:^|[\s,])max-age\s*=\s*"?([0-9]+)', re.IGNORECASE)
_NO_KEEPING = re.compile(r"(?:^|[\s,])no-(?:cache|store)(?:$|[\s,=])", re.IGNORECASE)


def verdict(status: int, error: str = "") -> Literal["parse", "allow_all", "disallow_all"]:
    """Return what to do with an answer.

    A 4xx says that there are no rules, so everything is open. 429 is the exception: it says nothing of rules and asks
    us to come less often, so it counts as a server's trouble, as it does for Google. Trouble of any kind (5xx, no
    answer, an answer cut short) closes the site until a later try succeeds; a body over our own cap is no trouble, its
    first part is read. A redirect here means that the caller has followed `ROBOTS_REDIRECTS` of them already, which the
    RFC lets us take as "there are no rules". A 304 is not for this function: the rules at hand go on.

    Parameters
    ----------
    status, error
        As in `Exchange`: 0 when no answer came, "" when nothing failed.

    Examples
    --------
    >>> verdict(200), verdict(404), verdict(503), verdict(0, "timeout"), verdict(429)
    ('parse', 'allow_all', 'disallow_all', 'disallow_all', 'disallow_all')
    """
    if 200 <= status < 300 and error in ("", "too_large"):
        return "parse"
    if 300 <= status < 500 and status != 429 and not error:
        return "allow_all"
    return "disallow_all"


def fresh_s(cache_control: str) -> float:
    """Return for how many seconds an answer with this Cache-Control may be used: 60 s to 24 h, 24 h by default.

    The RFC's upper bound is 24 hours; the lower one keeps a careless `no-store` from doubling our requests. How soon to
    ask again after an error is the caller's matter: twice as long each time, from `MIN_FRESH_S`.

    Examples
    --------
    >>> fresh_s("public, max-age=3600"), fresh_s("no-store"), fresh_s(""), fresh_s("max-age=9999999")
    (3600.0, 60.0, 86400.0, 86400.0)
    """
    if _NO_KEEPING.search(cache_control):
        return MIN_FRESH_S
    found = _MAX_AGE.search(cache_control)
    if found is None:
        return DEFAULT_FRESH_S
    return min(max(float(found[1]), MIN_FRESH_S), DEFAULT_FRESH_S)
