"""A copy that may be out of date is fetched again before it is shown, by the crawl's own loop."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evercrawl.ask.orders.give import listens
from evercrawl.cli.main import main
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store.disk.lock import lock_for_crawl


@pytest.fixture
def crawled(site: Loopback, tmp_path: Path) -> str:
    return crawl(site, tmp_path / "crawl", "--until-idle")


def crawl(site: Loopback, directory: Path, *more: str) -> str:
    flags = ["--delay", "0", "--allow-net", NETWORK, "--seconds", "60", "--quiet", *more]
    assert main(["crawl", *site.seeds, "--dir", str(directory), *flags]) == 0
    return str(directory)


def get(capsys, url: str, directory: str, *more: str) -> tuple[int, dict, str]:
    code = main(["get", url, "--dir", directory, "--json", *more])
    out, err = capsys.readouterr()
    return code, json.loads(out.splitlines()[-1]), err


def test_a_copy_that_is_fresh_enough_is_shown_without_asking(crawled, site, capsys):
    asked = len(site.log)
    code, found, err = get(capsys, f"{site.web.origins[0]}/p/2", crawled, "--fresh", "90%")
    assert (code, found["visits"], len(site.log)) == (0, 1, asked)
    assert 0.9 < found["fresh"] <= 1  # rounded, and the copy is no second old
    assert "fresh with a probability of" in err


def test_a_page_is_fetched_again_alone_and_remembered(crawled, site, capsys):
    origin, asked = site.web.origins[0], len(site.log)
    code, found, _ = get(capsys, f"{origin}/p/2", crawled, "--fresh", "1")
    assert [(served.origin, served.path) for served in site.log[asked:]] == [(origin, "/p/2")]
    assert (code, found["visits"]) == (0, 2)
    assert main(["verify", "--dir", crawled]) == 0


def test_where_a_redirect_leads_is_what_is_fetched(crawled, site, capsys):
    origin, asked = site.web.origins[0], len(site.log)
    code, found, _ = get(capsys, f"{origin}/moved", crawled, "--fresh", "100%")
    assert [served.path for served in site.log[asked:]] == ["/p/2"]
    assert (code, found["final_url"], found["visits"]) == (0, f"{origin}/p/2", 2)


def test_a_page_that_was_never_fetched_is(site, tmp_path, capsys):
    directory, url = crawl(site, tmp_path / "crawl", "--pages", "2"), f"{site.web.origins[0]}/p/0"
    assert main(["get", url, "--dir", directory]) == 1
    assert "was not fetched yet" in capsys.readouterr().err
    code, found, _ = get(capsys, url, directory, "--fresh", "0.5")
    assert (code, found["visits"], found["class"]) == (0, 1, "ok")


def test_robots_txt_holds(crawled, site, capsys):
    origin, asked = site.web.origins[0], len(site.log)
    refused = next(url for url, outcome in site.web.urls().items() if outcome == "refused" and url.startswith(origin))
    assert main(["get", refused, "--dir", crawled, "--fresh", "0.5"]) == 1
    assert "robots.txt disallows it" in capsys.readouterr().err
    assert len(site.log) == asked


def test_without_an_answer_the_stored_copy_is_shown_and_the_exit_code_tells(crawled, site, beside, capsys):
    origin = site.web.origins[0]
    asyncio.run_coroutine_threadsafe(site.__aexit__(None, None, None), beside).result(10)
    code, found, err = get(capsys, f"{origin}/p/2", crawled, "--fresh", "1", "--text")
    assert code == 5
    assert found["content"].startswith(f"Page 2 of {origin}")
    assert "could not be fetched again" in err


def test_beside_a_running_crawl_it_is_refused(crawled, site, capsys):
    url = f"{site.web.origins[0]}/p/2"
    with lock_for_crawl(Path(crawled)):
        assert get(capsys, url, crawled, "--fresh", "0.1")[0] == 0
        assert main(["get", url, "--dir", crawled, "--fresh", "1"]) == 3
    assert "stop that crawl, or leave out --fresh" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["2", "-0.1", "101%", "nan", "often", "9%0", ""])
def test_what_is_no_probability_is_wrong_use(tmp_path, capsys, text):
    assert main(["get", "http://example.org/", f"--fresh={text}", "--dir", str(tmp_path)]) == 2
    assert "--fresh must be a probability" in capsys.readouterr().err


def test_beside_a_running_crawl_the_page_is_requested_by_it(crawled, site, capsys):
    """A process of its own crawls, paused until the page is wanted: what is requested then is the page."""
    url, directory = f"{site.web.origins[0]}/p/2", Path(crawled)
    before = get(capsys, url, crawled)[1]["visits"]
    assert main(["exclude", "/never", "--dir", crawled]) == 0
    command = [sys.executable, "-m", "evercrawl", "crawl", "--dir", crawled, "--quiet", "--refresh-after", "1d"]
    with subprocess.Popen([*command, "--seconds", "60", "--allow-net", NETWORK]) as process:
        try:
            until = time.monotonic() + 30.0
            while not listens(directory):
                assert time.monotonic() < until
                time.sleep(0.05)
            assert main(["exclude", "/never", "--lift", "--wait", "--dir", crawled]) == 0
            assert "done: exclude = '/never' is lifted" in capsys.readouterr().out
            code, found, _ = get(capsys, url, crawled, "--fresh", "1")
            assert (code, found["visits"]) == (0, before + 1)
            assert main(["orders", "--dir", crawled]) == 0
            listed = capsys.readouterr().out
            assert listed.count("; done: ") == 3
            assert f"check {url}; done: " in listed
        finally:
            process.terminate()
