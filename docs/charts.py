"""Draw the charts of README and site from the tables of docs/research: `python docs/charts.py`, or `make docs`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

DOCS: Final = Path(__file__).parent
FOLDER: Final = DOCS / "charts"
SHOWN: Final = {
    "notices": "told of every change",
    "price": "evercrawl",
    "greedy": "greedy (Abiteboul 2003)",
    "stormcrawler_adaptive": "as StormCrawler, adaptive",
    "uniform": "uniform polling",
    "nutch_adaptive": "as Nutch, adaptive",
    "random": "at random",
}
_WIDTH: Final = 760
_LEFT: Final = 210
_ROW: Final = 30


class Bar(NamedTuple):
    """One bar: what it stands for, its value, and the text behind it."""

    name: str
    value: float
    text: str


def freshness() -> str:
    """Return the chart of copies that are out of date at a budget of 0.02 of all pages a day, from HISTORIES.md."""
    table = (DOCS / "research" / "HISTORIES.md").read_text("utf-8").partition("**Every policy**")[2]
    rows = dict(
        re.findall(r"^\| `(\w+)` \|(.*)\|$", table.partition("\n| `notices`")[2].partition("\n\n")[0], re.MULTILINE)
    )
    rows["notices"] = table.partition("\n| `notices` |")[2].partition("\n")[0]
    bars = list[Bar]()
    for policy, name in SHOWN.items():
        stale = 100.0 - float(rows[policy].split("|")[4])
        bars.append(Bar(name, stale, f"{stale:.1f} %"))
    return drawn("Copies out of date at an equal budget, nine sites' histories (less is better)", bars)


def speed() -> str:
    """Return the chart of pages a CPU-second on a served corpus, from MEASURED.md."""
    table = (DOCS / "research" / "MEASURED.md").read_text("utf-8").partition("## A whole crawl")[2]
    ours = _number(table, r"pages per CPU-second, everything on \| ([\d,]+)")
    scrapy = _number(table, r"beside Scrapy in the same run \(([\d,]+) pages")
    bare = ours / _number(table, r"bare aiohttp and selectolax loop in the same run \| ([\d.]+) x")
    bars = [Bar("evercrawl, everything on", ours, f"{ours:,.0f}"),
            Bar("bare aiohttp and selectolax loop", bare, f"{bare:,.0f}"),
            Bar("Scrapy, keeps nothing", scrapy, f"{scrapy:,.0f}")]  # fmt: skip
    return drawn("Pages a CPU-second: 6,749 pages from nginx on loopback, one process", bars)


def _number(text: str, pattern: str) -> float:
    found = re.search(pattern, text)
    assert found is not None, f"MEASURED.md has no {pattern}"
    return float(found[1].replace(",", ""))


def drawn(title: str, bars: list[Bar]) -> str:
    """Return bars as an SVG that is read in the light and in the dark."""
    most = max(bar.value for bar in bars)
    height = 50 + _ROW * len(bars)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{title}</title>",
        "<style>text{fill:#333}.ours{fill:#00897b}.other{fill:#9aa5ab}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>",
        f'<text x="8" y="22" font-weight="bold">{title}</text>',
    ]
    for number, bar in enumerate(bars):
        y = 38 + _ROW * number
        width = max(bar.value / most * (_WIDTH - _LEFT - 90), 1.0)
        kind = "ours" if bar.name.startswith("evercrawl") else "other"
        lines += [
            f'<text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end">{bar.name}</text>',
            f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{width:.1f}" height="20" rx="3"/>',
            f'<text x="{_LEFT + width + 8:.1f}" y="{y + 15}">{bar.text}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


CHARTS: Final = {"freshness.svg": freshness, "speed.svg": speed}


def main() -> None:
    """Write the charts."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in CHARTS.items():
        (FOLDER / name).write_text(draw(), "utf-8")


if __name__ == "__main__":
    main()
