"""Removes old versions from the archive between runs of a crawl, and ends a run when some are due."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from evercrawl.clock import Clock
from evercrawl.config import Config
from evercrawl.crawl.loop import Crawl
from evercrawl.crawl.ports import Network
from evercrawl.crawl.removing.keeping import bounds_kept, due, keep_less
from evercrawl.crawl.removing.keeping import wanted as wanted_less
from evercrawl.errors import NoRoomError

KEEP: Final = "keep"
"""The reason of a run that ends so that old versions can be removed, and is followed by another."""
_LOOK_S: Final = 60.0
ORDERED_S: Final = 1.0
"""The time after which orders about what is kept take effect."""


async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a thread, and return its result."""
    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


def remove_versions(directory: Path, config: Config, tell: Callable[[str], None]) -> None:
    """Remove old versions from the archive, and report it; failure does not end the crawl."""
    try:
        found = keep_less(directory, config)
    except NoRoomError as error:
        tell(f"old versions were not removed from the archive: {error}")
        return
    if found.records:
        tell(
            f"{found.records} records with {found.removed_bytes} bytes were removed from the archive by the "
            f"settings; it now takes {found.disk_bytes} bytes of the disk"
        )
    elif config.keep_bytes and found.disk_bytes > config.keep_bytes:
        tell(
            f"the archive takes {found.disk_bytes} bytes of the disk, and keep_bytes is {config.keep_bytes}: the "
            "newest version of each page is never removed; allow more, or crawl fewer pages"
        )


async def stop_to_remove(one: Crawl, network: Network, directory: Path, clock: Clock) -> None:
    """End the run when old versions are due for removal by the present settings; the crawl resumes afterwards.

    Settings changed by an order take effect at once.
    """
    looked_at, before = clock.now(), bounds_kept(one.tuning.config)
    while True:
        await asyncio.sleep(ORDERED_S)
        config, now = one.tuning.config, clock.now()
        if bounds_kept(config) == before and now < looked_at + _LOOK_S:
            continue
        looked_at, before = now, bounds_kept(config)
        if wanted_less(config) and await in_thread(due, directory, config, now):
            break
    one.stop(KEEP)
    network.wake()
