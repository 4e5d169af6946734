"""Passwords in settings: said by reference, kept to their owner, and never printed."""

import asyncio
import os
import stat

import pytest

from evercrawl.cli.main import main
from evercrawl.config import Config, amend, load, save
from evercrawl.config.secrets import masked, revealed
from evercrawl.crawl import crawl
from evercrawl.errors import ConfigError
from evercrawl.progress import Limits

SECRET = "http://me:hunter2@127.0.0.1:9"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_settings_of_a_crawl_are_its_owners(tmp_path):
    before = os.umask(0)
    try:
        path = save(Config(proxy=SECRET), tmp_path)
        assert mode(path) == 0o600
        path.chmod(0o644)
        amend(tmp_path, {"delay_s": 3.0})
    finally:
        os.umask(before)
    assert mode(path) == 0o600
    assert load(path).proxy == SECRET


def test_a_file_with_a_password_that_others_could_read_is_closed_and_that_is_said(tmp_path):
    said = []
    for _ in range(2):
        asyncio.run(crawl(tmp_path, Config(proxy=SECRET), ["http://a.example/"], Limits(seconds=0.0), said.append))
        path = tmp_path / "crawl.toml"
        before = mode(path)
        path.chmod(0o644)
        assert before == 0o600
    assert any("could be read by others" in progress.message for progress in said)
    assert not any("hunter2" in progress.message for progress in said)


@pytest.mark.parametrize("value", ["http://me:hunter2@bad host/", "ftp://me:hunter2@x/"])
def test_what_is_wrong_is_said_without_the_password(tmp_path, capsys, value):
    assert main(["crawl", "http://a.example/", "--dir", str(tmp_path), "--proxy", value]) == 2
    said = capsys.readouterr()
    assert "***@" in said.err
    assert "hunter2" not in said.err + said.out


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("proxy", SECRET),
        ("proxy", "http://hunter2:hunter2@127.0.0.1:9"),
        ("webhook_url", "http://a/hunter2@127.0.0.1:9"),
    ],
)
def test_an_order_leaves_no_password_but_in_the_owners_files(tmp_path, capsys, name, value):
    run = ["--dir", str(tmp_path), "--quiet", "--seconds", "0.5"]
    main(["crawl", "http://127.0.0.1:9/", *run])
    for words in ([name, value], [name, f"{value} not"]):
        main(["set", *words, "--dir", str(tmp_path)])
    main(["crawl", *run])
    holders = {path for path in tmp_path.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()}
    assert tmp_path / "crawl.toml" in holders
    assert {mode(path) for path in holders} == {0o600}
    for verb in (["orders"], ["orders", "--json"], ["status", "--json"], ["verify"]):
        main([*verb, "--dir", str(tmp_path)])
    said = capsys.readouterr()
    assert "***@127.0.0.1:9" in said.out
    assert "hunter2" not in said.err + said.out


@pytest.mark.parametrize("value", ["http://me:hunter2/x@bad host/", "ftp://me:hun@hunter2@x/", "ftp://a/hunter2@x"])
def test_nor_is_it_said_whatever_characters_it_has(tmp_path, capsys, value):
    assert main(["crawl", "http://a.example/", "--dir", str(tmp_path), "--proxy", value]) == 2
    said = capsys.readouterr()
    assert "hunter2" not in said.err + said.out


def test_a_secret_may_lie_in_the_environment_or_in_a_file(tmp_path):
    assert revealed("env:P", "proxy", {"P": f"{SECRET}\n"}) == SECRET
    file = tmp_path / "proxy"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    assert load(flags={"proxy": f"file:{file}"}).proxy == f"file:{file}"
    assert revealed(f"file:{file}", "proxy") == SECRET
    file.chmod(0o640)
    with pytest.raises(ConfigError, match="others can read: run chmod 600"):
        revealed(f"file:{file}", "proxy")
    with pytest.raises(ConfigError, match="cannot be read"):
        revealed(f"file:{file}x", "proxy")
    with pytest.raises(ConfigError, match="the environment has no Q"):
        revealed("env:Q", "proxy", {})


def test_what_is_kept_elsewhere_has_to_be_a_proxy(tmp_path, monkeypatch):
    monkeypatch.setenv("P", "hunter2")
    with pytest.raises(ConfigError, match="env:P holds no proxy"):
        asyncio.run(crawl(tmp_path, Config(proxy="env:P"), ["http://a.example/"], Limits(seconds=0.0)))


def test_user_names_and_passwords_are_masked():
    assert (
        masked(f"a {SECRET}/x and http://b@c/ and http://d/@e")
        == "a http://***@127.0.0.1:9/x and http://***@c/ and http://d/@e"
    )
