"""The effect of an order."""

from dataclasses import dataclass

from evercrawl.config.written import Change
from evercrawl.store.journal.events import Boost, Discovery
from evercrawl.types import NO_SLOT


@dataclass(frozen=True, slots=True)
class Deed:
    """The effect of an order, or why it has none; the fields are those of `Obeyed`.

    Attributes
    ----------
    change
        The change to crawl.toml; it is written before anything else is done.
    """

    result: str
    state: str = "done"
    found: Discovery | None = None
    slot: int = NO_SLOT
    paused: bool | None = None
    boosts: list[Boost] | None = None
    rules: dict[str, float] | None = None
    root: str = ""
    change: Change | None = None


def refused(why: str) -> Deed:
    """Return a deed without effect, and the reason."""
    return Deed(why, "refused")
