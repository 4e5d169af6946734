"""The command line's queries, answered from the replica over a Unix socket, without opening the crawl again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final

import msgspec

from evercrawl import __version__
from evercrawl.ask.changes.listing import changes
from evercrawl.ask.changes.page_change import ChangeList
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.ask.changes.texts import VersionTexts, WordDiff, diff_of
from evercrawl.ask.content import StoredPage, content
from evercrawl.ask.rank.top import TopPage, top_pages
from evercrawl.ask.remote import LENGTH, NAME, QUESTION_BYTES, RemoteQuestion, message
from evercrawl.ask.search.search import Narrow, SearchAnswer
from evercrawl.ask.status import Status, state_of
from evercrawl.ask.why.explanation import Why
from evercrawl.ask.why.why import why
from evercrawl.errors import EvercrawlError
from evercrawl.serve.replica import CrawlReplica
from evercrawl.store.disk.listening import bound, removed
from evercrawl.store.live_line import peer_uid, welcome

MOST: Final = 16
"""Questions at a time; who comes later opens the directory."""
_ASKING_S: Final = 5.0  # limit for a client to send a query, or to read the answer


class QuestionLine:
    """Serves the socket of one directory; if another server has it already, that one continues.

    Parameters
    ----------
    replica
        The crawl, followed.

    Attributes
    ----------
    answered
        Number of queries answered.
    """

    def __init__(self, replica: CrawlReplica) -> None:
        self._replica = replica
        self._server: asyncio.Server | None = None
        self._asking = self.answered = 0

    async def open(self) -> None:
        """Start listening, if possible."""
        with contextlib.suppress(OSError):
            listening = bound(self._replica.directory, NAME)
            if listening is not None:
                self._server = await asyncio.start_unix_server(self._answer, sock=listening)

    @property
    def open_here(self) -> bool:
        """Whether it is listening."""
        return self._server is not None

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            removed(self._replica.directory, NAME)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._asking += 1
        try:
            if self._asking > MOST or not welcome(peer_uid(writer.get_extra_info("socket"))):
                return
            async with asyncio.timeout(_ASKING_S):
                size = LENGTH.unpack(await reader.readexactly(LENGTH.size))[0]
                if size > QUESTION_BYTES:
                    return
                asked = msgspec.msgpack.decode(await reader.readexactly(size), type=RemoteQuestion)
            if asked.version == __version__ and asked.name in QUESTIONS:
                told = await asyncio.to_thread(self._told, asked)
                self.answered += 1
                writer.write(told)
                await asyncio.wait_for(writer.drain(), _ASKING_S)
        except (OSError, EvercrawlError, msgspec.MsgspecError, TypeError, TimeoutError, asyncio.IncompleteReadError):
            pass  # a client without an answer opens the directory itself, and gets the error
        finally:
            self._asking -= 1
            writer.close()

    def _told(self, asked: RemoteQuestion) -> bytes:
        self._replica.catch_up()
        return message(QUESTIONS[asked.name](self._replica, **asked.parameters))


def _why(replica: CrawlReplica, url: str) -> Why:
    with replica.derived() as (view, derived):
        return why(view, url, derived=derived)


def _top(replica: CrawlReplica, most: int) -> list[TopPage]:
    with replica.reading() as view:
        return top_pages(view, most)


def _status(replica: CrawlReplica) -> Status:
    with replica.reading() as view:
        return state_of(view.partition, view, view.now)


def _search(replica: CrawlReplica, words: str, narrow: dict[str, Any], limit: int) -> SearchAnswer:
    with replica.searching() as search:
        return search.ask(words, Narrow(**narrow), limit=limit)


def _get(replica: CrawlReplica, url: str) -> StoredPage:
    with replica.reading() as view:
        return content(view.partition, url, view.config, view.now)


def _changes(replica: CrawlReplica, question: dict[str, Any], diff: bool) -> tuple[ChangeList, list[WordDiff | None]]:
    with replica.derived() as (view, derived):
        found = changes(view, derived.runs, ChangeQuestion(**question), derived.events)
        texts = VersionTexts(view.partition, derived.runs)
        return found, [diff_of(texts, change) if diff else None for change in found.changes]


QUESTIONS: Final[dict[str, Callable[..., Any]]] = {
    "why": _why, "top": _top, "status": _status, "search": _search, "get": _get, "changes": _changes,
}  # fmt: skip
"""What may be asked: name -> what answers, with the parameters of the question."""
