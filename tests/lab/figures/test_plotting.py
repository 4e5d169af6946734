"""Figures: all that is written stands within them and is whole, and no two curves look the same."""

import pytest

from evercrawl.lab.base import LabOptions, Panel, PanelCurve, Results
from evercrawl.lab.contests import signals
from evercrawl.lab.contests.contestants import INDEX, SYSTEMS
from evercrawl.lab.contests.drift import contestants as drifting
from evercrawl.lab.contests.signals import contestants as announced
from evercrawl.lab.contests.systems import Systems
from evercrawl.lab.figures.lettering import wrapped
from evercrawl.lab.figures.plotting import draw, figure
from evercrawl.lab.tables import panels
from tests.helpers.figures import alike, outside

LONG = "Rates and importance that drift, as a part of what is best for whoever knows every rate at every moment " * 3


def compared(labels, budgets=(0.03, 0.3), correlations=(0.0,), title="Who keeps what"):
    """Return a comparison of so many rows, each a little better than the one before."""
    rows = [
        {"policy": label, "correlation": c, "budget": budget, "ratio": 0.9 + 0.001 * number}
        for number, label in enumerate(labels) for budget in budgets for c in correlations
    ]  # fmt: skip
    return Results(title, rows, panels=panels(rows, labels))


def bars(count):
    curves = [PanelCurve(f"a row with quite a long name, {number}", [0.0, 1.0], [0.5, 0.6]) for number in range(count)]
    return Results(LONG, panels=[Panel(LONG, "what it is of", "how much", curves, bars=True, named=("one", "two"))])


DRAWN = {
    "drift": compared([each.label for each in drifting()]),
    "signals": compared([each.label for each in announced()], title=signals.AnnouncedChanges.title),
    "index": compared([each.label for each in INDEX], (0.01, 0.1, 1.0), (0.0, 0.5)),
    "systems": compared([each.label for each in SYSTEMS], (0.01, 0.1, 1.0), (0.0, 0.5)),
    "one budget": compared([each.label for each in drifting()], (0.1,)),
    "one budget, two panels": compared([each.label for each in SYSTEMS], (0.1,), (0.0, 0.5)),
    "long": compared([LONG[:100], LONG[100:200]], title=LONG),
    "two": compared(["price", "uniform"], title=LONG, correlations=(0.0, 0.5)),
    "bars": bars(12),
}


@pytest.mark.parametrize("name", DRAWN)
def test_all_that_is_written_stands_within_the_figure_and_no_two_curves_look_the_same(name):
    made = figure(DRAWN[name])
    assert outside(made) == []
    assert alike(made) == []
    assert made.get_suptitle().split() == DRAWN[name].title.split()


def test_a_curve_looks_the_same_in_all_panels():
    one, other = (PanelCurve(name, [1.0, 2.0], [1.0, 2.0]) for name in ("one", "other"))
    made = figure(Results("", panels=[Panel("", "", "", [one, other]), Panel("", "", "", [other])]))
    (_, there), (again,) = (axes.get_lines() for axes in made.axes)
    assert (there.get_color(), there.get_marker()) == (again.get_color(), again.get_marker())


def test_panels_stay_as_large_however_many_names_the_legend_has():
    few, many = (figure(compared([f"a row of {count}, {i}" for i in range(count)])) for count in (2, 30))
    heights = []
    for made in (few, many):
        made.canvas.draw()
        heights.append(made.axes[0].get_window_extent().height)
    assert heights[1] == pytest.approx(heights[0], rel=0.05)


def test_at_one_budget_each_row_has_a_line_of_its_own_with_its_name(tmp_path):
    labels = [each.label for each in drifting()]
    made = figure(compared(labels, (0.1,)))
    (axes,) = made.axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == labels
    assert [line.get_ydata()[0] for line in axes.get_lines()] == list(range(len(labels)))
    assert made.legends == []
    assert "(% of all pages per day): 10" in axes.get_xlabel()
    draw(compared(labels, (0.1,)), tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


def test_lines_break_between_words_where_there_is_no_more_room():
    made = figure(compared(["price"]))
    lines = wrapped(made, "one two three four", 11, 60.0).split("\n")
    assert len(lines) > 1
    assert " ".join(lines) == "one two three four"
    assert wrapped(made, "unbreakable", 11, 5.0) == "unbreakable"


def test_policies_that_are_asked_for_by_name_are_drawn():
    rows = [{"policy": name, "correlation": 0.0, "budget": 0.1, "ratio": 0.5} for name in ("cycle", "price")]
    for asked, drawn in (((), ["price", "cycle"]), (("cycle", "price"), ["cycle", "price"])):
        (panel,) = Systems().panels(rows, LabOptions(policies=asked))
        assert [curve.label for curve in panel.curves] == drawn
