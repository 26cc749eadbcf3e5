"""A run folder is opened, or one line says what is wrong with it, or which head was meant."""

from pathlib import Path

import pytest

from reports import Run
from reports.run.folder import RunFolderError


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((name, r"no head .*; did you mean '3-5'\? heads are named") for name in ("3.5", "L3H5", "(3, 5)")),
        *((name, "; heads are named layer-head from 1: 1-1 to 6-12$") for name in ("0-4", "3-13", "", "3", "3-5-1")),
    ],
)
def test_an_unknown_head_is_refused_with_what_there_is(run: Run, name: str, message: str):
    with pytest.raises(ValueError, match=message):
        run.head(name)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("run.json", "[]", r"run\.json: the whole file: expected an object, got \[\]; run again"),
        ("scores.parquet", "PAR1", r"scores\.parquet: not a readable parquet file"),
        ("config.toml", "[model\nname = 3", r"config\.toml: not TOML .*; run again to make a new one"),
    ],
)
def test_a_damaged_file_is_one_line_about_it(run_folder: Path, file: str, text: str, message: str):
    (run_folder / file).write_text(text)
    with pytest.raises(RunFolderError, match=message) as raised:
        _ = Run.open(run_folder).settings
    assert "\n" not in str(raised.value)
