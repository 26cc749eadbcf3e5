"""The end that all benchmarks share."""

import json
from pathlib import Path

import pytest

from experiments.bench.records import BenchError, Goal, end, exits_with_2, new_record


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(("values", "code"), [((1.0, 2.0), 0), ((1.0, 2.5), 1), ((1.0, None), 1)])
def test_the_record_is_written_where_it_is_kept_and_a_missed_goal_ends_with_1(
    kept: bool, values: tuple[float | None, ...], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, path = tmp_path / "page.md", tmp_path / "record.json"
    page.write_text("before\n<!-- cost -->\n<!-- end -->\nafter\n", encoding="utf-8")
    record = new_record("make bench-it")
    with pytest.raises(SystemExit) as ended:
        end(record, path, [page], {"cost": "It takes long."}, [Goal("it", value, 2) for value in values], kept=kept)
    assert ended.value.code == code
    assert capsys.readouterr().out == "It takes long.\n"
    assert ("<!-- cost -->\nIt takes long.\n<!-- end -->" in page.read_text("utf-8")) == path.is_file() == kept
    if kept:
        assert json.loads(path.read_text("utf-8")) == record
        assert record["made by"] == "make bench-it"


def test_what_cannot_be_measured_ends_with_2_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, exits_with_2():
        raise BenchError("no clock")
    assert ended.value.code == 2
    assert capsys.readouterr().err == "bench: no clock\n"
