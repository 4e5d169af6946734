"""Instants by host: as a dict has them, and as bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.store.host_instants import HostInstants


@given(st.dictionaries(st.integers(0, 5000), st.floats(0.5, 4e9)))
def test_they_are_as_a_dict_has_them(wanted):
    made = HostInstants(wanted)
    assert made == wanted
    assert len(made) == len(wanted)
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
