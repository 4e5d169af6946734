"""WebSub: subscriptions to pages and feeds at their hubs, and verification of hubs' messages.

References
----------
WebSub, W3C Recommendation, 23 January 2018: discovery (section 4), subscription and verification of intent (5),
authenticated distribution (7).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from evercrawl.decoding import json_of, whole_of
from evercrawl.fetch.small import SmallAnswer
from evercrawl.parse.listings.feed import is_feed, read_feed
from evercrawl.parse.urls import normalise, origin
from evercrawl.small_file import LIST_BYTES, read_small

FILE: Final = "subscriptions.json"
LEASE_S: Final = 10 * 86_400
_MOST_ASKED_S: Final = 10**11
LEAST_LEASE_S: Final = 300.0
RETRY_S: Final = 3600.0
RENEWED_AT: Final = 2 / 3
"""Part of a lease after which it is renewed."""
METHODS: Final = ("sha1", "sha256", "sha384", "sha512")
MOST_TOPICS: Final = 10_000
_LINK: Final = re.compile(r"<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:\"[^\"]*\"|[^\s,;]+))*)")
_REL: Final = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s,;]+))", re.IGNORECASE)
_TAG: Final = re.compile(r"<(?:[\w.-]+:)?link\b([^<>]{0,4096})>", re.IGNORECASE)  # up to the next one: linear time
_ATTRIBUTE: Final = re.compile(r"(?<![\w:-])([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")


@dataclass(slots=True)
class Subscription:
    """The subscription to one topic.

    Attributes
    ----------
    url, topic, hub
        The URL given by the operator, the hub's name for the topic, and the hub; "" until discovered.
    name, secret
        The callback's unguessable name, and the secret with which the hub signs.
    state
        "new", "asked" (the hub has to verify), "active" or "denied".
    until, next_at
        End of the lease, and time of the next action, s since the epoch.
    trouble
        The last error, "" for none.
    """

    url: str
    name: str
    secret: str
    topic: str = ""
    hub: str = ""
    state: str = "new"
    until: float = 0.0
    next_at: float = 0.0
    trouble: str = ""


class Subscriptions:
    """The subscriptions of a crawl, stored in a file that only its owner can read.

    Parameters
    ----------
    directory
        The crawl's directory.
    callback
        Public URL of the callbacks, without the name of a subscription.
    request
        Sends a request: URL, body (None for a GET), header fields.
    """

    def __init__(
        self, directory: Path, callback: str, request: Callable[[str, bytes | None, Mapping[str, str]], SmallAnswer]
    ) -> None:
        self._path, self._callback, self._request = directory / FILE, callback, request
        self.all: dict[str, Subscription] = {}
        try:
            kept = json_of(read_small(self._path, LIST_BYTES), list[Subscription])
            self.all = {one.name: one for one in kept}
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            self.all = {}  # a damaged file only means subscribing again

    def want(self, urls: list[str]) -> None:
        """Subscribe to these topics and to no others; existing subscriptions stay."""
        there = {one.url: one for one in self.all.values()}
        wanted = [
            there.get(url) or Subscription(url, secrets.token_urlsafe(24), secrets.token_urlsafe(32))
            for url in urls[:MOST_TOPICS]
        ]
        self.all = {one.name: one for one in wanted}
        self._save()

    def turn(self, now: float) -> int:
        """Discover, subscribe and renew where due; return the number of requests made."""
        due = [one for one in self.all.values() if one.next_at <= now]
        for one in due:
            one.next_at = now + RETRY_S
            if not one.hub:
                self._discover(one)
            if one.hub:
                self._subscribe(one)
        if due:
            self._save()
        return len(due)

    def verified(self, name: str, query: Mapping[str, str], now: float) -> str | None:
        """Return the challenge that confirms a subscription to the hub; None if we do not want it."""
        one, mode = self.all.get(name), query.get("hub.mode", "")
        if one is None or query.get("hub.topic") != one.topic or not one.topic:
            return None
        if mode == "denied":
            one.state, one.trouble = "denied", query.get("hub.reason", "the hub denied it")[:200]
            self._save()
            return ""
        challenge, lease = query.get("hub.challenge", ""), query.get("hub.lease_seconds", "")
        if mode != "subscribe" or one.state == "new" or not challenge:
            return None
        asked_s = whole_of(lease, 0, _MOST_ASKED_S)
        lease_s = LEASE_S if asked_s is None else min(float(asked_s), 10.0 * LEASE_S)
        one.state, one.until, one.trouble = "active", now + lease_s, ""
        one.next_at = now + max(RENEWED_AT * lease_s, LEAST_LEASE_S)
        self._save()
        return challenge

    def told(self, name: str, body: bytes, signature: str, content_type: str) -> tuple[str, ...] | None:
        """Return the pages in a hub's message: its topic, and the URLs of the topic's origin in the feed sent.

        None without such a subscription; () if the hub's signature is wrong, which is not reported to the hub.
        """
        one = self.all.get(name)
        if one is None or one.state == "new":
            return None
        if not is_signed(body, one.secret, signature):
            one.trouble = "a notification without the right signature was left aside"
            return ()
        mime = content_type.partition(";")[0].strip().lower()
        listed = [entry.url for entry in read_feed(body, one.url, content_type).entries] if is_feed(body, mime) else []
        base = origin(one.url)
        return tuple(dict.fromkeys(url for url in (one.url, *listed) if origin(url) == base))

    def _discover(self, one: Subscription) -> None:
        found = self._request(one.url, None, {})
        if found.status != 200:
            one.trouble = found.error or f"status {found.status}"
            return
        hub, topic = links_of(found, one.url)
        one.hub, one.topic = hub, topic or one.url
        one.trouble = "" if hub else "it names no hub"
        if not hub:
            one.next_at += 23 * RETRY_S

    def _subscribe(self, one: Subscription) -> None:
        one.state = "asked" if one.state in ("new", "denied") else one.state
        self._save()  # the hub may verify before it answers
        fields = {
            "hub.callback": f"{self._callback}/{one.name}", "hub.mode": "subscribe", "hub.topic": one.topic,
            "hub.secret": one.secret, "hub.lease_seconds": str(LEASE_S),
        }  # fmt: skip
        said = {"Content-Type": "application/x-www-form-urlencoded"}
        found = self._request(one.hub, urlencode(fields).encode(), said)
        if not 200 <= found.status < 300:
            one.trouble = f"the hub {one.hub} says: {found.error or f'status {found.status}'}"
            if found.status in (404, 410):
                one.hub = ""  # discovered again

    def _save(self) -> None:
        beside = self._path.with_suffix(".new")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            json.dump([asdict(one) for one in self.all.values()], out)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(self._path)


def is_signed(body: bytes, secret: str, signature: str) -> bool:
    """Return whether an X-Hub-Signature header proves that the sender of a body knows a secret.

    Examples
    --------
    >>> right = hmac.new(b"secret", b"news", "sha256").hexdigest()
    >>> is_signed(b"news", "secret", f"sha256={right}"), is_signed(b"other", "secret", f"sha256={right}")
    (True, False)
    """
    method, _, given = signature.strip().partition("=")
    if method.lower() not in METHODS:
        return False
    made = hmac.new(secret.encode(), body, getattr(hashlib, method.lower())).hexdigest()
    return hmac.compare_digest(made.encode(), given.strip().lower().encode())


def links_of(found: SmallAnswer, url: str) -> tuple[str, str]:
    """Return hub and self of a page or feed, "" for none: from Link header fields, or else from link elements.

    Examples
    --------
    >>> answer = SmallAnswer(200, 'Link: <https://hub.example/>; rel="hub", </feed>; rel=self')
    >>> links_of(answer, "https://a.example/feed?x")
    ('https://hub.example/', 'https://a.example/feed')
    """
    pairs = [
        (quoted or plain, target)
        for value in found.values("link")
        for target, parameters in _LINK.findall(value)
        for quoted, plain in _REL.findall(parameters)
    ]
    if not any("hub" in rel.lower().split() for rel, _ in pairs):
        for inside in _TAG.findall(found.body.decode("utf-8", "replace")):
            said: dict[str, Any] = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(inside)}
            pairs.append((unescape(said.get("rel", "")), unescape(said.get("href", ""))))
    first = {"hub": "", "self": ""}
    for rel, target in pairs:
        for wanted in first:
            if not first[wanted] and wanted in rel.lower().split():
                first[wanted] = normalise(target, url) or ""
    return first["hub"], first["self"]
