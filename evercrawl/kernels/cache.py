"""The cache of object code on disk: one file per kernel module, processor and version of LLVM.

A file is in Python's byte code folder of the kernel module, or, if that folder is not writable, in the user's cache
`$XDG_CACHE_HOME/evercrawl`. It is used only if its checksum matches and its sources are unchanged. It must also be
safe from others: its owner is this user, root or the owner of the sources, and no group and no other user may write
it. Any other file is rebuilt. With `EVERCRAWL_KERNELS=jit` in its environment, a process neither reads nor writes
such files, but compiles for itself.
"""

import ast
import contextlib
import importlib.util
import json
import os
import stat
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

VARIABLE: Final = "EVERCRAWL_KERNELS"
"""The environment variable that disables the cache of a process."""
_FORMAT: Final = "1"
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_NUMBA: Final = "numba/_version.py"


class Image(NamedTuple):
    """The cached data of a kernel module: entries, name -> type letters, and object code."""

    entries: dict[str, str]
    code: bytes


def jit() -> bool:
    """Return whether this process does not use the cache."""
    return os.environ.get(VARIABLE) == "jit"


def fetch(module: str, target: tuple[str, ...]) -> Image | None:
    """Return the cached image of `module` for a `target` (words that identify a processor); None if there is none."""
    source = _file(_source(module))
    owners = {0, os.geteuid(), source.stat().st_uid if source is not None else 0}
    for path in _paths(module, target):
        image = _read(path, owners)
        if image is not None:
            return image
    return None


def keep(module: str, target: tuple[str, ...], image: Image) -> bool:
    """Write an image to the cache; return False if no folder is writable."""
    digests = {_NUMBA: _digest(_NUMBA), **digests_of(module)}
    head = json.dumps({"sources": digests, "entries": image.entries}).encode()
    data = head + b"\n" + image.code
    return any(_write(path, checksum(data) + b"\n" + data) for path in _paths(module, target))


def digests_of(module: str) -> dict[str, str]:
    """Return the source files of `module`, named from the top package on, with their digests."""
    return {source: _digest(source) for source in _sources(module)}


def size_of(module: str) -> int:
    """Return the total size of the sources of `module` in bytes, as an estimate of the time to compile it."""
    return sum(path.stat().st_size for path in map(_file, _sources(module)) if path is not None)


def unchanged(digests: dict[str, str]) -> bool:
    """Return whether sources still have these digests."""
    return all(_digest(source) == digest for source, digest in digests.items())


def checksum(data: bytes) -> bytes:
    """Return a checksum of `data`, in hexadecimal digits."""
    return blake2b(data, digest_size=16).hexdigest().encode()


def _paths(module: str, target: tuple[str, ...]) -> Iterator[Path]:
    """Yield the possible files for `module`, the best first."""
    name = f"{module}-{checksum(repr((_FORMAT, target)).encode()).decode()[:16]}.kernels"
    source = _file(_source(module))
    if source is not None:
        yield Path(importlib.util.cache_from_source(str(source))).with_name(name)
    with contextlib.suppress(RuntimeError):  # no home directory
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evercrawl"
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = folder.stat()
            if about.st_uid == os.getuid() and not about.st_mode & 0o022:  # nobody else can write to it
                yield folder / name


def _read(path: Path, owners: set[int]) -> Image | None:
    """Return the content of a file that only one of `owners` can write; None if it is invalid or unsafe."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            about = os.fstat(file.fileno())
            if about.st_uid not in owners or about.st_mode & _OTHERS_WRITE or not stat.S_ISREG(about.st_mode):
                return None
            said_checksum, data = file.read().split(b"\n", 1)
        if said_checksum != checksum(data):
            return None
        head, code = data.split(b"\n", 1)
        said = json.loads(head)
    except (OSError, ValueError):
        return None
    return Image(said["entries"], code) if unchanged(said["sources"]) else None


def _write(path: Path, data: bytes) -> bool:
    """Write a file atomically, whatever other processes write."""
    other = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(data)
        other.chmod(other.stat().st_mode & ~_OTHERS_WRITE)
        other.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            other.unlink()
        return False
    return True


def _sources(module: str) -> list[str]:
    """Return the source files of `module`: its own, and those of its package that it imports."""
    found, ahead, ours = list[str](), [module], module.partition(".")[0] + "."
    while ahead:
        source = _source(ahead.pop())
        path = _file(source)
        if source in found or path is None:
            continue
        found.append(source)
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(ours):
                ahead += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def _source(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _file(source: str) -> Path | None:
    """Return the path of a source file named from its top package on; None if it does not exist."""
    top, _, rest = source.partition("/")
    spec = importlib.util.find_spec(top)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((path for path in (Path(folder, rest) for folder in folders) if path.is_file()), None)


def _digest(source: str) -> str:
    path = _file(source)
    return checksum(path.read_bytes()).decode() if path else ""
