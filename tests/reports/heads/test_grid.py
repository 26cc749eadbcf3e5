"""The grid tells each head's main role with the numbers of the scores."""

from dataclasses import replace

import pandas as pd
import pytest

from reports import Run
from reports.formats import percent
from reports.heads.card_parts import CardSource
from reports.heads.grid import ANY, LANGUAGE, HeadGrid, Roles, head_grid, kinds_of_sinks
from reports.scores.best_heads import CLASSIFIER
from reports.scores.plain_names import role
from reports.scores.shortest_table import shortest_table
from reports.tables.grades import own_labels


def grid_of(run: Run) -> HeadGrid:
    found = head_grid(CardSource(run))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def grid(run: Run) -> HeadGrid:
    return grid_of(run)


def view(grid: HeadGrid, name: str) -> Roles:
    return next(one for one in grid.views if one.probe == name)


def test_every_head_of_the_headline_is_coloured_first(run: Run, grid: HeadGrid):
    specialised = set(run.scores[run.scores["specialised"] & (run.scores["probe"] != CLASSIFIER)]["name"])
    assert [one.probe for one in grid.views[:2]] == [LANGUAGE, ANY]
    assert {one.probe for one in grid.views[2:]} == {"position", "dependency", "agreement", "coreference"}
    assert {name for role in grid.views[0].roles for name in role.heads} == specialised
    placed = next(head for role in view(grid, ANY).roles if role.probe == "position" for head in role.heads)
    assert grid.views[0].descriptions[placed].startswith("not specialised; nearest: ")
    assert view(grid, ANY).descriptions[placed].startswith("significant: ")
    only_position = run.scores.assign(grade=run.scores["grade"].where(run.scores["probe"] == "position", 0))
    assert grid_of(replace(run, scores=only_position)).views[0].probe == ANY


def test_a_role_keeps_its_mark_under_every_filter(grid: HeadGrid):
    marks: dict[tuple[str, str], set[tuple[str, int]]] = {}
    for found in (role_of_head for one in grid.views for role_of_head in one.roles):
        marks.setdefault((found.probe, found.label), set()).add((found.letter, found.colour))
    assert all(len(known) == 1 for known in marks.values())
    assert len({letter for ((letter, _),) in marks.values()}) == len(marks) > 2


def test_every_specialised_head_has_its_surest_label_as_role(run: Run, grid: HeadGrid):
    rows = run.scores[(run.scores["grade"] > 0) & (run.scores["probe"] != CLASSIFIER)]
    surest = rows.sort_values("margin_low", ascending=False).drop_duplicates("name").set_index("name")
    told = {name: (role.probe, role.label) for role in view(grid, ANY).roles for name in role.heads}
    assert told == {name: (row.probe, row.label) for name, row in surest.iterrows()}
    assert told["1-1"][1] == "obj"


def test_a_head_says_role_accuracy_interval_baseline_and_n(run: Run, grid: HeadGrid):
    row = run.scores[(run.scores["name"] == "1-1") & (run.scores["grade"] > 0)].iloc[0]
    said = grid.views[0].descriptions["1-1"]
    assert said.startswith("specialised: from an object to its verb · ")
    baseline = f"baseline {percent(row['baseline_accuracy'])} % (a fixed offset)"
    for number in (f"accuracy {percent(row['accuracy'])} % [", baseline, "1,211 scored words"):
        assert number in said
    untested = grid_of(replace(run, scores=run.scores[run.scores["probe"] == CLASSIFIER]))
    assert untested.views[0].descriptions["3-5"] == "nothing was tested"
    assert (untested.finding, untested.first, untested.data["up"]) == (None, "1-1", None)
    assert head_grid(CardSource(replace(run, scores=run.scores[:0]))) is None


def test_the_first_finding_of_the_page_is_the_head_that_opens_and_its_accuracy_goes_up(run: Run, grid: HeadGrid):
    best = next(row for row in shortest_table(run).frame.to_dict("records") if row["grade"])
    assert grid.first == best["name"]
    assert grid.data["numbers"][grid.data["up"]]["title"] == "accuracy: from an object to its verb"


def test_kinds_of_sinks_are_those_of_all_heads_at_the_last_step(run: Run) -> None:
    names = [f"{layer + 1}-{head + 1}" for layer in range(run.layers) for head in range(run.heads)]
    last, first = (pd.DataFrame({"name": names, "step": step, "kind": k}) for step, k in ((2, ""), (1, "spreads")))
    last.loc[last["name"] == "2-4", "kind"] = "writes little"
    kinds = kinds_of_sinks(replace(run, tables={"sinks": pd.concat([last, first])}))
    assert len(kinds) == run.layers * run.heads
    assert {name: kind for name, kind in kinds.items() if kind} == {"2-4": "writes little"}
    assert kinds_of_sinks(run) == {}


def test_accuracies_are_those_of_all_tested_labels_that_are_no_slices_of_others(run: Run, grid: HeadGrid) -> None:
    found, rows = {one["title"]: one for one in grid.data["numbers"]}, CardSource(run).rows
    own = own_labels(zip(rows["probe"], rows["label"], strict=True))
    tested = {(row.probe, row.label, row.variant) for row in rows.itertuples() if (row.probe, row.label) in own}
    assert set(found) == {f"accuracy: {role(*one)}" for one in tested}
    heads = rows[(rows["label"] == "det") & (rows["variant"] == "dependent->head")].sort_values(["layer", "head"])
    det = found["accuracy: from an article or other determiner to its noun"]
    assert det["values"] == [round(100 * accuracy, 1) for accuracy in heads["accuracy"]]
    assert (det["unit"], det["group"]) == ("%", "accuracy, dependency")
    assert det["marked"] == [place for place, grade in enumerate(heads["grade"]) if grade] != []
    rivals = "a fixed offset 36.0 %, a table of words and distances 85.0 %, the rule of grammar “"
    assert found["accuracy: from an object to its verb"]["about"].startswith(rivals)
