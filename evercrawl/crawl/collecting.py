"""How the collector of garbage is kept from going through all that a crawl knows, time and again."""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_OLDEST: Final = 2  # the generation of what was spared twice
PIECES: Final = (4_000, 2, 2)
"""New objects that are looked through at once, and how many times so many: 20 ms at most, if all of them stay."""


@contextmanager
def sparing_survivors() -> Generator[None]:
    """Have what is there now, and what is left after a collection of everything, looked through no more.

    Each such collection then costs what was made since the one before, whatever the crawl knows, and what is new is
    looked through in pieces of some milliseconds, as `PIECES` has it. What is left goes by the count of its references
    alone up to the end of this; rings among it stay until then, and there are hardly any.

    Examples
    --------
    >>> with sparing_survivors():
    ...     before = gc.get_freeze_count()
    ...     kept, _ = [[]], gc.collect()
    ...     before > 0, gc.get_freeze_count() > before
    (True, True)
    >>> gc.get_freeze_count()
    0
    """

    def spare(phase: str, told: dict[str, int]) -> None:
        if phase == "stop" and told["generation"] == _OLDEST:
            gc.freeze()

    thresholds = gc.get_threshold()
    gc.freeze()
    gc.callbacks.append(spare)
    if thresholds[0]:  # 0: whoever runs this collects by itself
        gc.set_threshold(*PIECES)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(spare)
        gc.unfreeze()
