"""Figures of a run for papers: pictures of its charts, and the same numbers on axes of Matplotlib."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from reports import Run
from reports.drawing.charts import FORMATS, picture
from reports.notebook.run_charts import MOST
from reports.scores.best_heads import best_heads, by_margin
from reports.scores.plain_names import task


@pytest.mark.parametrize(("form", "begins"), [*zip(FORMATS, (b"%PDF", b"\x89PNG", b"<svg"), strict=True)])
def test_a_chart_is_drawn_in_every_form(form: str, begins: bytes, run: Run) -> None:
    assert picture(run.plot("obj").chart.to_dict(), form).startswith(begins)


def test_colours_of_the_style_sheet_are_colours_on_paper(run: Run) -> None:
    spec = run.plot("obj").chart.to_dict() | {"background": "var(--right)", "width": "container"}
    drawn = picture(spec, "svg").decode()
    assert "var(" not in drawn
    assert "#0072b2" in drawn


def test_axes_show_the_numbers_of_the_run(run: Run) -> None:
    axes = run.plot("obj", "dependency", ax=Figure().add_subplot())
    (image,) = axes.get_images()
    chosen = next(row for row in best_heads(run.scores, "dependency") if row.label == "obj")
    assert axes.get_title() == f"obj · {chosen.variant}"
    assert float(image.get_array()[chosen.layer, chosen.head]) == pytest.approx(chosen.accuracy)
    frames = [line for line in axes.get_lines() if line.get_marker() == "s"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in frames] == [(chosen.head, chosen.layer)]


def test_best_heads_on_axes_stand_beside_the_strongest_of_baseline_table_and_rule(run: Run) -> None:
    axes = run.plot(probe="agreement", ax=Figure().add_subplot())
    rows = sorted((row for row in best_heads(run.scores, "agreement") if row.n), key=by_margin)[:MOST]
    names = [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]
    (bars,) = [line for line in axes.get_lines() if line.get_marker() == "|"]
    beside = {
        f"{task('agreement', row.label, row.variant).removeprefix('attends ')} · {row.name}": (
            *(row.baseline_accuracy, row.lexical_accuracy, row.rule_accuracy),
        )
        for row in rows
    }
    assert sorted(names) == sorted(beside)
    by_name = {name: np.nanmax(found) for name, found in beside.items()}
    assert np.allclose(bars.get_xdata(), [by_name[name] for name in names], equal_nan=True)
