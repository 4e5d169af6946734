"""Questions to running partitions: received over a Unix socket in the crawl's directory, sent to their processes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from evercrawl import __version__
from evercrawl.ask.parts_line import ALL, ASKED_BYTES, PARTS_SOCKET, VERB, PartsAnswer, PartsAsked, PartState
from evercrawl.ask.remote import LENGTH, message
from evercrawl.cluster.wire import Frame, PartAnswered, PartQuestion, PartQuestionDropped
from evercrawl.store.disk.listening import bound, removed
from evercrawl.store.live_line import peer_uid, welcome

_ASKING_S: Final = 5.0  # time limit for a client to send its question or read the answer
MOVES: Final = "it is being moved, which takes seconds; ask again"
MOST: Final = 512  # clients at a time
OF_ONE: Final = 64
"""Maximum number of pending questions to one partition."""


class AskedParts:
    """Pending questions to partitions.

    Parameters
    ----------
    say
        Sends a frame to the process of a partition; returns whether the partition has one.
    hung
        Returns a sentence why the process of a partition would not answer; "" if it would.
    placed
        Returns an event that is set unless the partition is being moved.
    """

    def __init__(
        self,
        say: Callable[[int, Frame], bool],
        hung: Callable[[int], str] = lambda number: "",
        placed: Callable[[int], asyncio.Event] | None = None,
    ) -> None:
        self._say, self._hung, self._placed, self._ids = say, hung, placed, count(1)
        self._waiting = dict[int, tuple[int, asyncio.Future[PartsAnswer]]]()

    async def ask(self, number: int, name: str, parameters: bytes, patience_s: float) -> PartsAnswer:
        """Return the answer, or why there is none; if the caller is cancelled, the partition drops the question.

        Verbs wait until a partition that is being moved is in its new place; other questions do not.
        """
        placed = None if self._placed is None else self._placed(number)
        if placed is not None and not placed.is_set():
            began = time.monotonic()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(placed.wait(), patience_s if name == VERB else 0.0)
            patience_s -= time.monotonic() - began
            if not placed.is_set():
                return PartsAnswer(b"", MOVES)
        if sentence := self._hung(number):
            return PartsAnswer(b"", sentence)
        if sum(other == number for other, _ in self._waiting.values()) >= OF_ONE:
            return PartsAnswer(b"", f"{OF_ONE} questions to it are pending; ask again")
        asked = next(self._ids)
        answer: asyncio.Future[PartsAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[asked] = number, answer
        try:
            if not self._say(number, PartQuestion(asked, name, parameters, patience_s)):
                return PartsAnswer(b"", "its process is not running")
            async with asyncio.timeout(patience_s):
                return await answer
        except TimeoutError:
            return PartsAnswer(b"", self._hung(number) or f"it has not answered within {patience_s:g} s")
        finally:
            del self._waiting[asked]
            if not answer.done() or answer.cancelled():
                self._say(number, PartQuestionDropped(asked))

    def heard(self, said: PartAnswered) -> None:
        """Receive an answer; drop it if nobody waits for it."""
        _, answer = self._waiting.get(said.id, (0, None))
        if answer is not None and not answer.done():
            answer.set_result(PartsAnswer(said.data, said.trouble))

    def gone(self, number: int) -> None:
        """Answer all pending questions to a process that has ended."""
        for other, answer in self._waiting.values():
            if other == number and not answer.done():
                answer.set_result(PartsAnswer(b"", "its process ended before it answered"))


class PartsLine:
    """Listens for questions about partitions in the directory of their crawl.

    Parameters
    ----------
    directory
        The crawl's directory.
    states
        Returns the states of all partitions.
    ask
        Asks one partition.
    """

    def __init__(
        self,
        directory: Path,
        states: Callable[[], list[PartState]],
        ask: Callable[[int, str, bytes, float], Awaitable[PartsAnswer]],
    ) -> None:
        self._directory, self._states, self._ask = directory, states, ask
        self._server: asyncio.Server | None = None
        self._tasks = set[asyncio.Task[None]]()

    async def open(self) -> None:
        """Start listening, if that is possible."""
        with contextlib.suppress(OSError):
            listening = bound(self._directory, PARTS_SOCKET)
            if listening is not None:
                self._server = await asyncio.start_unix_server(self._answer, sock=listening)

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            self._server = None
            removed(self._directory, PARTS_SOCKET)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            if not welcome(peer_uid(writer.get_extra_info("socket"))):
                return
            if len(self._tasks) >= MOST:
                writer.write(message(PartsAnswer(b"", f"{MOST} questions are pending; ask again")))
                return
            self._tasks.add(task)
            async with asyncio.timeout(_ASKING_S):
                size = LENGTH.unpack(await reader.readexactly(LENGTH.size))[0]
                if size > ASKED_BYTES:
                    return
                asked = msgspec.msgpack.decode(await reader.readexactly(size), type=PartsAsked)
            answer = await self._answered_while(reader, asked)
            if answer is None:
                return
            writer.write(message(answer))
            await asyncio.wait_for(writer.drain(), _ASKING_S)
        except (OSError, msgspec.MsgspecError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the client has disconnected, or is not one of ours
        except asyncio.CancelledError:
            writer.write(message(PartsAnswer(b"", "the crawl ended before it answered")))
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answered_while(self, reader: asyncio.StreamReader, asked: PartsAsked) -> PartsAnswer | None:
        """Return the answer; None if the client disconnects before it arrives."""
        answering, gone = asyncio.ensure_future(self._answered(asked)), asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait([answering, gone], return_when=asyncio.FIRST_COMPLETED)
            return answering.result() if answering.done() else None
        finally:
            answering.cancel()
            gone.cancel()
            await asyncio.gather(answering, gone, return_exceptions=True)

    async def _answered(self, asked: PartsAsked) -> PartsAnswer:
        if asked.version != __version__:
            return PartsAnswer(b"", f"the crawl is run by evercrawl {__version__}; ask with the same version")
        if asked.number == ALL:
            return PartsAnswer(msgspec.msgpack.encode(self._states()))
        return await self._ask(asked.number, asked.name, asked.parameters, asked.patience_s)
