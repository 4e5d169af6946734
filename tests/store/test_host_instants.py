"""Instants by host: as a dict has them, and as bytes."""

import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.store.host_instants import HostInstants


@given(st.dictionaries(st.integers(0, 5000), st.floats(0.5, 4e9)))
def test_they_are_as_a_dict_has_them(wanted):
    made = HostInstants(wanted)
    assert made == wanted
    assert len(made) == len(wanted)
    assert list(made.items()) == sorted(wanted.items())
    assert repr(made) == repr(dict(sorted(wanted.items())))
    assert HostInstants.unpacked(made.packed()) == wanted


def test_a_host_without_one():
    made = HostInstants({3: 5.0})
    made[3] = 6.0
    assert (made.get(3), made.get(2), made.get(900, 1.0), 4 in made) == (6.0, None, 1.0, False)
    with pytest.raises(KeyError):
        made[-1]
    with pytest.raises(ValueError, match="size"):
        HostInstants.unpacked(b"1234567")


def test_they_are_packed_while_others_are_set():
    made = HostInstants(dict.fromkeys(range(0, 1000000, 1000), 1.0))
    made[3_000_000] = 1.0
    done = threading.Event()

    def packing() -> None:
        try:
            for _ in range(15):
                sizes.append(len(made.packed()))
        finally:
            done.set()

    sizes, thread = list[int](), threading.Thread(target=packing)
    thread.start()
    for host in itertools.count(1):
        if done.is_set():
            break
        made[host] = 1.0
    thread.join()
    assert len(sizes) == 15
    assert sizes == sorted(sizes)
