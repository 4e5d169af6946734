"""Times, counters, tokens and rotating advertisements told apart from content, by what a page's changes have in common.

A change touches places: words that were replaced, known by the words that stand around them. A place is habitual where
at least two other changes of the page touched it too, and half of those that are compared. At a habitual place a change
is noise if each word that came has a digit or looks like a token, or stood there before. A change is noise if all the
places that it touches are. So a clock, a counter or a token is noise from its third change on, an advertisement once it
comes back; a paragraph that is added, a price that changes for once and a new title are content.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from evercrawl.change.edits import edits

ENOUGH: Final = 2
"""Other changes that must have touched a place for it to be habitual."""
PART: Final = 0.5
"""Part of the other changes that must have touched it."""
MOST_PLACES: Final = 64
"""A change that touches more places is content."""
_AROUND: Final = 2
_TOKEN: Final = re.compile(r".*\d|[A-Za-z_+/=-]{20,}$")


class TextPlace(NamedTuple):
    """Words that stand before and behind what a change replaced."""

    before: tuple[str, ...]
    behind: tuple[str, ...]


class Touch(NamedTuple):
    """What a change did at a place: the words that went, and that came."""

    place: TextPlace
    went: tuple[str, ...]
    came: tuple[str, ...]


class Noise(NamedTuple):
    """Whether a change is noise, and by what.

    Attributes
    ----------
    noise
        Whether nothing but noise changed.
    habitual
        What it did at habitual places that is noise.
    others
        What it did elsewhere, that is content.
    """

    noise: bool
    habitual: tuple[Touch, ...]
    others: tuple[Touch, ...]


def touches(before: Sequence[str], after: Sequence[str]) -> tuple[Touch, ...]:
    """Return what a change did, place by place.

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
    """Return whether a change of a page is noise, given what changes of the page before and after it did.

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
