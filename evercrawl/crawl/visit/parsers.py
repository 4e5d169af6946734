"""Readers of bodies: this process, at once, unless worker processes are used (`workers.py`)."""

from typing import Protocol

from evercrawl.arrays.hasher import Hasher
from evercrawl.model.stored.contents import Body, attempted, body_of
from evercrawl.model.stored.reading import Fetched, held


class Parsers(Protocol):
    """Interface of body readers; results come in the order of submission, except those that take long."""

    @property
    def pending(self) -> int:
        """The number of answers that were submitted and not yet returned."""
        ...

    @property
    def apart(self) -> int:
        """The number of pending answers that take so long that the crawl does not wait for them."""
        ...

    @property
    def behind(self) -> bool:
        """Whether so many bodies wait to be parsed that no more should be fetched."""
        ...

    @property
    def message(self) -> str:
        """What is wrong with the readers; "" if nothing is."""
        ...

    def submit(self, fetched: Fetched) -> None:
        """Take an answer; one without an unread body only keeps its place in the order."""
        ...

    def done(self) -> list[Fetched]:
        """Return the answers whose bodies are parsed, each once."""
        ...

    async def settle(self, *, patient: bool = False) -> None:
        """Wait until every body is parsed; unless `patient`, those that take long may be dropped, as in a crash."""
        ...

    def close(self) -> None:
        """Release resources; pending answers are lost."""
        ...


class Inline:
    """Parses each body as it arrives.

    Parameters
    ----------
    agent
        The name to which directives for robots may be addressed.
    hasher
        Hashes contents and links as the crawl does.
    text
        Whether the text itself is needed, for a search index.
    requisites
        Whether requisites of pages are collected.
    """

    def __init__(self, agent: str, hasher: Hasher, *, text: bool, requisites: bool = False) -> None:
        self._agent, self._hasher, self._text, self._requisites = agent, hasher, text, requisites
        self._done: list[Fetched] = []

    @property
    def pending(self) -> int:
        """The number of answers that were submitted and not yet returned."""
        return len(self._done)

    @property
    def apart(self) -> int:
        """Zero: nothing takes longer than submitting it."""
        return 0

    @property
    def behind(self) -> bool:
        """False: nothing waits."""
        return False

    @property
    def message(self) -> str:
        """Empty: faults are reported with their page."""
        return ""

    def submit(self, fetched: Fetched) -> None:
        """Parse the body, if there is an unread one."""
        if fetched.unread:
            fetched.take(attempted(self.body(fetched)))
        self._done.append(fetched)

    def body(self, fetched: Fetched) -> Body:
        """Return the body of an answer with what is needed to parse it."""
        before = fetched.before
        former = before.digest != 0 and not before.digest_rest
        return body_of(
            fetched.exchange, held(before), self._agent, self._hasher, text=self._text, former=former,
            requisites=self._requisites,
        )  # fmt: skip

    def done(self) -> list[Fetched]:
        """Return the answers whose bodies are parsed, each once."""
        done, self._done = self._done, []
        return done

    async def settle(self, *, patient: bool = False) -> None:
        """Return at once: every body is parsed."""

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
