"""No verb prints the secret of a crawl."""

from pathlib import Path

import msgspec

from evercrawl.cli.main import main
from evercrawl.store.birth import FILE

VERBS = (
    ["status"], ["status", "--memory"], ["status", "--json"], ["top", "--json"], ["verify", "--json"], ["verify"],
    ["why", "URL", "--json"], ["get", "URL", "--json"], ["search", "page", "--json"], ["suspects", "--json"],
    ["plan", "--json"], ["export", "visits", "-o", "-"], ["export", "pages", "-o", "-"],
)  # fmt: skip


def test_no_verb_prints_it(crawled, site, capfd):
    secret = msgspec.json.decode((Path(crawled) / FILE).read_bytes())["secret"]
    assert len(secret) == 32
    said = ""
    for verb in VERBS:
        code = main([site.seeds[0] if word == "URL" else word for word in verb] + ["--dir", crawled])
        heard = "".join(capfd.readouterr())
        assert code == 0, (verb, heard)
        said += heard
    assert len(said) > 1000
    numbers = {str(int(secret[at : at + 16], 16)) for at in (0, 16)}
    assert not [word for word in (secret, secret[:16], secret[16:], *numbers) if word in said.lower()]
