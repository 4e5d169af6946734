"""Noise is told apart from content: made histories of pages, each of which changes at every visit."""

import random
from itertools import pairwise

import pytest

from evercrawl.change.habits import MOST_PLACES, noise, touches

BODY = "the quick brown fox jumps over the lazy dog and runs into the deep dark wood behind the hill"
ADS = [
    "buy one kettle get one free today only at the kettle shop",
    "fly to Rome for less than a taxi to the station",
    "your roof deserves better tiles so call the tile people",
]


def clock(step: int, body: str) -> str:
    return f"News of the day {body} Page made on 3 May 2027 at 12:{step:02d}:{step * 7 % 60:02d} by our server"


def counter(step: int, body: str) -> str:
    return f"{body} This page was seen {1_000 + step * step:,} times so far"


def token(step: int, body: str) -> str:
    draw = random.Random(step)
    code = "".join(draw.choice("ABCDEFGHabcdefgh") for _ in range(32))
    return f"Search {code} go {body} Imprint and contact"


def rotation(step: int, body: str) -> str:
    return f"Home News Contact {body} Advertisement {ADS[step % 3]} End of advertisement imprint"


def two(step: int, body: str) -> str:
    return clock(step, f"{body} visitors so far {step * 13} thank you for coming")


KINDS = [clock, counter, token, rotation, two]


def judged(texts: list[str]) -> bool:
    """Return whether the last change of some is noise."""
    steps = [touches(a.split(), b.split()) for a, b in pairwise(texts[-8:])]
    return noise(steps[-1], steps[:-1]).noise


@pytest.mark.parametrize("kind", KINDS)
def test_what_changes_each_time_is_noise(kind):
    for upto in range(6, 12):
        assert judged([kind(step, BODY) for step in range(upto)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "edited",
    [
        BODY + " and a paragraph was added that says a good deal more about the fox",
        BODY.replace("lazy dog", "lazy cat"),
        BODY.replace("deep dark wood", "wood of 12 acres"),
        "A new title stands here " + BODY,
        BODY.replace("and runs into the deep dark wood ", ""),
    ],
    ids=["paragraph", "word", "figure", "title", "cut"],
)
def test_an_edit_beside_the_noise_is_content(kind, edited):
    assert not judged([*(kind(step, BODY) for step in range(8)), kind(8, edited)])
    assert judged([*(kind(step, BODY) for step in range(8)), *(kind(step, edited) for step in range(8, 14))])


def test_a_price_that_changes_for_once_is_content():
    texts = [f"{BODY} it costs {price} EUR with tax and postage" for price in (12, 15)]
    assert not judged(texts)
    assert not judged([clock(1, texts[0]), clock(2, texts[0]), clock(3, texts[0]), clock(4, texts[1])])


def test_headlines_that_replace_each_other_are_content():
    news = [
        "war ends",
        "rain falls",
        "dog bites man",
        "man bites dog",
        "nothing happened",
        "cat wins prize",
        "sun shines",
    ]
    assert not judged([f"Top story {line} read more {BODY}" for line in news])


def test_the_first_changes_are_content_as_nothing_is_known_yet():
    texts = [clock(step, BODY) for step in range(4)]
    assert [judged(texts[: upto + 2]) for upto in range(3)] == [False, False, True]


def test_a_change_of_many_places_is_content():
    many = [
        " ".join(f"row of words number {i} has {step * i + step}" for i in range(MOST_PLACES + 1)) for step in range(9)
    ]
    assert not judged(many)


def test_nothing_that_changed_is_no_noise():
    assert not noise((), [(), ()]).noise
