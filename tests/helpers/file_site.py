"""A site of plain files on loopback."""

import contextlib
import functools
import http.server

from serving import serving


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def file_site(folder):
    """Serve the files of a folder while it lasts; yield the address."""
    with serving(functools.partial(_Quiet, directory=str(folder))) as server:
        yield f"http://127.0.0.1:{server.server_port}/"
