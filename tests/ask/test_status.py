"""Where a crawl is."""

import numpy as np
import pytest

from evercrawl.ask.status import status
from evercrawl.cli.verbs.asking.status import rows
from evercrawl.config import Config
from evercrawl.errors import ConfigError
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.parse.html import MAX_TARGETS


def test_counts_are_those_of_what_was_done(filled):
    found = status(filled.directory)
    assert (found.known, found.never_fetched, found.visits, found.changes) == (11, 1, 12, 1)
    assert found.classes == {
        "ok": 3, "truncated": 1, "error": 1, "refused": 1, "redirect": 2, "duplicate": 1, "gone": 1
    }  # fmt: skip
    assert found.fetched == 5
    assert found.hosts == 1
    assert not found.running
    assert found.repairs == ()
    assert found.snapshot_at == pytest.approx(found.at, abs=60)


def test_copies_and_what_was_not_let_in_are_counted(made):
    made.limited(max_backlog_per_host=3)
    made.seed("http://example.org/")
    made.visit("http://example.org/", made.page("Home", "/a", "/b", "/c", "/d"))
    made.visit("http://example.org/a", made.page("A", text="one two"))
    made.visit("http://example.org/b", made.page("A", text="one  two"))
    made.stop()
    found = status(made.directory)
    assert (found.near_duplicates, found.soft_404) == (1, 0)
    assert found.refused_links == {"max_backlog_per_host": 2}
    assert {"near-duplicates", "max_backlog_per_host"} <= {name for name, _ in rows(found)}


def test_links_that_were_cut_are_counted_once_for_each_content(made):
    made.seed("http://example.org/")
    links = [f"/{i}" for i in range(MAX_TARGETS + 7)]
    for text in ("one", "one", "two"):
        made.visit("http://example.org/", made.page("Home", *links, text=text), etag=f'"{text}"')
    made.visit("http://example.org/", b"", 304, etag='"3"')
    made.save()  # the journal tells, without any snapshot
    found = status(made.directory)
    assert (found.snapshot_at, found.cut_links) == (None, 14)
    assert dict(rows(found))["cut"] == "14 links ignored, of pages with too many"


def test_bytes_are_those_of_the_files(filled):
    found = status(filled.directory)
    archives = list((filled.directory / "archive").glob("*.warc.gz"))
    assert found.archive_segments == len(archives) == 1
    assert found.archive_bytes == archives[0].stat().st_size
    assert found.journal_bytes == sum(path.stat().st_size for path in filled.directory.glob("journal-*"))


def test_who_is_at_it_is_told_while_it_runs(made):
    made.fill()
    made.save()
    found = status(made.directory)
    assert found.running
    assert found.holder is not None
    assert found.holder["purpose"] == "evercrawl crawl"
    assert (found.known, found.visits, found.snapshot_at) == (11, 12, None)


def test_what_is_not_acknowledged_is_not_told(made):
    made.seed("http://example.org/")
    made.save()
    made.visit("http://example.org/", made.page("Home"))
    assert status(made.directory).visits == 0


def test_a_host_left_alone_is_listed_until_then(made, monkeypatch):
    made.seed("http://example.org/")
    host = made.frontier.hosts[0]
    host.stay_away(4e9, "back-off")
    made.visit("http://example.org/", b"", 503)
    made.stop()
    assert status(made.directory).away == {"example.org": 4e9}


def test_what_the_next_start_would_mend_is_told(made):
    made.fill()
    made.save()
    made.visit("http://example.org/later", made.page("Later"))
    made.partition.archive.sync()
    made.partition.close()
    with next(made.directory.glob("journal-*")).open("ab") as journal:
        journal.write(b"torn")
    told = "\n".join(status(made.directory).repairs)
    assert "4 bytes of an interrupted write" in told
    assert "records that no acknowledged fetch names" in told


def test_a_folder_without_a_crawl_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="there is no crawl"):
        status(tmp_path)


def test_freshness_is_the_mean_over_copies_plain_and_weighted(filled):
    found, crawl = status(filled.directory), opened(filled.directory)
    view = View(crawl, Config(), found.at)
    slots = np.arange(view.state.known.count, dtype=np.uint32)
    fresh, weight = view.fresh(view.columns(slots)), view.importance
    crawl.close()
    held = ~np.isnan(fresh)
    assert np.count_nonzero(held) == found.fetched == 5
    assert found.fresh == pytest.approx(fresh[held].mean())
    assert found.fresh_by_importance == pytest.approx(np.average(fresh[held], weights=weight[held]))
    assert found.fresh != pytest.approx(found.fresh_by_importance, rel=0.01)


def test_without_a_copy_nothing_is_fresh(made):
    made.seed("http://example.org/")
    made.save()
    found = status(made.directory)
    assert (found.fresh, found.fresh_by_importance) == (None, None)
