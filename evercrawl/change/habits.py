"""Detection of times, counters, tokens and rotating advertisements by what a page's changes have in common.

A change touches places: replaced words, identified by the surrounding words. A place is habitual if at least two other
changes of the page touched it too, and at least half of those compared. At a habitual place, a change is noise if each
new word has a digit, looks like a token, or was there before. A change is noise if all its places are. So a clock, a
counter or a token is noise from its third change on, and an advertisement once it recurs; an added paragraph, a single
price change and a new title are content.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from evercrawl.change.edits import edits

ENOUGH: Final = 2
"""Minimum number of other changes that touched a habitual place."""
PART: Final = 0.5
"""Minimum fraction of the other changes that touched it."""
MOST_PLACES: Final = 64
"""Maximum number of places of a noise change; a change that touches more is content."""
_AROUND: Final = 2
_TOKEN: Final = re.compile(r".*\d|[A-Za-z_+/=-]{20,}$")


class TextPlace(NamedTuple):
    """The words before and behind a replacement."""

    before: tuple[str, ...]
    behind: tuple[str, ...]


class Touch(NamedTuple):
    """A replacement at a place: the removed and the added words."""

    place: TextPlace
    went: tuple[str, ...]
    came: tuple[str, ...]


class Noise(NamedTuple):
    """Whether a change is noise, and why.

    Attributes
    ----------
    noise
        Whether all of the change is noise.
    habitual
        Its noise, at habitual places.
    others
        Its content, at other places.
    """

    noise: bool
    habitual: tuple[Touch, ...]
    others: tuple[Touch, ...]


def touches(before: Sequence[str], after: Sequence[str]) -> tuple[Touch, ...]:
    """Return the replacements of a change, by place.

    Examples
    --------
    >>> touches("it is 12:01 now in Rome".split(), "it is 12:02 now in Rome".split())[0]
    Touch(place=TextPlace(before=('it', 'is'), behind=('now', 'in')), went=('12:01',), came=('12:02',))
    """
    return tuple(
        Touch(
            TextPlace(tuple(after[max(edit.c - _AROUND, 0) : edit.c]), tuple(after[edit.d : edit.d + _AROUND])),
            tuple(before[edit.a : edit.b]),
            tuple(after[edit.c : edit.d]),
        )
        for edit in edits(before, after)
    )


def noise(change: Sequence[Touch], earlier: Sequence[Sequence[Touch]], later: Sequence[Sequence[Touch]] = ()) -> Noise:
    """Return whether a change of a page is noise, given the page's earlier and later changes.

    Examples
    --------
    >>> times = [f"it is {time} now in Rome".split() for time in ("12:01", "12:02", "12:03", "12:04")]
    >>> changes = [touches(a, b) for a, b in zip(times, times[1:])]
    >>> noise(changes[2], changes[:2]).noise, noise(changes[1], changes[:1]).noise
    (True, False)
    """
    if not change or len(change) > MOST_PLACES:
        return Noise(False, (), tuple(change))
    touched, stood = Counter[TextPlace](), dict[TextPlace, set[str]]()
    for other in (*earlier, *later):
        touched.update({touch.place for touch in other})
    for touch in (touch for other in earlier for touch in other):
        stood.setdefault(touch.place, set()).update(touch.went)
    least = max(ENOUGH, PART * (len(earlier) + len(later)))
    habitual, rest = list[Touch](), list[Touch]()
    for touch in change:
        known = stood.get(touch.place, set())
        is_noise = touched[touch.place] >= least and all(_TOKEN.match(word) or word in known for word in touch.came)
        (habitual if is_noise else rest).append(touch)
    return Noise(not rest, tuple(habitual), tuple(rest))
