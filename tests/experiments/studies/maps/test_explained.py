"""What roles explain in a run: the table of heads, and precision and lift in the scores of the report split."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from probes.registry import POSITION
from reports import Run
from reports.studies.explained.tables import HEADS

LENIENT = ("verdict.alpha=0.9", "verdict.margin=0.0")
"Six documents are too few for a role at the usual level."


def test_roles_and_grades_of_heads_are_those_of_the_scores(scored: Callable[..., Run]) -> None:
    run = scored(*LENIENT, "controls.random=1")
    heads, scores = run.studies["heads"].set_index("name"), run.scores[run.scores["split"] == "report"]
    assert len(heads) == run.layers * run.heads
    assert set(heads["scope"]) == {"sentence"}
    graded = scores[scores["grade"] > 0]
    assert len(graded), "some head has a role"
    for name, row in heads.iterrows():
        mine = graded[graded["name"] == name]
        assert row["roles"] == sum(label != "all" and not label.endswith(":*") for label in mine["label"])
        assert row["grade"] == max(mine.loc[mine["probe"] != POSITION, "grade"], default=0)
        assert (row["explained"] > 0) == (row["explained_random"] > 0)
        assert len(mine) or row["explained"] == 0
    assert heads["between"].between(0.01, 0.99).all()
    assert (heads["explained"] > 0).any()
    assert not np.allclose(heads["explained"], heads["explained_random"], equal_nan=True)


def test_without_random_weights_there_is_nothing_beside_it(scored: Callable[..., Run]) -> None:
    heads = scored().studies["heads"]
    assert tuple(heads.columns) == HEADS.names
    assert heads["explained_random"].isna().all()
    assert heads["explained"].notna().all()


def test_scores_of_the_report_split_have_precision_and_lift(scored: Callable[..., Run]) -> None:
    scores = scored().scores
    select, report = (scores[scores["split"] == split] for split in ("select", "report"))
    assert select[["precision", "lift"]].isna().all(axis=None)
    words = report[(report["probe"] == "dependency") & (report["n"] > 0)]
    assert words["precision"].between(0, 1).all()
    assert (words["lift"] > 0).all()
    assert 0.2 < words["lift"].median() < 5
    special = report[report["label"].isin(["[CLS]", "[SEP]", "same", "broad"])]
    assert len(special)
    assert special[["precision", "lift"]].isna().all(axis=None)


@pytest.mark.parametrize("maps", ["norms", "rollout"])
def test_other_maps_have_neither(scored: Callable[..., Run], maps: str) -> None:
    run = scored(f'scoring.maps="{maps}"')
    assert run.scores[["precision", "lift"]].isna().all(axis=None)
    assert "heads" not in run.studies


def test_a_control_changes_no_number_of_the_heads_themselves(scored: Callable[..., Run]) -> None:
    alone, beside = scored(), scored("controls.random=1")
    columns = ["precision", "lift"]
    pd.testing.assert_frame_equal(alone.scores[columns], beside.scores[columns], check_exact=True)
