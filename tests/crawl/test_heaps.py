"""Threads share the areas that memory comes from."""

import subprocess
import sys

PROGRAM = """
import threading
from pathlib import Path
from evercrawl.crawl.heaps import share_areas

told = share_areas()
kept, gate = [], threading.Barrier(17)

def take():
    kept.append([bytes(5000) for _ in range(20)])
    gate.wait()

threads = [threading.Thread(target=take) for _ in range(16)]
for thread in threads:
    thread.start()
gate.wait()
maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
starts = {int(line[0].split("-")[0], 16) for line in maps if len(line) == 5 and "rw" in line[1]}
print(told, sum(start % (64 << 20) == 0 for start in starts))
"""


def test_many_threads_make_no_area_each():
    told, areas = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    ).stdout.split()
    assert told == "False" or int(areas) <= 2
