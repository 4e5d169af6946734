"""The crawl's end of the socket for live questions: clients have orders read at once and receive their results."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.store.disk.listening import bound, removed
from evercrawl.store.live_line import LINE_BYTES, NAME, peer_uid, welcome

if TYPE_CHECKING:
    from evercrawl.crawl.loop import Crawl
    from evercrawl.crawl.orders.answering import AnsweringProcess

MOST: Final = 64
"""The highest number of clients at a time."""
POLL_S: Final = 0.02
WAIT_S: Final = 600.0
_ANSWER_S: Final = 5.0  # the time that a client may take to read an answer


class LiveLine:
    """Answers the clients of one run's socket.

    Parameters
    ----------
    one, wake
        The crawl, and a function that makes its loop turn now.
    answering
        Starts the process that answers questions.
    """

    def __init__(self, one: Crawl, wake: Callable[[], None], answering: AnsweringProcess) -> None:
        self._one, self._wake, self._answering = one, wake, answering
        self._asking = 0
        self._server: asyncio.Server | None = None
        self._directory = Path()

    async def open(self, directory: Path) -> str:
        """Begin to listen; return the path of the socket, or "" if that is not possible."""
        try:
            listening = bound(directory, NAME)
            if listening is None:
                return ""
            self._server = await asyncio.start_unix_server(self._answer, sock=listening, limit=LINE_BYTES)
        except OSError:
            return ""
        self._directory = directory
        return str(directory / NAME)

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            removed(self._directory, NAME)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._asking >= MOST or not welcome(peer_uid(writer.get_extra_info("socket"))):
            writer.close()
            return
        self._asking += 1
        try:
            while line := await reader.readline():
                said = await self._said(line)
                writer.write(msgspec.json.encode(said) + b"\n")
                await asyncio.wait_for(writer.drain(), _ANSWER_S)
        except (OSError, ValueError, TimeoutError):  # the client is gone or too slow, or its line is too long
            pass
        finally:
            self._asking -= 1
            writer.close()

    async def _said(self, line: bytes) -> dict[str, Any]:
        try:
            question = json_of(line, dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return {"error": "not a JSON object"}
        kinds: dict[str, Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]] = {
            "ping": self._ping,
            "order": self._order,
            "progress": self._progress,
            "questions": self._questions,
        }
        answer = kinds.get(str(question.get("ask")))
        return await answer(question) if answer is not None else {"error": f"ask one of {', '.join(kinds)}"}

    async def _ping(self, _: dict[str, Any]) -> dict[str, Any]:
        self._one.obeying.ping()
        self._wake()
        return {"paused": self._one.obeying.paused}

    async def _progress(self, _: dict[str, Any]) -> dict[str, Any]:
        return asdict(self._one.progress())

    async def _questions(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"begun": self._answering.begin()}

    async def _order(self, question: dict[str, Any]) -> dict[str, Any]:
        await self._ping(question)
        name, wait_s = str(question.get("id")), question.get("wait_s")
        until = asyncio.get_running_loop().time() + min(
            float(wait_s) if isinstance(wait_s, int | float) else 0.0, WAIT_S
        )
        while (found := self._one.obeying.answer(name)) is None:
            if asyncio.get_running_loop().time() >= until:
                return {"id": name, "state": "waits", "result": self._one.obeying.outlook(name)}
            await asyncio.sleep(POLL_S)
        return {"id": name, "at": found.at, "do": found.do, "state": found.state, "result": found.result}
