"""IndexNow: a publisher submits changed pages, and proves control of the host by a key file on it.

References
----------
The IndexNow protocol, https://www.indexnow.org/documentation.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

import msgspec

from evercrawl.fetch.small import SmallAnswer
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname, normalise, origin

MOST_URLS: Final = 10_000
"""Of one submission, as the protocol has it."""
PROVED_S: Final = 86_400.0
"""A key that was found is not asked for again so long."""
AGAIN_S: Final = 60.0
"""Between two requests for keys to one site, whatever the host and port."""
_HOSTS: Final = 10_000
_Value = TypeVar("_Value")
_KEY: Final = re.compile(r"[A-Za-z0-9-]{8,128}")


class Submission(msgspec.Struct, rename={"urls": "urlList", "location": "keyLocation"}):
    """A posted submission, with the protocol's own field names."""

    host: str
    key: str
    urls: list[str]
    location: str = ""


class SubmissionVerdict(NamedTuple):
    """HTTP status, a sentence, and the pages that may be announced, normalised."""

    status: int
    detail: str
    urls: tuple[str, ...] = ()


@dataclass(slots=True)
class _Proof:
    """The last fetch of a host's key file: its location, the key ("" for none), and the time."""

    location: str
    key: str
    at: float


class KeyProver:
    """Verifies submissions.

    Parameters
    ----------
    knows
        Returns whether the crawl knows a host: keys of other hosts are never fetched.
    fetch
        Fetches a key file.
    """

    def __init__(self, knows: Callable[[str], bool], fetch: Callable[[str], SmallAnswer]) -> None:
        self._knows, self._fetch = knows, fetch
        self._proofs: OrderedDict[str, _Proof] = OrderedDict()  # by origin
        self._asked: OrderedDict[str, float] = OrderedDict()  # site -> instant of the last request for a key

    def judge(self, given: Submission, now: float) -> SubmissionVerdict:
        """Return the verdict on a submission; fetching the host's key may take seconds."""
        verdict, location = _checked(given)
        if verdict.status != 200:
            return verdict
        host = origin(verdict.urls[0])
        if not self._knows(hostname(verdict.urls[0])):
            return SubmissionVerdict(422, f"this crawl does not visit {given.host[:253]}")
        proof = self._proofs.get(host)
        proved = (
            proof is not None and (proof.location, proof.key) == (location, given.key) and now < proof.at + PROVED_S
        )
        if not proved:
            whose = site(hostname(verdict.urls[0]))
            if now < self._asked.get(whose, -AGAIN_S) + AGAIN_S:
                return SubmissionVerdict(
                    429, f"the key of a site is asked for once in {AGAIN_S:.0f} s; submit again later"
                )
            found = self._fetch(location)
            key = found.body.decode("ascii", "replace").strip() if found.status == 200 else ""
            _put(self._asked, whose, now)
            _put(self._proofs, host, _Proof(location, key, now))
            if key != given.key:  # one sentence for all: else submissions would tell which ports are open
                return SubmissionVerdict(403, f"{location} cannot be read, or does not hold the key")
        return verdict


def _put(kept: OrderedDict[str, _Value], name: str, value: _Value) -> None:
    """Keep a value as the newest of at most `_HOSTS`."""
    kept.pop(name, None)
    kept[name] = value
    if len(kept) > _HOSTS:
        kept.popitem(last=False)


def _checked(given: Submission) -> tuple[SubmissionVerdict, str]:
    """Return whether a submission is valid, its pages, and the location of its key."""
    if not _KEY.fullmatch(given.key):
        return SubmissionVerdict(400, "key must have 8 to 128 letters, digits and hyphens"), ""
    if not 0 < len(given.urls) <= MOST_URLS:
        return SubmissionVerdict(400, f"urlList must name 1 to {MOST_URLS:,} URLs"), ""
    urls = [normalise(url) for url in given.urls]
    first = urls[0]
    if first is None or None in urls:
        return SubmissionVerdict(400, "urlList must contain only complete http or https URLs"), ""
    base = origin(first)
    stated = normalise(f"{base.partition('//')[0]}//{given.host}/")
    if stated is None or origin(stated) != base:
        return SubmissionVerdict(422, "the URLs are not of the host that is named"), ""
    location = normalise(given.location, f"{base}/") if given.location else f"{base}/{given.key}.txt"
    if location is None or origin(location) != base:
        return SubmissionVerdict(422, "keyLocation must be on the host that is named"), ""
    if not location.endswith(".txt") or "?" in location:
        return SubmissionVerdict(422, "keyLocation must be a text file (.txt), without a query"), ""
    folder = location.partition("?")[0].rpartition("/")[0] + "/"
    named = tuple(dict.fromkeys(url for url in urls if url is not None))
    if not all(url.startswith(folder) for url in named):
        return SubmissionVerdict(
            422, f"a key at {location} speaks for {folder} alone, and each URL must be of {base}"
        ), ""
    return SubmissionVerdict(200, "taken", named), location
