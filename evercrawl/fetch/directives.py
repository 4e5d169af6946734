"""Reads what a page's X-Robots-Tag header asks of a robot."""

import re
from collections.abc import Iterator

__all__ = ["words_of", "x_robots"]

_MEANING = {
    "noindex": frozenset({"noindex"}),
    "nofollow": frozenset({"nofollow"}),
    "none": frozenset({"noindex", "nofollow"}),
}
_SCOPE = re.compile(r"([A-Za-z_*-]+)\s*:(.*)", re.DOTALL)
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def x_robots(values: str, agent: str) -> frozenset[str]:
    """Return which of "noindex" and "nofollow" the header asks of `agent`.

    A name before a colon applies to what follows it in the same field ("otherbot: noindex, nofollow"); directives
    without a name apply to all robots. Fields joined by ", " cannot be told apart, so a name then applies until the
    next one. A caller that still has the separate fields joins them by a line feed instead.

    Parameters
    ----------
    values
        The header's value or values.
    agent
        Our product token.

    Examples
    --------
    >>> sorted(x_robots("noarchive, none", "evercrawl"))
    ['nofollow', 'noindex']
    >>> sorted(x_robots("nofollow, otherbot: noindex", "evercrawl"))
    ['nofollow']
    """
    asked: frozenset[str] = frozenset()
    for directive in words_of(values, agent):
        asked |= _MEANING.get(directive, frozenset())
    return asked


def words_of(values: str, agent: str) -> Iterator[str]:
    """Yield the directives of the header that apply to `agent`, in lower case; see `x_robots`.

    >>> list(words_of("noai, otherbot: noindex", "evercrawl"))
    ['noai']
    """
    for field in values.split("\n"):
        ours = True
        for part in field.split(","):
            directive = part.strip().lower()
            scoped = _SCOPE.fullmatch(directive)
            if scoped and scoped[1] not in _WITH_VALUE:
                ours = scoped[1] in (agent.lower(), "*")
                directive = scoped[2].strip()
            if ours:
                yield directive
