"""What can be asked of a crawl: status, get, export, verify, on a crawl of a real server."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest

from evercrawl.ask.content import StoredPage
from evercrawl.ask.export import files as export_file
from evercrawl.ask.verify.findings import Findings
from evercrawl.cli import warm
from evercrawl.cli.main import main
from evercrawl.cli.show.lines import size
from evercrawl.cli.verbs.asking import get
from evercrawl.cli.verbs.keeping import verify
from evercrawl.config import Config, save
from evercrawl.errors import EvercrawlError, StoreError
from evercrawl.fetch.proxies import ProxyHealth
from evercrawl.model.proxy_file import note_proxies
from evercrawl.store.partition import Partition
from evercrawl.types import Outcome


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
    assert capsys.readouterr().out.endswith("the crawl directory is consistent\n")

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

    assert main(["export", "policy.Counts", "-o", "-", "--dir", crawled]) == 2
    assert "policy price keeps no tables" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["export", "policies", "-o", "-", "--dir", crawled])
    assert "choose pages, links, visits, content, usage, wacz, archive or policy.NAME" in capsys.readouterr().err

    assert main(["get", f"{origin}/moved", "--dir", crawled, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["final_url"], found["class"], found["title"]) == (f"{origin}/p/2", "ok", f"Page 2 of {origin}")
    assert found["content"].startswith(f"Page 2 of {origin}")
    assert f"redirects (301) to {origin}/p/2" in err

    assert main(["get", f"{origin}/p/2", "--dir", crawled, "--markdown", "-o", str(tmp_path / "2.md")]) == 0
    said = (tmp_path / "2.md").read_text(encoding="utf-8")
    assert said.startswith(f'---\nurl: "{origin}/p/2"\n')
    assert f"---\n\n# Page 2 of {origin}" in said

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
    assert main(["get", "example", "--dir", str(tmp_path)]) == 2
    assert "https://example.org/" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["-", "@seeds.txt"])
def test_a_list_of_urls_is_not_one_page(tmp_path, capsys, url):
    assert main(["get", url, "--dir", str(tmp_path)]) == 2
    assert "is not a URL" in capsys.readouterr().err


def content(mime: str, body: bytes) -> StoredPage:
    url = "http://example.org/x"
    headers = {"content-type": f"{mime}; charset=utf-8"}
    return StoredPage(url, url, Outcome.OK, 200, "", mime, "", 0.0, 0.0, 1, 0, headers, body)


def test_what_has_no_text_is_base64_in_json():
    picture = content("image/png", b"\x89PNG")
    assert get.form_of(picture, for_eyes=True) == "raw"
    found = get.as_object(picture, "raw")
    assert (found["content_base64"], "content" in found) == ("iVBORw==", False)
    with pytest.raises(EvercrawlError, match="image/png, which has no text"):
        get.as_bytes(picture, "text")


@pytest.mark.parametrize(
    ("mime", "form", "text"),
    [
        ("text/html", "raw", "<p>caf\u00e9 <a href=y>z</a>"),
        ("text/html", "text", "caf\u00e9 z\n"),
        ("text/html", "html", '<body><p>caf\u00e9 <a href="http://example.org/y">z</a></p></body>\n'),
        ("application/json", "text", "<p>caf\u00e9 <a href=y>z</a>\n"),
    ],
)
def test_forms_of_a_text(mime, form, text):
    page = content(mime, "<p>caf\u00e9 <a href=y>z</a>".encode())
    assert get.as_bytes(page, form).decode() == text
    assert get.as_object(page, form)["content"] == text.removesuffix("\n")


class Terminal(io.TextIOWrapper):
    """A terminal that remembers what it was sent."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return True

    @property
    def sent(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


class Nothing:
    """A crawl in which nothing is looked for."""

    def close(self) -> None:
        pass


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A crawl with one page that would rename, clear and colour a terminal."""
    page = replace(content("text/plain", "a\x1b]0;name\x07\x9b2Jb\tc\r\nd".encode()), notes=("it was \x1b[31m",))
    monkeypatch.setattr("evercrawl.model.stored.reader.opened", lambda _: Nothing())
    monkeypatch.setattr("evercrawl.ask.content.content", lambda *_: page)
    return ["get", page.url, "--dir", str(tmp_path)]


def test_a_page_cannot_make_a_terminal_do_things(hostile, monkeypatch):
    out, err = Terminal(), Terminal()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    for form in ([], ["--text"], ["--markdown"], ["--json"]):
        assert main([*hostile, *form]) == 0
    assert out.sent.count("a]0;name2Jb") == 4
    assert err.sent == "evercrawl: it was [31m\n" * 4
    assert not {*out.sent} & {"\x1b", "\x07", "\x9b", "\r"}
    assert "\t" in out.sent


def test_programs_and_files_get_a_page_as_it_is(hostile, tmp_path, capsysbinary):
    assert main([*hostile, "--raw"]) == 0
    assert main([*hostile, "--raw", "-o", str(tmp_path / "page")]) == 0
    assert b"a\x1b]0;name\x07" in capsysbinary.readouterr().out
    assert b"a\x1b]0;name\x07" in (tmp_path / "page").read_bytes()


def test_a_text_has_no_controls_for_programs_either(hostile, capsysbinary):
    assert main([*hostile, "--text"]) == 0
    assert b"a]0;name2Jb" in capsysbinary.readouterr().out


def test_without_readable_settings_a_page_is_shown_all_the_same(hostile, tmp_path, capsys):
    (tmp_path / "crawl.toml").write_text("[pace")
    assert main([*hostile, "--raw"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("a\x1b")
    assert "crawl.toml is not TOML" in err
    assert "the default settings are used instead" in err


def test_a_full_disk_is_exit_code_4_and_leaves_nothing(hostile, tmp_path):
    file = tmp_path / "page"
    limit = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (5, 5))"
    script = (
        "import signal, sys; from pathlib import Path; from evercrawl.store.disk.whole import atomic_file\n"
        "from evercrawl.cli import main; from evercrawl.cli.verbs.asking import get\n"
        f"signal.signal(signal.SIGXFSZ, signal.SIG_IGN); {limit}\n"
        "def run(args): get._put(args, b'0123456789', raw=True)\n"
        "get.run = run; sys.exit(main.main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *hostile, "-o", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert f"no room to write {file}: File too large; make room there, or name another file" in done.stderr
    assert not list(tmp_path.iterdir())
    assert main([*hostile, "-o", "/dev/full"]) == 4
    assert main([*hostile, "-o", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()


def test_a_file_that_cannot_be_written_is_about_the_file_and_not_the_crawl(hostile, tmp_path, capsys):
    name = str(tmp_path / "none" / "page.jsonl")
    told = f"cannot write {name}: No such file or directory; make its folder first, or name another file"
    with pytest.raises(StoreError, match=told), export_file.opened(Path(name), {}):
        pass
    assert main([*hostile, "-o", name]) == 3
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "question", [["get", "http://a.example/"], ["verify"], ["export", "links", "-o", "-"], ["status"]]
)
def test_questions_say_that_they_compile(tmp_path, capsys, monkeypatch, question):
    monkeypatch.setattr("evercrawl.kernels.missing", lambda: True)
    monkeypatch.setattr("evercrawl.kernels.warm", lambda _: True)
    assert main([*question, "--dir", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[0]) == ("", warm.MESSAGE)


def test_what_was_checked_agrees_with_its_count():
    found = Findings()
    found.count("archive segments")
    found.count("events", 1200)
    assert verify.lines(found)[:2] == ["checked 1 archive segment", "checked 1,200 events"]
    found.blame("known.bin is short")
    assert verify.lines(found)[-1] == "1 problem found"
    found.blame("urls.log is long")
    assert verify.lines(found)[-1] == "2 problems found"


def test_a_reader_that_leaves_early_is_no_trouble(crawled):
    command = f"{sys.executable} -m evercrawl export links -o - --dir {crawled} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, check=True, text=True)
    assert json.loads(done.stdout)["source"]
    assert done.stderr == ""


@pytest.mark.parametrize("words", ["changes", "changes --atom FILE", "export content -o FILE"])
def test_a_site_that_is_not_known_is_named(crawled, tmp_path, capsys, words):
    asked = words.replace("FILE", str(tmp_path / "file.jsonl")).split()
    assert main([*asked, "--site", "nosuch.example", "--dir", crawled]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "evercrawl: the crawl does not know nosuch.example; evercrawl top --sites lists those it knows best"
    assert not list(tmp_path.glob("file*"))


def test_status_tells_of_proxies_in_json(tmp_path, capsys):
    Partition(tmp_path, os.urandom, now=1e9).close()
    save(Config(proxy="http://127.0.0.1:9"), tmp_path)
    note_proxies(tmp_path, [ProxyHealth("http://127.0.0.1:9", 1, 2, 1e9, "refused")])
    assert main(["status", "--dir", str(tmp_path), "--json"]) == 0
    (health,) = json.loads(capsys.readouterr().out)["proxies"]
    assert (health["proxy"], health["failed"], health["why"]) == ("http://127.0.0.1:9", 2, "refused")
