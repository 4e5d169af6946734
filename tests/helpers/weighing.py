"""What the pages of a crawl made by hand are worth, by what people did."""

from typing import Any

import numpy as np

from evercrawl.importance.base import Importance
from evercrawl.importance.push import Push
from evercrawl.model.columns import Columns
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.rates import priors_of
from evercrawl.model.worth.choice import weight_of
from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.model.worth.weights import Weight
from evercrawl.types import Floats, Slots

SITE = "http://example.org"


def columns(made: Any, weight: Weight | None = None, scheme: Importance | None = None) -> Columns:
    """Return what policies are told of its pages."""
    return Columns(
        made.state,
        scheme or Push(),
        priors_of(made.state),
        AnnouncedDates(made.state.accounts),
        in_bytes=False,
        weight=weight,
    )


def every(made: Any) -> Slots:
    """Return the slots of all its pages."""
    return np.arange(made.state.known.count, dtype=np.uint32)


def worth(made: Any, name: str) -> Floats:
    """Return what its pages are worth by a weight, shape (n,)."""
    return columns(made, weight_of(name, made.partition))(every(made)).importance


def importance(made: Any) -> Floats:
    """Return what they are worth without one, shape (n,)."""
    return columns(made)(every(made)).importance


def tell(made: Any, *questions: Question) -> None:
    """Tell what people asked, were shown and opened."""
    UsageWriter(made.directory).add(questions, once=False)


def url(i: int) -> str:
    """Return the URL of one of its pages."""
    return f"{SITE}/{i}"
