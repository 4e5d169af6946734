"""Questions about one page of a crawl that was made by hand."""

from typing import Any

import pytest

from evercrawl.ask.why.explanation import Why
from evercrawl.ask.why.why import why
from evercrawl.config import Config
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View

SITE = "http://example.org"
DAY_S = 86_400.0


@pytest.fixture
def ask(made):
    """Ask of the crawl that was made by hand, which is stopped first."""
    views = []

    def asked(path: str, after_s: float = DAY_S, **settings: Any) -> tuple[Why, View]:
        made.partition.close() if views else made.stop()
        view = View(opened(made.directory), Config(**settings), made.now + after_s)
        views.append(view)
        return why(view, path if "://" in path else SITE + path), view

    yield asked
    for view in views:
        view.partition.close()
