"""Folders in which second copies may be written: those of the crawl, new ones, and those that a kill left half made."""

import pytest

from evercrawl.cluster.birth import ClusterBirth, write_birth
from evercrawl.cluster.copies.own_copies import may_have_copies

BIRTH = ClusterBirth(1, "crawl", 2, "00" * 16, 0)


@pytest.mark.parametrize(
    ("names", "may"),
    [
        ([], True),
        (["lost+found/"], True),
        (["cluster.json.tmp", "crawl.toml.tmp"], True),
        (["part-0/", "part-0.lock"], True),
        (["cluster.json.tmp", "letters.txt"], False),
        (["crawl.toml"], False),
    ],
)
def test_a_folder_is_new_if_it_has_but_parts_of_copies(tmp_path, names, may):
    for name in names:
        if name.endswith("/"):
            (tmp_path / name).mkdir()
        else:
            (tmp_path / name).write_text("{")
    assert may_have_copies(tmp_path, BIRTH) is may


def test_a_folder_of_another_crawl_is_none(tmp_path):
    write_birth(tmp_path, ClusterBirth(1, "crawl", 2, "11" * 16, 0))
    assert not may_have_copies(tmp_path, BIRTH)
    (tmp_path / "file").write_text("")
    assert not may_have_copies(tmp_path / "file", BIRTH)
