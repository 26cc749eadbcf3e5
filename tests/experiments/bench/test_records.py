"""The end that all benchmarks share."""

import json
from pathlib import Path

import pytest

from experiments.bench.records import BenchError, end, exits_with_2, goal, new_record
from reports.statements.statement import HOLDS


@pytest.mark.parametrize(
    ("values", "kept", "code"), [((1.0, 1.9), True, 0), ((1.0, 2.0), True, 1), ((1.0, None), False, 1)]
)
def test_the_record_is_written_where_it_is_kept_and_a_missed_goal_ends_with_1(
    kept: bool, values: tuple[float | None, ...], code: int, tmp_path: Path
) -> None:
    page, path, record = tmp_path / "page.md", tmp_path / "record.json", new_record("make bench-it")
    page.write_text("before\n<!-- cost -->\n<!-- end -->\nafter\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        end(
            record,
            path,
            [page],
            {"cost": "It takes long."},
            [goal("it", value, below=2) for value in values],
            kept=kept,
        )
    assert ended.value.code == code
    assert ("<!-- cost -->\nIt takes long.\n<!-- end -->" in page.read_text("utf-8")) == path.is_file() == kept
    assert not kept or json.loads(path.read_text("utf-8")) == record


def test_what_cannot_be_measured_ends_with_2_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, exits_with_2():
        raise BenchError("no clock")
    assert (ended.value.code, capsys.readouterr().err) == (2, "bench: no clock\n")


def test_a_goal_is_met_on_its_own_side_alone() -> None:
    sides = {"above": (3.0, 2.0, 1.0), "below": (1.0, 2.0, 3.0)}
    for side, values in sides.items():
        assert [goal("it", value, **{side: 2.0}).verdict == HOLDS for value in values] == [True, False, False]
