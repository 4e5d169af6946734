"""Compile what is compiled, before the clock of a run begins to tick."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evercrawl.cli.live import Watcher

PATIENCE_S = 1.0
MESSAGE = "compiling the inner loops for this machine; it takes some seconds, and the next start will not need it"
_PAGE = b"<html lang=en><title>A</title><p>one &amp; two <a href=/b>three</a>"


def up(watch: Watcher) -> None:
    """Have the inner loops compiled, or their compiled form loaded; say so where it takes long.

    Inside the run it would stop everything for seconds, signals and the limits of the run included.
    """
    from evercrawl.parse import html
    from evercrawl.parse.digest import keys
    from evercrawl.progress import Progress
    from evercrawl.store.codec import decode_slots, encode_slots
    from evercrawl.store.table import Table

    timer = threading.Timer(PATIENCE_S, lambda: watch(Progress(at=time.time(), message=MESSAGE)))
    timer.daemon = True
    timer.start()
    try:
        html.read(_PAGE, "http://example.org/")
        table, two = Table(), keys(["http://a.example/", "http://b.example/"])
        table.intern(two)
        decode_slots(encode_slots(table.find(two)))
    finally:
        timer.cancel()
