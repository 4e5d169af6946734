"""Rates of change of pages, learned from visits, and quantities that follow from them.

Existence of pages: `deaths` (how fast pages vanish), `comebacks` (how fast they come back), `vanishing` (what a visit
teaches about both).

State of copies: `expectations` (freshness and age by the order of visits), `copies` (the same from a record).

Estimators of a page's rate of change. Each is an `Estimator` for many pages in a file of its own; policies that
allocate visits can be configured with one by its name (`--policy-option estimator=NAME`):

- `naive`: changes found divided by elapsed time; misses further changes between two visits.
- `log`: the logarithm of the share of unchanged visits; infinite if there was none.
- `log_corrected`: the same with half a visit added; for even intervals.
- `log_exact`: the same with a constant that removes the first-order bias.
- `irregular`: the maximum-likelihood rate, for any intervals.
- `last_modified`: uses the date of the last change that the server gives.
- `classes`: Bayesian, with a few rate classes.
- `posterior`: Bayesian, with a Gamma distributed rate; `gamma` holds its steps, `prior` learns it by site.
- `online_counts`, `online_steps`, `online_momentum`: one step per visit, for visits at random moments.

Properties of changes: `extent` (how much of a page is new), `shingles` (the runs of words used for this), `longevity`
(how much of the new content stays, and which pages alternate between versions), `locality` and `bursts` (whether
changes cluster on sites and in time), `dates` (which dates to trust). `quality`: the future popularity of a page.
"""

from evercrawl.change import estimators
from evercrawl.change.estimators.base import Estimator
from evercrawl.change.prior import SitePriors

__all__ = ["Estimator", "SitePriors", "estimators"]
