"""What of a folder somebody else than its owner may write."""

import stat
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH


def open_to_others(folder: Path) -> list[str]:
    """Return what of a folder somebody else may write, with the folder itself."""
    found = [folder, *folder.rglob("*")]
    return [str(path.relative_to(folder.parent)) for path in found if path.lstat().st_mode & OTHERS]
