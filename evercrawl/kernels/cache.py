"""Object code on disk: one file a kernel module, for this processor and this LLVM.

It lies where Python keeps the byte code of the kernel module, or, where that folder cannot be written, in the user's
own cache, `$XDG_CACHE_HOME/evercrawl`. A file is used only if its checksum is right and it was made of the very sources
that are there now. Nobody else may have been able to write it either: its owner is this user, root or the owner of the
sources, and no group and no other user may write it. A file that is not is made anew. With `EVERCRAWL_KERNELS=jit` in
its environment a process neither reads nor writes such files, but compiles for itself alone.
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
"""The environment variable that has a process do without."""
_FORMAT: Final = "1"
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_NUMBA: Final = "numba/_version.py"


class Image(NamedTuple):
    """What is kept of a kernel module: entries, name -> letters of their types, and object code."""

    entries: dict[str, str]
    code: bytes


def jit() -> bool:
    """Tell whether this process does without: it compiles for itself alone."""
    return os.environ.get(VARIABLE) == "jit"


def fetch(module: str, target: tuple[str, ...]) -> Image | None:
    """Return what was kept of `module` for a `target` (any words that tell processors apart), None if nothing is."""
    source = _file(_source(module))
    owners = {0, os.geteuid(), source.stat().st_uid if source is not None else 0}
    for path in _paths(module, target):
        image = _read(path, owners)
        if image is not None:
            return image
    return None


def keep(module: str, target: tuple[str, ...], image: Image) -> bool:
    """Keep an image where `fetch` finds it; return False when no folder can be written."""
    digests = {_NUMBA: _digest(_NUMBA), **digests_of(module)}
    head = json.dumps({"sources": digests, "entries": image.entries}).encode()
    data = head + b"\n" + image.code
    return any(_write(path, checksum(data) + b"\n" + data) for path in _paths(module, target))


def digests_of(module: str) -> dict[str, str]:
    """Return the sources that `module` is made of, named from the top package on, and the digest of each."""
    return {source: _digest(source) for source in _sources(module)}


def size_of(module: str) -> int:
    """Return how many bytes the sources of `module` have in all: what has more of them takes longer to compile."""
    return sum(path.stat().st_size for path in map(_file, _sources(module)) if path is not None)


def unchanged(digests: dict[str, str]) -> bool:
    """Tell whether sources are what they were when their digests were taken."""
    return all(_digest(source) == digest for source, digest in digests.items())


def checksum(data: bytes) -> bytes:
    """Return a checksum of `data`, in hexadecimal digits."""
    return blake2b(data, digest_size=16).hexdigest().encode()


def _paths(module: str, target: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files in which `module` may be kept, the best first."""
    name = f"{module}-{checksum(repr((_FORMAT, target)).encode()).decode()[:16]}.kernels"
    source = _file(_source(module))
    if source is not None:
        yield Path(importlib.util.cache_from_source(str(source))).with_name(name)
    with contextlib.suppress(RuntimeError):  # no home
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evercrawl"
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = folder.stat()
            if about.st_uid == os.getuid() and not about.st_mode & 0o022:  # nobody else can put code there
                yield folder / name


def _read(path: Path, owners: set[int]) -> Image | None:
    """Return what a file of one of `owners` holds that nobody else can write; None if it is no good."""
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
    """Write a file whole or not at all, whoever else is writing it."""
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
    """Return the source files that `module` is made of: its own, and those of its package that it imports."""
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
    """Return where a source file is that is given from its top package on, None if there is no such file."""
    top, _, rest = source.partition("/")
    spec = importlib.util.find_spec(top)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((path for path in (Path(folder, rest) for folder in folders) if path.is_file()), None)


def _digest(source: str) -> str:
    path = _file(source)
    return checksum(path.read_bytes()).decode() if path else ""
