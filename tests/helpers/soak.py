"""Parameters of a test that only `make soak` runs, because `make test` already runs it with others."""

from collections.abc import Iterable
from typing import Any

import pytest


def in_soak(*variants: Any) -> list[Any]:
    """Return parameters marked `soak`; a tuple has the values of several names."""
    return [
        pytest.param(*(variant if isinstance(variant, tuple) else (variant,)), marks=pytest.mark.soak)
        for variant in variants
    ]


def some_in_soak(variants: Iterable[Any], later: Iterable[Any]) -> list[Any]:
    """Return all variants in their order, with those of `later` marked `soak`."""
    late = list(later)
    every = list(variants)
    assert [each for each in late if each not in every] == [], "`later` has a variant that does not exist"
    return [in_soak(each)[0] if each in late else each for each in every]
