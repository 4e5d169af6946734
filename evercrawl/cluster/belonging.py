"""Whether what lies at a path is a partition of this crawl: `cluster.json` names paths, and may come from a stranger.

A partition has the crawl's secret, which no stranger knows.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.birth import PARTED
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.keeper.restoring import BEGUN
from evercrawl.store.post.ownership import Share
from evercrawl.store.repair.birth import read_birth

if TYPE_CHECKING:
    from pathlib import Path

_NOTHING: Final = ("lock", "lost+found")


def is_part(part: Path, share: Share, secret: str) -> bool:
    """Whether a directory has a partition of a crawl: the share that it says, under the same secret.

    Raises
    ------
    StoreError
        It cannot be read.
    """
    with contextlib.closing(RealDisk(part, read_only=True)) as disk:
        found = read_birth(disk)
    if found is None or not isinstance(found.share, Share) or found.secret != secret:
        return False
    return (found.share.cluster, found.share.number, found.share.parts) == (share.cluster, share.number, share.parts)


def see_part(part: Path, share: Share, secret: str) -> None:
    """See that a directory elsewhere has the partition that is said to be there, or nothing at all.

    Raises
    ------
    StoreError
        Something else is there.
    """
    try:
        if not part.exists() or (part.is_dir() and all(path.name in _NOTHING for path in part.iterdir())):
            return
        ours = part.is_dir() and (is_part(part, share, secret) or (part / BEGUN).is_file())
    except (OSError, StoreError, ConfigError) as error:
        raise StoreError(f"{part}, where partition {share.number} is said to be, cannot be read: {error}") from error
    if not ours:
        raise StoreError(
            f"{PARTED} says that partition {share.number} is in {part}, but what is there is not of this crawl; "
            "nothing there was read or changed. "
            f"If the path is right, restore {part} from a copy; otherwise correct {PARTED}"
        )
