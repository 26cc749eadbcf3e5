"""The profile of all heads over several runs says what their tables say, and refuses runs of different models."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reports import Run
from reports.formats import decimal, escaped
from reports.heads.profile import MEANINGS, MEASURES, MOST, head_profile, profile_page


@pytest.fixture(scope="module")
def run(written_run: Path, head_tables: dict[str, pd.DataFrame]) -> Run:
    return replace(Run.open(written_run), tables=head_tables)


def other(run: Run, corpus: str, studies: Mapping[str, pd.DataFrame] | None = None) -> Run:
    return replace(run, scores=run.scores.assign(corpus=corpus), tables=studies or {})


def test_every_head_has_a_line_with_the_labels_in_which_it_is_specialised(run: Run) -> None:
    profile = head_profile([run])
    scores = run.scores[(run.scores["split"] == "report") & (run.scores["probe"] != "classifier")]
    assert [line.name for line in profile.lines] == list(run.scores.sort_values(["layer", "head"])["name"].unique())
    for line in profile.lines:
        rows = scores[(scores["name"] == line.name) & (scores["grade"] > 0)]
        assert len(line.roles) + line.more == rows.groupby(["probe", "label"]).ngroups
        assert {role.partition(" (")[0] for role in line.roles} <= set(rows["label"])
    assert any(line.roles for line in profile.lines)
    assert set(profile.idle) == {line.name for line in profile.lines if not line.roles} != set()


def test_roles_of_several_runs_stand_together_the_surest_first(run: Run) -> None:
    one, both = head_profile([run]), head_profile([run, other(run, "novels")])
    for single, double in zip(one.lines, both.lines, strict=True):
        assert len(double.roles) + double.more == 2 * (len(single.roles) + single.more)
        assert len(double.roles) <= MOST
    roles = next(line.roles for line in both.lines if line.roles)
    assert roles[0].partition(" (")[0] == roles[1].partition(" (")[0]
    assert {"novels" in role for role in roles[:2]} == {True, False}


@pytest.mark.slow
def test_measures_come_from_the_first_run_that_has_them(run: Run, head_tables: dict[str, pd.DataFrame]) -> None:
    nearer = {"distances": head_tables["distances"].assign(distance=0.05)}
    without, with_table = other(run, "a"), other(run, "b", nearer)
    profile = head_profile([without, with_table, run])
    column = profile.columns.index("nearest head")
    told = {line.name: line.measures[column] for line in profile.lines}
    assert told["1-1"].endswith(f"({decimal(0.05)})")
    alone = head_profile([run])
    assert next(line for line in alone.lines if line.name == "1-1").measures[column] == f"1-2 ({decimal(0.1)})"
    assert head_profile([without]).columns == ()


def test_every_column_is_explained_below_the_table(run: Run) -> None:
    assert MEANINGS.keys() == MEASURES.keys()
    page = profile_page([run])
    _, _, below = page.rpartition("\n| ")
    columns = head_profile([run]).columns
    assert columns
    assert [line.partition("**: ")[0] for line in below.splitlines() if line.startswith("- **")] == [
        f"- **{escaped(title)}" for title in columns
    ]


def test_runs_of_two_models_are_refused_by_name(run: Run) -> None:
    with pytest.raises(ValueError, match=r"a profile is of one model, but .* is of minilm; .* is of tiny"):
        head_profile([run, replace(run, folder=Path("other"), scores=run.scores.assign(model="tiny"))])
    with pytest.raises(ValueError, match="one run or more"):
        head_profile([])


def test_the_profile_opens_with_eight_columns_and_has_the_others_in_a_second_table(run: Run) -> None:
    found = head_profile([run])
    lines = tuple(replace(line, measures=tuple("1234567")) for line in found.lines)
    shown = [*replace(found, columns=tuple("abcdefg"), lines=lines).shown.folded_markdown_lines()]
    assert shown[0] == "| head | grade in | a | b | c | d | e | f |"
    second = shown.index("Other columns of the same rows:") + 2
    assert shown[second] == "| head | g |"
    assert shown[second + 2] == f"| {lines[0].name} | 7 |"


def test_the_page_has_a_row_a_head_and_escapes_what_comes_from_data(run: Run) -> None:
    page = profile_page([run, other(run, "a|b")])
    heads = run.scores["name"].nunique()
    rows = [line for line in page.splitlines() if line.startswith("| ") and line.split(" ")[1].count("-") == 1]
    assert len([row for row in rows if row.split(" ")[1].replace("-", "").isdigit()]) == heads
    assert "a|b" not in page
    assert "a\\|b" in page
    assert f"of {heads} heads have a grade" in page
