"""How often pages change, learned from visits, and what follows from it.

Whether a page is there: `deaths` (how fast pages vanish), `comebacks` (how fast they come back).

What a copy is worth: `expectations` (freshness and age by the order of visits), `copies` (the same from a record).

Estimators of a page's rate of change, each an `Estimator` of many pages in a file of its own, by whose name policies
that allocate may be configured with one (`--policy-option estimator=NAME`):

- `naive`: changes found over time passed; misses what happens between two visits.
- `log`: the logarithm of the share of visits without a change; infinite where there was none.
- `log_corrected`: the same with half a visit added; for even intervals.
- `log_exact`: the same with exactly as much added as takes the bias away.
- `irregular`: the most likely rate, whatever the intervals.
- `last_modified`: with the date of the last change, as its server gives it.
- `classes`: Bayesian, a page being one of some kinds.
- `posterior`: Bayesian, the rate being of a Gamma distribution; `gamma` has its steps, `prior` learns it site by site.
- `online_counts`, `online_steps`, `online_momentum`: a step a visit, for visits at random moments; see `online`.

What a change is: `extent` (how much of a page is new), `shingles` (the runs of words that tell it), `longevity` (how
much of that stays, and which pages go to and fro), `locality` and `bursts` (whether changes come together, on sites and
in time), `dates` (whose word on them to take). `quality`: what a page's popularity will come to.
"""

from evercrawl.change import estimators
from evercrawl.change.estimators.base import Estimator
from evercrawl.change.prior import SitePriors

__all__ = ["Estimator", "SitePriors", "estimators"]
