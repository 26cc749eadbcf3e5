"""The page of a comparison: its words, its tables and maps of heads, and its record."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports.compare.page import COMPARISON_PAGE, change_table, head_maps
from reports.compare.record import (
    ALONE,
    GAINED,
    KEPT_ROLE,
    LOST,
    LOST_ROLE,
    MOVED,
    NO_ROLE,
    OTHER_ROLE,
    SAME,
    Compared,
    Comparison,
    RunPair,
)

NAN = float("nan")


def row(label: str, change: str, one: float, other: float, **values: Any) -> dict[str, Any]:
    told = {"head": "1-1", "accuracy": one, "low": one - 0.02, "high": one + 0.02, "margin": 0.2, "graded": True}
    about = {"one": "before", "other": "after", "probe": "dependency", "label": label, "variant": "dependent->head"}
    about |= {"n": 1500, **{f"one_{name}": value for name, value in told.items()}}
    told |= {"head": "2-2", "accuracy": other, "low": other - 0.02, "high": other + 0.02}
    gap = other - one
    about |= {f"other_{name}": value for name, value in told.items()} | {"difference": gap}
    about |= {
        "difference_low": gap - 0.03,
        "difference_high": gap + 0.03,
        "p": 0.01,
        "p_adjusted": 0.02,
        "significant": True,
    }
    about |= {"paired": True, "partner": "1-1", "partner_accuracy": 0.1, "partner_graded": False}
    about |= {"partner_difference": -0.5, "partner_low": -0.6, "partner_high": -0.4, "partner_p_adjusted": 0.001}
    return about | {"change": change, "role": True} | values


def head(name: str, partner: str, change: str, before: str = "", now: str = "", **values: Any) -> dict[str, Any]:
    about = {"one": "before", "other": "after", "head": name, "partner": partner, "distance": NAN, "one_role": before}
    about |= {"other_role": now, "one_roles": int(bool(before)), "other_roles": int(bool(now)), "change": change}
    return about | {"largest": "obj (dependent->head)", "largest_from": 0.9, "largest_to": 0.25} | values


@pytest.fixture(scope="module")
def pair(hostile: str) -> RunPair:
    rows = [
        row("det", SAME, 0.8, 0.82, significant=False),
        row("obj", MOVED, 0.9, 0.6),
        row(hostile, LOST, 0.7, 0.3),
        row("amod", LOST, 0.5, 0.45, significant=False, paired=False),
        row("cop", GAINED, 0.3, 0.6),
        row(
            "case", "", 0.2, 0.3, role=False, p_adjusted=NAN, difference_low=NAN, difference_high=NAN, significant=False
        ),
    ]
    heads = [
        head("1-1", "1-1", KEPT_ROLE, "det", "det"),
        head("1-2", "2-2", OTHER_ROLE, "obj", hostile),
        head("2-1", "1-2", LOST_ROLE, "amod"),
        head("2-2", "2-1", NO_ROLE),
        head("", "2-3", ALONE, "", "cop", largest="", largest_from=NAN, largest_to=NAN),
    ]
    shapes = ((2, 2), (2, 3))
    return RunPair("before", "after", shapes, "By name.", (hostile,), pd.DataFrame(rows), pd.DataFrame(heads))


@pytest.fixture(scope="module")
def folder(pair: RunPair, tmp_path_factory: pytest.TempPathFactory, hostile: str) -> Path:
    runs = [Compared(name, "minilm", "ewt-dev", hostile) for name in ("before", "after")]
    return COMPARISON_PAGE.write(tmp_path_factory.mktemp("compare"), Comparison.of("0.1.0", runs, [pair])).parent


def test_what_came_out_is_said_in_plain_words(pair: RunPair) -> None:
    assert pair.sentences == (
        "after differs significantly from before in 3 of 5 labels and directions: it is more accurate in 1 and less "
        "accurate in 2.",
        "Of 5 roles that before or after has, 1 stays with the same head, 1 moved to another head, 2 are lost, "
        "1 is gained.",
        "In 1 of the 3 lost or gained the accuracies do not differ significantly: there a verdict changed, which can "
        "happen by chance near a threshold.",
        "Of the 2 that both have, the selected head is significantly less accurate in 1, more in 0, in one "
        "direction at least.",
        "Of 4 heads that both runs have, 1 have the same main role, 1 another one, 1 lost theirs, 0 have one now, and "
        "1 have none in either. 1 have no counterpart in the other run.",
    )


def test_a_significant_change_has_results_in_every_direction_and_for_labels_without_a_role() -> None:
    rows = [
        row("obj", SAME, 0.531, 0.489, significant=False, variant="head->dependent"),
        row("obj", SAME, 0.598, 0.427, role=False),
        row("iobj", LOST, 0.6, 0.57, significant=False),
        row("iobj", LOST, 0.55, 0.4, variant="head->dependent", role=False),
        row("dep", "", 0.2, 0.3, role=False),
        row("case", "", 0.2, 0.21, role=False, significant=False),
    ]
    found = RunPair(
        "before", "after", ((1, 1),) * 2, "", (), pd.DataFrame(rows), pd.DataFrame([head("1-1", "1-1", NO_ROLE)])
    )
    assert found.counts[SAME] == found.counts[LOST] == 1, "a role is counted once"
    assert [*zip(found.changed["label"], found.changed["variant"], strict=True)] == [
        *(("iobj", "head->dependent"), ("iobj", "dependent->head"), ("obj", "dependent->head")),
        ("dep", "dependent->head"),
    ]
    assert found.others["label"].tolist() == ["case"]
    said = found.sentences
    assert (
        "Of the 1 that both have, the selected head is significantly less accurate in 1, more in 0, in one" in said[2]
    )
    assert not any("a verdict changed" in sentence for sentence in said), "iobj fell in the other direction"
    shown = [" | ".join(row) for row in change_table(found).texts]
    assert any(
        row.startswith("dependency: obj | dependent->head | same head | 1-1 | 59.8 [57.8, 61.8] | 2-2 | 42.7")
        for row in shown
    )
    assert any(row.startswith("dependency: dep | dependent->head |") for row in shown)
    assert not any(row.startswith("dependency: case") for row in shown)


def test_the_significant_differences_stand_on_one_screen_the_largest_first(
    folder: Path, more_than_a_screen: Callable[[Path], list[str]], pair: RunPair, tmp_path: Path
) -> None:
    assert more_than_a_screen(folder) == []
    text = (folder / "report.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| attends")]
    assert [row.split(" | ")[3] for row in rows] == [
        *("−40.0 [−43.0, −37.0] |", "−30.0 [−33.0, −27.0] |", "+30.0 [+27.0, +33.0] |"),
    ]
    assert rows[1].startswith("| attends from an object to its verb | 1-1: 90.0 % | 2-2: 60.0 % |")
    names = [f"run-{one}" for one in range(7)]
    others = [
        replace(pair, other=name, rows=pair.rows.assign(other=name), heads=pair.heads.assign(other=name))
        for name in names
    ]
    runs = [Compared(name, "minilm", "ewt-dev", "") for name in ("before", *names)]
    COMPARISON_PAGE.write(tmp_path, Comparison.of("0", runs, others))
    assert more_than_a_screen(tmp_path) == []
    assert "… and 9 more in compare.csv." in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_maps_of_heads_have_their_change_and_counterpart(pair: RunPair) -> None:
    one, other = head_maps(pair)
    assert [len(texts) for texts in (one.texts, other.texts)] == [4, 6]
    assert other.texts[5] == "no counterpart · main role none → cop"
    assert other.texts[2] == "Not scored."
    assert other.texts[1] == (
        "lost its role · 2-1 of the first run, 1-2 of the second · main role amod → none · largest change "
        "obj (dependent->head) 90.0 → 25.0 %"
    )
    assert one.values[0][0] == pytest.approx(-65)
    assert [*one.marked] == [True, True, True, False]


def test_the_record_comes_back_bit_by_bit(folder: Path, pair: RunPair, hostile: str) -> None:
    found = COMPARISON_PAGE.read(folder)
    (again,) = found.each_pair
    assert [(run.name, run.made) for run in found.runs] == [("before", hostile), ("after", hostile)]
    assert (again.shapes, again.matched, again.notes) == (pair.shapes, pair.matched, pair.notes)
    for table in ("rows", "heads"):
        columns = [*getattr(again, table).columns]
        pd.testing.assert_frame_equal(getattr(again, table), getattr(pair, table)[columns], check_exact=True)


def test_a_record_keeps_its_pairs_apart(pair: RunPair, tmp_path: Path) -> None:
    third = replace(pair, other="NA", rows=pair.rows.assign(other="NA")[:2], heads=pair.heads.assign(other="NA"))
    runs = [Compared(name, "m", "t", "") for name in ("before", "after", "NA")]
    COMPARISON_PAGE.write(tmp_path, Comparison.of("0.1.0", runs, [pair, third]))
    assert [(one.other, len(one.rows), len(one.heads)) for one in COMPARISON_PAGE.read(tmp_path).each_pair] == [
        *(("after", 6, 5), ("NA", 2, 5)),
    ]
