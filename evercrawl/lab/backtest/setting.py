"""Under which conditions a history is replayed."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from evercrawl.errors import ConfigError

DAY_S: Final = 86_400.0
Discovery: TypeAlias = Literal["born", "links"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a replay spends, what it is told, and of which part of a history.

    Attributes
    ----------
    budget
        Polls per live page and day, spent at a constant rate.
    validators
        Whether pages say when they were changed last (Last-Modified).
    discovery
        How pages become known: `born`, each as soon as there is one; or `links`, when a page that links to it is
        polled. Those that there are at the start, and those to which nothing ever links, are known as soon as there
        are any in either case.
    lastmod
        Part of the changes of which a sitemap tells at once, from 0 to 1.
    sample
        How many pages of each site are drawn; None for all.
    seed
        Of what is drawn.
    years
        How much of the history counts, from its end; 90 % of it where it is shorter.
    since, until
        Instants in place of `years`, in seconds since the epoch; None for those.
    warming
        Part of that time which does not count yet, from 0 to 1.

    Raises
    ------
    ConfigError
        Where a number is none of those.
    """

    budget: float
    validators: bool = True
    discovery: Discovery = "born"
    lastmod: float = 0.0
    sample: int | None = None
    seed: int = 1
    years: float = 3.0
    since: float | None = None
    until: float | None = None
    warming: float = 1 / 3

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not 0 <= self.lastmod <= 1:
            raise ConfigError(f"lastmod is a part of the changes, from 0 to 1, not {self.lastmod:g}")
        if not 0 <= self.warming < 1:
            raise ConfigError(f"warming is a part of the time, from 0 to less than 1, not {self.warming:g}")
        if self.sample is not None and self.sample < 1:
            raise ConfigError(f"a sample has 1 page of each site at least, not {self.sample}")
        if not self.years > 0:
            raise ConfigError(f"years are more than 0, not {self.years:g}")
        if self.discovery not in ("born", "links"):
            raise ConfigError(f"discovery is born or links, not {self.discovery}")
