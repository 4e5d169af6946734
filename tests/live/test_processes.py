"""The crawl as a process: killed, told to stop, started twice, short of room."""

import random
import resource
import signal
import time
from collections import Counter

import psutil
import pytest
from soak import in_soak

DELAY_S = 0.1


def wait_for(condition, timeout_s: float = 30.0) -> None:
    until = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.005)


def test_killed_at_random_five_times_it_loses_and_doubles_nothing(live, shell, serve):
    draw = random.Random(5)
    server = serve(live.Server(hosts=4, pages=50))
    settings = ["--delay", str(DELAY_S), "--connections-per-ip", "4"]
    acknowledged: set[str] = set()
    kills = []
    for _ in range(5):
        stop = len(server.log) + draw.randrange(15, 30)
        child = shell.crawl(*server.seeds, *settings, "--until-idle")
        wait_for(lambda: len(server.log) >= stop)  # noqa: B023
        child.kill()
        child.wait()
        kills.append(time.time())
        outcomes = live.outcomes()
        visited = {url for url, label in outcomes.items() if label}
        assert visited >= acknowledged  # nothing that had been acknowledged is gone
        acknowledged = visited
    last = shell.crawl("--until-idle")
    out, err = last.communicate(timeout=60)
    assert last.returncode == 0, err
    assert shell.events(out)[-1]["reason"] == "idle"
    foretold = server.web.urls()
    found = live.outcomes()
    assert {u: found[u] for u, what in foretold.items() if what != "copy"} == {
        u: what for u, what in foretold.items() if what != "copy"
    }
    wanted = {url for url, what in foretold.items() if what != "refused"}
    assert live.records() & Counter({("response", url): 9 for url in wanted}) == Counter(
        {("response", url): 1 for url in wanted}
    )  # one response record a page, however often it was killed
    twice = sum(count - 1 for count in server.pages.values())
    assert twice <= 5 * 4 * 2  # those under way, and those of the last 50 ms
    assert min(min(gaps) for gaps in server.gaps().values()) >= DELAY_S - 0.005
    live.verified()
    done = shell.start("verify", "--dir", str(shell.directory))
    assert done.wait(30) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_ends_in_order(live, shell, serve, number):
    server = serve(live.Server(hosts=2, pages=50, latency_s=0.05))
    child = shell.crawl(*server.seeds, "--delay", "0.2")
    wait_for(lambda: len(server.log) > 8)
    began = time.monotonic()
    child.send_signal(number)
    out, err = child.communicate(timeout=10)
    assert (child.returncode, err) == (0, "")
    assert time.monotonic() - began < 10
    assert shell.events(out)[-1]["reason"] == "stopped"
    with live.partition() as partition:
        assert not partition.repairs
    assert {url for url, label in live.outcomes().items() if label not in ("", "refused")} == set(server.pages)
    live.verified()


def test_told_to_stop_while_a_server_does_not_answer_it_ends_all_the_same(live, shell, serve):
    server = serve(live.Server(hosts=1, latency_s=60.0))
    child = shell.crawl(*server.seeds)
    time.sleep(0.2)
    wait_for(lambda: server.connections)
    child.terminate()
    _, err = child.communicate(timeout=10)
    assert (child.returncode, err) == (0, "")


def test_a_second_process_is_refused_at_once_and_names_the_first(live, shell, serve):
    server = serve(live.Server(hosts=1, pages=50))
    first = shell.crawl(*server.seeds, "--delay", "0.3")
    wait_for(lambda: len(server.log) > 2)
    times = []
    for _ in range(2):
        began = time.monotonic()
        second = shell.crawl(*server.seeds)
        _, err = second.communicate(timeout=10)
        times.append(time.monotonic() - began)
        assert second.returncode == 3
        assert f"process {first.pid}" in err
        assert str(shell.directory) in err
    assert min(times) < 2.0
    assert first.poll() is None
    first.kill()
    first.wait()
    third = shell.crawl("--pages", "2")  # the lock that a killed process leaves behind blocks nobody
    _, err = third.communicate(timeout=30)
    assert third.returncode == 0, err


def limit_files(size_bytes: int):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))

    return limit


@pytest.mark.parametrize("size_bytes", [0, 3_000, 60_000, *in_soak(100, 12_000)])
def test_with_too_little_room_it_says_so_and_exits_4_and_a_restart_completes(live, shell, serve, size_bytes):
    """The limit on the size of a file stands for a full disk: the same call fails, with another word."""
    server = serve(live.Server(hosts=2, pages=40))
    settings = ["--delay", "0.01", "--disk-wait", "1", "--until-idle"]
    child = shell.crawl(*server.seeds, *settings, preexec_fn=limit_files(size_bytes))
    out, err = child.communicate(timeout=60)
    assert child.returncode == 4, (out[-500:], err)
    assert err.startswith("evercrawl: no room to write")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    if size_bytes >= 12_000:
        assert any(event.get("disk_full") for event in shell.events(out))
    rest = shell.crawl(*server.seeds, *settings)
    out, err = rest.communicate(timeout=60)
    assert rest.returncode == 0, err
    found = live.outcomes()
    foretold = {url: what for url, what in server.web.urls().items() if what != "copy"}
    assert {url: found[url] for url in foretold} == foretold
    records = live.records()
    assert {n for (kind, _), n in records.items() if kind == "response"} == {1}
    live.verified()


def test_ctrl_c_ends_it_also_where_the_loop_is_held_up(shell):
    """By a regular expression of its owner that takes for ever, say: one with a look-around, which Python matches."""
    assert shell.crawl(f"http://127.0.0.1:9/{60 * 'a'}", "--seconds", "0").wait(60) == 0
    with (shell.directory / "crawl.toml").open("a") as file:
        file.write("\n[[focus]]\nurl = '(?!x)(([a-z0-9:/.-])+)+!'\n")
    child = shell.crawl()
    wait_for(lambda: psutil.Process(child.pid).cpu_times().user > 3.0)

    def gone() -> bool:
        child.send_signal(signal.SIGINT)  # one that comes while another is pending is lost
        return child.poll() is not None

    wait_for(gone, 5.0)
    assert child.returncode == -signal.SIGINT
