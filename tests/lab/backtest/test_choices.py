"""Policies and their parameters are chosen by name, and what cannot be is said before anything is replayed."""

import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.setting import choices


def test_yardsticks_may_be_replayed_and_hyphens_are_no_matter():
    assert list(choices(["notices", "breadth-first", "breadth_first"])) == ["notices", "breadth_first"]


def test_a_bare_name_is_for_all_that_have_it():
    chosen = choices(["proportional", "lambda-crawl", "greedy"], ["new_share=0.25", "lambda-crawl.replan=0.5"])
    assert chosen == {"proportional": {"new_share": 0.25}, "lambda_crawl": {"new_share": 0.25, "replan": 0.5},
                      "greedy": {}}  # fmt: skip


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        (["no-such"], [], "choose one of: .*uniform"),
        ([], [], "name at least one policy: .*price"),
        (["greedy"], ["cycle=1"], "'cycle=1' is not a parameter of the policies replayed: greedy has none"),
        (["xyleme", "uniform"], ["price.x=1"], "for none of the policies replayed: xyleme, uniform"),
        (["xyleme"], ["xyleme.cycel=1"], "did you mean cycle"),
        (["xyleme"], ["cycle=often"], "must be a number"),
        (["tianwang"], ["new_percent=120"], "from 0 to 100"),
    ],
)
def test_what_cannot_be_is_told(names, options, said):
    with pytest.raises(ConfigError, match=said):
        choices(names, options)
