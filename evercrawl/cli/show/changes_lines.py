"""Changes and versions as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evercrawl.cli.show.plain import one_line
from evercrawl.cli.show.words import percent, table
from evercrawl.model.stored.answers import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.ask.changes.page_change import ChangeList, PageChange
    from evercrawl.ask.changes.texts import WordDiff
    from evercrawl.ask.changes.versions import PageHistory, PageVersion

_MARKS = {"went": "[-{}-]", "came": "{{+{}+}}", "same": "{}", "skip": "..."}
_HEAD = ("", "seen first", "seen last", "visits", "bytes", "new", "digest")
_LEFT = frozenset({"seen first", "seen last", "digest"})


def change_line(change: PageChange) -> str:
    """Return a change as a line."""
    extent = f" {percent(change.extent)}" if change.kind in ("changed", "returned") else ""
    times = f", {change.times} times" if change.times > 1 else ""
    title = f"  {one_line(change.title)}" if change.title else ""
    noise = " (noise)" if change.noise else ""
    return f"{instant(change.at)}  {change.kind}{extent}{times}{noise}  {change.url}{title}"


def diff_text(diff: WordDiff | None) -> str:
    """Return a word diff in the notation of `git diff --word-diff`, indented."""
    if diff is None:
        return "    (no text to compare)"
    if not diff.pieces:
        return "    (the same words)"
    text = " ".join(_MARKS[what].format(words) for what, words in diff.pieces)
    return f"    {text}{' ... (more changed)' if diff.cut else ''}"


def summary(found: ChangeList) -> str:
    """Return a sentence with the number of pages by kind of change."""
    if not found.total:
        return "nothing changed"
    counts = ", ".join(f"{count:,} {kind}" for kind, count in found.pages.items())
    left_out = (
        f"; {found.noise:,} left out, because only times, counters or the like changed (show them with --all)"
        if found.noise
        else ""
    )
    more = found.total - len(found.changes) - found.noise
    further = f"; {more:,} less important ones are not shown (--limit)" if more > 0 else ""
    unsure = (
        f"; {found.unjudged:,} may be times or counters only, as the comparison ran out of time; run the command again"
        if found.unjudged
        else ""
    )
    return f"pages: {counts}{left_out}{further}{unsure}"


def change_object(change: PageChange, diff: WordDiff | None = None, *, with_diff: bool = False) -> dict[str, Any]:
    """Return the fields of a change for `--json`."""
    found = asdict(change)
    for name in ("slot", "version", "before"):
        del found[name]
    found["extent"] = round(change.extent, 4)
    return found | {"diff": diff_object(diff)} if with_diff else found


def diff_object(diff: WordDiff | None) -> dict[str, Any] | None:
    """Return a word diff for `--json`; None without text."""
    if diff is None:
        return None
    pieces = [{"op": what, "words": words} for what, words in diff.pieces]
    return {"words_gone": diff.went, "words_new": diff.came, "cut": diff.cut, "pieces": pieces}


def version_lines(found: PageHistory) -> list[str]:
    """Return a table of versions, newest first."""
    rows = [_version(number, version) for number, version in _numbered(found.versions)]
    lines = table(_HEAD, rows, _LEFT)
    if found.away_at is not None:
        lines.append(f"gone since {instant(found.away_at)} (status {found.away_status})")
    return lines


def version_object(number: int, version: PageVersion) -> dict[str, Any]:
    """Return the fields of a version for `--json`."""
    return {
        "number": number,
        "at": version.at,
        "seen_at": version.seen_at,
        "visits": version.visits,
        "status": version.status,
        "class": version.outcome.label,
        "size_bytes": version.size_bytes,
        "digest": f"{version.digest:016x}",
        "extent": None if version.extent is None else round(version.extent, 4),
        "words_changed": version.changed,
        "held": version.held,
    }


def version_objects(found: PageHistory) -> list[dict[str, Any]]:
    """Return versions for `--json`, newest first; the oldest has number 1."""
    return [version_object(number, version) for number, version in _numbered(found.versions)]


def _numbered(versions: Sequence[PageVersion]) -> list[tuple[int, PageVersion]]:
    return [(len(versions) - place, version) for place, version in enumerate(versions)]


def _version(number: int, version: PageVersion) -> tuple[str, ...]:
    new = "first" if version.extent is None else percent(version.extent) if version.changed else "markup"
    return (
        str(number), instant(version.at), instant(version.seen_at), str(version.visits), f"{version.size_bytes:,}", new,
        f"{version.digest:016x}" + ("" if version.held else "  no longer kept"),
    )  # fmt: skip
