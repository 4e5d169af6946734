"""Signs requests so that servers can identify the crawler (HTTP Message Signatures, as Web Bot Auth uses them).

References
----------
RFC 9421, HTTP Message Signatures; RFC 7638, JSON Web Key Thumbprint; RFC 8037, Ed25519 in JOSE;
draft-meunier-web-bot-auth-architecture and draft-meunier-http-message-signatures-directory.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.config.secrets import revealed
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["DIRECTORY_PATH", "DIRECTORY_TYPE", "RequestSigner", "key_of", "new_key", "signature_base"]

LABEL: Final = "sig1"
TAG: Final = "web-bot-auth"
VALID_S: Final = 300
"""The lifetime of a signature (s); each request gets a new one."""
DIRECTORY_PATH: Final = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE: Final = "application/http-message-signatures-directory+json"
NOT_INSTALLED: Final = "to sign requests, install the extra: pip install 'evercrawl[sign]'"


def signature_base(components: Sequence[tuple[str, str]], parameters: str) -> bytes:
    r"""Return the bytes that are signed (RFC 9421, section 2.5).

    Parameters
    ----------
    components
        The name of each, as in the signature's parameters but without quotes, and its value.
    parameters
        The value of `Signature-Input`, after the label.

    Examples
    --------
    >>> signature_base([("@authority", "example.org")], '("@authority");created=1')
    b'"@authority": example.org\n"@signature-params": ("@authority");created=1'
    """
    lines = [f'"{name}": {value}' for name, value in components]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode("ascii")


class RequestSigner:
    """Signs requests with an Ed25519 key.

    Parameters
    ----------
    key
        The private key.
    agent
        The URL of the directory of keys, as sent in `Signature-Agent`; "" if servers know the key.
    nonce
        Returns a unique value for each signature.
    wall
        The time of day by this machine's clock, in seconds since the epoch, as servers compare it with theirs. The
        crawl's own time may be ahead of it, since that never goes back.

    Attributes
    ----------
    key_id
        The thumbprint of the public key (RFC 7638), by which servers find it.
    """

    def __init__(
        self,
        key: Ed25519PrivateKey,
        agent: str = "",
        nonce: Callable[[], bytes] = lambda: os.urandom(32),
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._key, self._agent, self._nonce, self._wall = key, agent, nonce, wall
        self.key_id = thumbprint(public_jwk(key))

    def fields(self, authority: str) -> list[tuple[str, str]]:
        """Return the signature fields of a request to `authority` (host, and port if it is not the default)."""
        now = int(self._wall())
        components = [("@authority", authority.lower())]
        agent = f'"{self._agent}"' if self._agent else ""
        if agent:
            components.append(("signature-agent", agent))
        named = " ".join(f'"{name}"' for name, _ in components)
        nonce = base64.b64encode(self._nonce()).decode()
        parameters = (
            f'({named});created={now};expires={now + VALID_S};keyid="{self.key_id}";alg="ed25519"'
            f';nonce="{nonce}";tag="{TAG}"'
        )
        signature = base64.b64encode(self._key.sign(signature_base(components, parameters))).decode()
        own = [("Signature-Agent", agent)] if agent else []
        return [*own, ("Signature-Input", f"{LABEL}={parameters}"), ("Signature", f"{LABEL}=:{signature}:")]

    def directory(self) -> str:
        """Return the document that gives servers the public key, to be served at `DIRECTORY_PATH`."""
        jwk = {**public_jwk(self._key), "kid": self.key_id, "use": "sig"}
        return json.dumps({"keys": [jwk]}, indent=2)


def public_jwk(key: Ed25519PrivateKey) -> dict[str, str]:
    """Return the public key as a JSON Web Key (RFC 8037)."""
    x = base64.urlsafe_b64encode(key.public_key().public_bytes_raw()).decode().rstrip("=")
    return {"kty": "OKP", "crv": "Ed25519", "x": x}


def thumbprint(jwk: dict[str, str]) -> str:
    """Return the thumbprint of a public key (RFC 7638, RFC 8037).

    >>> thumbprint({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'
    """
    canonical = json.dumps({name: jwk[name] for name in ("crv", "kty", "x")}, separators=(",", ":"))
    return base64.urlsafe_b64encode(hashlib.sha256(canonical.encode()).digest()).decode().rstrip("=")


def key_of(setting: str) -> Ed25519PrivateKey:
    """Return the private key that a setting names.

    Parameters
    ----------
    setting
        `file:PATH` of a PEM file of mode 0600, or `env:NAME` of such text.

    Raises
    ------
    ConfigError
        There is no key, it is of another kind, or others can read it.
    """
    _require()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text = revealed(setting, "sign_key")
    try:
        key = load_pem_private_key(text.encode(), None)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{setting} holds no private key in PEM; make one with: evercrawl sign --new FILE") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(f"{setting} holds a key that is not Ed25519; make one with: evercrawl sign --new FILE")
    return key


def new_key(path: Path) -> None:
    """Write a new private key that only its owner can read.

    Raises
    ------
    ConfigError
        There is already a file of that name, or it cannot be written.
    """
    _require()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    form = serialization.PrivateFormat.PKCS8
    pem = Ed25519PrivateKey.generate().private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise ConfigError(f"{path} exists; a key is never overwritten, so name another file") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)


def _require() -> None:
    try:
        import cryptography  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise ConfigError(NOT_INSTALLED) from error
