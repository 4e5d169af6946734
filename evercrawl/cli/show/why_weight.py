"""The weight that `--weight` gives a page, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.cli.show.plain import many

if TYPE_CHECKING:
    from evercrawl.ask.why.explanation import Weighed


def told(weighed: Weighed) -> str:
    """Return the inputs of the weight for a page, and its factor.

    Examples
    --------
    >>> from evercrawl.ask.why.explanation import Weighed
    >>> told(Weighed("access", 14.02, opened=12.0))
    'access: opened 12 times; counts 14 times its importance'
    >>> told(Weighed("embarrassment", 0.1, shown=0.0, expected=0.0))
    'embarrassment: never shown; counts 0.1 times its importance'
    >>> told(Weighed("learned", 0.52, opened=1.0, expected=2.5))
    'learned: opened 1 time, expected 2.5 times; counts 0.52 times its importance'
    """
    return f"{weighed.weight}: {_saw(weighed)}; counts {weighed.times:.3g} times its importance"


def _saw(weighed: Weighed) -> str:
    match weighed.weight:
        case "access" | "learned":
            openings = "opened" if weighed.opened is not None else "shown"
            expected = "" if weighed.expected is None else f", expected {weighed.expected:.2g} times"
            return _times(openings, weighed.opened if weighed.opened is not None else weighed.shown) + expected
        case "embarrassment":
            expected = f", expected to be opened {weighed.expected:.2g} times" if weighed.shown else ""
            return _times("shown", weighed.shown) + expected
        case "query_match":
            if not weighed.usual:
                return "no queries are recorded"
            like = (weighed.similar or 0.0) / weighed.usual
            return f"{like:.2g} times as similar to recorded queries as the mean page that shares a word with one"
        case "quality":
            if weighed.now is None or weighed.before is None:
                return "the growth of its importance is not known"
            return f"{weighed.now:.3g} times the mean importance, before that {weighed.before:.3g} times"
        case "site":
            if weighed.now is None:
                return "the importance of its site is not known"
            return f"its site has {weighed.now:.3g} times the mean site's importance"
        case _:
            return "importance from links only"


def _times(happened: str, count: float | None) -> str:
    return f"{happened} {many(round(count), 'times')}" if count else f"never {happened}"
