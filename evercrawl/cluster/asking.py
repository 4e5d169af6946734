"""Questions to running partitions: received over a Unix socket in the crawl's directory, sent to their processes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Final, Protocol

import msgspec

from evercrawl import __version__
from evercrawl.ask.parts_line import ALL, ASKED_BYTES, FILES, PARTS_SOCKET, VERB, PartsAnswer, PartsAsked, PartState
from evercrawl.ask.remote import LENGTH, message
from evercrawl.cluster.wire import FilesAsked, FilesTold, Frame, PartAnswered, PartQuestion, PartQuestionDropped
from evercrawl.errors import EvercrawlError
from evercrawl.store.disk.listening import bound, removed
from evercrawl.store.live_line import peer_uid, welcome

_ASKING_S: Final = 5.0  # time limit for a client to send its question or read the answer
_LENT_S: Final = 600.0
"""Time limit for a client that reads files to ask for more."""
MOVES: Final = "it is being moved, which takes seconds; ask again"
MOST: Final = 512  # clients at a time
OF_ONE: Final = 64
"""Maximum number of pending questions to one partition."""


class PartLoan(Protocol):
    """The files of a partition, which stay where they are until this is closed."""

    async def told(self, asked: FilesAsked) -> FilesTold:
        """Return the answer to a question about them."""
        ...

    async def close(self) -> None:
        """Close the files."""
        ...


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
    lend
        Returns the files of a partition on another machine; None if no partition is on another one.
    """

    def __init__(
        self,
        directory: Path,
        states: Callable[[], list[PartState]],
        ask: Callable[[int, str, bytes, float], Awaitable[PartsAnswer]],
        lend: Callable[[int], Awaitable[PartLoan]] | None = None,
    ) -> None:
        self._directory, self._states, self._ask, self._lend = directory, states, ask, lend
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
            if asked.name == FILES:
                await self._lent(reader, writer, asked)
                return
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

    async def _lent(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: PartsAsked) -> None:
        """Answer questions about the files of a partition until the client disconnects, or says nothing for long."""
        loan: PartLoan | None = None
        trouble = _other_version(asked) or ("" if self._lend else "it is on the machine where the crawl runs")
        try:
            if self._lend is not None and not trouble:
                try:
                    loan = await self._lend(asked.number)
                except EvercrawlError as error:
                    trouble = str(error)
            writer.write(message(PartsAnswer(msgspec.msgpack.encode(0), trouble)))
            while loan is not None:
                async with asyncio.timeout(_LENT_S):
                    await writer.drain()
                    size = LENGTH.unpack(await reader.readexactly(LENGTH.size))[0]
                    if size > ASKED_BYTES:
                        return
                    question = msgspec.msgpack.decode(await reader.readexactly(size), type=FilesAsked)
                told = await loan.told(question)
                writer.write(message(PartsAnswer(told.data, told.trouble)))
        finally:
            if loan is not None:
                await loan.close()

    async def _answered(self, asked: PartsAsked) -> PartsAnswer:
        if trouble := _other_version(asked):
            return PartsAnswer(b"", trouble)
        if asked.number == ALL:
            return PartsAnswer(msgspec.msgpack.encode(self._states()))
        return await self._ask(asked.number, asked.name, asked.parameters, asked.patience_s)


def _other_version(asked: PartsAsked) -> str:
    """Return that the client has another version of evercrawl; "" if it has the same."""
    same = asked.version == __version__
    return "" if same else f"the crawl is run by evercrawl {__version__}; ask with the same version"
