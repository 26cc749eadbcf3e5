"""The profile of all heads over several runs says what their tables say, and refuses runs of different models."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reports import Run
from reports.formats import decimal
from reports.heads.profile import MOST, head_profile


@pytest.fixture(scope="module")
def run(written_run: Path, head_tables: dict[str, pd.DataFrame]) -> Run:
    return replace(Run.open(written_run), tables=head_tables)


def other(run: Run, corpus: str, studies: Mapping[str, pd.DataFrame] | None = None) -> Run:
    return replace(run, scores=run.scores.assign(corpus=corpus), tables=studies or {})


def test_every_head_has_a_line_with_the_labels_in_which_it_is_specialised_over_all_runs(run: Run) -> None:
    one, both = head_profile([run]), head_profile([run, other(run, "novels")])
    scores = run.scores[(run.scores["split"] == "report") & (run.scores["probe"] != "classifier")]
    assert [line.name for line in one.lines] == list(run.scores.sort_values(["layer", "head"])["name"].unique())
    for single, double in zip(one.lines, both.lines, strict=True):
        rows = scores[(scores["name"] == single.name) & (scores["grade"] > 0)]
        assert len(single.roles) == rows.groupby(["probe", "label"]).ngroups
        assert {role["label"] for role in single.roles} <= set(rows["label"])
        assert len(double.roles) == 2 * len(single.roles)
        assert double.written.count("; ") == min(len(double.roles), MOST + 1) - bool(double.roles)
    assert set(one.idle) == {line.name for line in one.lines if not line.roles} != set()
    roles = next(line.roles for line in both.lines if line.roles)
    assert roles[0]["label"] == roles[1]["label"]
    assert {role["corpus"] == "novels" for role in roles[:2]} == {True, False}


def test_a_label_that_the_answer_defines_makes_no_head_specialised(run: Run) -> None:
    labels = run.scores["label"].mask(run.scores["probe"] != "position", run.scores["label"] + " is right")
    profile = head_profile([replace(run, scores=run.scores.assign(label=labels))])
    assert any(role["label"].endswith(" is right") for line in profile.lines for role in line.roles)
    assert not any(line.of_language for line in profile.lines)
    assert f"0 of {run.layers * run.heads} heads of minilm are specialised" in profile.page("all.csv").markdown


@pytest.mark.slow
def test_measures_come_from_the_first_run_that_has_them(run: Run, head_tables: dict[str, pd.DataFrame]) -> None:
    nearer = {"distances": head_tables["distances"].assign(distance=0.05)}
    without, with_table = other(run, "a"), other(run, "b", nearer)
    profile = head_profile([without, with_table, run])
    told = {line.name: line.measures[profile.columns.index("nearest head")] for line in profile.lines}
    assert told["1-1"].endswith(f"({decimal(0.05)})")
    assert head_profile([without]).columns == ()


def test_runs_of_two_models_are_refused_by_name(run: Run) -> None:
    with pytest.raises(ValueError, match=r"a profile is of one model, but .* is of minilm; .* is of tiny"):
        head_profile([run, replace(run, folder=Path("other"), scores=run.scores.assign(model="tiny"))])


def test_the_page_is_one_screen_and_the_file_has_every_head(run: Run) -> None:
    profile = head_profile([run, other(run, "a|b")])
    page = profile.page("all.csv").markdown
    assert "a|b" not in page
    assert "a\\|b" in page
    language = [line for line in profile.lines if line.of_language]
    assert f"{len(language)} of {run.layers * run.heads} heads of minilm are specialised in a linguistic role" in page
    rows = [line for line in page.splitlines() if re.match(r"\| \d+-\d+ \|", line)]
    assert len(rows) == min(len(language), 12)
    assert len(page.split()) <= 600
    surest = max(language, key=lambda line: line.of_language["margin_low"])
    assert rows[0].startswith(f"| {surest.name} | ")
    assert list(profile.frame["head"]) == [line.name for line in profile.lines]
    assert list(profile.frame["labels"]) == [len(line.roles) for line in profile.lines]
