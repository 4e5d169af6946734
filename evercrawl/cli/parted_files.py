"""Files named by a verb that is asked of all partitions, or of one on another machine: local files are meant."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.cli import renewal, seeds
from evercrawl.cli.show.plain import hand_on
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.parts_line import VerbAnswer

MOST_BYTES: Final = 16 << 20
"""Maximum size of input that may be sent to a partition on another machine."""


def taken_in(args: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments with the lines of files and of standard input in place of their names.

    They are read once, here, whatever the number of partitions.

    Raises
    ------
    ConfigError
        A file cannot be read.
    """
    if args.verb == "add":
        urls = list(seeds.read_seeds(args.urls, sys.stdin, strict=True).urls)
        return argparse.Namespace(**{**vars(args), "urls": urls, "lines": "".join(f"{url}\n" for url in urls).encode()})
    if args.verb == "usage" and args.file is not None:
        try:
            lines = sys.stdin.buffer.read() if args.file == "-" else Path(args.file).read_bytes()
        except OSError as error:
            raise ConfigError(f"cannot read {args.file}: {error.strerror}; name a file of JSON lines, or -") from error
        return argparse.Namespace(**{**vars(args), "lines": lines})
    return args


def sent(args: argparse.Namespace, words: list[str]) -> tuple[list[str], bytes]:
    """Return the arguments for another machine, which name no file, and the standard input there.

    Parameters
    ----------
    args
        As of `taken_in`.
    words
        The command line, without its directory.

    Raises
    ------
    ConfigError
        The input is too large.

    Examples
    --------
    >>> args = argparse.Namespace(verb="add", json=True, wait="9", urls=["https://a.example/"], lines=b"https://a.exa...")
    >>> sent(args, ["add", "@more.txt", "--json", "--wait", "9"])
    (['add', '--wait', '9', '--json', '--', '-'], b'https://a.exa...')
    """
    flags = ["--json"] if args.json else []
    if args.verb == "get" and args.output not in (None, "-"):
        form = [f"--{args.form}"] if args.form else []
        least = ["--fresh", args.fresh] if args.fresh is not None else []
        past = ["--at", args.at] if args.at is not None else []
        return ["get", *form, *least, *past, *(["--versions"] if args.versions else []), *flags, "--", args.url], b""
    lines: bytes | None = getattr(args, "lines", None)
    if lines is None:
        return words, b""
    if len(lines) > MOST_BYTES:
        raise ConfigError(
            f"{len(lines):,} bytes are more than can be sent to a partition of another machine; give them in parts of "
            f"{MOST_BYTES:,} at most"
        )
    wait = ["--wait", args.wait] if args.verb == "add" and args.wait is not None else []
    return [args.verb, *wait, *flags, "--", "-"], lines


def came(args: argparse.Namespace, answer: VerbAnswer) -> None:
    """Write the output of another machine to the named local file, or to standard output."""
    if args.verb == "get" and args.output not in (None, "-") and answer.code in (0, renewal.STALE):
        from evercrawl.store.disk.whole import atomic_file

        with atomic_file(Path(args.output)) as name:
            name.write_bytes(answer.out)
        hand_on(b"", answer.err)
        return
    hand_on(answer.out, answer.err, raw=getattr(args, "form", None) == "raw")
