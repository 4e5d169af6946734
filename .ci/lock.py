"""What is installed, held against what was locked: `install`, `check` and `refresh`, for `make`.

A line of the lock names a package, its version, the SHA-256 of the file that pip downloads, and that of the list of
what it installs. So a package that was changed on its way here, or here, is found, also without a network. A lock is
of one version of Python on one kind of machine.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
TAG = f"cp{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"
LOCK = Path(__file__).with_name(f"lock-{TAG}.txt")
LINE = re.compile(r"^(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})  # files sha256:([0-9a-f]{64})$")
UNSTABLE = re.compile(r"\.pyc$|^\.\./|/(INSTALLER|REQUESTED|RECORD|direct_url\.json)$")  # differ from place to place
ENDS = ("evercrawl", "dev")
MISMATCH = re.compile(r"DO NOT MATCH THE HASHES|do not match the hashes|HashMismatch")


def plain(name: str) -> str:
    """Return the name of a package as the lock has it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def recorded(package: metadata.Distribution) -> Iterator[tuple[str, str]]:
    """Yield name and SHA-256 (as RECORD writes it) of each file that a package brought."""
    for name, digest, *_ in csv.reader(io.StringIO(package.read_text("RECORD") or "")):
        if digest.startswith("sha256=") and not UNSTABLE.search(name):
            yield name, digest.removeprefix("sha256=")


def list_digest(package: metadata.Distribution) -> str:
    """Return the SHA-256 of the list of all that."""
    return hashlib.sha256(
        "\n".join(f"{name} {digest}" for name, digest in sorted(recorded(package))).encode()
    ).hexdigest()


def changed_files(package: metadata.Distribution) -> list[str]:
    """Return the files that are not what the package brought."""
    found = []
    for name, digest in recorded(package):
        path = Path(str(package.locate_file(name)))
        have = hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b""
        if base64.urlsafe_b64encode(have).rstrip(b"=").decode() != digest:
            found.append(name)
    return found


def locked(text: str) -> dict[str, tuple[str, str]]:
    """Return name -> version and digest of the list of files; raises ValueError for a line that is none."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            match = LINE.match(line)
            if match is None:
                raise ValueError(f"this is no line of a lock: {line}")
            found[match[1]] = match[2], match[4]
    return found


def needed(paths: Sequence[str] | None = None) -> set[str]:
    """Return the packages that the project needs, those of its tests too, as far as they are installed."""
    installed = {plain(each.name): each for each in metadata.distributions(path=list(paths or sys.path))}
    found, waiting = set[str](), [ENDS]
    seen = set[tuple[str, str]]()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen or name not in installed:
            continue
        seen.add((name, extra))
        found.add(name)
        for text in installed[name].requires or []:
            match = re.match(r"([\w.-]+)\s*(?:\[([^]]*)\])?", text)
            marker = text.partition(";")[2]
            if match and (not marker or "extra" not in marker or (extra and re.search(rf"extra == .{extra}.", marker))):
                waiting += [(plain(match[1]), each.strip()) for each in ["", *(match[2] or "").split(",")]]
    return found - {ENDS[0]}


def check(lock: Path = LOCK, paths: Sequence[str] | None = None) -> list[str]:
    """Return a sentence for each thing that is not as it was locked."""
    if not lock.is_file():
        return [f"nothing is locked for {TAG}; run: make lock"]
    wanted, wrong = locked(lock.read_text(encoding="utf-8")), []
    installed = {plain(each.name): each for each in metadata.distributions(path=list(paths or sys.path))}
    for name, (version, digest) in wanted.items():
        package = installed.get(name)
        if package is None:
            wrong.append(f"{name} {version} is locked and not installed; run: make setup")
        elif package.version != version:
            wrong.append(
                f"{name} {package.version} is installed, and {version} is locked; run: make setup or make lock"
            )
        elif list_digest(package) != digest:
            wrong.append(f"{name} {version} has other files than those that were locked; install it anew")
        elif changed := changed_files(package):
            wrong.append(f"{name} {version}: {changed[0]} was changed, and {len(changed) - 1} more; install it anew")
    wrong += [f"{name} is not locked; run: make lock" for name in sorted(needed(paths) - set(wanted))]
    return wrong


def refresh() -> str:
    """Return the lock of what is installed; pip says what it would download for that."""
    with tempfile.TemporaryDirectory() as folder:
        frozen, report = Path(folder) / "installed.txt", Path(folder) / "report.json"
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
        have = {plain(each.name): each for each in metadata.distributions()}
        frozen.write_text("".join(f"{name}=={each.version}\n" for name, each in have.items() if name != ENDS[0]))
        asked = ["install", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", str(report)]
        subprocess.run([*pip, *asked, "-c", str(frozen), "-e", f"{ROOT}[{ENDS[1]}]"], check=True, cwd=folder)
        rows = json.loads(report.read_text())["install"]
    lines = []
    for row in rows:
        name, version = plain(row["metadata"]["name"]), row["metadata"]["version"]
        if name != ENDS[0] and name in have:
            digest = row["download_info"]["archive_info"]["hashes"]["sha256"]
            lines.append(f"{name}=={version} --hash=sha256:{digest}  # files sha256:{list_digest(have[name])}\n")
    return (
        f"# What the project is tested with ({TAG}); made by `make lock`, held by `.ci/run`.\n{''.join(sorted(lines))}"
    )


def install(lock: Path = LOCK, pip: Sequence[str] = (sys.executable, "-m", "pip")) -> int:
    """Have pip install what is locked; return 1 where a file is not the one that was locked, else 0.

    Where the locked files cannot be had, nothing is wrong: `check` tells the difference of what is installed instead.
    A file that can be had and is another one is what the lock is there for, so nothing else is installed in its place.
    """
    if not lock.is_file():
        return 0
    asked = ["--quiet", "--disable-pip-version-check", "--no-input", "install", "--require-hashes", "-r", str(lock)]
    done = subprocess.run([*pip, *asked], stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    sys.stderr.write(done.stderr)
    if not done.returncode:
        return 0
    if MISMATCH.search(done.stderr):
        sys.stderr.write("a package is not the one that was locked; nothing is installed in its place\n")
        return 1
    sys.stderr.write("what was locked cannot be had here; installing what pyproject.toml allows (see: make audit)\n")
    return 0


def main(argv: Sequence[str]) -> int:
    """Do what is asked: `install`, `check`, or `refresh`."""
    if list(argv) == ["install"]:
        return install()
    if list(argv) == ["refresh"]:
        LOCK.write_text(refresh(), encoding="utf-8")
        sys.stdout.write(f"{LOCK.name} is written\n")
        return 0
    wrong = check()
    for sentence in wrong:
        sys.stderr.write(f"{sentence}\n")
    if not wrong:
        sys.stdout.write("every package is as it was locked\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
