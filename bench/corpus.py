"""A served corpus (a folder with an nginx that answers for many hosts on loopback), as the benchmarks see it.

The folder holds `seeds-PROFILE.txt`, `sites-PROFILE.tsv` (host:port, name, package, document root, version) and
`nginx/access.log`. What was fetched is read from the server's log; what should have been is worked out from the files.
"""

from __future__ import annotations

import html.parser
import ipaddress
import re
import sys
import time
import urllib.parse as up
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path

WANTED = re.compile(r"(?:/|\.html?)$")


@dataclass(frozen=True)
class Corpus:
    """One profile of a served corpus.

    Raises
    ------
    SystemExit
        Where the folder has none of that name; the message says what there is.
    """

    folder: Path
    profile: str

    def __post_init__(self) -> None:
        """Refuse a folder in which there is no such corpus."""
        missing = next((file for file in (self.seeds_file, self.sites_file, self.log) if not file.is_file()), None)
        if missing is not None:
            profiles = sorted(file.stem.removeprefix("seeds-") for file in self.folder.glob("seeds-*.txt"))
            there = f"name one of its profiles: {', '.join(profiles)}" if profiles else "name the folder of one"
            if self.profile in profiles:
                there = "make the corpus anew, and let its nginx run"
            sys.exit(
                f"no served corpus of profile {self.profile!r} is in {self.folder}, for {missing} is not there; {there}"
            )

    @property
    def seeds_file(self) -> Path:
        """Return the file of seed URLs."""
        return self.folder / f"seeds-{self.profile}.txt"

    @property
    def sites_file(self) -> Path:
        """Return the file that tells where each site's documents are."""
        return self.folder / f"sites-{self.profile}.tsv"

    @property
    def seeds(self) -> list[str]:
        """Return the seed URLs."""
        return self.seeds_file.read_text().split()

    @property
    def scope(self) -> str:
        """Return the regular expression of URLs that belong: HTML pages of the corpus's hosts, without a query."""
        host = up.urlsplit(self.seeds[0])
        network = str(host.hostname).rsplit(".", 1)[0].replace(".", r"\.")
        return rf"^http://{network}\.[0-9]+:{host.port}/[^?#]*(?:/|\.html?)$"

    @property
    def addresses(self) -> str:
        """Return the network of the corpus's hosts, as CIDR."""
        return str(ipaddress.ip_network(f"{up.urlsplit(self.seeds[0]).hostname}/24", strict=False))

    @property
    def log(self) -> Path:
        """Return the server's access log."""
        return self.folder / "nginx" / "access.log"

    def mark(self) -> int:
        """Return the log's size once the server has written what it holds back."""
        time.sleep(1.3)
        return self.log.stat().st_size

    def fetched(self, start: int) -> Counter[tuple[str, str]]:
        """Return (URL as the server saw it, status) -> requests since `start`, for URLs that belong."""
        scope, seen = re.compile(self.scope), Counter[tuple[str, str]]()
        with self.log.open() as log:
            log.seek(start)
            for line in log:
                fields = line.split("\t")
                if scope.search(fields[5]):
                    seen[normal(fields[5]), fields[1]] += 1
        return seen

    def expected(self) -> set[str]:
        """Return every page that links reach from the seeds, worked out from the files alone and kept in the folder."""
        kept = self.folder / f"expected-{self.profile}.txt"
        if not kept.exists():
            kept.write_text("\n".join(sorted(_reachable(self))) + "\n")
        return {normal(url) for url in kept.read_text().split("\n") if url}


def normal(url: str) -> str:
    """Return host and path with percent-coding in one form."""
    parts = up.urlsplit(url)
    return parts.netloc + up.quote(up.unquote(parts.path))


class _Links(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if href and tag in ("a", "area"):
            self.hrefs.append(href)
        elif href and tag == "base" and not self.base:
            self.base = href


def _reachable(corpus: Corpus) -> set[str]:
    roots = dict[str, Path]()
    for line in corpus.sites_file.read_text().splitlines():
        host, _, _, root, _ = line.split("\t")
        roots[host] = Path(root)
    seen, queue, pages = set(corpus.seeds), deque(corpus.seeds), set[str]()
    while queue:
        url = queue.popleft()
        parts = up.urlsplit(url)
        file = roots[parts.netloc] / up.unquote(parts.path).lstrip("/")
        if url.endswith("/"):
            file = next((file / name for name in ("index.html", "index.htm") if (file / name).is_file()), file)
        if not file.is_file():
            continue
        pages.add(url)
        links = _Links()
        links.feed(file.read_text("utf-8", "replace"))
        base = up.urljoin(url, links.base)
        for href in links.hrefs:
            try:
                target = up.urldefrag(up.urljoin(base, href.strip()))[0]
                at = up.urlsplit(target)
            except ValueError:
                continue
            if at.netloc in roots and not at.query and WANTED.search(at.path) and target not in seen:
                seen.add(target)
                queue.append(target)
    return pages
