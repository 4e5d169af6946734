"""Second copies in a folder of this machine: which partitions have one, and which copies are complete."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.cluster.birth import FILE, WholeCopy, note_begun, note_copy, part_directories, part_directory
from evercrawl.cluster.copies.own_copies import has_copies, may_have_copies
from evercrawl.config import FILE_NAME
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.trouble import in_words
from evercrawl.store.keeper.folder import distrust, is_held, made
from evercrawl.store.keeper.restoring import is_gone

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.cluster.birth import ClusterBirth
    from evercrawl.cluster.plan import PartPlan
    from evercrawl.cluster.wire import CopyAnswered, CopyAsked
    from evercrawl.config import Config


def on_one_device(settings: Config, directory: Path) -> str:
    """Return a warning if second copies are on the same device as their originals; else ""."""
    if settings.durable != "keeper":
        return ""
    device = Path(settings.keeper_dir).stat().st_dev
    one = [part for part in (directory, *part_directories(directory)) if part.is_dir() and part.stat().st_dev == device]
    if not one:
        return ""
    return (
        f"keeper_dir {settings.keeper_dir} is on the same device as {one[-1]}: if that is lost, its second copies are "
        "lost too; name a folder on another disk"
    )


class FolderCopies:
    """The second copies of one crawl.

    `cluster.json` and the settings are stored beside them: from these and the copies, a crawl can continue whose own
    disk is lost.

    Parameters
    ----------
    directory, birth
        The crawl's directory and description.
    """

    def __init__(self, directory: Path, birth: ClusterBirth) -> None:
        self._directory, self._birth = directory, birth
        self._whole, self._begun = dict(birth.copies), set(birth.begun)
        self._writes = dict[int, WholeCopy]()  # the copies that present processes write
        self._above: Path | None = None
        self.say: Callable[[int, CopyAnswered], object] = lambda number, frame: None
        self._owed = set[Path]()  # folders of copies whose `cluster.json` is not up to date yet

    def planned(self, plan: PartPlan, settings: Config) -> PartPlan:
        """Return a plan with what the process must know about copies; see `place`."""
        kept = self.place(settings, plan.share.number, plan.incarnation, plan.directory)
        return replace(plan, kept=kept, since=self.since(plan.share.number))

    def missing(self, number: int, said: str, settings: Config) -> str:
        """Return `said`: on one machine, copies are no reason to wait."""
        return said

    def turn(self, settings: Config) -> list[int]:
        """Update `cluster.json` beside the copies if needed; return no partitions, because none must be restarted."""
        self.write_owed()
        return []

    def lost(self, number: int) -> bool:
        """Return False: a partition on this machine cannot continue elsewhere by itself."""
        return False

    def ask(self, number: int, frame: CopyAsked) -> None:
        """Do nothing: each process writes its own copy."""

    async def close(self) -> None:
        """Do nothing: there is no process for the copies."""

    def place(self, settings: Config, number: int, life: int, part: Path) -> Path | None:
        """Return the folder for the second copy of a partition that starts now; None if its own disk is enough.

        Parameters
        ----------
        settings, number, life
            The settings, the partition's number, and the life that starts.
        part
            The partition's directory.

        Raises
        ------
        ConfigError
            The directory is gone, and this copy cannot replace it; a crawled partition never starts from scratch.
        """
        whole, place = self._whole.get(number), None
        if settings.durable == "keeper":
            place = part_directory(Path(settings.keeper_dir).absolute() / self._birth.id, number)
            self._see_own(place.parent)
        held = whole is not None and place is not None and is_held(place, whole.life)
        begun = number in self._begun or whole is not None or number in self._birth.homes
        if not held and begun and is_gone(part):
            raise ConfigError(self._gone_message(part, whole, place))
        if whole is not None and not held:
            self._distrust(number, whole)
        self._writes.pop(number, None)
        if place is not None:
            self._writes[number], self._above = WholeCopy(str(place), life), place.parent
            self._copy_birth()
        return place

    def _see_own(self, above: Path) -> None:
        """See that a folder of copies is of this crawl, or new."""
        try:
            if may_have_copies(above, self._birth):
                return
        except OSError as error:
            raise in_words(error, "read", above) from error
        raise ConfigError(f"{above} has something else than second copies of this crawl; give another --keeper-dir")

    def _gone_message(self, part: Path, whole: WholeCopy | None, place: Path | None) -> str:
        """Return a message that says what to do about a missing directory."""
        gone = f"{part} has no partition, though it was crawled there; is its disk mounted?"
        if whole is None:
            return f"{gone} No second copy is complete: restore the directory from a backup"
        if place is not None and str(place) == whole.place:
            return (
                f"{gone} Its second copy in {whole.place} is missing, outdated, or does not reflect the latest "
                "forgetting; is that disk mounted? Otherwise restore the directory from a backup"
            )
        return (
            f"{gone} If it is lost, restore it from its second copy in {whole.place}: evercrawl crawl --dir "
            f"{self._directory} --durable keeper --keeper-dir {Path(whole.place).parent.parent}"
        )

    def _distrust(self, number: int, whole: WholeCopy) -> None:
        """Record, here and beside the copy, that a copy which becomes incomplete must not be opened."""
        del self._whole[number]
        note_copy(self._directory, number, None)
        above = Path(whole.place).parent
        self._owed.add(above)
        ours = has_copies(above, self._birth) and Path(whole.place) == part_directory(above, number)
        self.write_owed()
        with contextlib.suppress(OSError, StoreError):  # its disk may be gone: the life tells that it is old
            if ours:
                distrust(Path(whole.place))

    def since(self, number: int) -> int | None:
        """Return the life that saw a partition's second copy complete; None if no copy is complete."""
        whole = self._whole.get(number)
        return None if whole is None else whole.life

    def begun(self, number: int) -> None:
        """Take note that a partition has been crawled."""
        if number not in self._begun:
            self._begun.add(number)
            note_begun(self._directory, number)
            self._copy_birth()

    def caught_up(self, number: int) -> None:
        """Take note that a second copy is complete, and that from now on no event counts without it."""
        whole = self._writes[number]
        if self._whole.get(number) != whole:
            self._whole[number] = whole
            note_copy(self._directory, number, whole)
            self._copy_birth()

    def _copy_birth(self) -> None:
        """Have `cluster.json` and the settings written beside the copies."""
        if self._above is not None:
            self._owed.add(self._above)
            self.write_owed()

    def write_owed(self) -> None:
        """Retry the folders that could not be written; until then, writes to the copies fail too, and say so."""
        for above in list(self._owed):
            with contextlib.suppress(OSError, StoreError):
                if above == self._above:
                    made(above)
                elif not has_copies(above, self._birth):  # not there now, or a stranger's directory names it
                    continue
                with contextlib.closing(RealDisk(above)) as disk:
                    for name in (FILE, FILE_NAME):
                        file = self._directory / name
                        if file.is_file():
                            disk.replace(name, [file.read_bytes()], private=True)
                self._owed.discard(above)
