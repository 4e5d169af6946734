"""evercrawl version: what is running here."""

import argparse
import json
import platform

from evercrawl import __version__
from evercrawl.cli.arguments import Verbs, add_json, add_verb

_PARTS = ("pycurl", "turbohtml", "numpy", "numba")


def add(verbs: Verbs) -> None:
    """Declare the verb."""
    add_json(add_verb(verbs, "version", "tell the versions of evercrawl and of the libraries it leans on", run))


def run(args: argparse.Namespace) -> int:
    """Print them."""
    from importlib.metadata import version

    versions = {"evercrawl": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in _PARTS}
    if args.json:
        print(json.dumps(versions))
    else:
        print("\n".join(f"{name} {number}" for name, number in versions.items()))
    return 0
