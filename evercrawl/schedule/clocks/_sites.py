"""Statistics of a site and of the crawl, compiled: factors, the spread of rates, and the choice of the model."""

import math
from typing import Any, Final

from evercrawl.kernels.build import compiled
from evercrawl.schedule.clocks._chances import likelihood, within
from evercrawl.schedule.clocks._layout import (
    ALL_BELIEVED,
    ALL_CHANGES,
    ALL_EXPECTED,
    ALL_FOUND,
    ALL_GAIN,
    ALL_PLAIN_CHANGES,
    ALL_PLAIN_WAITED,
    ALL_SITES,
    ALL_VISITS,
    ALL_WAITED,
    BELIEVED,
    BELIEVED_SITES,
    CHANGES,
    CLOCK,
    COUNTED,
    EXCESS,
    EXPECTED,
    FACTOR,
    FIRST_GAP,
    FOUND,
    FULL,
    GAIN,
    GAIN_MOST,
    GAINED,
    ODDS,
    PARTS,
    PLAIN_CHANGES,
    PLAIN_WAITED,
    RATE,
    RENEWED,
    SETTLED,
    SHAPE,
    SHARE,
    SPREAD,
    SURPRISE,
    SURPRISE_VARIES,
    TIME,
    WAITED,
    WIDTH,
)
from evercrawl.schedule.clocks._rings import bin_of

GAPS: Final = 3.0  # weight of the mean rate of the next wider group, in changes
PLAIN_SHAPE: Final = 0.4
_FIRST_PARTS: Final = (0.2, 0.8, 1.0, 1.0, 1.0, 1.0)
_PRIOR: Final = 20.0  # weight of the prior of a factor, in changes
_MOST_ODDS: Final = 700.0
_SURE: Final = 30.0  # maximum logarithm: exp of more makes no difference
_FIRST_EXCESS: Final = 50.0
_FIRST_SPREAD: Final = 30.0
_SHAPES: Final = (0.15, 6.0)


@compiled
def renew_site(site: Any, now: float, s: Any) -> None:
    """Compute a site's shape, rate and factors from its sums, once per bin."""
    middle = (bin_of(now, s[WIDTH]) + 0.5) * s[WIDTH]  # differs from the middles of wider or narrower bins
    if site[RENEWED] == middle:
        return
    site[RENEWED] = middle
    over, under = site[SPREAD] + _FIRST_SPREAD, site[EXCESS] + _FIRST_EXCESS
    site[SHAPE] = within(over / under, _SHAPES[0], _SHAPES[1]) if under > 0.0 else _SHAPES[1]
    everywhere = (s[ALL_CHANGES] + 1.0) / (s[ALL_WAITED] + s[FIRST_GAP])
    site[RATE] = (site[CHANGES] + GAPS) / (site[WAITED] + GAPS / everywhere)
    _renew_factors(site, s)


@compiled
def _renew_factors(site: Any, s: Any) -> None:
    for part in range(PARTS):
        usual = (s[ALL_FOUND + part] + _PRIOR) / (s[ALL_EXPECTED + part] + _PRIOR / _FIRST_PARTS[part])
        site[FULL + part] = (site[FOUND + part] + _PRIOR) / (site[EXPECTED + part] + _PRIOR / usual)
    both = site[FULL + TIME] + site[FULL + CLOCK]  # a unit of time is one on average, on either clock
    site[FULL + TIME] /= both
    site[FULL + CLOCK] /= both
    for part in range(CLOCK, PARTS):
        gain = within(_everywhere(s[ALL_GAIN + part], s) + site[GAIN + part], -_SURE, _SURE)
        site[FACTOR + part] = site[FULL + part] / (1.0 + math.exp(-gain))
    site[FACTOR + TIME] = 1.0 - site[FACTOR + CLOCK]


@compiled
def _everywhere(gain: float, s: Any) -> float:
    """Return the weight of a gain of the whole crawl on each site."""
    return within(GAINED * gain / max(s[ALL_VISITS], GAINED), -GAIN_MOST, GAIN_MOST)


@compiled
def _usual_odds(site: Any, s: Any) -> float:
    """Return the prior logarithm of the odds that clocks are right on a site, from all other sites."""
    others = s[ALL_SITES] - (1.0 if site[COUNTED] > 0.0 else 0.0)
    usual = (s[ALL_BELIEVED] - site[COUNTED] + BELIEVED * BELIEVED_SITES) / (others + BELIEVED_SITES)
    usual = within(usual, SHARE, 1.0 - SHARE)
    return math.log(usual / (1.0 - usual))


@compiled
def believed(site: Any, s: Any) -> float:
    """Return the probability that clocks predict a site's changes better than time alone."""
    return 1.0 / (1.0 + math.exp(-within(site[ODDS] + _usual_odds(site, s), -_MOST_ODDS, _MOST_ODDS)))


@compiled
def consulted(page: Any, site: Any, s: Any) -> float:
    """Return the result of `believed`, `settled`; 0 if no change was found yet.

    Without changes, clocks would only reflect the prior interval between changes.
    """
    return settled(believed(site, s)) if site[CHANGES] > 0.0 or page.changed_at > 0.0 else 0.0


@compiled
def settled(probability: float) -> float:
    """Return a probability, replaced by 0 or 1 if it is close enough."""
    return 0.0 if probability < SETTLED else 1.0 if probability > 1.0 - SETTLED else probability


@compiled
def plain(page: Any, site: Any, s: Any) -> tuple[float, float]:
    """Return shape and scale of a page's rate by time alone."""
    everywhere = (s[ALL_PLAIN_CHANGES] + 1.0) / (s[ALL_PLAIN_WAITED] + s[FIRST_GAP])
    rate = (site[PLAIN_CHANGES] + GAPS) / (site[PLAIN_WAITED] + GAPS / everywhere)
    return PLAIN_SHAPE + page.plain_changes, PLAIN_SHAPE / rate + page.plain_waited_s


@compiled
def note_part(part: int, share: float, rate: float, caused: float, site: Any, s: Any) -> None:
    """Record the changes that a part of the exposure predicted, and those that it caused."""
    site[FOUND + part] += caused
    site[EXPECTED + part] += rate * share
    s[ALL_FOUND + part] += caused
    s[ALL_EXPECTED + part] += rate * share


@compiled
def note_gain(
    part: int, share: float, shape: float, scale: float, exposure: float, changed: bool, site: Any, s: Any
) -> None:
    """Record by how much a part increases the log-likelihood of a result."""
    without = exposure - site[FACTOR + part] * share
    entire = without + site[FULL + part] * share
    gain = likelihood(shape, scale, entire, changed) - likelihood(shape, scale, without, changed)
    site[GAIN + part] += gain - SHARE * site[GAIN + part]
    s[ALL_GAIN + part] += gain


@compiled
def note_odds(better: float, site: Any, s: Any) -> None:
    """Record by how much clocks increased the log-likelihood over time alone; a fraction returns to the prior."""
    usual = _usual_odds(site, s)
    after = 1.0 / (1.0 + math.exp(-within(site[ODDS] + usual + better, -_SURE, _SURE)))
    after += SHARE * (1.0 / (1.0 + math.exp(-usual)) - after)
    site[ODDS] = math.log(after / (1.0 - after)) - usual
    s[ALL_SITES] += 0.0 if site[COUNTED] > 0.0 else 1.0
    s[ALL_BELIEVED] += after - site[COUNTED]
    site[COUNTED] = after


@compiled
def note_surprise(foretold: float, changed: bool, s: Any) -> None:
    """Record the recent excess of changes over predictions, and its variance."""
    s[SURPRISE] = max(s[SURPRISE] + changed - foretold, 0.0)
    s[SURPRISE_VARIES] += foretold * (1.0 - foretold)


@compiled
def note_lengths(changed: bool, on_clock: float, plainly: float, folder: Any, site: Any, s: Any) -> None:
    """Record whether a visit found a change, and how long the page had lasted, on its clock and in seconds."""
    folder.changes += changed
    folder.waited_s += on_clock
    site[CHANGES] += changed
    site[WAITED] += on_clock
    site[PLAIN_CHANGES] += changed
    site[PLAIN_WAITED] += plainly
    s[ALL_CHANGES] += changed
    s[ALL_WAITED] += on_clock
    s[ALL_PLAIN_CHANGES] += changed
    s[ALL_PLAIN_WAITED] += plainly
