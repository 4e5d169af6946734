"""The parameters of a partition's process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evercrawl.config import Config
from evercrawl.store.post.ownership import Share


@dataclass(frozen=True)
class PartPlan:
    """The parameters of a partition's process.

    Attributes
    ----------
    directory, share, secret, incarnation
        The partition's directory, its share, the crawl's secret, and the number of this life.
    config, seeds
        Settings and seeds.
    kept
        Folder on this machine of a second copy from which the partition can be restored. Without `keeper`, the
        process also writes its copy there. None if there is none.
    since
        The life that last saw that copy complete; a copy written only by earlier lives is not used. None if no copy
        is complete.
    keeper
        Where the second copy on another machine is, in words; "" if there is none.
    begun
        Whether the partition has been crawled, so that it must not be started from scratch.
    line
        Directories of a lower line are set aside; 0 for none.
    logged
        Which visits are reported for the log of the run: "none", "failed" or "all".
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
    logged: str = "none"
