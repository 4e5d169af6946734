"""Changes delivered to somebody's server: signed, in order, at least once.

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
"""Changes in a delivery."""
FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 3_600.0
NOTED_S: Final = 10.0
"""How long it may take until it is noted that nothing came that had to be delivered."""
_JITTER: Final = 0.1


class Post(Protocol):
    """Whatever carries a delivery; `fetch.webhook.post` does it by HTTP."""

    def __call__(self, url: str, body: bytes, fields: Mapping[str, str], /) -> Posted:
        """Post a body and return what came of it."""
        ...


class Sending:
    """One delivery on its way, in a thread of its own: a server that hangs holds up nothing else."""

    def __init__(self, post: Post, url: str, body: bytes, fields: Mapping[str, str]) -> None:
        self._answer: Posted | None = None
        self._thread = threading.Thread(target=self._send, args=(post, url, body, fields), daemon=True)
        self._thread.start()

    def answer(self, wait_s: float) -> Posted | None:
        """Return what came of it; None as long as nothing did, after so long."""
        self._thread.join(wait_s)
        return self._answer

    def _send(self, post: Post, url: str, body: bytes, fields: Mapping[str, str]) -> None:
        try:
            self._answer = post(url, body, fields)
        except Exception as error:  # whatever it was: the delivery is made again
            self._answer = Posted(0, f"it could not be sent: {error!r}")


def signature(secret: str, at: int, body: bytes) -> str:
    """Return the value of `Evercrawl-Signature`.

    >>> signature("secret", 1_700_000_000, b"{}")[:30]
    't=1700000000,v1=b8569b78799ff9'
    """
    code = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={code}"


class Webhook:
    """Delivers changes to one URL.

    Parameters
    ----------
    url, secret
        Where to; what signs a delivery, "" for nothing.
    question
        Which changes.
    cursors
        How far it has come.
    post, clock, describe
        What carries deliveries, tells the time, and makes an object of a change.

    Attributes
    ----------
    failed
        How often in a row the delivery under way was not accepted.
    error
        Why the last one was not; "" if it was.
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
        """Return the sequence up to which all changes were delivered."""
        return self._sequence

    @property
    def waits(self) -> bool:
        """Whether a delivery is under way, or is to be made again."""
        return self._sending is not None or self.failed > 0

    def turn(self, crawl: str, part: Callable[[ChangeQuestion, int], StreamPart], wait_s: float = 0.1) -> bool:
        """Deliver some changes if it is time to; return whether there may be more to deliver at once.

        Parameters
        ----------
        crawl
            Id of the crawl.
        part
            Returns changes after a question's `after`, at most so many.
        wait_s
            How long to wait for an answer before others have their turn.

        Raises
        ------
        StoreError
            It cannot be noted what was delivered.
        """
        now = self._clock()
        if self._sending is None:
            if now < self._next_at:
                return False
            if not self.failed:  # else the same once more
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
        """Go on over events that brought no change."""
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
    """Return what names a delivery: the same if it is sent again."""
    return f"{crawl}-{changes[0].sequence}-{changes[-1].sequence}"
