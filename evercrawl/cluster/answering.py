"""Answers one question to a partition on its machine, in a low-priority process that opens its directory.

    python -m evercrawl.cluster.answering DIR NAME <parameters >answer

The verb `VERB` runs the command line on the partition. Any other question is one of `evercrawl.cluster.questions`.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evercrawl.ask.parts_line import VERB, VerbAnswer, VerbAsked
from evercrawl.cluster.wire import PartAnswered
from evercrawl.errors import EvercrawlError

if TYPE_CHECKING:
    from evercrawl.cluster.wire import PartQuestion

VERBS: Final = frozenset(
    {
        "add", "boost", "changes", "check", "exclude", "forget", "get", "include", "orders", "pause", "plan",
        "reindex", "resume", "set", "suspects", "usage", "why",
    }
)  # fmt: skip
"""Verbs that may be run on a partition of another machine; none of them writes files that the caller names."""
LONGEST_S: Final = 590.0
LONGEST_BYTES: Final = 16 << 20
"""Maximum size of an answer."""
_AT_ONCE: Final = 2
"""Maximum number of verbs and checks at a time, which may take minutes; also the maximum for other questions."""
_LONG: Final = frozenset({VERB, "verify"})
_NICE: Final = 5
_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None)


class PartAnswering:
    """Answers questions to a partition, a few at a time.

    Parameters
    ----------
    directory
        The partition's directory.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._long, self._short = asyncio.Semaphore(_AT_ONCE), asyncio.Semaphore(_AT_ONCE)

    async def answer(self, question: PartQuestion) -> PartAnswered:
        """Return the answer, or the reason why there is none."""
        turn = self._long if question.name in _LONG else self._short
        try:
            async with asyncio.timeout(min(question.patience_s, LONGEST_S)), turn:
                return await self._answered(question)
        except TimeoutError:
            return PartAnswered(question.id, b"", "it took too long to answer")
        except (OSError, msgspec.MsgspecError) as error:
            return PartAnswered(question.id, b"", f"it cannot answer ({error})")

    async def _answered(self, question: PartQuestion) -> PartAnswered:
        if question.name == VERB:
            asked = msgspec.msgpack.decode(question.parameters, type=VerbAsked)
            words = asked.words
            if not words or words[0] not in VERBS:
                return PartAnswered(question.id, b"", "this question cannot be asked of a partition on another machine")
            code, out, err = await self._run(
                ["evercrawl", words[0], "--dir", str(self._directory), *words[1:]], asked.given
            )
            said = VerbAnswer(code, out, err.decode("utf-8", "replace"))
            return PartAnswered(question.id, msgspec.msgpack.encode(said))
        code, out, err = await self._run([__name__, str(self._directory), question.name], question.parameters)
        if code:
            lines = err.decode("utf-8", "replace").strip().splitlines()
            return PartAnswered(question.id, b"", lines[-1] if lines else f"it cannot answer (exit code {code})")
        return PartAnswered(question.id, out)

    async def _run(self, words: list[str], given: bytes) -> tuple[int, bytes, bytes]:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", *words,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            preexec_fn=end_with_partition,
        )  # fmt: skip
        try:
            os.setpriority(os.PRIO_PROCESS, child.pid, _NICE)
            out, err = await child.communicate(given)
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        if len(out) > LONGEST_BYTES:  # the connection to the coordinator carries letters too
            return 1, b"", b"the answer is too long; ask for less, such as with --limit, or on that machine"
        return child.returncode or 0, out, err


def end_with_partition() -> None:
    """Make a child end with its partition and react to signals by default; the partition ignores them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def main(argv: list[str]) -> int:
    """Answer one question; return the exit code."""
    from evercrawl.ask.remote import plainly
    from evercrawl.cluster.questions import QUESTIONS

    directory, name = argv
    try:
        parameters: dict[str, Any] = msgspec.msgpack.decode(sys.stdin.buffer.read())
        if name not in QUESTIONS:
            sys.stderr.write(f"there is no question {name!r}")
            return 2
        answer = QUESTIONS[name](Path(directory), **parameters)
    except (EvercrawlError, OSError) as error:
        sys.stderr.write(str(error).replace("\n", " "))
        return 1
    sys.stdout.buffer.write(msgspec.msgpack.encode(answer, enc_hook=plainly))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
