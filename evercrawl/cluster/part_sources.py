"""Where the partitions of a crawl can be read, on this machine or on another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evercrawl.ask.parts_line import PartState
from evercrawl.cluster.birth import part_directories, read_birth
from evercrawl.cluster.disks import is_here
from evercrawl.cluster.hauling.lent_files import FilesAfar
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.birth import is_crawl
from evercrawl.store.disk.crawl_files import CrawlFiles, CrawlFilesHere
from evercrawl.store.disk.lock import holder

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class PartSource:
    """Where one partition is.

    Attributes
    ----------
    directory, number
        The directory of the whole crawl, and number of the partition.
    here, disk
        Directory of the partition; None, and the id of the disk that it is on, if that is on another machine.
    """

    directory: Path
    number: int
    here: Path | None
    disk: str = ""

    @property
    def where(self) -> str:
        """Return a description."""
        return str(self.here) if self.here is not None else f"the disk {self.disk}"

    def files(self) -> CrawlFiles:
        """Return its files, which the caller closes.

        Raises
        ------
        StoreError
            It is on another machine, which cannot be reached; the message says what to do.
        """
        if self.here is not None:
            return CrawlFilesHere(self.here)
        try:
            return FilesAfar(self.directory, self.number)
        except StoreError as error:
            raise StoreError(self._unreachable(str(error))) from error

    def see_reachable(self, states: list[PartState] | None) -> None:
        """Check that it can be read now, given the states of the partitions, or None if the crawl does not run.

        Raises
        ------
        StoreError
            It cannot; the message says what to do.
        """
        if self.here is None and states is None:
            raise StoreError(self._unreachable("other machines are reached only through the running crawl"))
        if self.here is None and states is not None and not states[self.number].where:
            raise StoreError(self._unreachable("its machine is not there"))

    def _unreachable(self, why: str) -> str:
        if holder(self.directory) is None:
            what = f"start the crawl (evercrawl crawl --dir {self.directory} --cluster ADDRESS)"
        else:
            what = "bring its machine back, or wait until the partition continues from its second copy if it has one"
        return (
            f"partition {self.number} is on {self.where}, and cannot be read: {why}; {what}, and give the same command "
            "again"
        )


def part_sources(directory: Path) -> dict[int, PartSource]:
    """Return where each partition is; those that were never crawled are nowhere.

    Raises
    ------
    ConfigError
        The directory of a partition of this machine is missing.
    """
    birth, found = read_birth(directory), dict[int, PartSource]()
    for number, part in enumerate(part_directories(directory)):
        if not is_here(directory, number):
            if number in birth.begun:
                found[number] = PartSource(directory, number, None, birth.places[number])
        elif is_crawl(part):
            found[number] = PartSource(directory, number, part)
        elif number in birth.begun:
            raise ConfigError(f"{part} has no partition, though it was crawled there; is its disk mounted?")
    return found
