"""What watches a run: the lines of its log, and a server that keeps what is posted to it."""

import http.server
import json
import threading
from pathlib import Path


def log_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Received(http.server.ThreadingHTTPServer):
    """Keeps what is posted; answers with `status`, after `wait`."""

    status, wait = 204, threading.Event()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict] = []
        self.wait.set()
        self.came = threading.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    def wait_for(self, count: int) -> list[dict]:
        with self.came:
            assert self.came.wait_for(lambda: len(self.bodies) >= count, timeout=20.0), self.bodies
        return self.bodies


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Received

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["Content-Type"] == "application/json"
        self.server.wait.wait(20.0)
        with self.server.came:
            self.server.bodies.append(body)
            self.server.came.notify_all()
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""
