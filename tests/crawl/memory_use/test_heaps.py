"""Threads share the areas that memory comes from, and what nobody uses is given back."""

import subprocess
import sys

PROGRAM = """
import threading
from pathlib import Path
from evercrawl.crawl.memory_use.heaps import share_areas

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


GIVEN = """
import re
from pathlib import Path
import numpy as np
from evercrawl.arrays.numbering import Numbering
from evercrawl.crawl.memory_use.heaps import give_back

def resident(what):
    found = re.findall("^[0-9a-f]+-.*?^Rss: +([0-9]+)", Path("/proc/self/smaps").read_text(), re.M | re.S)
    heads = re.findall("^[0-9a-f]+-[0-9a-f]+ .*", Path("/proc/self/smaps").read_text(), re.M)
    return sum(int(kib) for head, kib in zip(heads, found, strict=True) if what in head)

numbers = Numbering()
first = numbers.of(np.array([7, 9], np.uint64)).tolist()  # a kernel is linked
kept = [bytes(5000) for _ in range(6000)]
last = bytes(5000)
del kept[:-1]
heap, code = resident("[heap]"), resident("libllvmlite")
give_back()
again = numbers.of(np.array([9, 7], np.uint64)).tolist()
print(heap, resident("[heap]"), code, resident("libllvmlite"), first, again, sep=";")
"""


def test_freed_memory_and_the_linker_are_given_back():
    told = subprocess.run([sys.executable, "-c", GIVEN], check=True, capture_output=True, text=True).stdout
    heap, heap_after, code, code_after, first, again = told.strip().split(";")
    assert int(heap) - int(heap_after) > 20_000  # KiB, of 30 MB that were freed below what was allocated last
    assert int(code) == 0 or int(code_after) < int(code) / 4  # kernels may have come with the wheel
    assert (first, again) == ("[0, 1]", "[1, 0]")
