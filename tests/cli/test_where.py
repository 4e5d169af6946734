"""Where the crawl is that a verb is about."""

import argparse

import pytest

from evercrawl.cli import where
from evercrawl.errors import ConfigError
from evercrawl.store.birth import FILE


def named(folder=None):
    return argparse.Namespace(dir=folder)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def crawl(folder):
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_text("{}")


SEEDS = ["https://example.org/a", "https://other.example/"]


def test_a_new_crawl_goes_into_an_empty_folder_else_below_it(here):
    assert str(where.for_seeds(named(), SEEDS)) == "."
    (here / "notes.txt").touch()
    assert str(where.for_seeds(named(), SEEDS)) == "example.org"
    (here / "example.org").mkdir()
    assert str(where.for_seeds(named(), SEEDS)) == "example.org"
    (here / "example.org" / "x").touch()
    with pytest.raises(ConfigError, match=r"example\.org exists and is not a crawl; name another"):
        where.for_seeds(named(), SEEDS)


def test_seeds_join_the_crawl_that_is_here_or_in_their_folder(here):
    (here / "notes.txt").touch()
    crawl(here / "example.org")
    assert str(where.for_seeds(named(), SEEDS)) == "example.org"
    crawl(here)
    assert str(where.for_seeds(named(), SEEDS)) == "."


def test_a_start_that_was_killed_at_once_goes_on_where_it_began(here):
    (here / "crawl.toml").touch()
    (here / "lock").touch()
    assert str(where.for_seeds(named(), SEEDS)) == "."


def test_a_verb_finds_the_only_crawl_below_and_names_several(here):
    assert str(where.directory(named())) == "."
    crawl(here / "one")
    (here / "else").mkdir()
    assert str(where.directory(named())) == "one"
    crawl(here / "two")
    with pytest.raises(ConfigError, match=r"2 crawls are in this folder \(one, two\); .* --dir one"):
        where.directory(named())
    crawl(here)
    assert str(where.directory(named())) == "."


def test_a_directory_that_is_named_is_taken_as_it_is(here):
    crawl(here / "one")
    assert str(where.directory(named("two"))) == "two"
    (here / "file").touch()
    with pytest.raises(ConfigError, match="--dir file is a file"):
        where.for_seeds(named("file"), SEEDS)
