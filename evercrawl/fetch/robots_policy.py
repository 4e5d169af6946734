"""Interprets the answer to a request for robots.txt, and its lifetime (RFC 9309, sections 2.3 and 2.4)."""

import re
from typing import Literal

__all__ = ["DEFAULT_FRESH_S", "MIN_FRESH_S", "ROBOTS_REDIRECTS", "fresh_s", "verdict"]

ROBOTS_REDIRECTS = 5
"""The number of redirects to follow, also to other hosts; the rules found apply to the host first asked."""

MIN_FRESH_S = 60.0
DEFAULT_FRESH_S = 86_400.0

_MAX_AGE = re.compile(r'(?:^|[\s,])max-age\s*=\s*"?([0-9]+)', re.IGNORECASE)
_NO_KEEPING = re.compile(r"(?:^|[\s,])no-(?:cache|store)(?:$|[\s,=])", re.IGNORECASE)


def verdict(status: int, error: str = "") -> Literal["parse", "allow_all", "disallow_all"]:
    """Return what to do with an answer.

    A 4xx status means that there are no rules, so everything is allowed. 429 is the exception: it says nothing about
    rules and asks us to slow down, so it counts as a server error, as it does for Google. Errors of any kind (5xx, no
    answer, an answer cut short) close the site until a later try succeeds. A body over our own limit is no error; its
    first part is read. A redirect here means that the caller has already followed `ROBOTS_REDIRECTS` of them, which
    the RFC lets us take as "there are no rules". A 304 is not handled here: the present rules remain valid.

    Parameters
    ----------
    status, error
        As in `Exchange`: 0 if there was no answer, "" if nothing failed.

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

    The RFC's upper limit is 24 hours; the lower limit keeps a careless `no-store` from doubling our requests. The
    caller decides when to ask again after an error: after twice the time at each error, from `MIN_FRESH_S`.

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
