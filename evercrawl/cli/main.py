"""Entry point: find the verbs, run the requested one, and turn errors into sentences and exit codes."""

import argparse
import difflib
import errno
import gc
import importlib
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from evercrawl import __version__, catalog
from evercrawl.cli import arguments, parted, verbs
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.live import hush
from evercrawl.cli.show.plain import fit
from evercrawl.errors import EvercrawlError, NoMemoryError
from evercrawl.store.disk.modes import shut_to_others

_EPILOG = (
    "`evercrawl VERB --help` documents a verb. Exit codes: 0 success, 1 failure, 2 usage or configuration error, 3 "
    "store damaged or in use, 4 disk full, 5 the copy is older than requested, 6 out of memory."
)


_NO_MEMORY = (
    "there is not enough memory; nothing acknowledged is lost: lift the limit of this process (ulimit -v must be "
    "unlimited; bound a crawl with --max-memory), or free some, and start again"
)
_LINUX_ONLY = (
    "evercrawl runs on Linux; on this system run it in a container, such as: docker run --rm -it -v .:/crawl -w /crawl "
    "python:3.13 sh -c 'pip install evercrawl && evercrawl crawl URL'"
)
_OUTPUT = frozenset({errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG})
DISK_FULL = 4
_LONG_USAGE = 12
"""Lines above which the usage of a verb would hide the error."""
LAB_VERBS = frozenset({"backtest", "contest", "evolution", "policies", "simulate"})
"""Verbs that are called after `lab`; alone they work too."""

SELDOM = (100_000, 20, 100)
"""Number of new objects before the garbage collector runs; cycles are rare here, and imports create 60,000 objects."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    _open_streams()
    if not sys.platform.startswith("linux"):
        _say(_LINUX_ONLY)
        return 1
    shut_to_others()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads for matrices, which we do not use
    gc.set_threshold(*SELDOM)
    given = _inner(sys.argv[1:] if argv is None else list(argv))
    verb = given[0] if given else ""
    known = parser(as_json="--json" in given, verb=verb)
    args, unknown = known.parse_known_args(given)
    if unknown:
        known.refuse(verb, unknown)
    catalog.trust(arguments.named_code(args))
    if program := getattr(args, "set_browser", None):
        catalog.trust_program(program)
    args.given = given
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say
            code: int = parted.answer(args) if parted.is_parted(args) else args.run(args)
        sys.stdout.flush()
    except EvercrawlError as error:
        return _failed(args, error)
    except BrokenPipeError:  # the reader of our output has closed it, as `| head` does
        hush()
        return 0
    except OSError as error:
        if error.filename is None and error.errno in _OUTPUT:
            hush()  # otherwise the interpreter tries again to write the rest
            _say(f"cannot write to standard output: {error.strerror}")
            return DISK_FULL if error.errno == errno.ENOSPC else 1
        return _failed(args, _disk_trouble(error))
    except MemoryError:
        return _failed(args, NoMemoryError(_NO_MEMORY))
    except KeyboardInterrupt:
        return 130
    return code


def _say(message: object, *_: object, **__: object) -> None:
    print(fit(f"evercrawl: {message}", sys.stderr), file=sys.stderr)


def _failed(args: argparse.Namespace, error: EvercrawlError) -> int:
    if getattr(args, "json", False):
        print(json_line("error", {"message": str(error), "exit_code": error.exit_code}), flush=True)
    _say(error)
    return error.exit_code


def _disk_trouble(error: OSError) -> EvercrawlError:
    """Return the operating system's refusal as a sentence; re-raise errors that do not concern a file."""
    name: object = error.filename
    if not isinstance(name, str | Path):
        raise error
    from evercrawl.store.disk.trouble import in_words

    return in_words(error, "use", Path(name))


def _inner(argv: list[str]) -> list[str]:
    """Return the arguments with `lab VERB` replaced by VERB, if that is a verb of the laboratory."""
    return argv[1:] if argv[:1] == [arguments.LAB] and argv[1:2] and argv[1] in LAB_VERBS else argv


def _open_streams() -> None:
    """Redirect closed standard streams to nowhere: writing would fail, or go to a file that is opened later."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115


class _Parser(argparse.ArgumentParser):
    """A parser that suggests a similar verb or option for an unknown one."""

    by_verb: Mapping[str, argparse.ArgumentParser] = {}

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, after the usage if that is short, and end with exit code 2."""
        self.tell(said := _in_words(message))
        if self.format_usage().count("\n") > _LONG_USAGE:
            self.exit(2, f"{self.prog}: error: {said}\n`{self.prog} --help` lists its arguments\n")
        super().error(said)

    def refuse(self, verb: str, unknown: Sequence[str]) -> NoReturn:
        """Print which arguments the verb does not have, and the option that was probably meant."""
        by = self.by_verb.get(verb, self)
        option = next((each.partition("=")[0] for each in unknown if each.startswith("-")), "")
        near = difflib.get_close_matches(option, re.findall(r"(?<![\w-])--[a-z][\w-]*", by.format_usage()), 1)
        by.error(f"unrecognized arguments: {' '.join(unknown)}{f'; did you mean {near[0]}?' if near else ''}")

    def tell(self, message: str) -> None:
        """Print the error as JSON too."""


class _JsonParser(_Parser):
    """A parser that also prints errors in the arguments as JSON."""

    def tell(self, message: str) -> None:
        """Print it."""
        print(json_line("error", {"message": message, "exit_code": 2}), flush=True)


def _in_words(message: str) -> str:
    """Return argparse's message about verbs in plain words.

    Examples
    --------
    >>> _in_words("argument VERB: invalid choice: 'statsu' (choose from 'crawl', 'status')")
    "'statsu' is not a verb; did you mean status?"
    >>> _in_words("the following arguments are required: VERB")
    'name a verb, such as `evercrawl crawl URL`; `evercrawl --help` lists all'
    """
    if message.endswith("are required: VERB"):
        return "name a verb, such as `evercrawl crawl URL`; `evercrawl --help` lists all"
    found = re.match(r"argument VERB: invalid choice: '(.*)' \(choose from (.*)\)", message, re.DOTALL)
    if found is None:
        return message
    near = difflib.get_close_matches(found[1], re.findall(r"[a-z-]+", found[2]), 1)
    return f"{found[1]!r} is not a verb; " + (f"did you mean {near[0]}?" if near else "`evercrawl --help` lists all")


def parser(*, as_json: bool = False, verb: str = "") -> _Parser:
    """Return the parser with every verb; importing a verb must stay cheap, because this imports them all.

    With `as_json`, it also prints errors in the arguments as JSON. With `verb`, it has only that verb if there is a
    file of its name: building all parsers takes longer than many queries.
    """
    top = (_JsonParser if as_json else _Parser)(
        prog="evercrawl",
        usage="evercrawl [-h] [--version] VERB ...",
        description="An importance-driven, incremental web crawler.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"evercrawl {__version__}")
    choices = top.add_subparsers(prog="evercrawl", metavar="VERB", required=True, help=argparse.SUPPRESS)
    names = modules()
    found: dict[str, list[str]] = {task: [] for task, _ in verbs.TASKS.values()}
    for name in [name for name in names if name.endswith(f".{verb}")] or names:
        before = set(choices.choices)
        importlib.import_module(f"{verbs.__name__}.{name}").add(choices)
        task, _ = verbs.TASKS[name.partition(".")[0]]
        found[task] += [each for each in choices.choices if each not in before]
    top.epilog = _by_task(found, choices.choices)
    top.by_verb = choices.choices
    return top


def _by_task(found: Mapping[str, Sequence[str]], parsers: Mapping[str, argparse.ArgumentParser]) -> str:
    """Return the verbs with what they do, by task; those of the laboratory are listed by `lab`."""
    blocks = list[str]()
    for task, each in found.items():
        told = {verb: parsers[verb].get_default("summary") for verb in each}
        blocks.append("\n".join([f"{task}:", *(f"  {verb:<9}  {what}" for verb, what in told.items() if what)]))
    return "\n\n".join([*blocks, textwrap.fill(_EPILOG, shutil.get_terminal_size().columns - 2)])


def modules() -> list[str]:
    """Return folder and name of the file of each verb, `asking.status`, in the order of the help."""
    return [f"{folder}.{name}" for folder, (_, names) in verbs.TASKS.items() for name in names]
