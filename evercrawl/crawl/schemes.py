"""The scheme of importance that a crawl was begun with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl import catalog, importance

if TYPE_CHECKING:
    from evercrawl.importance.base import Importance
    from evercrawl.store.partition import Scheme


def kind_of(name: str) -> type[Importance]:
    """Return the scheme that is called `name`.

    Raises
    ------
    ConfigError
        There is none; the message lists those there are.

    Examples
    --------
    >>> kind_of("aopic").handout
    True
    """
    return catalog.pick(importance, importance.Importance, name)  # type: ignore[type-abstract]


def scheme_of(begun: Scheme) -> Importance:
    """Return what judges importance in a crawl that was begun so."""
    return kind_of(begun.name)(internal=begun.internal)
