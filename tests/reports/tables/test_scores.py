import json
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from reports import read_examples, read_scores, write_examples, write_scores
from reports.tables.scores import SCORES

ISSUE_COLUMNS = (
    "model step corpus maps probe label variant layer head name split n clusters effective_clusters accuracy ci_low "
    "ci_high mass mass_low mass_high coverage share precision lift baseline baseline_accuracy margin margin_low "
    "margin_high lexical_accuracy lexical_margin_low lexical_margin_high rule rule_accuracy rule_margin_low "
    "rule_margin_high near_ties p p_label p_adjusted p_words p_rules stability selected grade specialised verdict "
    "excluded layer_attention"
)


def test_columns_are_those_of_the_design_in_its_order():
    assert list(SCORES.names) == ISSUE_COLUMNS.split()


def test_parquet_and_csv_hold_exactly_the_same_rows(scores: pd.DataFrame, tmp_path: Path):
    frame = scores.copy()
    frame.loc[:10, "step"] = 5
    frame["label"] = frame["label"].replace("orphan", "NA")
    write_scores(frame, tmp_path)
    assert_frame_equal(read_scores(tmp_path / "scores.parquet"), frame, check_exact=True)
    assert_frame_equal(read_scores(tmp_path / "scores.csv"), frame, check_exact=True)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("accuracy", 74.0, r"`accuracy` lies outside \[0, 1\] \(fractions, not percent\), in 1 row"),
        ("split", "test", "`split` is not one of select, report"),
        ("name", "0-0", "`name` is not layer"),
        ("grade", 4, r"`grade` lies outside \[0, 3\]"),
        ("verdict", "perhaps", "`verdict` is not one of , yes, no, undecided"),
        ("n", 0, "n = 0 but `accuracy` is a number"),
        ("baseline", None, "column 'baseline' has 1 missing value"),
    ],
)
def test_what_no_scorer_can_have_measured_is_refused(scores: pd.DataFrame, column: str, value: object, message: str):
    frame = scores.copy()
    frame.loc[0, column] = value
    with pytest.raises(ValueError, match=message) as raised:
        SCORES.validated(frame, "scores")
    assert "\n" not in str(raised.value)


def test_the_mass_of_norms_is_a_length_that_may_pass_one(scores: pd.DataFrame):
    long = scores.assign(maps="norms", mass=2.5)
    assert (SCORES.validated(long, "scores")["mass"] == 2.5).all()
    with pytest.raises(ValueError, match="`mass` lies outside"):
        SCORES.validated(long.assign(maps="rollout"), "scores")
    with pytest.raises(ValueError, match="`mass` lies outside"):
        SCORES.validated(long.assign(mass=-0.1), "scores")


def test_a_failed_write_leaves_the_older_scores(scores: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_scores(scores, tmp_path)
    before = (tmp_path / "scores.parquet").read_bytes()
    monkeypatch.setattr(pd.DataFrame, "to_parquet", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_scores(scores.head(5), tmp_path)
    assert (tmp_path / "scores.parquet").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_examples_keep_their_words(written_run: Path, tmp_path: Path):
    examples = read_examples(written_run / "examples.parquet")
    assert list(examples["words"].iloc[0])[:2] == ["The", "keys"]
    write_examples(examples.head(0), tmp_path)
    assert read_examples(tmp_path / "examples.parquet").empty


def test_a_damaged_file_is_one_clear_line(tmp_path: Path):
    (tmp_path / "scores.parquet").write_text(json.dumps({"not": "parquet"}))
    with pytest.raises(ValueError, match=r"scores\.parquet: not a readable parquet file") as raised:
        read_scores(tmp_path / "scores.parquet")
    assert "\n" not in str(raised.value)
