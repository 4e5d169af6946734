"""Make the pictures of docs/guide/SERVER.md: pages of the server beside the demonstration, and one as it moves.

    python bench/screenshots.py

`make screenshots` runs it. It needs a Chromium and Playwright, which `.ci/replay` installs. The world is drawn from a
seed; what it looks like still depends on how far the crawl has come.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Final

from PIL import Image

HERE: Final = Path(__file__).parent
PICTURES: Final = HERE.parent / "docs" / "guide" / "pictures"
TOOLS: Final = HERE.parent / ".venv-replay" / "bin" / "python"
SECONDS, WIDTH, COLOURS = 80, 900, 64
MOVING_WIDTH, FRAME_MS, QUALITY = 450, 200, 45


def main() -> int:
    """Make them; return 1 where what is needed is missing."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None or not TOOLS.exists():
        print("this needs a Chromium and Playwright: run .ci/replay", file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        demo = [sys.executable, "-m", "evercrawl", "demo", "--serve", "0", "--seconds", str(SECONDS), "--pages", "600"]
        with subprocess.Popen(
            [*demo, "--worlds", "1", "--seed", "7", "--dir", f"{name}/crawl"], stdout=subprocess.PIPE, text=True
        ) as crawl:
            assert crawl.stdout is not None
            try:
                words = [str(TOOLS), str(HERE / "pictured.py"), chromium, link_of(crawl.stdout), name]
                names = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
            finally:
                crawl.terminate()
        for each in names["still"]:
            small(Image.open(f"{name}/{each}.png")).save(PICTURES / f"{each}.png", optimize=True)
        frames = [Image.open(io.BytesIO(Path(f"{name}/{each}.png").read_bytes())) for each in names["moving"]]
        first, *rest = [frame.convert("RGB").resize(_size(frame, MOVING_WIDTH)) for frame in frames]
        first.save(
            PICTURES / "dashboard.webp", save_all=True, append_images=rest, duration=FRAME_MS, loop=0, quality=QUALITY
        )
    for picture in sorted(PICTURES.iterdir()):
        print(f"{picture.name:<20}{picture.stat().st_size / 1024:8.1f} KiB")
    return 0


def link_of(lines: IO[str]) -> str:
    """Return the link that the demonstration prints."""
    for line in lines:
        found = re.search(r"http://\S+/#token=\S+", line)
        if found:
            return found.group()
    raise SystemExit("the demonstration ended without a link")


def small(picture: Image.Image) -> Image.Image:
    """Return a picture in a few colours."""
    return picture.convert("RGB").resize(_size(picture, WIDTH)).quantize(COLOURS)


def _size(picture: Image.Image, width: int) -> tuple[int, int]:
    return width, round(picture.height * width / picture.width)


if __name__ == "__main__":
    sys.exit(main())
