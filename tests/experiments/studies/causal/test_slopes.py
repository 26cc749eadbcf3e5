"""Slopes by attention weights as a part of a run: table, page and options."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from reports import Run
from reports.page.page import write_report
from reports.studies.slopes.section import slopes
from reports.studies.slopes.tables import SLOPE_TABLES

Scored = Callable[..., Run]
ASKED = ('slopes={behaviours=["embedding"], items=20, directions=3}',)


def test_nothing_is_measured_where_nothing_is_named(scored: Scored) -> None:
    assert "slopes" not in scored().studies
    assert slopes(scored()) is None


@pytest.mark.slow
def test_slopes_of_all_heads_are_told(scored: Scored) -> None:
    found = scored(*ASKED)
    table = found.studies["slopes"]
    assert set(table.name) == {"1-1", "1-2", "2-1", "2-2"}
    assert set(table.corpus) == {"grammar-2"}
    told = slopes(found)
    assert told is not None
    (one,) = told
    assert [row[0] for row in one.layers.texts] == ["1", "2"]
    mean = table[(table.layer == 1)].groupby("token").slope.mean()
    assert one.layers.texts[1][1] == f"{mean['other']:.2g}"
    tokens = [title.removeprefix("at ").removesuffix(", times words") for title in one.layers.titles[2:]]
    assert tokens
    for place, token in enumerate(tokens):
        assert one.layers.texts[1][2 + place] == f"{mean[token] / mean['other']:.2f}"
    write_report(found.folder)
    for page in ("index.html", "report.md"):
        assert "Effect of single attention weights" in (found.folder / "report" / page).read_text(encoding="utf-8")
    pd.testing.assert_frame_equal(found.scores, scored().scores, check_exact=True)


@pytest.mark.slow
def test_directions_and_items_are_heard(scored: Scored) -> None:
    plain = scored(*ASKED).studies["slopes"]
    for change in ("slopes.directions=4", "slopes.items=10"):
        changed = scored(*ASKED, change).studies["slopes"]
        assert not np.allclose(changed.slope, plain.slope)
    assert (scored(*ASKED, "slopes.items=10").studies["slopes"].n <= 10).all()


@pytest.mark.parametrize(
    ("column", "value", "said"), [("token", "word", "`token` is not one of"), ("slope", -0.1, "`slope` is negative")]
)
def test_what_cannot_be_a_slope_is_refused(scored: Scored, tmp_path, column, value, said) -> None:
    table = scored(*ASKED).studies["slopes"].copy()
    table.loc[0, column] = value
    with pytest.raises(ValueError, match=said):
        SLOPE_TABLES["slopes"].write(table, tmp_path, "slopes")
