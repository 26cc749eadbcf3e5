"""The grid tells each head's main role with the numbers of the scores."""

from dataclasses import replace
from pathlib import Path

import pytest

from reports import Run
from reports.formats import percent, signed
from reports.heads.grid import ANY, LANGUAGE, HeadGrid, Roles, head_grid
from reports.heads.role_marks import COLOURS
from reports.scores.best_heads import CLASSIFIER


@pytest.fixture(scope="module")
def run(written_run: Path) -> Run:
    return Run.open(written_run)


@pytest.fixture(scope="module")
def grid(run: Run) -> HeadGrid:
    found = head_grid(run)
    assert found is not None
    return found


def view(grid: HeadGrid, name: str) -> Roles:
    return next(one for one in grid.views if one.probe == name)


def test_every_head_of_the_headline_is_coloured_first(run: Run, grid: HeadGrid):
    specialised = set(run.scores[run.scores["specialised"] & (run.scores["probe"] != CLASSIFIER)]["name"])
    assert grid.views[0].probe == LANGUAGE
    assert {name for role in grid.views[0].roles for name in role.heads} == specialised
    assert "position" not in {role.probe for role in grid.views[0].roles}
    placed = next(head for role in view(grid, ANY).roles if role.probe == "position" for head in role.heads)
    assert "no role of language; nearest to one in" in grid.views[0].descriptions[placed]
    only_position = run.scores.assign(grade=run.scores["grade"].where(run.scores["probe"] == "position", 0))
    plain = head_grid(replace(run, scores=only_position))
    assert plain is not None
    assert plain.views[0].probe == ANY


def test_a_role_keeps_its_mark_under_every_filter(grid: HeadGrid):
    marks: dict[tuple[str, str], set[tuple[str, int]]] = {}
    for role in (role for one in grid.views for role in one.roles):
        marks.setdefault((role.probe, role.label), set()).add((role.letter, role.colour))
    assert all(len(known) == 1 for known in marks.values())
    assert len({letter for ((letter, _),) in marks.values()}) == len(marks) > 2


def test_every_specialised_head_has_its_surest_label_as_role(run: Run, grid: HeadGrid):
    rows = run.scores[(run.scores["grade"] > 0) & (run.scores["probe"] != CLASSIFIER)]
    surest = rows.sort_values("margin_low", ascending=False).drop_duplicates("name")
    told = {name: (role.probe, role.label) for role in view(grid, ANY).roles for name in role.heads}
    assert told == {row.name_: (row.probe, row.label) for row in surest.rename(columns={"name": "name_"}).itertuples()}
    assert [len(role.heads) for role in grid.views[0].roles] == sorted(
        (len(role.heads) for role in grid.views[0].roles), reverse=True
    )
    shown = sum(len(role.heads) for role in grid.views[0].roles)
    assert sum(label != "" for row in grid.rows for label in row) == shown
    assert grid.rows[0][0] == "obj"


def test_letters_differ_and_colours_are_those_of_the_most_frequent_roles(run: Run):
    rows = run.scores[(run.scores["split"] == "report") & (run.scores["probe"] != CLASSIFIER)]
    chosen = rows.index[rows["selected"] & rows["margin_low"].notna()]
    many = run.scores.assign(grade=run.scores.index.isin(chosen).astype(int))
    grid = head_grid(replace(run, scores=many))
    assert grid is not None
    assert len(grid.views[0].roles) > COLOURS
    letters = [role.letter for role in grid.views[0].roles]
    assert len(set(letters)) == len(letters)
    assert [role.colour for role in grid.views[0].roles] == [*range(1, COLOURS + 1), *[0] * (len(letters) - COLOURS)]


def test_each_probe_has_a_view_of_its_own_with_the_roles_in_it(run: Run, grid: HeadGrid):
    assert [view.probe for view in grid.views[:2]] == [LANGUAGE, ANY]
    assert {view.probe for view in grid.views[2:]} == {"position", "dependency", "agreement", "coreference"}
    agreement = next(view for view in grid.views if view.probe == "agreement")
    rows = run.scores[(run.scores["grade"] > 0) & (run.scores["probe"] == "agreement")]
    assert {name for role in agreement.roles for name in role.heads} == set(rows["name"])
    assert "(agreement, " in agreement.descriptions["1-1"]
    alone = head_grid(replace(run, scores=run.scores[run.scores["probe"] == "agreement"]))
    assert alone is not None
    assert len(alone.views) == 1


def test_a_head_says_role_accuracy_interval_margin_and_n(run: Run, grid: HeadGrid):
    rows = run.scores[(run.scores["name"] == "1-1") & (run.scores["grade"] > 0)]
    row = rows.iloc[0]
    said = grid.views[0].descriptions["1-1"]
    assert said.startswith("Head 1-1: grade 1: beyond position and controls in obj (dependency, dependent->head) · ")
    for number in (f"{percent(row['accuracy'])} % [", f"{signed(row['margin'])} points [", "over offset", "n 1,211"):
        assert number in said
    assert grid.views[0].descriptions["6-12"].startswith("Head 6-12: ")
    assert "nan" not in "".join(grid.views[0].descriptions.values())


def test_heads_that_were_tested_in_nothing_say_so_and_no_scores_make_no_grid(run: Run):
    untested = head_grid(replace(run, scores=run.scores[run.scores["probe"] == CLASSIFIER]))
    assert untested is not None
    assert untested.views[0].roles == ()
    assert untested.views[0].descriptions["3-5"] == "Head 3-5: nothing was tested"
    assert head_grid(replace(run, scores=run.scores[:0])) is None
