"""Scores as files: the same in both forms, refused where no scorer can have measured them, never half written."""

from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from reports import read_scores, write_scores
from reports.tables.scores import SCORES


def test_parquet_and_csv_hold_exactly_the_same_rows(scores: pd.DataFrame, tmp_path: Path):
    frame = scores.assign(label=scores["label"].replace("orphan", "NA"))
    frame.loc[:10, "step"] = 5
    write_scores(frame, tmp_path)
    for form in ("parquet", "csv"):
        assert_frame_equal(read_scores(tmp_path / f"scores.{form}"), frame, check_exact=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grade": 4}, r"`grade` lies outside \[0, 3\]"),
        ({"verdict": "perhaps"}, "`verdict` is not one of , yes, no, undecided"),
        ({"n": 0}, "n = 0 but `accuracy` is a number"),
        ({"maps": "rollout", "mass": 2.5}, "`mass` lies outside"),
        ({"maps": "norms", "mass": -0.1}, "`mass` lies outside"),
    ],
)
def test_what_no_scorer_can_have_measured_is_refused(scores: pd.DataFrame, change: dict[str, object], message: str):
    with pytest.raises(ValueError, match=message):
        SCORES.validated(scores.head(3).assign(**change), "scores")


def test_the_mass_of_norms_is_a_length_that_may_pass_one(scores: pd.DataFrame):
    assert (SCORES.validated(scores.assign(maps="norms", mass=2.5), "scores")["mass"] == 2.5).all()


def test_a_failed_write_leaves_the_older_scores(scores: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_scores(scores, tmp_path)
    before = (tmp_path / "scores.parquet").read_bytes()
    monkeypatch.setattr(pd.DataFrame, "to_parquet", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_scores(scores.head(5), tmp_path)
    assert (tmp_path / "scores.parquet").read_bytes() == before
    assert not list(tmp_path.glob(".*"))
