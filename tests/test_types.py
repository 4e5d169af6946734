"""The nouns: numbers that are written to disk must never change their meaning."""

from evercrawl.types import Outcome


def test_outcomes_keep_their_numbers():
    assert {outcome.label: int(outcome) for outcome in Outcome} == {
        "ok": 1,
        "truncated": 2,
        "error": 3,
        "refused": 4,
        "redirect": 5,
        "duplicate": 6,
        "gone": 7,
    }
