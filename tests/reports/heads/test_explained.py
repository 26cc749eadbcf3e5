"""What roles explain, in sentences: on a head's card, in the grid's readout, and of the median head."""

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from experiments.measures.explained import HEADS
from reports import Run
from reports.heads.explained import ExplainedHeads
from reports.heads.grid import head_grid


def heads_table(run: Run, scope: str = "sentence", random: float = 0.08) -> pd.DataFrame:
    """Return a table in which the roles of head i of a layer, from 0, explain i percent."""
    rows = [
        {"layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}", "explained": head / 100}
        for layer in range(run.layers)
        for head in range(run.heads)
    ]
    numbers = {"roles": 2, "grade": 1, "between": 0.45, "explained_random": random}
    return HEADS.validated(
        pd.DataFrame(rows).assign(model="m", step=pd.NA, corpus="c", scope=scope, **numbers), "heads.parquet"
    )


@pytest.fixture(scope="module")
def run(written_run: Path) -> Run:
    found = Run.open(written_run)
    return replace(found, tables={"heads": heads_table(found)})


def said(run: Run, name: str) -> list[str]:
    return [
        line
        for part in run.head(name).parts
        if part.title == "Attention explained by its roles"
        for line in part.sentences
    ]


def test_a_card_tells_what_the_roles_of_its_head_explain_beside_randomly_initialised_weights(run: Run) -> None:
    assert said(run, "2-4") == [
        "Attention between words is 45.0 % of all its attention; its roles explain 3.0 % of it "
        "(8.0 % with randomly initialised weights)."
    ]


def test_without_such_a_control_nothing_stands_beside_it_and_scopes_are_named_where_there_are_two(run: Run) -> None:
    both = [heads_table(run, "sentence"), heads_table(run, "window", math.nan)]
    lines = said(replace(run, tables={"heads": pd.concat(both, ignore_index=True)}), "2-4")
    assert len(lines) == 2
    assert lines[0].startswith("In sentences: Attention between words")
    assert (
        lines[1] == "In windows: Attention between words is 45.0 % of all its attention; its roles explain 3.0 % of it."
    )


def test_the_grid_says_it_of_every_head_and_of_the_median_one(run: Run) -> None:
    grid = head_grid(run)
    assert grid is not None
    assert grid.views[0].descriptions["1-3"].endswith(" · roles explain 2.0 % of its attention between words")
    assert not any("explain" in line for view in grid.views[2:] for line in view.descriptions.values())
    related = run.layers * (run.heads - 1)  # the roles of the first head of a layer explain nothing
    assert grid.explained == (
        f"{related} of {run.layers * run.heads} heads have a grade on a relation between words in sentences "
        "(fixed offsets count, spans such as within=4 do not). In the median of these heads the relations explain "
        f"{run.heads / 2:.1f} % of the attention between words (8.0 % with randomly initialised weights)."
    )


def test_where_no_head_has_a_role_between_words_nothing_is_said(run: Run) -> None:
    alone = replace(run, tables={"heads": heads_table(run).assign(explained=0.0)})
    assert ExplainedHeads.of(alone).median == ""


def test_the_median_is_that_of_the_first_scope(run: Run) -> None:
    windows = heads_table(run, "window").assign(explained=0.5)
    both = replace(run, tables={"heads": pd.concat([heads_table(run), windows], ignore_index=True)})
    assert ExplainedHeads.of(both).median == ExplainedHeads.of(run).median
    unknown = heads_table(run).assign(explained=math.nan)
    assert ExplainedHeads.of(replace(run, tables={"heads": unknown})).median == ""
