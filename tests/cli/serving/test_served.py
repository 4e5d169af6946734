"""The server beside a crawl."""

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest


def lines_until(child, wanted, within_s=60):
    until = time.monotonic() + within_s
    for line in child.stdout:
        event = json.loads(line)
        if wanted in event.get("message", ""):
            return event["message"]
        assert time.monotonic() < until
    raise AssertionError("it ended")


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_crawl_shows_its_link_and_the_server_ends_with_it(site, tmp_path, end):
    argv = ["crawl", *site.seeds, "--dir", str(tmp_path), "--delay", "0.05", "--allow-net", "127.0.0.0/8", "--json"]
    command = [sys.executable, "-m", "evercrawl", *argv, "--serve", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        link = lines_until(child, "the crawl is at ").rpartition(" ")[2]
        base = link.partition("/#")[0]
        with urllib.request.urlopen(f"{base}/api/v1/status", timeout=20) as answer:
            assert json.load(answer)["running"]
        child.send_signal(end)
        child.stdout.close()
        child.wait(20)
    until = time.monotonic() + 15
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{base}/health/live", timeout=1).close()
        except OSError:
            return
        time.sleep(0.05)
    raise AssertionError("the server outlived its crawl")


def test_a_port_in_use_is_told_and_the_crawl_goes_on(site, tmp_path):
    argv = ["crawl", site.seeds[0], "--dir", str(tmp_path), "--allow-net", "127.0.0.0/8", "--seconds", "60", "--json"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [sys.executable, "-m", "evercrawl", *argv, "--serve", str(taken.getsockname()[1])]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert "cannot listen" in lines_until(child, "the server could not start")
            assert child.poll() is None
            child.send_signal(signal.SIGTERM)
            child.stdout.close()
            assert child.wait(20) == 0
