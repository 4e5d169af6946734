"""What `--weight` makes of a page, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.cli.show.plain import many

if TYPE_CHECKING:
    from evercrawl.ask.why.explanation import Weighed


def told(weighed: Weighed) -> str:
    """Return what the weight saw of a page, and by what it multiplies.

    Examples
    --------
    >>> from evercrawl.ask.why.explanation import Weighed
    >>> told(Weighed("access", 14.02, opened=12.0))
    'access: opened 12 times; counts 14 times its importance'
    >>> told(Weighed("embarrassment", 0.1, shown=0.0, expected=0.0))
    'embarrassment: never shown; counts 0.1 times its importance'
    >>> told(Weighed("learned", 0.52, opened=1.0, expected=2.5))
    'learned: opened 1 time, where 2.5 were to be expected; counts 0.52 times its importance'
    """
    return f"{weighed.weight}: {_saw(weighed)}; counts {weighed.times:.3g} times its importance"


def _saw(weighed: Weighed) -> str:
    match weighed.weight:
        case "access" | "learned":
            openings = "opened" if weighed.opened is not None else "shown"
            expected = "" if weighed.expected is None else f", where {weighed.expected:.2g} were to be expected"
            return _times(openings, weighed.opened if weighed.opened is not None else weighed.shown) + expected
        case "embarrassment":
            expected = f", where {weighed.expected:.2g} openings are to be expected" if weighed.shown else ""
            return _times("shown", weighed.shown) + expected
        case "query_match":
            if not weighed.usual:
                return "nobody has asked anything"
            like = (weighed.similar or 0.0) / weighed.usual
            return f"{like:.2g} times as like what is asked as a page with a word of it"
        case "quality":
            if weighed.now is None or weighed.before is None:
                return "it is not known how its importance grows"
            return f"{weighed.now:.3g} times the mean page's importance, {weighed.before:.3g} times it before"
        case "site":
            if weighed.now is None:
                return "nothing is known of its site"
            return f"its site has {weighed.now:.3g} times the mean site's importance"
        case _:
            return "what links say"


def _times(happened: str, count: float | None) -> str:
    return f"{happened} {many(round(count), 'times')}" if count else f"never {happened}"
