"""Finds the certificates that this machine trusts."""

import ssl
from pathlib import Path

import certifi

__all__ = ["trusted_certificates"]

_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


def trusted_certificates() -> str:
    """Return the file of trusted certificates: the system's, or Mozilla's if the system has none.

    The libcurl in pycurl's wheels looks in only one place, which few systems have.
    """
    for path in (ssl.get_default_verify_paths().cafile, *_BUNDLES):
        if path and Path(path).is_file():
            return path
    return certifi.where()
