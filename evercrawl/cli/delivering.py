"""The process beside a crawl that delivers changes to a webhook, writes feeds, and copies the archive.

It reads the crawl directory, as all queries do, so it never delays the crawl. It ends when its standard input ends:
once everything is delivered, or after some seconds. This also holds when the crawl is killed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import select
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from evercrawl.config.network import ALL, meant
from evercrawl.errors import EvercrawlError, StoreError

if TYPE_CHECKING:
    from evercrawl.ask.changes.following import FollowedCrawl
    from evercrawl.ask.changes.page_change import PageChange
    from evercrawl.ask.changes.question import ChangeQuestion
    from evercrawl.ask.changes.webhooks import Webhook
    from evercrawl.cli.feed import FeedFile
    from evercrawl.config import Config
    from evercrawl.store.cursors import Cursors

NAMES: Final = ("webhook_url", "webhook_secret", "webhook_private", "webhook_pages", "feeds", "archive_to")
"""The settings of deliveries."""
FOLDER: Final = "feeds"
EVERY_S: Final = 1.0
END_S: Final = 8.0
"""Maximum time that it continues after the end of the crawl."""
_NICE: Final = 10
_WAIT_S: Final = 5.0
_UNSIGNED: Final = "webhook deliveries are not signed; set webhook_secret in crawl.toml"


def wanted(config: Config) -> bool:
    """Return whether settings ask for deliveries, feeds or copies."""
    return bool(config.webhook_url or config.feeds or config.archive_to)


def told_of(error: str) -> str:
    """Return the message about deliveries to a webhook: why the last one failed, or that they succeed again."""
    return (
        f"the webhook did not accept a delivery ({error}); it is sent again"
        if error
        else "the webhook accepts deliveries again"
    )


def webhook_of(
    config: Config,
    target: tuple[str, str],
    question: ChangeQuestion,
    cursors: Cursors,
    describe: Callable[[PageChange], dict[str, Any]],
) -> Webhook:
    """Return a follower that delivers to a URL, signed with a secret, from where it stopped the last time.

    Raises
    ------
    ConfigError
        The URL is invalid.
    StoreError
        The position of the deliveries cannot be recorded.
    """
    from evercrawl.ask.changes.webhooks import Webhook
    from evercrawl.fetch.webhook import post

    url, secret = target
    known = cursors.get(url)
    if known is not None:
        question = replace(question, after=known, since=float("-inf"))
    made = Webhook(url, secret, question, cursors, partial(post, private=config.webhook_private), time.time, describe)
    if known is None and not question.since > 0.0:
        cursors.put(url, question.after)
    return made


def feed_names(words: Sequence[str]) -> dict[str, str]:
    """Return the file names of feeds by the words that select their pages.

    Examples
    --------
    >>> feed_names(["all", "example.org", "/news/", "news"])
    {'all': 'all.atom', 'example.org': 'example.org.atom', '/news/': 'news.atom', 'news': 'news-19fba0e9.atom'}
    """
    names = dict[str, str]()
    for word in words:
        name = re.sub(r"[^a-z0-9.]+", "-", (word or ALL).lower()).strip("-.")[:80] or "feed"
        if f"{name}.atom" in names.values():
            name = f"{name}-{hashlib.sha256(word.encode()).hexdigest()[:8]}"
        names[word] = f"{name}.atom"
    return names


def deliver(directory: Path, config: Config, ended: Callable[[float], bool], tell: Callable[[str], None]) -> None:
    """Deliver and write until the crawl has ended.

    Parameters
    ----------
    directory, config
        The crawl's directory and settings.
    ended
        Waits up to the given number of seconds; returns whether the crawl has ended.
    tell
        Callback for messages to the user, a sentence each.

    Raises
    ------
    EvercrawlError
        The directory is damaged, cannot be written, or is being delivered by another process.
    """
    from evercrawl.ask.changes.following import FollowedCrawl
    from evercrawl.store.cursors import Cursors

    copies = _copies(directory, config, tell)

    def waits(wait_s: float) -> bool:
        copies()
        return ended(wait_s)

    if not (config.webhook_url or config.feeds):
        while not ended(EVERY_S):
            copies()
        copies(over=True)
        return
    following = FollowedCrawl(directory)
    cursors = Cursors(directory) if config.webhook_url else None
    try:
        hook = _hook(config, following, cursors, tell) if cursors is not None else None
        _keep(following, hook, _feeds(directory, config, following), waits, tell)
        copies(over=True)
    finally:
        following.close()
        if cursors is not None:
            cursors.close()


class _Copy(Protocol):
    def __call__(self, *, over: bool = False) -> None: ...


def _copies(directory: Path, config: Config, tell: Callable[[str], None]) -> _Copy:
    """Return the copier of the archive; None if no copies are wanted."""
    if not config.archive_to:

        def nothing(*, over: bool = False) -> None:
            pass

        return nothing
    from evercrawl.store.objects.copying import ArchiveCopies

    return ArchiveCopies(directory, config.archive_to, tell).turn


def _keep(
    following: FollowedCrawl,
    hook: Webhook | None,
    feeds: Sequence[FeedFile],
    ended: Callable[[float], bool],
    tell: Callable[[str], None],
) -> None:
    said, until, over = "", float("inf"), False
    while True:
        following.turn()
        more = max([feed.turn() for feed in feeds], default=False)
        if hook is not None:
            more = hook.turn(following.crawl.birth.id, following.part) or more
            if hook.error != said:
                said = hook.error
                tell(told_of(said))
        if over and (time.monotonic() > until or not (more or (hook is not None and hook.waits and not said))):
            return
        if ended(0.0 if more else 0.05 if over else EVERY_S) and not over:
            over, until = True, time.monotonic() + END_S


def _hook(config: Config, following: FollowedCrawl, cursors: Cursors, tell: Callable[[str], None]) -> Webhook:
    from evercrawl.ask.changes.question import ChangeQuestion
    from evercrawl.ask.instants import dated
    from evercrawl.cli.feed import words_of
    from evercrawl.cli.show.changes_lines import change_object
    from evercrawl.config.secrets import revealed

    url, secret = revealed(config.webhook_url, "webhook_url"), revealed(config.webhook_secret, "webhook_secret")
    if not secret:
        tell(_UNSIGNED)
    site, pattern = meant(config.webhook_pages)
    question = ChangeQuestion(after=following.sequence, site=site, pattern=pattern)

    def describe(change: PageChange) -> dict[str, Any]:
        return dated(change_object(change, words_of(following, change), with_diff=True))

    return webhook_of(config, (url, secret), question, cursors, describe)


def _feeds(directory: Path, config: Config, following: FollowedCrawl) -> list[FeedFile]:
    from evercrawl.ask.changes.question import ChangeQuestion
    from evercrawl.cli.feed import FeedFile
    from evercrawl.store.disk.trouble import in_words

    folder = directory / FOLDER
    try:
        if config.feeds:
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise in_words(error, "write", folder) from error
    made = list[FeedFile]()
    for word, name in feed_names(config.feeds).items():
        site, pattern = meant(word)
        made.append(FeedFile(folder / name, following, ChangeQuestion(site=site, pattern=pattern)))
    return made


def main() -> int:
    """Run beside the crawl in the named directory; the first line of input has the settings of its run."""
    from evercrawl.config import Config
    from evercrawl.decoding import json_of

    directory, line, said = Path(sys.argv[1]), b"", ""
    os.nice(_NICE)
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    if not line:
        return 0
    config = Config(**json_of(line, dict[str, Any]))

    def ended(wait_s: float) -> bool:
        return bool(select.select([0], [], [], wait_s)[0])

    def tell(sentence: str) -> None:
        with contextlib.suppress(OSError):  # the crawl was killed; its changes are still delivered
            print(sentence, flush=True)

    while True:
        try:
            deliver(directory, config, ended, tell)
        except StoreError as error:  # as while something is being forgotten, or where another process delivers
            if str(error) != said:
                said = str(error)
                tell(f"deliveries of changes are suspended: {said}")
            if ended(_WAIT_S):
                return 1
        except EvercrawlError as error:
            tell(f"changes are not delivered: {error}")
            return 1
        else:
            return 0


if __name__ == "__main__":
    sys.exit(main())
