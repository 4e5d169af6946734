"""Queries that take seconds, each answered in a process of its own so that others do not wait."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from evercrawl.serve.problems import RequestError

PATIENCE_S: Final = 1.0
"""How long a request waits for an answer that is being made; then it is told to ask again."""
KEPT_S: Final = 60.0
"""How long an answer serves while the crawl goes on."""
_LONGEST_S: Final = 600.0
_WAITING: Final = 4  # concurrent queries; more are rejected
_KEPT: Final = 64  # answers
_NICE: Final = 10


class _Told(NamedTuple):
    """An answer or error; the journal sequence at its request; the time it was made."""

    fields: dict[str, Any]
    trouble: str
    sequence: int
    made_at: float

    def given(self) -> dict[str, Any]:
        """Return the answer."""
        if self.trouble:
            raise RequestError(400, self.trouble)
        return self.fields


def verb_lists(words: Sequence[str]) -> bool:
    """Return whether a verb prints one object per line, which a response returns as `rows`."""
    return words[0] in ("top", "changes", "suspects")


class HeavyQuestions:
    """Runs `evercrawl VERB --json` in a low-priority child process, one at a time, sharing equal queries.

    Parameters
    ----------
    directory
        The crawl's directory.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._told: OrderedDict[tuple[str, ...], _Told] = OrderedDict()
        self._asking: dict[tuple[str, ...], asyncio.Task[_Told]] = {}
        self._turn = asyncio.Semaphore(1)

    async def ask(self, sequence: int, verb: str, *options: str) -> dict[str, Any] | None:
        """Return the answer; None if it is not ready yet.

        Parameters
        ----------
        sequence
            The journal's sequence: the answer is cached until it changes.
        verb, options
            Of the command line.

        Raises
        ------
        RequestError
            The query failed, or there are too many at once.
        """
        key = (verb, *options)
        told = self._told.get(key)
        if told is not None and (told.sequence == sequence or time.monotonic() < told.made_at + KEPT_S):
            return told.given()
        task = self._asking.get(key)
        if task is None:
            if len(self._asking) >= _WAITING:
                raise RequestError(503, "other questions of this kind are being answered; ask again", retry_after="5")
            task = self._asking[key] = asyncio.create_task(self._answered(key, sequence))
        done, _ = await asyncio.wait({task}, timeout=PATIENCE_S)
        if not done:
            return told.given() if told is not None else None
        return task.result().given()

    async def close(self) -> None:
        """Stop the running queries."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answered(self, key: tuple[str, ...], sequence: int) -> _Told:
        try:
            async with self._turn:
                fields, trouble = await self._run(key)
        finally:
            del self._asking[key]
        told = self._told[key] = _Told(fields, trouble, sequence, time.monotonic())
        self._told.move_to_end(key)
        if len(self._told) > _KEPT:
            self._told.popitem(last=False)
        return told

    async def _run(self, key: tuple[str, ...]) -> tuple[dict[str, Any], str]:
        """Return the output of a child process, or its error."""
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "evercrawl", *key, "--json", "--dir", str(self._directory),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            os.setpriority(os.PRIO_PROCESS, child.pid, _NICE)
            out, trouble = await asyncio.wait_for(child.communicate(), _LONGEST_S)
        except ProcessLookupError:  # it has ended already
            out, trouble = await child.communicate()
        except TimeoutError:
            return {}, f"{key[0]} took more than {_LONGEST_S / 60:.0f} minutes"
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        if child.returncode:
            said = trouble.decode("utf-8", "replace").strip().splitlines()
            return {}, said[-1].removeprefix("evercrawl: ") if said else f"{key[0]} failed"
        rows: list[dict[str, Any]] = [msgspec.json.decode(line) for line in out.splitlines()]
        return {"rows": rows} if verb_lists(key) else rows[0], ""
