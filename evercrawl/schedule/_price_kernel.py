"""The price policy's inner loops, compiled; `index` has the same in numpy, to be read."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view

_SMALL: Final = 0.01
_STEPS: Final = 40
_FLOATS: Final = pointer(np.float64)


@compiled
def _log1p(x: float) -> float:
    whole = 1.0 + x  # what is lost here is made good by the quotient
    return x if whole == 1.0 else math.log(whole) * x / (whole - 1.0)


@compiled
def _root(x: float) -> float:
    return math.exp(0.5 * math.log(x))


@compiled
def _parts(a: float, b: float, t: float, theta: float) -> tuple[float, float, float, float]:
    """Return what an age is worth and what makes it dear, for a weight of 1, and by how much both grow a second."""
    x = t / b
    length = _log1p(x)
    fresh_yet = math.exp(-a * length)
    density = a * fresh_yet / (b + t)
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
    return worth, dear, (1.0 - theta) * t * density + theta * (1.0 - fresh_yet), (a + 1.0) * t * density / (b + t)


@entry(i64, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, i64, f64, f64, f64, f64, _FLOATS)
def values(
    visited_at: Any, weight: Any, shape: Any, scale: Any, cost: Any, changed: Any, notice: Any, n: int,
    now: float, patience: float, theta: float, theta_new: float, out: Any,
) -> int:  # fmt: skip
    """Write what visits at `now` are worth; a page never visited has the age `patience`, and costs both.

    The surer its rate, the longer it has waited for a copy that will be good for some time: of a page that is known to
    change seldom there is none, however little it would be worth another visit after `patience`.
    """
    at, w, a, b = view(visited_at, n), view(weight, n), view(shape, n), view(scale, n)
    c0, c1, seen, to = view(cost, n), view(changed, n), view(notice, n), view(out, n)
    for i in range(n):
        if math.isnan(at[i]):
            fresh, _, _, _ = _parts(a[i], b[i], patience * max(a[i], 1.0), 0.0)
            harmonic, _, _, _ = _parts(a[i], b[i], patience, 1.0)
            to[i] = w[i] * ((1.0 - theta_new) * fresh + theta_new * harmonic) / (c0[i] + c1[i])
        else:
            worth, dear, _, _ = _parts(a[i], b[i], max(now - at[i], 0.0) + seen[i] * b[i] / a[i], theta)
            to[i] = w[i] * worth / (c0[i] + c1[i] * dear)
    return 0


@compiled
def _after(
    w: float, a: float, b: float, c0: float, c1: float, price: float, theta: float, longing: float, never: float,
    close: float,
) -> float:  # fmt: skip
    """Return the age at which a visit is worth the price: Newton in logarithms, kept between bounds."""
    if not w > 0.0:
        return np.inf
    start = _root(2.0 * price * c0 / (a * b * w))  # as far as the first term of the series goes, and the second
    low, high, age = 0.0, np.inf, min(b * start * (1.0 + (a + 1.0) * start / 3.0), never)
    for _ in range(_STEPS):
        worth, dear, more, dearer = _parts(a, b, age, theta)
        worth, more = worth + longing * age, more + longing
        earned, asked = w * worth, price * (c0 + c1 * dear)
        if earned < asked:
            low = age
            if age >= never:
                return np.inf
        else:
            high = age
        slope = age * (w * more / earned - price * c1 * dearer / asked) if earned > 0.0 else 0.0
        following = min(age * math.exp(math.log(asked / earned) / slope), never) if slope > 0.0 else 0.0
        if abs(following - age) <= close * age:  # the next step would be about the square of this one
            return following
        if not low < following < high:
            following = (
                _root(low * high) if low > 0.0 and high < np.inf else (high / 16.0 if low == 0.0 else low * 16.0)
            )
        age = min(following, never)
    return age


@entry(i64, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, i64, f64, f64, f64, f64, f64, _FLOATS)
def due(
    visited_at: Any, weight: Any, shape: Any, scale: Any, cost: Any, changed: Any, notice: Any, n: int,
    price: float, theta: float, longing: float, never: float, close: float, out: Any,
) -> int:  # fmt: skip
    """Write the instants at which visited pages are worth the price; infinity for never.

    By a second's age a page is worth `longing` more, times its weight, however it changes.
    """
    at, w, a, b = view(visited_at, n), view(weight, n), view(shape, n), view(scale, n)
    c0, c1, seen, to = view(cost, n), view(changed, n), view(notice, n), view(out, n)
    for i in range(n):
        age = _after(w[i], a[i], b[i], c0[i], c1[i], price, theta, longing, never, close)
        to[i] = at[i] + max(age - seen[i] * b[i] / a[i], 0.0)
    return 0


@entry(f64, _FLOATS, i64, f64, i64, f64, f64)
def follow(values: Any, n: int, price: float, before: int, step: float, surprise: float) -> float:
    """Return the price after visits of those values, `before` others having been made."""
    logarithm, of = math.log(price), view(values, n)
    for i in range(n):
        off = math.log(max(of[i], 1e-300)) - logarithm
        logarithm += max(step, 1.0 / (before + i + 1)) * min(max(off, -surprise), surprise)
    return math.exp(logarithm)
