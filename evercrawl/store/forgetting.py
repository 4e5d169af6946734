"""A plan to forget and its execution: all bytes to be written are durable in the plan before any is written.

A plan that exists has begun, so that every process that opens the directory for writing first executes it from its
first step. Each step writes fixed bytes, so it can be repeated after an interruption; the plan is removed after the
last step. The plan contains no name of anything forgotten.
"""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING, Final

import msgspec
import xxhash

from evercrawl.decoding import msgpack_of
from evercrawl.errors import StoreError
from evercrawl.store.archive.cdxj import index_name
from evercrawl.store.disk.plain import place_of
from evercrawl.store.forgotten import FILES, load
from evercrawl.store.forgotten_rows import remove_rows
from evercrawl.store.repair.archive import filler
from evercrawl.store.repair.kept import patch
from evercrawl.store.snapshots.head import KIND

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.store.disk.disk import Disk

PLAN: Final = "forget.plan"
UNFINISHED: Final = "was told to forget something and was stopped on the way"
_VERSION: Final = 1
_GONE: Final = "what was here was forgotten"
_COVERED: Final = "archive/indexed.json"
_PREFIXES: Final = ("snapshot-", f"{KIND}-", "lessons-", "learned-")
_FILES: Final = (
    "known.bin", "urls.log", "urls.idx", "urls.dict", "names.cache", "errors.log", "memory.json", "popularity.bin",
    "cookies.json", "proxies.json",
    "robots.sqlite", "robots.sqlite-wal", "robots.sqlite-shm", "sitemaps.sqlite", "sitemaps.sqlite-wal",
    "sitemaps.sqlite-shm", "soft404.sqlite", "soft404.sqlite-wal", "soft404.sqlite-shm",
    "requisites.sqlite", "requisites.sqlite-wal", "requisites.sqlite-shm",
)  # fmt: skip
_FOLDERS: Final = ("derived", "search", "search.new")


class Patch(msgspec.Struct, array_like=True, frozen=True):
    """Bytes that replace as many others."""

    name: str
    offset: int
    data: bytes


class Blank(msgspec.Struct, array_like=True, frozen=True):
    """Bytes of a segment to be replaced by one record of the same length, which says that something was forgotten."""

    name: str
    offset: int
    size: int
    noise: bytes


class ForgetPlan(msgspec.Struct, array_like=True, frozen=True):
    """All bytes to be written.

    Attributes
    ----------
    version, at
        Version of the plan; when it was made, in seconds since the epoch.
    table
        The new `forgotten.bin`.
    patches, blanks
        Replacements in the journal and other files; in the archive.
    files
        New content of small files, by name.
    """

    version: int
    at: float
    table: bytes
    patches: list[Patch]
    blanks: list[Blank]
    files: dict[str, bytes]


def write_plan(disk: Disk, plan: ForgetPlan) -> None:
    """Write the plan; from now on it must be executed."""
    data = msgspec.msgpack.encode(plan)
    disk.replace(PLAN, [xxhash.xxh3_64_digest(data), data], private=True)


def new_plan(at: float, table: bytes, patches: list[Patch], blanks: list[Blank], files: dict[str, bytes]) -> ForgetPlan:
    """Return a plan of the present version."""
    return ForgetPlan(_VERSION, at, table, patches, blanks, files)


def unfinished(disk: Disk) -> bool:
    """Return whether a plan is unfinished."""
    return disk.size(PLAN) > 0


def begun(directory: Path) -> bool:
    """Return whether a plan is unfinished in a crawl directory."""
    return (directory / PLAN).exists()


def carry_out(directory: Path, disk: Disk) -> None:
    """Execute the plan, if there is one; the caller holds the lock.

    Raises
    ------
    StoreError
        The plan is damaged, or the disk fails; a later call continues.
    """
    if not unfinished(disk):
        return
    plan = _read_plan(directory, disk)
    for name in FILES:
        disk.replace(name, [plan.table], private=True)
    for each in plan.blanks:
        patch(directory, each.name, each.offset, filler(each.size, plan.at, each.noise, _GONE), sync=False)
    for name in sorted({each.name for each in plan.blanks}):
        disk.sync(name)
        disk.remove(index_name(name))
    disk.remove(_COVERED)
    for piece in plan.patches:
        patch(directory, piece.name, piece.offset, piece.data, sync=False)
    for name in sorted({each.name for each in plan.patches}):
        disk.sync(name)
    remove_rows(directory, load(disk))
    for name, text in plan.files.items():
        disk.replace(name, [text])
    for folder in _FOLDERS:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(directory / folder)
    for name in [*_FILES, *(name for prefix in _PREFIXES for name in disk.names(prefix))]:
        disk.remove(name)
    disk.replace(FILES[1], [plan.table], private=True)  # this also makes the removals durable
    disk.remove(PLAN)


def _read_plan(directory: Path, disk: Disk) -> ForgetPlan:
    """Return the plan, after checking that all its files and positions are inside the directory."""
    data = disk.read(PLAN, 0, disk.size(PLAN))
    try:
        if xxhash.xxh3_64_digest(data[8:]) != data[:8]:
            raise ValueError("its checksum does not match")
        plan = msgpack_of(data[8:], ForgetPlan)
        for name in plan.files:
            place_of(directory, name)
        for each in plan.blanks:
            _see_place(directory, disk, each.name, each.offset, each.size)
        for piece in plan.patches:
            _see_place(directory, disk, piece.name, piece.offset, len(piece.data))
        if plan.version != _VERSION:
            raise ValueError(f"it has version {plan.version}")
    except (ValueError, msgspec.MsgspecError, StoreError) as error:
        message = f"{directory / PLAN} is damaged or of a newer evercrawl ({error})"
        raise StoreError(f"{message}; restore the directory from a copy") from error
    return plan


def _see_place(directory: Path, disk: Disk, name: str, offset: int, size: int) -> None:
    place_of(directory, name)
    if not 0 <= offset <= offset + size <= disk.size(name):
        raise ValueError(f"{name} has no {size} bytes at {offset}")
