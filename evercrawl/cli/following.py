"""Following a crawl: changes are printed as they are found, delivered to a webhook, and written to an Atom feed."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from evercrawl.ask.instants import dated
from evercrawl.cli.delivering import told_of, webhook_of
from evercrawl.cli.feed import FeedFile, words_of
from evercrawl.cli.running import obey_from_now
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit
from evercrawl.config.secrets import revealed
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.changes.following import FollowedCrawl
    from evercrawl.ask.changes.page_change import PageChange
    from evercrawl.ask.changes.question import ChangeQuestion
    from evercrawl.ask.changes.texts import WordDiff
    from evercrawl.ask.changes.webhooks import Webhook
    from evercrawl.config import Config
    from evercrawl.store.cursors import Cursors

EVERY_S: Final = 1.0
"""Interval at which the journal is read while nothing is new."""


def run(args: argparse.Namespace, directory: Path, question: ChangeQuestion) -> int:
    """Write the feed; with `--follow`, report changes until stopped."""
    from evercrawl.ask.changes.following import FollowedCrawl
    from evercrawl.store.disk.whole import placed

    if args.atom:
        placed(Path(args.atom))
    with Meter(sys.stderr, line_every_s=1.0) as meter:
        following = FollowedCrawl(directory, tell=meter)
    try:
        if question.site:
            question = _of_known_site(following, question, args)
        feed = FeedFile(Path(args.atom), following, question) if args.atom else None
        if args.follow:
            _follow(args, directory, following, question, feed)
        elif feed is not None:
            print(f"wrote {len(feed.entries)} changes to {args.atom}")
    finally:
        following.close()
    return 0


def _of_known_site(following: FollowedCrawl, question: ChangeQuestion, args: argparse.Namespace) -> ChangeQuestion:
    """Return the question with its site as the crawl knows it; with `--follow` the site may become known later."""
    from evercrawl.ask.named_site import known_site

    try:
        return replace(question, site=known_site(following.crawl.state, question.site))
    except ConfigError as error:
        if not args.follow:
            raise
        print(fit(f"evercrawl: {error}; its changes are printed once it does", sys.stderr), file=sys.stderr, flush=True)
        return question


def _follow(
    args: argparse.Namespace, directory: Path, following: FollowedCrawl, question: ChangeQuestion, feed: FeedFile | None
) -> None:
    began = question if question.after or question.since else replace(question, after=following.sequence)
    hook, cursors = _hook(args, directory, following, began)
    obey_from_now()
    at, said = began.after, ""
    try:
        while True:
            found = following.part(replace(began, after=at))
            at = found.upto
            if feed is not None and found.changes:
                feed.add(found.changes)
            for change in found.changes:
                _print(args, following, change)
            more = hook is not None and hook.turn(following.crawl.birth.id, following.part)
            if hook is not None and hook.error != said:
                said = hook.error
                print(fit(f"evercrawl: {told_of(said)}", sys.stderr), file=sys.stderr, flush=True)
            if not found.changes and not more and at == following.sequence:
                time.sleep(EVERY_S)
                following.turn()
    finally:
        if cursors is not None:
            cursors.close()


def _hook(
    args: argparse.Namespace, directory: Path, following: FollowedCrawl, question: ChangeQuestion
) -> tuple[Webhook | None, Cursors | None]:
    """Return the follower that delivers to the webhook, from where it stopped the last time."""
    from evercrawl.model.view import settings
    from evercrawl.store.cursors import Cursors

    config: Config = settings(directory)[0]
    url = revealed(args.webhook or config.webhook_url, "webhook_url")
    if not url:
        return None, None
    named = args.webhook_secret or config.webhook_secret
    secret = revealed(named, "webhook_secret")
    cursors = Cursors(directory)
    describe = partial(_described, args, following)
    hook = webhook_of(config, (url, secret), question, cursors, describe)
    if not secret:
        to = urlsplit(url)  # path and query may be what lets one in
        said = f"evercrawl: deliveries to {to.scheme}://{to.hostname} are not signed; name a --webhook-secret"
        print(said, file=sys.stderr)
    return hook, cursors


def _described(args: argparse.Namespace, following: FollowedCrawl, change: PageChange) -> dict[str, Any]:
    from evercrawl.cli.show.changes_lines import change_object

    return dated(change_object(change, _diff(args, following, change), with_diff=args.diff))


def _print(args: argparse.Namespace, following: FollowedCrawl, change: PageChange) -> None:
    from evercrawl.cli.show.changes_lines import change_line, change_object, diff_text

    diff = _diff(args, following, change)
    if args.json:
        print(json_line("change", change_object(change, diff, with_diff=args.diff)), flush=True)
        return
    print(fit(change_line(change), sys.stdout), flush=True)
    if args.diff and change.version is not None and change.before is not None:
        print(fit(diff_text(diff), sys.stdout), flush=True)


def _diff(args: argparse.Namespace, following: FollowedCrawl, change: PageChange) -> WordDiff | None:
    return words_of(following, change) if args.diff else None
