"""evercrawl version: print the versions in use."""

import argparse
import contextlib
import platform

from evercrawl import __version__
from evercrawl.cli.arguments import Verbs, add_json, add_verb
from evercrawl.cli.show.json_line import json_line

_PARTS = ("pycurl", "turbohtml", "numpy", "tantivy")
_EXTRAS = ("numba", "pyarrow")


def add(verbs: Verbs) -> None:
    """Declare the verb."""
    more = "Examples: `evercrawl version`, `evercrawl version --json`."
    add_json(add_verb(verbs, "version", "print the versions of evercrawl and its libraries", run, more))


def run(args: argparse.Namespace) -> int:
    """Print the versions."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {"evercrawl": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in _PARTS}
    for name in _EXTRAS:
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    if args.json:
        print(json_line("versions", versions))
    else:
        print("\n".join(f"{name} {number}" for name, number in versions.items()))
    return 0
