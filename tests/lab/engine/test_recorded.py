"""A recorded link log, replayed."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

from evercrawl.errors import ConfigError
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.claims.ageing import PARTS, parts
from evercrawl.lab.engine.recorded import RecordedWeb
from evercrawl.simulate.graphs import Web


def log(seed=1, pages=60, entries=900):
    draw = np.random.default_rng(seed)
    source, target, present = draw.integers(pages, size=entries), draw.integers(pages, size=entries), []
    there = set()
    for pair in zip(source.tolist(), target.tolist(), strict=True):
        present.append(pair not in there)
        (there.discard if pair in there else there.add)(pair)
    return np.sort(draw.random(entries)) * 1e6, source, target, np.array(present), there


def quiet(line):
    assert line


def test_the_end_of_the_replay_is_the_end_of_the_log_and_rows_hold_what_stands_there():
    at, source, target, present, there = log()
    web = RecordedWeb(at, source, target, present, turns=5)
    before = web.now().links
    for _ in range(50):
        web.some_change(web.pages / 10)
    now, pairs = web.now(), sorted(pair for pair in there if pair[0] != pair[1])
    assert list(zip(now.source.tolist(), now.target.tolist(), strict=True)) == pairs
    assert now.links != before
    kept = web.out
    for page in range(web.pages):
        row = kept.target[kept.first[page] : kept.first[page] + kept.count[page]]
        assert row.tolist() == [target for source, target in pairs if source == page]


def test_error_is_told_by_size_and_push_is_there_too(tmp_path):
    at, source, target, present, _ = log(pages=120, entries=2500)
    file = tmp_path / "site.links.parquet"
    write_table(pa.table({"t": at.astype(int), "src": source, "dst": target, "present": present}), file)
    found = experiment("recorded_links").run(LabOptions(graph=file, turns=5), quiet)
    assert len(found.claims) == 6
    assert {"two windows", "interpolation, turns 4", "variable, measures 8"} <= {row["scheme"] for row in found.rows}
    assert found.panels[0].curves[-1].ours


def test_what_is_no_link_log_is_refused(tmp_path):
    made = experiment("recorded-links")
    with pytest.raises(ConfigError, match=r"name one, such as --graph SITE\.links\.parquet"):
        made.run(LabOptions(), quiet)
    file = tmp_path / "x.parquet"
    write_table(pa.table({"src": [1], "dst": [2]}), file)
    with pytest.raises(ConfigError, match="the columns t, src, dst and present"):
        made.run(LabOptions(graph=file), quiet)
    write_table(pa.table({"t": [2, 1], "src": [1, 1], "dst": [2, 3], "present": [True, True]}), file)
    with pytest.raises(ConfigError, match="in order of t"):
        made.run(LabOptions(graph=file), quiet)


def test_age_importance_and_in_degree_are_told_by_part_of_the_bow_tie(tmp_path):
    at, source, target, present, _ = log(pages=200, entries=2500)
    file = tmp_path / "site.links.parquet"
    write_table(pa.table({"t": at.astype(int), "src": source, "dst": target, "present": present}), file)
    found = experiment("ageing").run(LabOptions(graph=file), quiet)
    assert {"core", "out"} <= {row["part"] for row in found.rows} | {"out"}
    assert len({row["look"] for row in found.rows}) == 11
    assert len(found.claims) == 3
    core = [row for row in found.rows if row["part"] == "core" and row["look"] == 10]
    assert [row["quarter"] for row in core] == [0, 1, 2, 3]
    ages = [row["age_days"] for row in core]
    assert ages == sorted(ages)
    with pytest.raises(ConfigError, match="name one"):
        experiment("ageing").run(LabOptions(), quiet)


def test_pages_are_sorted_into_the_bow_tie():
    ring = [(0, 1), (1, 2), (2, 0)]
    source, target = np.array([*ring, (3, 0), (2, 4), (5, 3), (6, 7)]).T
    named = [PARTS[part] for part in parts(Web.of(8, source, target))]
    assert named == ["core", "core", "core", "in", "out", "in", "other", "other"]
