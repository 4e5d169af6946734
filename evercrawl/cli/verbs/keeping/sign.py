"""evercrawl sign: keys for signed requests."""

import argparse
import sys
from pathlib import Path

from evercrawl.cli import arguments
from evercrawl.cli.show.json_line import json_line
from evercrawl.errors import ConfigError

_MORE = (
    "With sign_key in crawl.toml (or --sign-key), every request carries a signature (RFC 9421, as in Web Bot Auth) "
    "that identifies its sender; sign_agent is the site that serves the output of --key. Examples: `evercrawl sign "
    "--new bot.pem`, `evercrawl sign --key file:bot.pem`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "sign", "make a key that signs requests, or print its public part", run, _MORE)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--new", metavar="FILE", help="write a new Ed25519 key to FILE, with mode 0600")
    what.add_argument(
        "--key", metavar="REF", help="print the directory of this key for servers: file:PATH or env:NAME, as sign_key"
    )
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Create or print the key."""
    from evercrawl.fetch.signing import DIRECTORY_PATH, DIRECTORY_TYPE, RequestSigner, key_of, new_key

    if args.new:
        new_key(Path(args.new))
    elif ":" not in args.key:
        raise ConfigError(f"--key takes a reference: write file:{args.key}")
    reference = args.key or f"file:{args.new}"
    signer = RequestSigner(key_of(reference))
    if args.json:
        print(json_line("key", {"sign_key": reference, "keyid": signer.key_id, "path": DIRECTORY_PATH}))
    elif args.new:
        print(f'{args.new} holds the key {signer.key_id}; set sign_key = "{reference}"')
    else:
        print(signer.directory())
        print(f"serve it at {DIRECTORY_PATH} as {DIRECTORY_TYPE}", file=sys.stderr)
    return 0
