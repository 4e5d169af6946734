"""Messages between partitions that are forged or damaged: none is applied, and nothing is lost for them."""

import random
from collections import Counter
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from evercrawl.arrays.hasher import Hasher
from evercrawl.crawl.posting.room import PostRoom
from evercrawl.crawl.posting.sound import ENTRIES, MOST_SUMS, belongs, is_sound
from evercrawl.simulate.parted.mail import MadePost, Roads
from evercrawl.simulate.parted.parted import simulate_parted
from evercrawl.simulate.parted.plan import PartedWorld
from evercrawl.store.post.messages import (
    CommonSums,
    LeaseAsk,
    LeaseBack,
    LeaseGrant,
    LeasesHeld,
    Letter,
    LetterApplied,
    Message,
    NamedUrl,
)
from evercrawl.store.post.ownership import Ownership, Share

NAN, INF = float("nan"), float("inf")
OWNERSHIP = Ownership(Share(1, 4, "c", 1), Hasher(bytes(16)), lambda host: host)


def cells(*amounts: float) -> dict[str, bytes]:
    return {"keys": np.arange(len(amounts), dtype=np.uint64).tobytes(), "amounts": np.array(amounts, float).tobytes()}


LETTER = Letter("c", 0, 5, 1, 3, **cells(0.5, -0.25), urls=[NamedUrl("http://a.example/", 1)])
GRANT = LeaseGrant("c", 2, 5, 1, key=6, serial=1, asked_at=9.0, lasts_s=10.0, rest_s=0.0)
SOUND: list[Message] = [
    LETTER,
    GRANT,
    LetterApplied("c", 0, 5, 1, upto=3),
    CommonSums("c", 0, 5, 1, 1, {"gone": 1.0}),
    LeaseAsk("c", 0, 5, 1, key=5, serial=1, asked_at=9.0),
    LeaseBack("c", 0, 5, 1, key=5, serial=1),
    LeasesHeld("c", 0, 5, 1, asked_by=2, held={5: 1, 9: 2}),
]
FALSE: list[tuple[Message, dict[str, object]]] = [
    (LETTER, {"keys": LETTER.keys[:-1]}),
    (LETTER, {"keys": LETTER.keys[:-1], "amounts": LETTER.amounts[:-1]}),
    (LETTER, {"keys": b""}),
    (LETTER, {"amounts": LETTER.amounts * 2}),
    (LETTER, cells(0.5, NAN)),
    (LETTER, cells(INF)),
    (LETTER, cells(*[0.5] * (ENTRIES + 1))),
    (LETTER, {"urls": LETTER.urls * (ENTRIES + 1)}),
    (GRANT, {"lasts_s": INF}),
    (GRANT, {"lasts_s": 1e9}),
    (GRANT, {"lasts_s": -1.0}),
    (GRANT, {"asked_at": NAN}),
    (GRANT, {"rest_s": INF}),
    (GRANT, {"key": 7}),
    (SOUND[3], {"sums": {"gone": NAN}}),
    (SOUND[3], {"sums": {str(number): 1.0 for number in range(MOST_SUMS + 1)}}),
    (SOUND[4], {"key": 6}),
    (SOUND[4], {"asked_at": INF}),
    (SOUND[5], {"key": 6}),
    (SOUND[6], {"held": {5: 1, 6: 1}}),
]


def test_a_message_that_no_partition_of_the_crawl_sends_is_refused():
    for message in SOUND:
        assert is_sound(message, OWNERSHIP), message
        for field, value in (("cluster", "d"), ("to", 2), ("sender", 1), ("sender", 4), ("sender", -1)):
            assert not is_sound(msgspec.structs.replace(message, **{field: value}), OWNERSHIP), (message, field, value)
    for message, changed in FALSE:
        assert not is_sound(msgspec.structs.replace(message, **changed), OWNERSHIP), (message, changed)


def test_a_url_is_named_to_its_owner_or_is_a_seed_of_the_sender():
    hosts = {OWNERSHIP.of(f"{number}.example"): f"{number}.example" for number in range(100)}
    assert set(hosts) == {0, 1, 2, 3}
    mine, senders, others = (f"http://{hosts[number]}/" for number in (1, 0, 2))
    assert belongs(NamedUrl(mine, 2), 0, OWNERSHIP)
    assert belongs(NamedUrl(mine, 0), 0, OWNERSHIP)
    assert belongs(NamedUrl(senders, 0), 0, OWNERSHIP)
    for named in (NamedUrl(senders, 1), NamedUrl(others, 0), NamedUrl(others, 1), NamedUrl(mine, -1)):
        assert not belongs(named, 0, OWNERSHIP), named
    for url in (
        "",
        "x",
        "http://",
        f"{mine}#a",
        mine.upper(),
        f"{mine}{'a' * 9000}",
        "file:///etc/passwd",
        "http:///x",
    ):
        assert not belongs(NamedUrl(url, 1), 0, OWNERSHIP), url


def forgeries(message: Message, draw: random.Random) -> list[Message]:
    """Return what somebody could make of a message."""
    made = [msgspec.structs.replace(message, **each) for each in (
        {"sender": message.to}, {"sender": 99}, {"sender": -1}, {"cluster": "another"},
    )]  # fmt: skip
    if isinstance(message, Letter):
        names = [NamedUrl("nothing", 1), NamedUrl("HTTP://other.example/", 1), NamedUrl("http://x.example/", -3)]
        made += [msgspec.structs.replace(message, **each) for each in (
            {"keys": message.keys + b"x"}, {"amounts": message.amounts + bytes(8)}, cells(NAN), cells(1e9, INF),
            {"number": 0, **cells(5.0)}, {"number": message.number + 1_000_000, **cells(5.0)},
            {"incarnation": 0, **cells(5.0)}, {"incarnation": -1, **cells(5.0)},
        )]  # fmt: skip
        made.append(msgspec.structs.replace(message, urls=[*names, *message.urls][:ENTRIES]))
    if isinstance(message, LetterApplied):
        made.append(msgspec.structs.replace(message, upto=1_000_000))
    if isinstance(message, LeaseGrant):
        made.append(msgspec.structs.replace(message, lasts_s=1e12))
    if isinstance(message, CommonSums):
        made.append(msgspec.structs.replace(message, number=10**9, sums=dict.fromkeys(message.sums, NAN)))
    return draw.sample(made, len(made))


@pytest.mark.parametrize("seed", [5, 12])
def test_forged_messages_before_each_true_one_change_nothing(monkeypatch, seed):
    put, begin, draw, rooms = MadePost.put, PostRoom.__init__, random.Random(seed), list[PostRoom]()
    sent, earlier = Counter[str](), dict[int, list[bytes]]()

    def also(post: MadePost, data: bytes) -> None:
        message = msgspec.msgpack.decode(data, type=Message)
        for forged in forgeries(message, draw):
            sent[type(forged).__name__] += 1
            put(post, msgspec.msgpack.encode(forged))
        replayed = earlier.setdefault(post.number, [])
        for each in draw.sample(replayed, min(len(replayed), 2)):
            put(post, each)
        replayed.append(data)
        put(post, data)

    def begun(room: PostRoom, *given: object, **named: object) -> None:
        begin(room, *given, **named)
        rooms.append(room)

    monkeypatch.setattr(MadePost, "put", also)
    monkeypatch.setattr(PostRoom, "__init__", begun)
    world = PartedWorld(
        seed,
        2,
        sites=5,
        pages=5,
        addresses=3,
        roads=Roads(lost=0.1, doubled=0.1, delay_s=0.5),
        lasts_s=40.0,
        changing=2,
    )
    result = simulate_parted(world)
    assert result.wrong == []
    assert {"Letter", "LetterApplied", "CommonSums", "LeaseGrant"} <= set(sent)
    assert sum(room.refused for room in rooms) > sent.total() / 2
    monkeypatch.undo()
    true = simulate_parted(replace(world))
    assert set(true.found.importance) == set(result.found.importance)
