"""Link words: which focus entries have words near the links by which pages became known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from evercrawl.config import Focus
from evercrawl.config.patterns import UrlPattern
from evercrawl.parse.digest import checksum

if TYPE_CHECKING:
    from evercrawl.model.stored.contents import Content


BESIDE_BYTES: Final = 60
"""Of the text before a link, and behind it, that counts as near; never the words of another link."""
_MARKS: Final = 255


class LinkWords:
    """Finds the focus entries whose words occur near links.

    Parameters
    ----------
    entries
        The entries of `[[focus]]`; those without words are ignored.
    """

    def __init__(self, entries: Sequence[Focus]) -> None:
        self._looked_for = [
            (mark, words_in(entries[i].words), UrlPattern(entries[i].url)) for i, mark in marks_of(entries).items()
        ]

    def marks(self, content: Content | None, urls: Sequence[str]) -> dict[int, int]:
        """Return, by index in `urls`, the mark of the first entry whose words occur near a link to that URL.

        Parameters
        ----------
        content
            The parsed page that links to them; None if the source is not a page.
        urls
            Some of its targets.
        """
        if not self._looked_for or content is None or not content.anchors:
            return {}
        places = {url: place for place, url in enumerate(urls)}
        found: dict[int, int] = {}
        from evercrawl.model.stored.contents import spans  # imported here: most queries parse no page

        rows: list[tuple[int, int, int]] = sorted(spans(content).tolist())
        for i, (start, end, target) in enumerate(rows):
            place = places.get(content.targets[target])
            if place is not None:
                since = rows[i - 1][1] if i else 0
                until = rows[i + 1][0] if i + 1 < len(rows) else len(content.text)
                rank = self._first(near(content.text, start, end, since, until), urls[place])
                if rank is not None:
                    found[place] = min(rank, found.get(place, rank))
        return {place: self._looked_for[rank][0] for place, rank in found.items()}

    def _first(self, text: str, url: str) -> int | None:
        for rank, (_, words, pattern) in enumerate(self._looked_for):
            if words.search(text) and pattern.search(url):
                return rank
        return None


def near(text: bytes, start: int, end: int, since: int = 0, until: int = 1 << 62) -> str:
    """Return the text of a link and around it, in whole words.

    Parameters
    ----------
    text
        In UTF-8.
    start, end
        Span of the link's text.
    since, until
        End of the previous link, and start of the next.

    Examples
    --------
    >>> near(b"Home News of the storm here and there", 23, 27, since=4)
    ' News of the storm here and there'
    """
    first, last = max(start - BESIDE_BYTES, since), min(end + BESIDE_BYTES, until)
    before, behind = text[first:start], text[end:last]
    if first > since:
        before = before.partition(b" ")[2]
    if last < min(until, len(text)):
        behind = behind.rpartition(b" ")[0]
    return (before + text[start:end] + behind).decode("utf-8", "ignore")


def words_in(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of the words or phrases, as whole words and ignoring case.

    Examples
    --------
    >>> found = words_in(["storm", "high water"])
    >>> [bool(found.search(text)) for text in ("A STORM!", "brainstorm", "of high  water", "high")]
    [True, False, True, False]
    """
    return re.compile("|".join(_whole(word) for word in words), re.IGNORECASE)


def _whole(word: str) -> str:
    inner = r"\s+".join(re.escape(part) for part in word.split())
    return (r"\b" if re.match(r"\w", word) else "") + inner + (r"\b" if re.search(r"\w\Z", word) else "")


def marks_of(entries: Sequence[Focus]) -> dict[int, int]:
    """Return by index the mark of each entry with words, from 1 to 255; it changes when the words do.

    So marks in the journal stay valid as long as the words are the same, wherever the entry is in the list.

    Examples
    --------
    >>> from evercrawl.config import Focus
    >>> storm, water = Focus(words=("storm",)), Focus(words=("water",))
    >>> one, other = marks_of([storm, water]), marks_of([Focus(url="a"), water, storm])
    >>> one[0] == other[2], one[1] == other[1], 0 in other
    (True, True, False)
    """
    marks: dict[int, int] = {}
    for place, entry in enumerate(entries):
        if entry.words:
            mark = checksum("\n".join(sorted(word.casefold() for word in entry.words)).encode()) % _MARKS
            while mark + 1 in marks.values():
                mark = (mark + 1) % _MARKS
            marks[place] = mark + 1
    return marks
