"""Whether a folder has second copies of this crawl: `cluster.json` names folders, and may come from a stranger.

What lies beside the copies has the crawl's secret, which no stranger knows.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Final

from evercrawl.cluster.birth import is_cluster, read_birth
from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import TEMPORARY, RealDisk
from evercrawl.store.keeper.copy import state_of

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.cluster.birth import ClusterBirth

_OF_DISK: Final = "lost+found"  # in the top folder of many file systems
_COPY: Final = re.compile(r"part-[0-9]{1,3}(\.lock)?")


def has_copies(above: Path, birth: ClusterBirth) -> bool:
    """Whether a folder has the second copies of a crawl: the file beside them has its secret."""
    if not is_cluster(above):
        return False
    try:
        there = read_birth(above)
    except StoreError:
        return False
    return (there.id, there.parts, there.secret) == (birth.id, birth.parts, birth.secret)


def may_have_copies(above: Path, birth: ClusterBirth) -> bool:
    """Whether second copies of a crawl may be written in a folder: it has them, or is new, or has but parts of them."""
    if not above.exists() or has_copies(above, birth):
        return True
    if not above.is_dir():
        return False
    paths = [path for path in above.iterdir() if path.name != _OF_DISK and not path.name.endswith(TEMPORARY)]
    return all(_COPY.fullmatch(path.name) and (path.suffix == ".lock" or _is_begun(path, birth)) for path in paths)


def _is_begun(place: Path, birth: ClusterBirth) -> bool:
    """Whether a folder has a second copy of a crawl, or nothing."""
    if not place.is_dir():
        return False
    with contextlib.closing(RealDisk(place, read_only=True)) as disk:
        state = state_of(disk)
        return not disk.names() if state is None else state.owner.cluster == birth.id
