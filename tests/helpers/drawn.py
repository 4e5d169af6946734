"""Further variants of what a test holds for some already: `make soak` runs them, `make test` does not."""

from collections.abc import Iterable
from typing import Any

import pytest


def in_soak(*variants: Any) -> list[Any]:
    """Return variants as parameters that `make soak` runs; a tuple is the values of several names."""
    return [
        pytest.param(*(variant if isinstance(variant, tuple) else (variant,)), marks=pytest.mark.soak)
        for variant in variants
    ]


def some_in_soak(variants: Iterable[Any], later: Iterable[Any]) -> list[Any]:
    """Return all variants in their order, those of `later` as `in_soak` does."""
    late = list(later)
    every = list(variants)
    assert [each for each in late if each not in every] == [], "name what there is"
    return [in_soak(each)[0] if each in late else each for each in every]
