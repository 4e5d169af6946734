"""A wheel in a fresh Debian, as an ordinary user meets it: how large it is, and how soon its first crawl is done.

    sudo python bench/installed.py [--wheel FILE] [--machine aarch64] [--root DIR]

Builds the wheel, makes a root of its own with debootstrap, installs the wheel there, makes all that was installed
read-only, and crawls a page on loopback as a user whose home is empty. With `--machine aarch64` that machine's Python
crawls under qemu (Debian's qemu-user-static) with the wheels unpacked. It needs root, for chroot.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Final

from figures import Figure
from start import Page

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT: Final = Path(__file__).parents[1]
SUITE: Final = "bookworm"
DEBIAN: Final = {"x86_64": "amd64", "aarch64": "arm64"}
NEEDED: Final = "python3,python3-venv,ca-certificates"
PLACE: Final = "/opt/evercrawl"
USER: Final = "visitor"
FIRST_S, SIZE_MB = 1.0, 250.0


def built(machine: str, folder: Path) -> Path:
    """Build the wheel of a kind of machine."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        "-C",
        f"machine={machine}",
    ]
    run([*command, str(ROOT)])
    return next(folder.glob("*.whl"))


def fetched(wheel: Path, machine: str, folder: Path) -> None:
    """Download what a wheel needs, for a kind of machine."""
    fits = [f"--platform=manylinux_2_{minor}_{machine}" for minor in range(36, 16, -1)] + [
        f"--platform=manylinux2014_{machine}"
    ]
    options = ["--only-binary=:all:", "--python-version=3.11", f"--dest={folder}", *fits]
    run([sys.executable, "-m", "pip", "download", "--quiet", *options, str(wheel)])


def rooted(root: Path, machine: str) -> None:
    """Make a fresh Debian in `root`, from where this one is from; of another kind of machine its files alone."""
    if (root / "usr/bin/python3").exists():
        return
    sources = "".join(path.read_text() for path in Path("/etc/apt").glob("sources.list*/*.sources"))
    found = re.search(r"^URIs: *(\S+)", sources, re.MULTILINE)
    mirror = [found[1]] if found else []
    kind = [f"--arch={DEBIAN[machine]}", "--variant=minbase", f"--include={NEEDED}"]
    if machine == platform.machine():
        run(["debootstrap", *kind, SUITE, str(root), *mirror])
        return
    run(["debootstrap", "--foreign", *kind, SUITE, str(root), *mirror])
    for package in (root / "var/cache/apt/archives").glob("*.deb"):
        run(["dpkg", "--extract", str(package), str(root)])


@contextlib.contextmanager
def mounted(root: Path) -> Generator[None]:
    """Give the root the kernel's files for a while."""
    places = {"proc": root / "proc", "sysfs": root / "sys"}
    for kind, place in places.items():
        run(["mount", "-t", kind, kind, str(place)])
    try:
        yield
    finally:
        for place in places.values():
            run(["umount", "--lazy", str(place)])


def inside(root: Path, *command: str, user: str = "root") -> str:
    """Run a command in the root; return what it printed."""
    place = ["chroot", f"--userspec={user}:{user}", str(root)]
    bare = {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": "/root" if user == "root" else f"/home/{user}",
        "LANG": "C.UTF-8",
    }
    done = subprocess.run([*place, *command], env=bare, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} exited {done.returncode}")
    return done.stdout


def install(root: Path, wheel: Path, packages: Path) -> float:
    """Install a wheel where an ordinary user cannot write; return megabytes, pip and its like left out."""
    inside(root, "python3", "-m", "venv", "--without-pip", PLACE)
    kept = root / "packages"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(packages, kept)
    inside(root, "python3", "-m", "venv", "/tmp/pip")
    options = ["--no-index", "--find-links=/packages", "--quiet", "--disable-pip-version-check"]
    inside(root, "/tmp/pip/bin/pip", "--python", f"{PLACE}/bin/python", "install", *options, f"/packages/{wheel.name}")
    shutil.rmtree(kept)
    inside(root, "chmod", "-R", "a-w", PLACE)
    return sum(path.lstat().st_blocks * 512 for path in (root / PLACE.lstrip("/")).rglob("*")) / 1e6


def first_crawl(root: Path, page: str) -> tuple[float, dict[str, object]]:
    """Crawl a page as an ordinary user; return the seconds that it took, and the versions in use."""
    command = [f"{PLACE}/bin/evercrawl", "crawl", page, "--dir", f"/home/{USER}/crawl", "--pages", "1", "--delay", "0"]
    begun = time.monotonic()
    inside(root, *command, "--allow-net", "127.0.0.0/8", "--quiet", user=USER)
    taken = time.monotonic() - begun
    asked = [f"{PLACE}/bin/evercrawl", "status", "--dir", f"/home/{USER}/crawl", "--json"]
    status = json.loads(inside(root, *asked, user=USER))
    if status["fetched"] != 1:
        sys.exit(f"the page was not read: {status}")
    return taken, json.loads(inside(root, f"{PLACE}/bin/evercrawl", "version", "--json", user=USER))


def crawled_under_qemu(root: Path, machine: str, packages: Path, page: str) -> dict[str, object]:
    """Crawl a page with another machine's Python, unpacked wheels and no installer; return what was read and used.

    A process cannot start others of its kind there, so that it parses pages itself.
    """
    place, home = packages.parent / "site", packages.parent / "home"
    for wheel in packages.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(place)
    python = [f"qemu-{machine}-static", "-L", str(root), str(root / "usr/bin/python3"), "-m", "evercrawl"]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(place), "PYTHONHOME": str(root / "usr"), "HOME": str(home)}
    options = ["--dir", str(home / "crawl"), "--pages", "1", "--workers", "0", "--allow-net", "127.0.0.0/8", "--quiet"]
    home.mkdir()
    told = {"env": env, "cwd": home, "check": True}
    subprocess.run([*python, "crawl", page, *options], stdout=sys.stderr, **told)
    asked = ["status", "--dir", str(home / "crawl"), "--json"]
    status = subprocess.run([*python, *asked], stdout=subprocess.PIPE, **told)
    versions = subprocess.run([*python, "version", "--json"], stdout=subprocess.PIPE, **told)
    return {**json.loads(versions.stdout), "fetched": json.loads(status.stdout)["fetched"]}


def met_by_a_user(root: Path, wheel: Path, packages: Path, page: str) -> list[Figure]:
    """Install and crawl in the root."""
    with mounted(root):
        size_mb = install(root, wheel, packages)
        shutil.rmtree(root / "home" / USER, ignore_errors=True)
        if USER not in (root / "etc/passwd").read_text():
            inside(root, "useradd", USER)
        inside(root, "install", "-d", "-o", USER, f"/home/{USER}")
        seconds, versions = first_crawl(root, page)
    left = [path.name for path in (root / "home" / USER).iterdir() if path.name != "crawl"]
    return [
        Figure("installed, with all it needs", size_mb, "MB", at_most=SIZE_MB),
        Figure("its first crawl, of one page", seconds, "s", at_most=FIRST_S),
        Figure("files left in the user's home beside the crawl", len(left), "", at_most=0),
        compilers(versions),
    ]


def compilers(versions: dict[str, object]) -> Figure:
    """Return how many compilers are among what is installed."""
    return Figure("compilers installed", sum(part in versions for part in ("numba", "llvmlite")), "", at_most=0)


def run(command: list[str]) -> None:
    """Run a command, its output on standard error."""
    subprocess.run(command, check=True, stdout=sys.stderr)


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--wheel", type=Path, help="a wheel that is there already")
    parser.add_argument("--machine", default=platform.machine(), choices=sorted(DEBIAN))
    parser.add_argument("--root", type=Path, help="keep the fresh Debian here, or use the one that is")
    args = parser.parse_args()
    if os.geteuid() or not shutil.which("debootstrap"):
        sys.exit("this needs root, and debootstrap: apt-get install debootstrap qemu-user-static")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        wheel = args.wheel or built(args.machine, work)
        fetched(wheel, args.machine, work / "packages")
        shutil.copy(wheel, work / "packages")
        root = args.root or work / "root"
        rooted(root, args.machine)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = f"http://127.0.0.1:{server.server_port}/"
        if args.machine == platform.machine():
            figures = met_by_a_user(root, wheel, work / "packages", page)
        else:
            found = crawled_under_qemu(root, args.machine, work / "packages", page)
            figures = [Figure("pages read under qemu", float(str(found["fetched"])), "", at_least=1), compilers(found)]
        server.shutdown()
    print("\n".join(map(str, figures)))
    return int(any(figure.ratio is not None and figure.ratio < 1 for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
