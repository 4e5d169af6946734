"""What the process of a partition is given when it begins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evercrawl.config import Config
from evercrawl.store.post.ownership import Share


@dataclass(frozen=True)
class PartPlan:
    """What the process of a partition is given.

    Attributes
    ----------
    directory, share, secret, incarnation
        Its crawl directory, which part it is, the crawl's secret, and the number of this life.
    config, seeds
        Settings and seeds.
    kept
        The folder of its second copy on this machine, which it writes unless another one has its keeper; None where
        there is none.
    since
        The life that saw it whole: it, or what later lives made of it, may take the place of a directory that is gone.
        None where it has not all that counts.
    keeper
        The keeper of its second copy on another machine, in words; "" where there is none.
    begun, line
        Whether it has been crawled, so that it must be there; the life from which an older directory is not it.
    """

    directory: Path
    share: Share
    secret: bytes
    incarnation: int
    config: Config
    seeds: tuple[str, ...]
    kept: Path | None = None
    since: int | None = None
    keeper: str = ""
    begun: bool = False
    line: int = 0
