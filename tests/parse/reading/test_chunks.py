"""Chunks whose ids stay while their text does."""

import random
import time
from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.parse.reading.chunks import chunks

URL = "http://example.org/"
SIZE = 1_000


def document(seed: int, paragraphs: int = 200) -> list[str]:
    """Return the blocks of a text with headings, of 45 kB or so."""
    chance = random.Random(seed)
    words = [f"word{number}" for number in range(500)]
    blocks = list[str]()
    for number in range(paragraphs):
        if number % 20 == 0:
            blocks.append(f"## Part {number}")
        blocks.append(" ".join(chance.choices(words, k=chance.randrange(10, 60))))
    return blocks


def ids(blocks: list[str]) -> list[str]:
    return [chunk.id for chunk in chunks("\n\n".join(blocks), URL, SIZE)]


def changed(edit) -> float:
    """Return how many ids a kind of edit makes new, on average."""
    counts = list[int]()
    for seed in range(60):
        blocks, chance = document(seed), random.Random(seed)
        before = set(ids(blocks))
        places = [number for number, block in enumerate(blocks) if not block.startswith("#")]
        edit(blocks, chance.choice(places), chance)
        counts.append(len(set(ids(blocks)) - before))
    return mean(counts)


def test_an_edit_changes_few_ids():
    def edited(blocks, place, _) -> None:
        blocks[place] += " and more"

    def put_in(blocks, place, chance) -> None:
        blocks.insert(place, f"A new paragraph {chance.random()} of some words.")

    def taken_out(blocks, place, _) -> None:
        del blocks[place]

    def moved(blocks, place, chance) -> None:
        block = blocks.pop(place)
        blocks.insert(chance.choice([number for number, one in enumerate(blocks) if not one.startswith("#")]), block)

    of_all = len(ids(document(0)))
    assert of_all > 80
    figures = [changed(edit) for edit in (edited, put_in, taken_out, moved)]
    assert [figure < most for figure, most in zip(figures, (2.0, 2.0, 2.0, 4.0), strict=True)] == [True] * 4, figures


def test_a_paragraph_at_the_top_changes_the_first_chunk_only():
    blocks = document(7)
    assert set(ids(blocks)[2:]) <= set(ids([*blocks[:1], "New at the top.", *blocks[1:]]))


def test_no_chunk_is_longer_than_asked_nor_two_the_same():
    text = "\n\n".join([*document(3), "x" * 5_000, "one. " * 2_000, "```\n" + "code line\n" * 900 + "```"])
    found = chunks(text, URL, SIZE)
    assert max(len(chunk.text) for chunk in found) <= SIZE
    assert len({chunk.id for chunk in found}) == len(found)
    assert mean(len(chunk.text) for chunk in found) > SIZE / 4


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=400), max_size=12))
def test_the_chunks_together_are_the_text(parts):
    text = "\n\n".join(parts)
    found = chunks(text, URL, 100)
    assert "".join("".join(chunk.text for chunk in found).split()) == "".join(text.split())


def test_the_same_text_elsewhere_has_another_id_and_the_same_digest():
    here, there = (chunks("# A\n\ntext", url, SIZE)[0] for url in (URL, "http://example.org/b"))
    assert here.id != there.id
    assert here.digest == there.digest
    assert len({chunk.id for chunk in chunks("# A\n\nx\n\n# A\n\nx", URL, SIZE)}) == 2


def test_headings_are_named_without_their_links():
    found = chunks('# [A](http://x.example/ "t")\n\n## B\n\ntext\n\n```\n# no heading\n```', URL, SIZE)
    assert [chunk.headings for chunk in found] == [("A",), ("A", "B")]


def test_hostile_texts_take_linear_time():
    began = time.process_time()
    for text in ("x" * 3_000_000, "a. " * 300_000, "\n\n".join(map(str, range(100_000))), "```\n" * 30_001):
        chunks(text, URL, SIZE)
    assert time.process_time() - began < 20
