"""What can be asked of a crawl: status, get, export, verify, on a crawl of a real server."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from evercrawl.cli import get
from evercrawl.cli.live import size
from evercrawl.cli.main import main
from evercrawl.crawl.content import Content
from evercrawl.errors import EvercrawlError
from evercrawl.simulate.loopback import NETWORK, Loopback
from evercrawl.types import Outcome


@pytest.fixture
def crawled(site: Loopback, tmp_path: Path) -> str:
    directory = str(tmp_path / "crawl")
    flags = ["--delay", "0", "--allow-net", NETWORK, "--until-idle", "--seconds", "60", "--quiet"]
    assert main(["crawl", *site.seeds, "--dir", directory, *flags]) == 0
    return directory


def test_all_of_a_crawled_site_can_be_asked_about(crawled, site, tmp_path, capsys):
    """One crawl serves all questions, for it takes a second or two."""
    origin = site.web.origins[0]
    expected = site.web.urls()

    assert main(["status", "--dir", crawled, "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["known"], status["never_fetched"], status["running"]) == (len(expected), 0, False)
    assert sum(status["classes"].values()) == len(expected)

    assert main(["status", "--dir", crawled]) == 0
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert lines["crawl"] == "not running"
    assert size(status["archive_bytes"]) in lines["archive"]

    assert main(["verify", "--dir", crawled]) == 0
    assert capsys.readouterr().out.endswith("everything is as it should be\n")

    file = tmp_path / "pages.parquet"
    assert main(["export", "pages", "-o", str(file), "--dir", crawled, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["rows"], summary["file"]) == (len(expected), str(file))
    classes = {row["url"]: row["class"] for row in pyarrow.parquet.read_table(file).to_pylist()}
    assert {url for url, outcome in expected.items() if outcome != "copy" and classes[url] != outcome} == set()
    assert {classes[f"{origin}/p/1"], classes[f"{origin}/copy"]} == {"ok", "duplicate"}

    assert main(["export", "links", "-o", "-", "--dir", crawled]) == 0
    links = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {
        "source": f"{origin}/",
        "target": f"{origin}/moved",
        "rel": "",
        "internal": True,
        "anchor": "/moved",
    } in links

    assert main(["get", f"{origin}/moved", "--dir", crawled, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["final_url"], found["class"], found["title"]) == (f"{origin}/p/2", "ok", f"Page 2 of {origin}")
    assert found["content"].startswith(f"Page 2 of {origin}")
    assert f"redirects (301) to {origin}/p/2" in err

    assert main(["get", f"{origin}/p/2", "--dir", crawled, "--markdown", "-o", str(tmp_path / "2.md")]) == 0
    assert (tmp_path / "2.md").read_text(encoding="utf-8").startswith(f"# Page 2 of {origin}")

    command = [sys.executable, "-m", "evercrawl", "get", f"{origin}/p/2", "--dir", crawled]
    body = subprocess.run(command, capture_output=True, check=True).stdout
    assert body == site.web.content(origin, "/p/2", 0)

    assert main(["get", f"{origin}/gone", "--dir", crawled]) == 1
    assert "was gone (404)" in capsys.readouterr().err

    record = next(Path(crawled).glob("archive/*.warc.gz"))
    record.write_bytes(record.read_bytes()[:-100])
    assert main(["verify", "--dir", crawled, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["fine"]
    assert record.name in "".join(found["wrong"])


def test_where_there_is_no_crawl_every_question_is_wrong_use(tmp_path, capsys):
    for question in (["status"], ["get", "http://example.org/"], ["export", "pages", "-o", "-"], ["verify"]):
        assert main([*question, "--dir", str(tmp_path)]) == 2
        assert "there is no crawl" in capsys.readouterr().err


def test_a_file_that_no_table_can_be_written_to_is_wrong_use(tmp_path, capsys):
    assert main(["export", "pages", "-o", "pages.csv", "--dir", str(tmp_path)]) == 2
    assert ".parquet or .jsonl" in capsys.readouterr().err


def test_a_url_that_is_none_is_wrong_use(tmp_path, capsys):
    assert main(["get", "example.org", "--dir", str(tmp_path)]) == 2
    assert "https://example.org/" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["-", "@seeds.txt"])
def test_a_list_of_urls_is_not_one_page(tmp_path, capsys, url):
    assert main(["get", url, "--dir", str(tmp_path)]) == 2
    assert "is no URL" in capsys.readouterr().err


def content(mime: str, body: bytes) -> Content:
    url = "http://example.org/x"
    headers = {"content-type": f"{mime}; charset=utf-8"}
    return Content(url, url, Outcome.OK, 200, "", mime, "", 0.0, 0.0, 1, 0, headers, body)


def test_what_has_no_text_is_base64_in_json():
    picture = content("image/png", b"\x89PNG")
    assert get._form(picture, for_eyes=True) == "raw"
    found = get._as_object(picture, "raw")
    assert (found["content_base64"], "content" in found) == ("iVBORw==", False)
    with pytest.raises(EvercrawlError, match="image/png, which has no text"):
        get._as_bytes(picture, "text")


@pytest.mark.parametrize(
    ("mime", "form", "text"),
    [
        ("text/html", "raw", "<p>caf\u00e9 <a href=y>z</a>"),
        ("text/html", "text", "caf\u00e9 z\n"),
        ("text/html", "markdown", "caf\u00e9 [z](http://example.org/y)\n"),
        ("application/json", "text", "<p>caf\u00e9 <a href=y>z</a>\n"),
    ],
)
def test_forms_of_a_text(mime, form, text):
    page = content(mime, "<p>caf\u00e9 <a href=y>z</a>".encode())
    assert get._as_bytes(page, form).decode() == text
    assert get._as_object(page, form)["content"] == text.removesuffix("\n")


def test_a_reader_that_leaves_early_is_no_trouble(crawled):
    command = f"{sys.executable} -m evercrawl export links -o - --dir {crawled} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, check=True, text=True)
    assert json.loads(done.stdout)["source"]
    assert done.stderr == ""
