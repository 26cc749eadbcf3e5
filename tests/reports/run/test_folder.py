import dataclasses
from pathlib import Path

import pytest

from reports import Run
from reports.run.folder import RunFolderError


def test_a_run_holds_scores_examples_record_and_config(written_run: Path):
    run = Run.open(str(written_run))
    assert (run.name, run.layers, run.heads) == ("minilm-ewt", 6, 12)
    assert run.record.model.name == "minilm"
    assert "[model]" in run.config
    assert len(run.examples)
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.config = ""


def test_a_head_is_found_by_the_name_that_papers_use(written_run: Path):
    rows = Run.open(written_run).head("3-5").scores
    assert set(zip(rows["layer"], rows["head"], strict=True)) == {(2, 4)}
    assert set(rows["split"]) == {"select", "report"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("3.5", r"no head '3\.5'; did you mean '3-5'\?"),
        ("0-4", "heads are named layer-head from 1: 1-1 to 6-12"),
        ("3-13", "no head '3-13'; heads are named layer-head from 1: 1-1 to 6-12"),
        ("", "no head ''; heads are named"),
    ],
)
def test_an_unknown_head_is_refused_with_what_there_is(written_run: Path, name: str, message: str):
    with pytest.raises(ValueError, match=message):
        Run.open(written_run).head(name)


def test_what_is_no_run_folder_is_said_in_one_line(run_folder: Path, tmp_path: Path):
    with pytest.raises(
        FileNotFoundError, match=r"nowhere: no such folder; expected a run folder, made by 'headscope run"
    ):
        Run.open(tmp_path / "nowhere")
    (run_folder / "config.toml").unlink()
    (run_folder / "run.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"not a finished run folder, run\.json, config\.toml missing"):
        Run.open(run_folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"name":\n oops}', r"run\.json:2: not valid JSON"),
        ("[]", r"run\.json: the whole file: expected an object, got \[\]; run again"),
    ],
)
def test_a_broken_record_is_said_with_its_line(run_folder: Path, text: str, message: str):
    (run_folder / "run.json").write_text(text)
    with pytest.raises(RunFolderError, match=message):
        Run.open(run_folder)


def test_a_damaged_table_is_an_error_of_the_run_folder(run_folder: Path):
    (run_folder / "scores.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunFolderError, match=r"scores\.parquet: not a readable parquet file"):
        Run.open(run_folder)
