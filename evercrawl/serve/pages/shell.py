"""The frame of every HTML page, and the static files that it loads."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from evercrawl import __version__
from evercrawl.serve.problems import RequestError

PAGES: Final = {
    "search": "/",
    "dashboard": "/dashboard",
    "page": "/page",
    "sites": "/sites",
    "waits": "/politeness",
    "changes": "/changes",
    "plan": "/plan",
    "lab": "/lab",
    "controls": "/controls",
}
"""Name of a page, which its template and its script have too -> its path."""
_TITLES: Final = {
    "search": "Search",
    "dashboard": "Dashboard",
    "page": "Page",
    "sites": "Sites",
    "waits": "Politeness",
    "changes": "Changes",
    "plan": "Plan",
    "lab": "Lab",
    "controls": "Controls",
}
KEYS: Final = {
    "s": "search", "d": "dashboard", "i": "sites", "p": "waits", "c": "changes", "b": "plan", "l": "lab",
    "o": "controls",
}  # fmt: skip
"""Key after `g` -> the page that it leads to."""
_TEMPLATES: Final = Environment(loader=PackageLoader("evercrawl.serve"), autoescape=select_autoescape(default=True))
_FOREVER: Final = "public, max-age=31536000, immutable"
_LEAST_BYTES: Final = 500  # below that compression gains nothing


class Static:
    """The static files, in memory, compressed once; their digest is in their path, so that caches may keep them.

    Attributes
    ----------
    digest
        Digest of all files.
    """

    def __init__(self) -> None:
        self._files = dict(_walk(files("evercrawl.serve") / "static", ""))
        whole = hashlib.sha256(b"".join(name.encode() + data for name, data in sorted(self._files.items())))
        self.digest = whole.hexdigest()[:16]
        self._packed = {name: gzip.compress(data, mtime=0) for name, data in self._files.items()}

    async def file(self, request: Request) -> Response:
        """Return one of the files."""
        name = str(request.path_params["name"])
        if name not in self._files:
            raise RequestError(404, "there is no such file")
        headers = {"cache-control": _FOREVER, "vary": "accept-encoding"}
        kind = (
            "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0] or "application/octet-stream"
        )
        data = self._files[name]
        if len(data) > _LEAST_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
            data, headers["content-encoding"] = self._packed[name], "gzip"
        return Response(data, 200, headers, kind)


def page(name: str, static: Static) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page."""

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(rendered(name, static, request))

    return endpoint


def rendered(name: str, static: Static, request: Request, **more: Any) -> str:
    """Return a page as HTML."""
    return filled(
        name, static, title=_TITLES[name], titles=_TITLES, keys=KEYS, keyed={page: key for key, page in KEYS.items()},
        pages=PAGES, query=dict(request.query_params), **more,
    )  # fmt: skip


def filled(name: str, static: Static, **more: Any) -> str:
    """Return a filled-in template."""
    return _TEMPLATES.get_template(f"{name}.html").render(
        name=name, static=f"/static/{static.digest}", version=__version__, **more
    )


def _walk(folder: Any, before: str) -> list[tuple[str, bytes]]:
    found = list[tuple[str, bytes]]()
    for each in folder.iterdir():
        if each.is_dir():
            found += _walk(each, f"{before}{each.name}/")
        elif not each.name.startswith((".", "_")) and not each.name.endswith(".d.ts"):
            found.append((before + each.name, each.read_bytes()))
    return found
