"""The page of an atlas: its sentences and tables from invented runs, and its record."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports.atlas.page import write_atlas
from reports.atlas.record import AtlasRecord, AtlasRun, read_record
from reports.atlas.sentences import described, spoken
from reports.atlas.shown import grade_table, run_table
from reports.atlas.tables import ATLAS

NAN = float("nan")


def answer(run: str, label: str, name: str, accuracy: float, grade: int) -> dict[str, Any]:
    model, corpus, seed = run.rsplit("-", 2)
    row: dict[str, Any] = {"run": run, "model": model, "corpus": corpus, "seed": int(seed)}
    row |= {"probe": "dependency", "label": label, "variant": "dependent->head", "name": name, "n": 500}
    row |= {"effective_clusters": 100.0, "accuracy": accuracy, "ci_low": accuracy - 0.02, "ci_high": accuracy + 0.02}
    row |= {"strongest": "offset", "strongest_accuracy": 0.5, "lead": accuracy - 0.5, "lead_low": 0.0, "lead_high": 0.2}
    row |= {"precision": 0.25, "lift": 3.5, "baseline": "offset", "baseline_accuracy": 0.5, "lexical_accuracy": 0.4}
    row |= {"rule": "", "rule_accuracy": NAN, "p_adjusted": 0.01, "p_rules": NAN, "stability": 0.9, "grade": grade}
    row |= {"highest": grade, "highest_heads": name if grade else ""}
    return row | {"verdict": "yes" if grade else "no", "excluded": 0.06}


def done(model: str, corpus: str, seed: int, grades: tuple[int, ...]) -> AtlasRun:
    about = {"heads": sum(grades), "grades": grades, "position": 2, "verdicts": (3, 4, 5), "seconds": 61.4}
    return AtlasRun(f"{model}-{corpus}-{seed}", model, corpus, seed, **about)


@pytest.fixture
def record(hostile: str) -> AtlasRecord:
    """Return the record of two models on one corpus with two seeds, of which one run failed."""
    runs = (
        *(done("bert", "ewt", 0, (60, 9, 2, 1)), done("bert", "ewt", 1, (61, 9, 2, 0))),
        *(done("drawn", "ewt", 0, (72, 0, 0, 0)), AtlasRun("drawn-ewt-1", "drawn", "ewt", 1, failed=hostile)),
    )
    rows = [
        *(answer("bert-ewt-0", "obj", "3-1", 0.75, 1), answer("bert-ewt-1", "obj", "3-2", 0.65, 2)),
        *(answer("bert-ewt-0", "det", "4-1", 0.80, 1), answer("bert-ewt-1", "det", "4-1", 0.80, 0)),
        *(answer("drawn-ewt-0", "obj", "1-1", 0.20, 0), answer("drawn-ewt-0", "nsubj", "1-1", 0.3, 0)),
    ]
    made = "2 workers of local, 1 thread each"
    return AtlasRecord("many", runs, pd.DataFrame(rows)[[*ATLAS.names]], made, "0.1.0", (hostile,))


def test_failures_come_first_then_heads_by_model_and_corpus(record: AtlasRecord) -> None:
    assert [*spoken(record)] == [
        "1 of 4 runs failed: drawn-ewt-1.",
        "2 of 3 runs have a head that is specialised in a role of language.",
        "bert on ewt: 11 to 12 of 72 heads are specialised (2 seeds).",
        "drawn on ewt: 0 of 72 heads are specialised.",
        "Most runs have a graded head that attends from an object to its verb (2 of 3): in bert 3-1, 3-2.",
    ]
    assert described(record) == "4 runs of 2 models on 1 corpus with 2 seeds, by 2 workers of local, 1 thread each"


def test_an_atlas_in_which_all_failed_says_so(record: AtlasRecord) -> None:
    (only,) = spoken(replace(record, runs=record.runs[-1:], answers=record.answers.iloc[:0]))
    assert only == "1 of 1 run failed: drawn-ewt-1."
    assert len(grade_table(replace(record, answers=record.answers.iloc[:0]))) == 0


def test_runs_stand_in_a_table_with_what_was_wrong(record: AtlasRecord, hostile: str) -> None:
    text = str(run_table(record))
    assert "bert-ewt-0" in text
    assert hostile.split()[0] in text
    assert len(run_table(record)) == 4


def test_labels_are_by_the_runs_in_which_they_have_a_grade_with_means_over_seeds(
    record: AtlasRecord, tmp_path: Path
) -> None:
    write_atlas(tmp_path, record)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    obj, det = (
        next(line for line in text.splitlines() if f"dependency: {label}," in line and "|" in line)
        for label in ("obj", "det")
    )
    assert "| 2 of 3 | 70.0 3-1, 3-2; grade 1 to 2 | 20.0 1-1; no grade |" in obj
    assert "| 1 of 3 | 80.0 4-1; grade 0 to 1 |" in det
    assert text.index(obj) < text.index(det)
    assert "dependency: nsubj" not in text


def test_the_page_has_nothing_of_a_title_as_markup_and_loads_nothing(
    record: AtlasRecord, tmp_path: Path, hostile: str
) -> None:
    bad = replace(record, name=hostile, runs=(replace(record.runs[0], model=hostile, corpus=hostile), *record.runs[1:]))
    html = write_atlas(tmp_path, bad).read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "<script>" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_a_record_is_read_as_it_was_written(record: AtlasRecord, tmp_path: Path) -> None:
    write_atlas(tmp_path, record)
    again = read_record(tmp_path)
    pd.testing.assert_frame_equal(again.answers, record.answers, check_dtype=False)
    assert replace(again, answers=record.answers) == record


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("atlas.json", "{}", "atlas.json: not the record of an atlas (KeyError: 'runs'); make it again with "),
        ("atlas.json", "[", "atlas.json: not the record of an atlas (JSONDecodeError"),
        ("atlas.json", json.dumps({"runs": [{"nam": 1}]}), "atlas.json: not the record of an atlas (TypeError"),
        ("atlas.parquet", "no", "atlas.parquet: "),
    ],
)
def test_a_broken_record_is_one_line(file: str, text: str, message: str, record: AtlasRecord, tmp_path: Path) -> None:
    write_atlas(tmp_path, record)
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="atlas") as caught:
        read_record(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / message.partition(' ')[0]}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
