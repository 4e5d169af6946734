"""Content-defined chunks of a Markdown text for retrieval, so that an edit changes few of them.

A text is split into blocks (headings, paragraphs, lists, tables, code). A section is the text under one heading. A
section longer than the chunk limit is cut before the block with the smallest digest, and its halves likewise: cuts
depend on the blocks alone, not on their distance from the beginning. Inserting a paragraph changes the chunk that
contains it, and moves no other cut unless its own digest is the smallest.

Lengths are in characters, because tokens differ between models; an English token has about four.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec
import xxhash

LEAST_CHARS: Final = 100
"""Of a chunk's limit: the smallest that may be asked for."""

_HEADING: Final = re.compile(r"(#{1,6}) +(.*)")
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\([^()\s]*(?: \"[^\"]*\")?\)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_SENTENCE: Final = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s*(?=\S)|\n")


class Chunk(msgspec.Struct, array_like=True, frozen=True):
    """A part of a page.

    Attributes
    ----------
    id
        128 bits in hexadecimal: a hash of the page's URL, the headings, the text, and the number of equal chunks
        before it.
    digest
        A hash of the text alone: equal texts have equal digests.
    headings
        The headings above the text, the outermost first.
    text
        Markdown.
    """

    id: str
    digest: str
    headings: tuple[str, ...]
    text: str


def chunks(text: str, url: str, most_chars: int) -> list[Chunk]:
    r"""Return the chunks of a Markdown text, in order; together they contain all of it.

    Examples
    --------
    >>> [(part.headings, part.text) for part in chunks("# A\n\none\n\n## B\n\ntwo", "http://example.org/", 1000)]
    [(('A',), '# A\n\none'), (('A', 'B'), '## B\n\ntwo')]
    """
    found, seen = list[Chunk](), dict[str, int]()
    for headings, blocks in _sections(text):
        for part in _cut(blocks, most_chars):
            name = "\x00".join((url, *headings, part))
            before = seen.get(name, 0)
            seen[name] = before + 1
            found.append(Chunk(_digest(f"{name}\x00{before}"), _digest(part), headings, part))
    return found


def _digest(text: str) -> str:
    return xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))


def _sections(text: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield headings and blocks of each section."""
    path: list[tuple[int, str]] = []
    blocks: list[str] = []
    for block in _blocks(text):
        heading = _HEADING.match(block)
        if heading is not None:
            if blocks:
                yield tuple(words for _, words in path), blocks
            level = len(heading[1])
            path = [one for one in path if one[0] < level] + [(level, _LINK.sub(r"\1", heading[2]).strip())]
            blocks = []
        blocks.append(block)
    if blocks:
        yield tuple(words for _, words in path), blocks


def _blocks(text: str) -> Iterator[str]:
    """Yield blocks separated by blank lines; a block of code is one, and so is a heading."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = ""
            continue
        if mark:
            fence = mark[1]
        if not line.strip() or _HEADING.match(line):
            if lines:
                yield "\n".join(lines)
            lines = []
            if line.strip():
                yield line
        else:
            lines.append(line)
    if lines:
        yield "\n".join(lines)


def _cut(blocks: list[str], most_chars: int) -> Iterator[str]:
    """Yield blocks joined to texts of at most `most_chars`; a longer block is itself cut."""
    pieces = list[tuple[str, str]]()  # the text before it, and the piece
    if len(blocks) > 1 and _HEADING.match(blocks[0]) and len(blocks[0]) + len(blocks[1]) + 2 <= most_chars:
        blocks = [f"{blocks[0]}\n\n{blocks[1]}", *blocks[2:]]  # a heading alone makes no chunk
    for block in blocks:
        if len(block) <= most_chars:
            pieces.append(("\n\n", block))
        else:
            pieces += [("\n\n" if not number else "", piece) for number, piece in enumerate(_pieces(block, most_chars))]
    order = _order([piece for _, piece in pieces])
    begins = [0]
    for begin, piece in pieces:
        begins.append(begins[-1] + len(begin) + len(piece))
    for start, end in _leaves(order, begins, most_chars):
        yield "".join(before + piece for before, piece in pieces[start:end]).strip("\n")


def _order(pieces: list[str]) -> list[int]:
    """Return a number for each piece, its digest; for a repeated piece, the digest with its count."""
    seen, order = dict[str, int](), list[int]()
    for piece in pieces:
        seen[piece] = before = seen.get(piece, -1) + 1
        order.append(xxhash.xxh3_64_intdigest(piece.encode("utf-8", "surrogatepass"), seed=before))
    return order


def _leaves(order: list[int], begins: list[int], most_chars: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of pieces that make a chunk each: longer ranges are cut before their smallest piece."""
    left, right = _least(order)
    waiting = [(0, len(order), _root(left, right))]
    while waiting:
        start, end, least = waiting.pop()
        if begins[end] - begins[start] <= most_chars or end - start <= 1 or least < 0:
            yield start, end
            continue
        waiting.append((least, end, right[least]))
        waiting.append((start, least, left[least]))


def _least(order: list[int]) -> tuple[list[int], list[int]]:
    """Return the Cartesian tree of all pieces but the first: the smallest before and after each."""
    left, right = [-1] * len(order), [-1] * len(order)
    stack: list[int] = []
    for number in range(1, len(order)):
        last = -1
        while stack and order[stack[-1]] > order[number]:
            last = stack.pop()
        left[number] = last
        if stack:
            right[stack[-1]] = number
        stack.append(number)
    return left, right


def _root(left: list[int], right: list[int]) -> int:
    """Return the smallest piece except the first; -1 if there is only one."""
    children = {*left, *right}
    return next((number for number in range(1, len(left)) if number not in children), -1)


def _pieces(block: str, most_chars: int) -> Iterator[str]:
    """Yield a long block by sentence or by line, cutting still longer ones by length."""
    start = 0
    ends = [found.end() for found in _SENTENCE.finditer(block)]
    for end in [*(end for end in ends if end > 0), len(block)]:
        for begin in range(start, end, most_chars):
            yield block[begin : min(begin + most_chars, end)]
        start = end
