"""A crawl made by hand, and the server that shows it."""

from collections.abc import Iterator

import pytest
from hand_made import HandMade
from starlette.testclient import TestClient

from evercrawl.serve.app import app

TOKEN = "t" * 40
LOCAL = "http://127.0.0.1:8400"


@pytest.fixture
def crawl(tmp_path) -> Iterator[HandMade]:
    made = HandMade(tmp_path / "crawl")
    made.seed("https://a.example/", "https://b.example/")
    made.visit("https://a.example/", made.page("Tea", "/ships", "https://b.example/", text="all about tea"))
    made.visit("https://b.example/", made.page("Ships <script>", text="all about ships"))
    made.visit("https://a.example/ships", b"", 404)
    made.save()
    yield made
    made.stop()


@pytest.fixture
def client(crawl) -> Iterator[TestClient]:
    with TestClient(app(crawl.directory, TOKEN), base_url=LOCAL, client=("127.0.0.1", 5000)) as asking:
        yield asking


@pytest.fixture
def far(crawl) -> Iterator[TestClient]:
    """Ask from another machine."""
    served = app(crawl.directory, TOKEN, frozenset({"crawl.example"}))
    with TestClient(served, base_url="http://crawl.example", client=("192.0.2.7", 5000)) as asking:
        yield asking
