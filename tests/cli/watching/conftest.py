"""A server that alerts are posted to."""

import threading
from collections.abc import Iterator

import pytest

from tests.helpers.watched import Received


@pytest.fixture
def received() -> Iterator[Received]:
    server = Received()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.wait.set()
    server.shutdown()
    thread.join(10)
    server.server_close()
