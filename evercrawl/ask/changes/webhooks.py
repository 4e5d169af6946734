"""Webhooks: changes delivered to a server, signed, in order and at least once.

A delivery is a POST of JSON: {"crawl", "delivery", "upto", "changes": [...]}. `Evercrawl-Signature` is `t=T,v1=H`: T
is the instant in seconds since 1970 and H the HMAC-SHA256, in hex, of T, a full stop and the body, by the secret. Any
status 2xx accepts it. Otherwise it is sent again, with the same `Evercrawl-Delivery`, after 1 s, 2 s, 4 s and so on up
to an hour. What was accepted is noted on the disk: after a crash a change may come twice, never not at all.
"""

import hashlib
import hmac
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

import msgspec

from evercrawl.ask.changes.page_change import PageChange
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.ask.changes.streaming import StreamPart
from evercrawl.errors import ConfigError
from evercrawl.fetch.webhook import Posted
from evercrawl.store.cursors import Cursors

MOST: Final = 100
"""Maximum number of changes in a delivery."""
FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 3_600.0
NOTED_S: Final = 10.0
"""Interval at which the cursor is saved while there is nothing to deliver."""
_JITTER: Final = 0.1


class Post(Protocol):
    """A transport of deliveries; `fetch.webhook.post` uses HTTP."""

    def __call__(self, url: str, body: bytes, fields: Mapping[str, str], /) -> Posted:
        """Post a body and return the result."""
        ...


class Sending:
    """One delivery in progress, in a thread of its own, so that a server that hangs delays nothing else."""

    def __init__(self, post: Post, url: str, body: bytes, fields: Mapping[str, str]) -> None:
        self._answer: Posted | None = None
        self._thread = threading.Thread(target=self._send, args=(post, url, body, fields), daemon=True)
        self._thread.start()

    def answer(self, wait_s: float) -> Posted | None:
        """Wait up to `wait_s` seconds for the result, and return it; None if there is none yet."""
        self._thread.join(wait_s)
        return self._answer

    def _send(self, post: Post, url: str, body: bytes, fields: Mapping[str, str]) -> None:
        try:
            self._answer = post(url, body, fields)
        except Exception as error:  # whatever the error: the delivery is repeated
            self._answer = Posted(0, f"it could not be sent: {error!r}")


def signature(secret: str, at: int, body: bytes) -> str:
    """Return the value of `Evercrawl-Signature`.

    >>> signature("secret", 1_700_000_000, b"{}")[:30]
    't=1700000000,v1=b8569b78799ff9'
    """
    code = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={code}"


class Webhook:
    """Deliveries of changes to one URL.

    Parameters
    ----------
    url, secret
        Target of the deliveries; secret that signs them, "" for unsigned ones.
    question
        The query that selects the changes.
    cursors
        Stored cursors of webhooks.
    post, clock, describe
        Transport of deliveries; clock, in seconds since the epoch; function that turns a change into a JSON object.

    Attributes
    ----------
    failed
        Number of consecutive failures of the current delivery.
    error
        Why the last attempt failed; "" if it was accepted.
    """

    def __init__(
        self,
        url: str,
        secret: str,
        question: ChangeQuestion,
        cursors: Cursors,
        post: Post,
        clock: Callable[[], float],
        describe: Callable[[PageChange], dict[str, Any]],
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError("the webhook must be an http or https URL, such as https://example.org/hooks/changes")
        self._url, self._secret, self._question, self._cursors = url, secret, question, cursors
        self._post, self._clock, self._describe = post, clock, describe
        self._sequence, self._noted_at = question.after, clock()
        self._random = random.Random()
        self.failed, self.error = 0, ""
        self._next_at, self._part = 0.0, StreamPart((), 0)
        self._sending: Sending | None = None

    @property
    def sequence(self) -> int:
        """Return the sequence number up to which all changes were delivered."""
        return self._sequence

    @property
    def waits(self) -> bool:
        """Return whether a delivery is in progress or to be repeated."""
        return self._sending is not None or self.failed > 0

    def turn(self, crawl: str, part: Callable[[ChangeQuestion, int], StreamPart], wait_s: float = 0.1) -> bool:
        """Deliver some changes if a delivery is due; return whether there may be more to deliver at once.

        Parameters
        ----------
        crawl
            Id of the crawl.
        part
            Function that returns the changes after a query's `after`, up to a maximum number.
        wait_s
            How long to wait for a response before other webhooks have their turn.

        Raises
        ------
        StoreError
            The cursor cannot be saved.
        """
        now = self._clock()
        if self._sending is None:
            if now < self._next_at:
                return False
            if not self.failed:  # else repeat the same delivery
                self._part = part(replace(self._question, after=self._sequence), MOST)
            if not self._part.changes:
                return self._pass(now)
            self._sending = self._send(crawl, self._part, now)
        answer = self._sending.answer(wait_s)
        if answer is not None:
            self._sending = None
            return self._settle(answer)
        return False

    def _pass(self, now: float) -> bool:
        """Advance past events that brought no change."""
        moved, self._sequence = self._part.upto > self._sequence, self._part.upto
        if moved and now - self._noted_at > NOTED_S:
            self._note(now)
        return moved

    def _send(self, crawl: str, found: StreamPart, now: float) -> Sending:
        body = self._body(crawl, found)
        fields = {
            "Content-Type": "application/json",
            "User-Agent": "evercrawl-webhook",
            "Evercrawl-Delivery": _delivery(crawl, found.changes),
        }
        if self._secret:
            fields["Evercrawl-Signature"] = signature(self._secret, int(now), body)
        return Sending(self._post, self._url, body, fields)

    def _settle(self, answer: Posted) -> bool:
        if not answer.accepted:
            self.failed, self.error = self.failed + 1, answer.error or f"status {answer.status}"
            wait_s = min(FIRST_WAIT_S * 2.0 ** min(self.failed - 1, 30), LONGEST_WAIT_S)
            self._next_at = self._clock() + wait_s * (1 + _JITTER * (2 * self._random.random() - 1))
            return False
        self._sequence, self.failed, self.error, self._next_at = self._part.upto, 0, "", 0.0
        self._note(self._clock())
        return True

    def _note(self, now: float) -> None:
        self._cursors.put(self._url, self._sequence)
        self._noted_at = now

    def _body(self, crawl: str, found: StreamPart) -> bytes:
        changes = [self._describe(change) for change in found.changes]
        told = {"crawl": crawl, "delivery": _delivery(crawl, found.changes), "upto": found.upto, "changes": changes}
        return msgspec.json.encode(told)


def _delivery(crawl: str, changes: Sequence[PageChange]) -> str:
    """Return the id of a delivery, which stays the same when it is repeated."""
    return f"{crawl}-{changes[0].sequence}-{changes[-1].sequence}"
