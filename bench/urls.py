"""Made-up URLs, as many as wanted."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def web() -> Iterator[str]:
    """Yield URLs as a crawl finds them: runs from one site, its sections named over and over, numbers and dates."""
    draw = random.Random(1)
    letters = "aeioulnrstmdcpbg"
    words = ["".join(draw.choices(letters, k=draw.randrange(3, 11))) for _ in range(2000)]
    hosts = [f"{draw.choice(['www', 'docs', 'blog', 'en'])}.{draw.choice(words)}{i}.example" for i in range(3000)]
    while True:
        host = hosts[int(len(hosts) ** draw.random()) - 1]
        section = "/".join(draw.choices(words[:200], k=draw.randrange(0, 3)))
        for _ in range(draw.randrange(3, 40)):
            page = "-".join(draw.choices(words, k=draw.randrange(1, 4)))
            number = f"/{draw.randrange(10**6)}" if draw.random() < 0.3 else ""
            yield f"https://{host}/{section}/{page}{number}{draw.choice(['', '/', '.html'])}"
