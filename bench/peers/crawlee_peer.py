"""Crawlee for Python with its Parsel crawler, following the links of a served corpus and keeping nothing.

Usage: crawlee_peer.py SEEDS_FILE SCOPE_REGEX
"""

import logging
import re
import sys
from pathlib import Path

import uvloop
from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler
from crawlee.storage_clients import MemoryStorageClient

SEEDS, SCOPE = Path(sys.argv[1]).read_text().split(), sys.argv[2]
FOLLOWED = re.compile(SCOPE.removesuffix("$") + r"(?:#.*)?$")
TOGETHER = 64


async def main() -> None:
    """Follow every link that belongs."""
    crawler = ParselCrawler(
        max_request_retries=0,
        use_session_pool=False,
        retry_on_blocked=False,
        configure_logging=False,
        concurrency_settings=ConcurrencySettings(
            min_concurrency=TOGETHER, desired_concurrency=TOGETHER, max_concurrency=TOGETHER
        ),
        storage_client=MemoryStorageClient(),
    )

    @crawler.router.default_handler
    async def follow(context):  # noqa: ANN202
        await context.enqueue_links(selector="a[href], area[href]", strategy="all", include=[FOLLOWED])

    logging.disable(logging.CRITICAL)
    await crawler.run(SEEDS)


uvloop.run(main())
