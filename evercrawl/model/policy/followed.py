"""The policy that a run follows, noted on disk because flags and the environment may override crawl.toml for one run.

Without the note, queries would know crawl.toml alone, and explain visits by a policy that did not choose them.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.config import FILE_NAME, Config, load
from evercrawl.config.owned import parted, same
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, NoRoomError
from evercrawl.model.policy.policies import policy_of
from evercrawl.small_file import LIST_BYTES, read_small
from evercrawl.store.disk.disk import Disk
from evercrawl.store.disk.lock import holder

FOLLOWED_FILE: Final = "policy.json"


class Followed(msgspec.Struct, frozen=True):
    """The policy of the current or last run.

    Attributes
    ----------
    policy, policy_options
        As in the run's settings.
    written, written_options
        As in crawl.toml when the run began.
    """

    policy: str
    policy_options: tuple[str, ...]
    written: str
    written_options: tuple[str, ...]


def note(directory: Path, disk: Disk, config: Config) -> str:
    """Write a note of the policy that a run is about to follow, and return it as a sentence.

    Parameters
    ----------
    directory, disk
        The crawl's directory and its disk. If the disk is full, no note is written.
    config
        The settings of the run.
    """
    file = stored(directory, config)
    known = Followed(config.policy, config.policy_options, file.policy, file.policy_options)
    if known != _noted(directory):
        try:
            disk.replace(FOLLOWED_FILE, [msgspec.json.encode(known) + b"\n"])
        except NoRoomError:
            disk.remove(FOLLOWED_FILE)
    return f"the policy is {sentence(config, file)}"


def followed(directory: Path, config: Config) -> Config:
    """Return the settings in crawl.toml with the policy of the current or last run.

    The file's own policy counts if no run noted another, or if the file was changed since: a changed parameter at
    once, as in the crawl itself; a changed policy once the run that follows the former one has ended.
    """
    known = _noted(directory)
    if known is None:
        return config
    other = not same(config.policy, known.written)
    adjusted = same(config.policy, known.policy) and config.policy_options != known.written_options
    if adjusted or (other and holder(directory) is None):
        return config
    try:
        policy_of(known.policy, known.policy_options)
    except ConfigError:  # for example a third-party policy that this process cannot import
        return config
    return replace(config, policy=known.policy, policy_options=known.policy_options)


def sentence(config: Config, stored: Config) -> str:
    """Return the policy being followed with its parameters, and crawl.toml's own where it differs, as a sentence.

    >>> from evercrawl.config import Config
    >>> file = Config(policy="chile", policy_options=("a=2",))
    >>> sentence(file, file)
    'chile (a=2)'
    >>> sentence(Config(policy="tianwang", policy_options=("chile.a=2",)), file)
    'tianwang, for one run; crawl.toml has chile (a=2), whose parameters are passed over'
    """
    (own, others), (written, _) = _parts(config), _parts(stored)
    text = _named(config.policy, own)
    if same(config.policy, stored.policy) and own == written:
        return text
    passed = set(written) <= set(parted(stored.policy, others)[0])
    over = ", whose parameters are passed over" if written and passed else ""
    return f"{text}, for one run; crawl.toml has {_named(stored.policy, written)}{over}"


def _parts(config: Config) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return parted(config.policy, config.policy_options)


def _named(policy: str, options: tuple[str, ...]) -> str:
    return f"{policy} ({', '.join(options)})" if options else policy


def stored(directory: Path, config: Config) -> Config:
    """Return the settings in crawl.toml; the run's settings if the file cannot be read."""
    try:
        return load(directory / FILE_NAME)
    except ConfigError:
        return config


def _noted(directory: Path) -> Followed | None:
    try:
        return json_of(read_small(directory / FOLLOWED_FILE, LIST_BYTES), Followed)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
