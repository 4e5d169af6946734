# ruff: noqa: ANN202  (what a test runs is a nested function)
"""Signed requests: the vectors of the RFCs, and what a server that checks them sees."""

import base64
import json
import re
import time

import pytest
from answers import HI

from evercrawl.cli.main import main
from evercrawl.clock import SystemClock
from evercrawl.errors import ConfigError
from evercrawl.fetch.http import CurlNetwork
from evercrawl.fetch.signing import RequestSigner, key_of, new_key, signature_base

# RFC 9421, B.1.4 and B.2.6
PEM = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
"""
B26 = (
    '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473'
    ';keyid="test-key-ed25519"'
)
SIGNATURE = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("SIGN", PEM)
    return key_of("env:SIGN")


def test_the_signature_of_the_rfc_comes_out(key):
    components = [
        ("date", "Tue, 20 Apr 2021 02:07:55 GMT"), ("@method", "POST"), ("@path", "/foo"),
        ("@authority", "example.com"), ("content-type", "application/json"), ("content-length", "18"),
    ]  # fmt: skip
    assert base64.b64encode(key.sign(signature_base(components, B26))).decode() == SIGNATURE


def checked(head: bytes, jwk: dict[str, str], authority: str) -> dict[str, str]:
    """Return the parameters of a signature that a server has checked, by the request that came."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    fields = {
        name.lower(): value for name, _, value in (line.partition(": ") for line in head.decode().split("\r\n")[1:])
    }
    label, _, parameters = fields["signature-input"].partition("=")
    named = re.findall(r'"([^"]+)"', parameters.partition(")")[0])
    values = {"@authority": authority} | fields
    base = "\n".join([*(f'"{one}": {values[one]}' for one in named), f'"@signature-params": {parameters}'])
    found = re.fullmatch(rf"{label}=:(.*):", fields["signature"])
    assert found
    public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(jwk["x"] + "="))
    public.verify(base64.b64decode(found[1]), base.encode())
    return dict(re.findall(r';(\w+)="?([^";]+)', parameters)) | {"named": " ".join(named)}


def test_a_server_that_checks_a_request_knows_who_asks(fetcher, key):
    async def work(site, network):
        for _ in range(2):
            await fetcher.one(network, site.url("/", "page.test"), ("127.0.0.1",))
        return site.requests, f"page.test:{site.port}"

    signer = RequestSigner(key, "https://bot.example.org")
    requests, authority = fetcher.with_site(fetcher.Site({"/": HI}), work, signer=signer)
    (jwk,) = json.loads(signer.directory())["keys"]
    assert (jwk["kty"], jwk["crv"], jwk["kid"]) == ("OKP", "Ed25519", signer.key_id)
    first, second = (checked(head, jwk, authority) for head in requests)
    assert (first["tag"], first["keyid"], first["alg"]) == ("web-bot-auth", jwk["kid"], "ed25519")
    assert first["named"] == "@authority signature-agent"
    assert int(first["expires"]) > int(first["created"])
    assert first["nonce"] != second["nonce"]
    assert b'Signature-Agent: "https://bot.example.org"\r\n' in requests[0]


def test_a_signature_is_of_this_machines_day_however_far_ahead_the_crawls_time_is(fetcher, key):
    async def work(site, network):
        clock = SystemClock()
        clock.go_on_from(time.time() + 365 * 86_400)  # the last run was on a machine with a wrong clock
        ahead = CurlNetwork(clock, lambda _: "", agent="testbot/1", signer=RequestSigner(key))
        await fetcher.one(ahead, site.url("/", "page.test"), ("127.0.0.1",))
        await ahead.close()
        return site.requests[0], f"page.test:{site.port}"

    head, authority = fetcher.with_site(fetcher.Site({"/": HI}), work)
    (jwk,) = json.loads(RequestSigner(key).directory())["keys"]
    assert abs(int(checked(head, jwk, authority)["created"]) - time.time()) < 60


def test_a_key_is_made_for_its_owner_alone_and_never_overwritten(tmp_path):
    path = tmp_path / "bot.pem"
    new_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    key_of(f"file:{path}")
    with pytest.raises(ConfigError, match="exists"):
        new_key(path)
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        key_of(f"file:{path}")


def test_what_is_no_such_key_is_refused_in_words(tmp_path):
    path = tmp_path / "x.pem"
    path.write_text("hunter2")
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="no private key") as said:
        key_of(f"file:{path}")
    assert "hunter2" not in str(said.value)


def test_the_verb_makes_a_key_and_prints_its_directory(tmp_path, capsys):
    path = tmp_path / "bot.pem"
    assert main(["sign", "--new", str(path)]) == 0
    assert "sign_key" in capsys.readouterr().out
    assert main(["sign", "--key", f"file:{path}"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["keys"][0]["crv"] == "Ed25519"
    assert "PRIVATE" not in said.out
    assert "/.well-known/http-message-signatures-directory" in said.err
    assert main(["sign", "--key", str(path)]) == 2
