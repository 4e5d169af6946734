"""Webs are drawn as they were asked for, and read from files of links."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.base import LabOptions
from evercrawl.lab.papers.webs import KINDS, read, web_of


def write(path, columns):
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_at_the_size_asked_for(kind):
    assert web_of(LabOptions(pages=300, kind=kind), 1000).pages == 300
    assert web_of(LabOptions(kind=kind), 400).pages == 400


def test_links_are_read_once_each(tmp_path):
    path = write(tmp_path / "g.parquet", {"src": [0, 0, 3, 1, 1], "dst": [1, 1, 0, 1, 2]})
    web = read(path)
    assert web.pages == 4
    assert list(zip(web.source.tolist(), web.target.tolist(), strict=True)) == [(0, 1), (1, 2), (3, 0)]
    assert web_of(LabOptions(pages=9, graph=path), 1000).pages == 4


def test_pages_without_links_are_known_from_the_file_beside(tmp_path):
    path = write(tmp_path / "g.edges.parquet", {"src": [0], "dst": [1]})
    assert read(path).pages == 2
    write(tmp_path / "g.nodes.parquet", {"page": ["a", "b", "c"]})
    assert read(path).pages == 3


@pytest.mark.parametrize("columns", [{"src": [1]}, {"src": [0], "dst": [-1]}, {"src": ["a"], "dst": ["b"]}])
def test_what_is_no_file_of_links_is_refused_by_name(tmp_path, columns):
    path = write(tmp_path / "bad.parquet", columns)
    with pytest.raises(ConfigError, match=r"bad\.parquet.*src and dst"):
        read(path)


def test_a_missing_file_and_what_is_no_parquet_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read(tmp_path / "missing.parquet")
    (tmp_path / "text.parquet").write_text("src,dst")
    with pytest.raises(ConfigError, match="cannot be read"):
        read(tmp_path / "text.parquet")


def test_unknown_kinds_and_tiny_webs_are_refused():
    with pytest.raises(ConfigError, match="copying"):
        web_of(LabOptions(kind="cubic"), 1000)
    with pytest.raises(ConfigError, match="at least 100"):
        web_of(LabOptions(pages=7), 1000)
