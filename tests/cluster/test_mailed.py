"""Messages on their way between partitions: of whom they are says who carries them, and garbage harms nobody."""

import asyncio
import socket

import msgspec
import pytest

from evercrawl.ask.parts_figures import figures
from evercrawl.cluster.birth import born
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.part import FALSE_MAIL, HubCarrier
from evercrawl.cluster.run_part import RunPart
from evercrawl.cluster.wire import Frame, Mailed, PartReport, packed, read_frame
from evercrawl.config import Config
from evercrawl.progress import Limits
from evercrawl.store.post.messages import CommonSums, Letter, LetterApplied
from tests.cluster.played import PlayedLauncher, seen

LETTER = Letter("c", 1, 7, 0, 1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        bytes(9),
        b"\x91" * 5000,
        b"\x93\xa6letter\x01",
        msgspec.msgpack.encode(["letter", "c", 1, 7, 0, "one"]),
    ],
)
def test_a_message_that_cannot_be_read_is_passed_over_and_told(data):
    told = list[Frame]()
    carrier = HubCarrier(1, told.append)
    good = Mailed(0, msgspec.msgpack.encode(LETTER), 1, 7)
    for frame in (good, Mailed(0, data, 1, 7), good):
        carrier.hear(frame)
    assert carrier.take() == [LETTER, LETTER]
    assert carrier.refused == 1
    assert told == [PartReport(message=FALSE_MAIL)]
    assert carrier.take() == []


@pytest.mark.parametrize(("sender", "incarnation"), [(2, 7), (1, 6), (1, 8), (-1, 0)])
@pytest.mark.parametrize(
    "message", [LETTER, LetterApplied("c", 1, 7, 0, 4), CommonSums("c", 1, 7, 0, 1, {"gone": 1.0})]
)
def test_a_message_in_the_name_of_another_process_is_refused(message, sender, incarnation):
    """With a much later life, all true letters of that partition would be outdated from then on."""
    carrier = HubCarrier(1, lambda frame: None)
    carrier.hear(Mailed(0, msgspec.msgpack.encode(message), sender, incarnation))
    assert carrier.take() == []
    assert carrier.refused == 1


def test_how_many_were_refused_is_in_the_figures_of_the_partition():
    told = RunPart(3, report=PartReport(refused=5)).state("here")
    assert figures(told)["messages_refused_total"] == 5


def test_a_frame_of_absurd_size_or_without_sense_ends_its_connection_alone():
    async def read(data: bytes) -> Frame | None:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        theirs.sendall(data)
        theirs.close()
        try:
            return await asyncio.wait_for(read_frame(reader), 5)
        finally:
            writer.close()

    for data in (b"\xff\xff\xff\xff", b"\x05\0\0\0\xc1\xc1\xc1\xc1\xc1", b"\x09\0\0\0abc", b"\x01", b""):
        assert asyncio.run(read(data)) is None
    assert asyncio.run(read(packed(Mailed(0, b"x")))) == Mailed(0, b"x")


def test_whoever_carries_a_message_says_whose_it_is_whatever_its_sender_says(tmp_path):
    async def run() -> None:
        launcher, stop = PlayedLauncher(tmp_path), asyncio.Event()
        one = Coordinator(tmp_path, born(tmp_path, 2), Config(), (), Limits(), lambda _: None, launcher)
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(launcher.processes) == 2 and all(len(each.heard) > 4 for each in launcher.processes))
        forger, other = launcher.processes
        forger.says += [Mailed(1, b"last", 1, 99), Mailed(-1, b"x"), Mailed(-7, b"x"), Mailed(2, b"x"), Mailed(1, b"a")]
        await seen(lambda: sum(isinstance(frame, Mailed) for frame in other.heard) == 2)
        mails = [frame for frame in other.heard if isinstance(frame, Mailed)]
        assert mails == [Mailed(1, each, 0, launcher.lives[0]) for each in (b"a", b"last")]
        assert not forger.killed.is_set()
        stop.set()
        await running

    asyncio.run(run())
