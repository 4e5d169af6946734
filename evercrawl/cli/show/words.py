"""Rates, durations and shares as text."""

from typing import Final

_UNITS: Final = (
    ("years", 365.25 * 86_400.0),
    ("days", 86_400.0),
    ("hours", 3_600.0),
    ("minutes", 60.0),
    ("seconds", 1.0),
)
_LONGEST_S: Final = 1_000 * 365.25 * 86_400.0


def span(duration_s: float) -> str:
    """Return a duration in its largest unit, with about two digits.

    Examples
    --------
    >>> span(3 * 86_400), span(5_400), span(1), span(0.02), span(40 * 86_400)
    ('3 days', '1.5 hours', '1 second', '0.02 seconds', '40 days')
    """
    name, unit_s = next(((name, unit) for name, unit in _UNITS if duration_s >= unit), _UNITS[-1])
    count = duration_s / unit_s
    text = f"{count:.0f}" if count >= 10 else f"{count:.2g}"
    return f"{text} {name.removesuffix('s') if text == '1' else name}"


def ago(duration_s: float) -> str:
    """Return how long ago something was, or how long until it happens.

    Examples
    --------
    >>> ago(0.2), ago(120.0), ago(-7_200.0)
    ('just now', '2 minutes ago', 'in 2 hours')
    """
    if abs(duration_s) < 1:
        return "just now"
    return f"{span(duration_s)} ago" if duration_s > 0 else f"in {span(-duration_s)}"


def every(rate_per_s: float) -> str:
    """Return a rate of change as its mean interval.

    Examples
    --------
    >>> every(1 / (3 * 86_400)), every(1 / 3_600), every(2.0), every(0.0)
    ('every 3 days', 'every hour', 'every 0.5 seconds', 'hardly ever')
    """
    if rate_per_s * _LONGEST_S < 1:
        return "hardly ever"
    return f"every {span(1 / rate_per_s).removeprefix('1 ')}"


def percent(share: float | None) -> str:
    """Return a share or probability in percent; "-" if there is none.

    Examples
    --------
    >>> percent(0.934), percent(0.00123), percent(1.0), percent(0.9996), percent(0.0), percent(None)
    ('93 %', '0.12 %', '100 %', '99.96 %', '0 %', '-')
    >>> percent(0.9999998), percent(0.00000012)
    ('100 %', '1.2e-05 %')
    """
    if share is None:
        return "-"
    part = 100.0 * share
    near = min(abs(part), abs(100.0 - part))
    text = f"{part:.0f}" if near >= 1 else f"{part:.2f}" if abs(part) > 50 else f"{part:.2g}"
    return f"{text.removesuffix('.00')} %"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], left: frozenset[str] = frozenset()) -> list[str]:
    """Return the lines of a table; columns named in `left` are left-aligned, others right-aligned.

    Examples
    --------
    >>> table(("n", "url"), [("1", "http://a/"), ("10", "http://b/")], frozenset({"url"}))
    [' n  url', ' 1  http://a/', '10  http://b/']
    """
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines: list[str] = []
    for row in (head, *rows):
        cells = (
            text.ljust(width) if name in left else text.rjust(width)
            for name, text, width in zip(head, row, widths, strict=True)
        )
        lines.append("  ".join(cells).rstrip())
    return lines
