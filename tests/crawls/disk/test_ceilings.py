"""What a partition cannot hold ends its crawl with a message; everything acknowledged before is intact."""

from functools import partial

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.errors import CeilingError
from evercrawl.parse.sites import found_site
from evercrawl.schedule.frontier import waiting_pages
from evercrawl.schedule.frontier.host_queues import HostQueues
from evercrawl.store import state
from evercrawl.store.partition import Partition
from evercrawl.store.quarantine import QUARANTINE_FILE
from evercrawl.store.records.records import Records
from evercrawl.store.table.table import Table

SEED = "http://h0.example/"
CEILINGS = {
    "hosts": (state, "MOST_HOSTS", 9, "as many hosts as it can have (9)"),
    "names": (state, "NAMES_BYTES", 90, "as many bytes of host names as it can have"),
    "visited pages": (state, "Records", partial(Records, 64), "as many visited pages as it can have (63)"),
    "URLs": (state, "Table", partial(Table, 4, 1), "the table is full with"),
    "queues": (waiting_pages, "HostQueues", partial(HostQueues, capacity=8), "as many hosts"),
}


@pytest.mark.parametrize("ceiling", CEILINGS)
def test_a_ceiling_is_reported_and_harms_nothing(run, monkeypatch, ceiling):
    world = run.World()
    count = {"URLs": 240, "visited pages": 80}.get(ceiling, 30)
    for n in range(count):
        links = [f"http://h{m}.example/" for m in range(n + 1, min(n + 3 + count // 20, count))]
        world.pages[f"http://h{n}.example/"] = world.html(*links)
    monkeypatch.setattr(*CEILINGS[ceiling][:-1])
    ran = run(world, [SEED], raises=False, scope="any", snapshot_every_s=1)
    assert isinstance(ran.error, CeilingError)
    assert CEILINGS[ceiling][-1] in str(ran.error)
    assert "begin a crawl with more partitions" in str(ran.error)
    assert not (run.directory / QUARANTINE_FILE).exists(), "no page is at fault"
    partition = Partition(run.directory, bytes, now=run.now, site=found_site)  # cuts off what no event names
    assert partition.state.visits > 3
    partition.close()
    assert verify(run.directory).wrong == []
    monkeypatch.undo()
    again = run(world, [SEED], scope="any")  # with room, it goes on
    assert again.error is None
    assert len({visit.slot for visit in again.visits}) == count
