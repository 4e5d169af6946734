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
"""Time between two requests for one key file, and between two that one client causes at any host and port of a site."""
AT_A_SITE: Final = 3
"""Maximum number of requests to one site in that time for files that never held a key; other files do not count."""
PROOFS: Final = 16
"""Maximum number of key files remembered for one site."""
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
    """A key file: the key that it held, when, and when the file was last requested."""

    key: str
    at: float
    asked_at: float


class KeyProver:
    """Verifies submissions.

    Whatever is submitted, a file counts for what it held when it was last read; a false key neither replaces the proof
    of another one nor takes its turn.

    Parameters
    ----------
    knows
        Returns whether the crawl knows a host: keys of other hosts are never fetched.
    fetch
        Fetches a key file.
    """

    def __init__(self, knows: Callable[[str], bool], fetch: Callable[[str], SmallAnswer]) -> None:
        self._knows, self._fetch = knows, fetch
        self._proofs: OrderedDict[str, OrderedDict[str, _Proof]] = OrderedDict()  # by site, and location
        self._asked: OrderedDict[str, list[tuple[float, str, str]]] = OrderedDict()  # by site: when, where, by whom

    def judge(self, given: Submission, now: float, client: str = "") -> SubmissionVerdict:
        """Return the verdict on a submission of the network `client`; fetching the host's key may take seconds."""
        verdict, location = _checked(given)
        if verdict.status != 200:
            return verdict
        if not self._knows(hostname(verdict.urls[0])):
            return SubmissionVerdict(422, f"this crawl does not visit {given.host[:253]}")
        whose = site(hostname(location))
        proofs = self._proofs.get(whose, OrderedDict[str, _Proof]())
        proof = proofs.get(location)
        if proof is not None and proof.key == given.key and now < proof.at + PROVED_S:
            return verdict
        if not self._may_ask(whose, location, client, proof, now):
            return SubmissionVerdict(429, f"a key is asked for once in {AGAIN_S:.0f} s; submit again later")
        found = self._fetch(location)
        key = found.body.decode("ascii", "replace").strip() if found.status == 200 else ""
        if _KEY.fullmatch(key):
            _put(proofs, location, _Proof(key, now, now), PROOFS)
            _put(self._proofs, whose, proofs)
        if key != given.key:  # one sentence for all: else submissions would tell which ports are open
            return SubmissionVerdict(403, f"{location} cannot be read, or does not hold the key")
        return verdict

    def _may_ask(self, whose: str, location: str, client: str, proof: _Proof | None, now: float) -> bool:
        """Return whether a file may be requested now; if so, it counts as requested."""
        if proof is not None:
            if now < proof.asked_at + AGAIN_S:
                return False
            proof.asked_at = now
            return True
        lately = [one for one in self._asked.get(whose, ()) if now < one[0] + AGAIN_S]
        again = any(where == location or (client and by == client) for _, where, by in lately)
        if again or len(lately) >= AT_A_SITE:
            return False
        _put(self._asked, whose, [*lately, (now, location, client)])
        return True


def _put(kept: OrderedDict[str, _Value], name: str, value: _Value, most: int = _HOSTS) -> None:
    """Keep a value as the newest of at most `most`."""
    kept.pop(name, None)
    kept[name] = value
    if len(kept) > most:
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
