"""What people write where a history is asked for."""

import shutil

import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.histories import find, load, shipped
from evercrawl.lab.histories.find import SHIPPED


@pytest.fixture
def folder(tmp_path):
    """Return a folder of two histories, one without links."""
    for name in ("peps", "ota-contrib"):
        for file in SHIPPED.glob(f"{name}.*"):
            shutil.copy(file, tmp_path / file.name.replace("peps", "v1.2"))
    return tmp_path


@pytest.mark.parametrize("word", ["v1.2", "v1.2.events.parquet", "v1.2.pages.parquet", "v1.2.links.parquet"])
def test_one_is_named_by_its_stem_or_any_of_its_files(folder, word):
    assert find(str(folder / word)) == [folder / "v1.2"]


def test_a_folder_means_all_that_are_in_it_and_each_is_there_once(folder):
    assert find(str(folder / "v1.2"), str(folder)) == [folder / "v1.2", folder / "ota-contrib"]


def test_a_shipped_name_comes_before_a_folder_of_that_name(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    folder.rename(folder.with_name("peps"))
    assert find("peps") == [SHIPPED / "peps"]
    assert [path.name for path in find("./peps")] == ["ota-contrib", "v1.2"]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("{}/pep", "one of those that come with evercrawl: ota-contrib, peps; in {} there is ota-contrib, v1.2"),
        ("{}/none/peps", "there is no history {}/none/peps: write FOLDER/NAME"),
        ("{}/empty", "in {}/empty is neither a crawl nor a history (NAME.events.parquet)"),
        ("nothing", "there is no history nothing"),
    ],
)
def test_what_means_nothing_is_told_with_what_there_is(folder, word, says):
    (folder / "empty").mkdir()
    with pytest.raises(ConfigError) as caught:
        find(word.format(folder))
    assert says.replace("{}", str(folder)) in str(caught.value)


def test_what_ships_is_whole_and_starts_when_its_readme_says():
    peps, terms = load("peps", "ota-contrib")
    assert [history.name for history in (peps, terms)] == ["peps", "ota-contrib"]
    assert (len(peps), int((peps.op == 1).sum()), len(peps.links)) == (738, 15_125, 2_337)
    assert (len(terms), int((terms.op == 1).sum()), len(terms.links)) == (712, 18_634, 0)
    assert int(terms.at.min()) == 1_609_459_200
    readme = (SHIPPED / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme for name in shipped())
