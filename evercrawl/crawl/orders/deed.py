"""What an order comes to."""

from dataclasses import dataclass

from evercrawl.config.written import Change
from evercrawl.store.journal.events import Boost, Discovery
from evercrawl.types import NO_SLOT


@dataclass(frozen=True, slots=True)
class Deed:
    """What is done, or why it is not; the fields are those of `Obeyed`.

    Attributes
    ----------
    change
        What crawl.toml is to say from now on; written before anything else is done.
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
    """Return that nothing is done."""
    return Deed(why, "refused")
