"""The worth of an age, and the age worth the price, compiled; `index` is the readable version in numpy."""

import math
from typing import Final

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.schedule.clocks._chances import log1p

_SMALL: Final = 0.01
_STEPS: Final = 40
_SILENT: Final = 1e-6  # fraction of all changes that counts as none


@compiled
def parts(a: float, b: float, t: float, theta: float) -> tuple[float, float, float, float]:
    """Return the worth and the probability of extra cost of an age for weight 1, and their derivatives by time."""
    x = t / b
    length = log1p(x)
    fresh_yet = math.exp(-a * length)
    per_s = 1.0 / (b + t)
    density = a * fresh_yet * per_s
    dear = max(1.0 - fresh_yet - t * density, 0.0)
    if (a + 1.0) * x < _SMALL:
        fresh, harmonic, term = 0.0, 0.0, a * b * x * x
        for k in range(6):
            fresh += term / (k + 2)
            harmonic += term / ((k + 1) * (k + 2))
            term *= -(a + 1.0 + k) / (k + 1) * x
    else:
        z = (a - 1.0) * length
        if abs(z) < 0.01:
            whole = b * length * (1.0 - z / 2 * (1.0 - z / 3 * (1.0 - z / 4 * (1.0 - z / 5 * (1.0 - z / 6)))))
        else:
            whole = (b - (b + t) * fresh_yet) / (a - 1.0)
        fresh, harmonic = whole - t * fresh_yet, t - whole
    worth = (1.0 - theta) * fresh + theta * harmonic
    return worth, dear, (1.0 - theta) * t * density + theta * (1.0 - fresh_yet), (a + 1.0) * t * density * per_s


@compiled
def heard(a: float, b: float, t: float, theta: float, rho: float) -> tuple[float, float, float, float]:
    """Return `parts` if a fraction of all changes is announced and none was announced; see `index.heard`."""
    if rho < _SILENT:
        return parts(a, b, t, theta)
    silent, by_now = (1.0 - rho) * t, b + rho * t  # as if only unannounced changes had been possible
    all_fresh, _, _, _ = parts(a, by_now, t, 0.0)
    all_harmonic, _, _, _ = parts(a, by_now, t, 1.0)
    fresh, _, _, _ = parts(a, by_now, silent, 0.0)
    harmonic, _, _, _ = parts(a, by_now, silent, 1.0)
    s, of_all = math.exp(-a * log1p(silent / by_now)), math.exp(-a * log1p(t / by_now))
    worth = ((1.0 - rho) * all_harmonic - harmonic) / rho
    grows = (1.0 - rho) * (s - of_all) / rho + (fresh - (1.0 - rho) * all_fresh) / by_now
    s_falls = a * s * (1.0 / (b + t) - rho / by_now)
    of_all_falls = a * of_all * ((1.0 + rho) / (by_now + t) - rho / by_now)
    dear, dearer = 1.0 - of_all - (s - of_all) / rho, of_all_falls + (s_falls - of_all_falls) / rho
    if theta > 0.0:
        plain, _, plain_grows, _ = parts(a, b, t, 1.0)
        worth, grows = (1.0 - theta) * worth + theta * plain, (1.0 - theta) * grows + theta * plain_grows
    return max(worth, 0.0), max(dear, 0.0), max(grows, 0.0), max(dearer, 0.0)


@compiled
def announced(
    a: float, b: float, t: float, theta: float, rho: float, kappa: float
) -> tuple[float, float, float, float]:
    """Return `parts` for a page with an announced change; see `index.announced`."""
    rho = min(max(rho, _SILENT), 1.0 - _SILENT)
    by_now, level = b + rho * t, kappa / (1.0 - rho)
    doubt, both = math.exp(-kappa), math.exp(-level)  # P(no change | announcement); the same including silent changes
    silent = (1.0 - rho) * t
    slower, faster = 1.0 / (b + t) - rho / by_now, (1.0 + rho) / (by_now + t) - rho / by_now
    s, of_all = math.exp(-a * log1p(silent / by_now)), math.exp(-a * log1p(t / by_now))
    part = 1.0 - both * of_all - (doubt * s - both * of_all) / rho
    of_all_falls, s_falls = a * both * of_all * faster, a * doubt * s * slower
    worth = by_now / a * part
    grows = rho / a * part + by_now / a * (of_all_falls + (s_falls - of_all_falls) / rho)
    s, of_all = s * by_now / (by_now + silent), of_all * by_now / (by_now + t)
    dear = 1.0 - both * of_all - (doubt * s - both * of_all) / rho
    of_all_falls, s_falls = (a + 1.0) * both * of_all * faster, (a + 1.0) * doubt * s * slower
    dearer = of_all_falls + (s_falls - of_all_falls) / rho
    if theta > 0.0:
        plain, _, plain_grows, _ = parts(a, b, t + kappa * b / a, 1.0)
        worth, grows = (1.0 - theta) * worth + theta * plain, (1.0 - theta) * grows + theta * plain_grows
    return max(worth, 0.0), max(dear, 0.0), max(grows, 0.0), max(dearer, 0.0)


@compiled
def due_after(
    w: float, a: float, b: float, c0: float, c1: float, price: float, theta: float, longing: float, never: float,
    close: float, rho: float, kappa: float,
) -> float:  # fmt: skip
    """Return the age at which a visit is worth the price, by bracketed Newton steps in logarithms."""
    if not w > 0.0:
        return np.inf
    if kappa > 0.0:
        worth, dear, _, _ = announced(a, b, 0.0, theta, rho, kappa)
        if w * worth >= price * (c0 + c1 * dear):
            return 0.0
    start: float = (2.0 * price * c0 / (a * b * w)) ** 0.5  # from two terms of the series
    following: float
    low, high, age = 0.0, np.inf, min(b * start * (1.0 + (a + 1.0) * start / 3.0), never)
    for _ in range(_STEPS):
        if kappa > 0.0:
            worth, dear, more, dearer = announced(a, b, age, theta, rho, kappa)
        else:
            worth, dear, more, dearer = heard(a, b, age, theta, rho) if rho > 0.0 else parts(a, b, age, theta)
        worth, more = worth + longing * age, more + longing
        earned, asked = w * worth, price * (c0 + c1 * dear)
        if earned < asked:
            low = age
            if age >= never:
                return np.inf
        else:
            high = age
        slope = age * w * more / earned if earned > 0.0 else 0.0
        if c1 > 0.0 and earned > 0.0:
            slope -= age * price * c1 * dearer / asked
        following = min(age * math.exp(math.log(asked / earned) / slope), never) if slope > 0.0 else 0.0
        if abs(following - age) <= close * age:  # the next step would be about the square of this one
            return following
        if not low < following < high:
            following = (
                (low * high) ** 0.5 if low > 0.0 and high < np.inf else (high / 16.0 if low == 0.0 else low * 16.0)
            )
        age = min(following, never)
    return age
