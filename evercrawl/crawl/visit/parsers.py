"""Who reads bodies: this process, here and now, unless others are given the work (`workers.py`)."""

from typing import Protocol

from evercrawl.arrays.hasher import Hasher
from evercrawl.model.stored.contents import Body, attempted, body_of
from evercrawl.model.stored.reading import Fetched, held


class Parsers(Protocol):
    """Whatever reads the bodies of visits; what comes out is in the order of what went in."""

    @property
    def pending(self) -> int:
        """Return how many answers have gone in and have yet to come out."""
        ...

    @property
    def behind(self) -> bool:
        """Whether so many bodies wait to be read that no more should be fetched."""
        ...

    @property
    def message(self) -> str:
        """Return what is wrong with whoever reads, "" if nothing is."""
        ...

    def submit(self, fetched: Fetched) -> None:
        """Take an answer in; one without an unread body only keeps its place."""
        ...

    def done(self) -> list[Fetched]:
        """Return the answers whose bodies are read, each once."""
        ...

    async def settle(self) -> None:
        """Return once nothing is unread any more."""
        ...

    def close(self) -> None:
        """Give back what is held; what is pending is lost."""
        ...


class Inline:
    """Reads each body as it comes in.

    Parameters
    ----------
    agent
        The name that directives for robots may speak to.
    hasher
        Hashes contents and links as the crawl does.
    text
        Whether the words themselves are wanted, for a search index.
    requisites
        Whether it is wanted what pages need to be shown.
    """

    def __init__(self, agent: str, hasher: Hasher, *, text: bool, requisites: bool = False) -> None:
        self._agent, self._hasher, self._text, self._requisites = agent, hasher, text, requisites
        self._done: list[Fetched] = []

    @property
    def pending(self) -> int:
        """Return how many answers have gone in and have yet to come out."""
        return len(self._done)

    @property
    def behind(self) -> bool:
        """Return False: nothing waits."""
        return False

    @property
    def message(self) -> str:
        """Return "": what goes wrong with a page is said of the page."""
        return ""

    def submit(self, fetched: Fetched) -> None:
        """Read the body, if there is one to be read."""
        if fetched.unread:
            fetched.take(attempted(self.body(fetched)))
        self._done.append(fetched)

    def body(self, fetched: Fetched) -> Body:
        """Return what is to be read of an answer."""
        before = fetched.before
        former = before.digest != 0 and not before.digest_rest
        return body_of(
            fetched.exchange, held(before), self._agent, self._hasher, text=self._text, former=former,
            requisites=self._requisites,
        )  # fmt: skip

    def done(self) -> list[Fetched]:
        """Return the answers whose bodies are read, each once."""
        done, self._done = self._done, []
        return done

    async def settle(self) -> None:
        """Return at once: nothing is unread."""

    def close(self) -> None:
        """Hold nothing that could be given back."""
