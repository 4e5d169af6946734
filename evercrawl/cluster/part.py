"""The process of one partition: an ordinary crawl that exchanges messages through the coordinator."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Final

import msgspec

from evercrawl.cluster.answering import PartAnswering
from evercrawl.cluster.copies.folder_keeper import FolderKeeper
from evercrawl.cluster.copies.node_keeper import NodeKeeper
from evercrawl.cluster.copies.restoring_part import PartGoneError, settle_lost
from evercrawl.cluster.plan import PartPlan
from evercrawl.cluster.visit_reports import ALL, NONE, VisitReports
from evercrawl.cluster.wire import (
    CeilingShared,
    CopyAnswered,
    CopyAsked,
    CopyWhole,
    Frame,
    LeaveAsked,
    LeaveGiven,
    Mailed,
    PagesAllowed,
    PartEnded,
    PartQuestion,
    PartQuestionDropped,
    PartReport,
    StopAsked,
    crowded,
    packed,
    read_frame,
)
from evercrawl.crawl.posting.carrier import PostStanding
from evercrawl.crawl.posting.membership import Membership
from evercrawl.crawl.session import crawl
from evercrawl.errors import CeilingError, ConfigError, EvercrawlError, NoMemoryError, NoRoomError
from evercrawl.progress import Limits, Progress
from evercrawl.store.disk.leaving import mark_staying
from evercrawl.store.objects.copying import copied_beside
from evercrawl.store.post.messages import Message

LEAVE_S: Final = 10.0
"""How long a process may request pages after it asked for leave."""
RENEWED_S: Final = 2.0
BOX_BYTES: Final = 1 << 26
"""While received messages of this total size are waiting, further messages are dropped."""
FALSE_MAIL: Final = (
    "messages that are damaged, or not of the partition that they name, came from other partitions; none of them is "
    "applied. See whether all machines are sound, and whose processes run there"
)


class HubCarrier:
    """Carries messages through the coordinator; see `evercrawl.crawl.posting.carrier.Carrier`.

    Parameters
    ----------
    incarnation
        The life of the partition.
    write
        Sends a frame.

    Attributes
    ----------
    refused
        Number of messages that could not be read, or said that another process had sent them.
    """

    def __init__(self, incarnation: int, write: Callable[[Frame], None]) -> None:
        self.incarnation = incarnation
        self._write = write
        self._box, self._box_bytes = list[Mailed](), 0
        self.refused = 0
        self._wake: Callable[[], None] = lambda: None
        self._leave_until = float("-inf")
        self._pages: int | None = 0
        self._ceiling = 0.0  # until the coordinator sends it
        self.standing = PostStanding()

    def send(self, message: Message) -> None:
        """Send a message."""
        self._write(Mailed(message.to, msgspec.msgpack.encode(message)))

    def take(self) -> list[Message]:
        """Return the received messages."""
        box, self._box, self._box_bytes = self._box, [], 0
        found = [_opened(mailed) for mailed in box]
        if None in found:
            self.refused += found.count(None)
            self._write(PartReport(message=FALSE_MAIL))
        return [message for message in found if message is not None]

    def listen(self, wake: Callable[[], None]) -> None:
        """Have `wake` called when a message arrives."""
        self._wake = wake

    def may_fetch(self) -> bool:
        """Return whether the leave to request pages lasts."""
        return time.monotonic() < self._leave_until

    def pages(self) -> int | None:
        """Return how many visits this process may make; None for any number."""
        return self._pages

    def ceiling(self) -> float:
        """Return how much of its even part of the ceilings this process may use."""
        return self._ceiling

    def report(self, standing: PostStanding) -> None:
        """Take note of the partition's state."""
        self.standing = standing

    def hear(self, frame: Frame) -> None:
        """Receive a frame."""
        if isinstance(frame, Mailed):
            if self._box_bytes < BOX_BYTES:  # else the message is dropped; any message may be lost
                self._box.append(frame)
                self._box_bytes += len(frame.data)
        elif isinstance(frame, LeaveGiven):
            self._leave_until = max(self._leave_until, frame.at + LEAVE_S)
        elif isinstance(frame, PagesAllowed):
            self._pages = None if frame.visits < 0 else frame.visits
        elif isinstance(frame, CeilingShared):
            self._ceiling = frame.part
        self._wake()


def _opened(mailed: Mailed) -> Message | None:
    """Return a message; None if it is damaged, or not of the process that sent it."""
    try:
        message: Message = msgspec.msgpack.decode(mailed.data, type=Message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return message if (message.sender, message.incarnation) == (mailed.sender, mailed.incarnation) else None


def run_part(plan: PartPlan, line: socket.socket) -> None:
    """Crawl until the coordinator asks to stop or disconnects."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the coordinator handles them and says when to stop
        signal.signal(number, signal.SIG_IGN)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    asyncio.run(attend(plan, line))


def ended_by(error: EvercrawlError) -> PartEnded:
    """Return the message to the coordinator about an error that ended a partition; some errors allow a restart."""
    again = not isinstance(error, (CeilingError, ConfigError, NoRoomError, NoMemoryError))
    return PartEnded(str(error), again, isinstance(error, PartGoneError), error.exit_code)


async def attend(plan: PartPlan, line: socket.socket) -> None:
    """Crawl a partition, and communicate with the coordinator over `line`."""
    reader, writer = await asyncio.open_connection(sock=line)

    def write(frame: Frame) -> None:
        if not writer.is_closing() and not (isinstance(frame, CopyAsked) and crowded(writer)):
            writer.write(packed(frame))

    carrier, stop = HubCarrier(plan.incarnation, write), asyncio.Event()
    answering, answers = PartAnswering(plan.directory), dict[int, asyncio.Task[None]]()

    def watch(progress: Progress) -> None:
        if progress.message and not (progress.elapsed_s or progress.outcomes):  # no state of the crawl
            write(PartReport(message=progress.message, alert=progress.alert))
            return
        with_others = carrier.standing
        write(
            PartReport(
                progress.known, with_others.elsewhere, progress.fetched,
                max(progress.queue - with_others.elsewhere, 0), progress.visits, progress.bytes_in, progress.in_flight,
                progress.rate_per_s, progress.outcomes, progress.errors, with_others.letters, carrier.pages() or 0,
                with_others.at_rest, progress.message, with_others.under_way, with_others.leases, with_others.let,
                with_others.used, carrier.ceiling(), os.getpid(), keeper is not None and keeper.whole,
                progress.disk_full, progress.memory_short, progress.names_trouble, progress.fresh, progress.alert,
                with_others.refused + carrier.refused,
            )
        )  # fmt: skip

    def tell(sentence: str) -> None:
        loop.call_soon_threadsafe(write, PartReport(message=sentence))

    loop = asyncio.get_running_loop()
    keeper: FolderKeeper | NodeKeeper | None = None
    if plan.keeper:
        keeper = NodeKeeper(plan.share.number, plan.incarnation, plan.keeper, write)
    elif plan.kept is not None and plan.config.durable == "keeper":
        keeper = FolderKeeper(plan.kept, lambda: write(CopyWhole()))

    reports = None
    if plan.logged != NONE:
        reports = VisitReports(plan.logged == ALL, write, lambda: crowded(writer))

    async def listen() -> None:
        while (frame := await read_frame(reader)) is not None:
            if isinstance(frame, StopAsked):
                stop.set()
            if isinstance(frame, LeaveGiven):
                mark_staying(plan.directory)
            if isinstance(frame, PartQuestion):
                answer(frame)
            if isinstance(frame, PartQuestionDropped) and frame.id in answers:
                answers[frame.id].cancel()
            if isinstance(frame, CopyAnswered) and isinstance(keeper, NodeKeeper):
                keeper.hear(frame)
            carrier.hear(frame)
        stop.set()  # the coordinator is gone; its successor will start this partition again

    def answer(question: PartQuestion) -> None:
        async def answered() -> None:
            write(await answering.answer(question))

        answers[question.id] = asyncio.ensure_future(answered())
        answers[question.id].add_done_callback(lambda _: answers.pop(question.id))

    async def ask() -> None:
        while True:
            write(LeaveAsked(time.monotonic()))
            await asyncio.sleep(RENEWED_S)

    beside = [asyncio.ensure_future(listen())]
    try:
        await loop.run_in_executor(None, settle_lost, plan, tell)
        beside.append(asyncio.ensure_future(ask()))  # not needed earlier; no frames are read while the crawl opens
        with copied_beside(plan.directory, plan.config.archive_to, tell):
            await crawl(
                plan.directory,
                plan.config,
                plan.seeds,
                Limits(),
                watch,
                stop,
                heard=reports,
                member=Membership(plan.share, plan.secret, carrier, keeper),
            )
        write(PartEnded())
    except EvercrawlError as error:
        write(ended_by(error))
    finally:
        left = list(answers.values())
        for task in (*beside, *left):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        writer.close()
        with contextlib.suppress(OSError):  # the coordinator is gone
            await writer.wait_closed()
