"""Returns to earlier versions are no changes; what is remembered is saved, and goes on."""

import numpy as np
import pytest

from evercrawl.schedule import Context, Pages, Price
from evercrawl.schedule.shared.earlier_versions import VERSIONS, EarlierVersions
from tests.helpers.touched import visits

DAY = 86_400.0


def told(versions: EarlierVersions, digests: list[int]) -> list[bool]:
    """Return of each version of page 0 whether it is a return."""
    row, before, found = np.zeros(1, np.uint32), None, list[bool]()
    for digest in digests:
        changed = np.array([before is not None and digest != before])
        found.append(bool(versions.learn(row, np.array([digest], np.uint32), changed)[0]))
        before = digest
    return found


def test_the_last_four_versions_are_remembered():
    assert told(EarlierVersions(), [1, 2, 3, 4, 1]) == [False] * 4 + [True]
    assert told(EarlierVersions(), [1, 2, 3, 4, 5, 1]) == [False] * 6
    assert told(EarlierVersions(), [1, 2, 1, 2, 3, 4, 1]) == [False, False, True, True, False, False, True]
    assert VERSIONS == 4


def test_what_is_seen_again_unchanged_is_no_return():
    versions = EarlierVersions()
    assert told(versions, [1, 1, 1, 2]) == [False] * 4
    assert versions.lasting(np.zeros(1, np.uint32)).tolist() == [1.0]


def seen(policy: Price, days: range, digest) -> None:
    for day in days:
        visit = visits([0, 1], DAY * day, DAY * (day - 1) if day else np.nan)
        digests = np.array([digest(day), 7], np.uint32)
        changed = np.array([day > 0 and digest(day) != digest(day - 1), False])
        policy.learn(type(visit)(**{name: getattr(visit, name) for name in visit.__dataclass_fields__}
                                 | {"changed": changed, "digest": digests}))  # fmt: skip


def pages() -> Pages:
    one, none = np.ones(2), np.zeros(2)
    return Pages(np.arange(2, dtype=np.uint32), 39 * DAY * one, one, none, 20 * one, 20 * DAY * one, one, none, none)


def test_a_page_that_goes_to_and_fro_is_as_good_as_one_that_stays():
    """Every day it is the other of two: by what lasts it has not changed since it was first seen as both."""
    flicker, alike = Price(flicker=1), Price()
    for policy in (flicker, alike):
        seen(policy, range(40), lambda day: 1 + day % 2)
    now = Context(44 * DAY)
    assert flicker.fresh(pages(), now)[0] > 0.6 > 0.2 > alike.fresh(pages(), now)[0]
    assert flicker.fresh(pages(), now)[1] == pytest.approx(alike.fresh(pages(), now)[1], abs=0.1)


def test_what_was_remembered_goes_on():
    one, other = Price(flicker=1), Price(flicker=1)
    seen(one, range(9), lambda day: 1 + day % 2)
    other.restore({name: np.array(rows) for name, rows in one.state().items()})
    assert (other.saved_rows()["versions"].all() == one.saved_rows()["versions"].all()).all()
    assert int(other.saved_rows()["versions"].all()["returns"][0]) == 7
    with pytest.raises(KeyError):
        other.restore(Price().state())
    with pytest.raises(ValueError, match="page versions have another format"):
        other.restore(one.state() | {"versions": np.zeros(3)})
    assert "versions" not in Price().state()
