"""Which partitions have second copies, where those are, and which of them have all that counts."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.cluster.birth import FILE, note_kept, part_directory
from evercrawl.config import FILE_NAME
from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk

if TYPE_CHECKING:
    from evercrawl.cluster.birth import ClusterBirth
    from evercrawl.config import Config


class SecondCopies:
    """The second copies of one crawl.

    Beside them is what the directory of all partitions says of itself, and the settings: with these and the copies
    a crawl goes on whose disk is gone.

    Parameters
    ----------
    directory, birth
        Of the crawl, and what it is.
    """

    def __init__(self, directory: Path, birth: ClusterBirth) -> None:
        self._directory, self._id = directory, birth.id
        self._kept = set(birth.kept)
        self._above: Path | None = None

    def place(self, settings: Config, number: int) -> Path | None:
        """Return where a partition that begins now has its second copy; None where its disk is enough."""
        if settings.durable != "keeper":
            if number in self._kept:
                self._kept.discard(number)
                note_kept(self._directory, number, False)
                self._copy_birth()
            return None
        self._above = Path(settings.keeper_dir) / self._id
        self._copy_birth()
        return part_directory(self._above, number)

    def counts(self, number: int) -> bool:
        """Whether a partition's second copy has all that counts."""
        return number in self._kept

    def caught_up(self, number: int) -> None:
        """Take note that a second copy has all that counts, and that nothing counts any more without it."""
        if number not in self._kept:
            self._kept.add(number)
            note_kept(self._directory, number, True)
            self._copy_birth()

    def _copy_birth(self) -> None:
        """Write what is needed beside the copies; where that fails they fail too, and say so."""
        if self._above is None:
            return
        with contextlib.suppress(OSError, StoreError):
            self._above.mkdir(exist_ok=True)
            with contextlib.closing(RealDisk(self._above)) as disk:
                for name in (FILE, FILE_NAME):
                    file = self._directory / name
                    if file.is_file():
                        disk.replace(name, [file.read_bytes()], private=True)
