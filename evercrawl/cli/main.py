"""Find the verbs, run the requested one, turn errors into sentences and exit codes."""

import argparse
import gc
import importlib
import json
import os
import pkgutil
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from evercrawl import __version__, catalog
from evercrawl.cli import arguments, verbs
from evercrawl.cli.show.live import hush
from evercrawl.cli.show.plain import fit
from evercrawl.errors import EvercrawlError

_EPILOG = (
    "`evercrawl VERB --help` documents a verb. Exit codes: 0 success, 1 failure, 2 usage or configuration error, 3 "
    "store damaged or in use, 4 disk full, 5 the copy is older than requested."
)


SELDOM = (100_000, 20, 100)
"""New objects before the collector looks for rings: we make hardly any, imports 60,000."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # or numpy starts threads for matrices, of which we have none
    gc.set_threshold(*SELDOM)
    args = parser().parse_args(argv)
    catalog.trust(arguments.named_code(args))
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say
            code: int = args.run(args)
        sys.stdout.flush()
    except EvercrawlError as error:
        return _failed(args, error)
    except BrokenPipeError:  # the reader of our output has left, as `| head` does
        hush()
        return 0
    except OSError as error:
        return _failed(args, _disk_trouble(error))
    except KeyboardInterrupt:
        return 130
    return code


def _say(message: object, *_: object, **__: object) -> None:
    print(fit(f"evercrawl: {message}", sys.stderr), file=sys.stderr)


def _failed(args: argparse.Namespace, error: EvercrawlError) -> int:
    if getattr(args, "json", False):
        print(json.dumps({"event": "error", "message": str(error), "exit_code": error.exit_code}), flush=True)
    _say(error)
    return error.exit_code


def _disk_trouble(error: OSError) -> EvercrawlError:
    """Return what the operating system refused, in words; re-raise what is not about a file."""
    name: object = error.filename
    if not isinstance(name, str | Path):
        raise error
    from evercrawl.store.disk.trouble import in_words

    return in_words(error, "use", Path(name))


def parser() -> argparse.ArgumentParser:
    """Return the parser with every verb; importing a verb must stay cheap, for this imports them all."""
    top = argparse.ArgumentParser(
        prog="evercrawl",
        description="An importance-driven, incremental web crawler.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"evercrawl {__version__}")
    choices = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name in modules():
        add = getattr(importlib.import_module(f"{verbs.__name__}.{name}"), "add", None)
        if add is not None:
            add(choices)
    return top


def modules() -> list[str]:
    """Return the names of the verbs, which are those of their files, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(verbs.__path__))
