"""Attention statistics on a page: what is told, what is left out, and what a reader can choose."""

import json
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probes.maps.classes import ClassRule
from probes.maps.shapes import KINDS, MEASURES
from reports import Run, write_report, write_studies
from reports.formats import names
from reports.studies.shapes.charts import panels, shape_charts
from reports.studies.shapes.measures import NAMES, TITLES
from reports.studies.shapes.section import PLACES, HeadShapes, head_shapes
from reports.studies.shapes.tables import SHAPE_TABLES
from reports.studies.shapes.terms import SHAPES
from reports.studies.tables import STUDY_TABLES
from reports.tables.table import read_tables

pytestmark = pytest.mark.slow

LAYERS, HEADS = 6, 12
PLANTED = {("attention", "[SEP]"): ((4, 1), 0.8), ("offset", "-1"): ((2, 3), 0.9), ("class", "diagonal"): ((2, 3), 0.7)}
"Measure -> a head, and its value."


def rows(scopes: tuple[str, ...] = ("sentence", "window")) -> pd.DataFrame:
    """Invented shapes of all measures; blocks are measured in windows alone."""
    return pd.concat(
        [
            measure_rows(scope, split, kind, name)
            for scope in scopes
            for split in ("select", "report")
            for kind, name in MEASURES
        ],
        ignore_index=True,
    )


def measure_rows(scope: str, split: str, kind: str, name: str) -> pd.DataFrame:
    cell = np.arange(LAYERS * HEADS)
    layer, head = cell // HEADS, cell % HEADS
    there = name != "block" or kind == "class" or scope == "window"
    value = 2.5 - 0.2 * layer + 0.02 * head if kind == "entropy" else np.full(len(cell), 0.1)
    value = np.where(cell == 5, 4.0, 1.5) if kind == "sieve" else value
    if kind == "class":
        value = np.full(len(cell), {"heterogeneous": 0.6, "block": 0.0 if scope == "sentence" else 0.2}.get(name, 0.05))
    if (kind, name) in PLANTED:
        place, planted = PLANTED[kind, name]
        value = np.where((layer == place[0]) & (head == place[1]), planted, value)
    value = value if there else np.full(len(cell), np.nan)
    tested = kind == "sieve" and split == "report" and there
    p = np.where(cell == 5, 0.0004, 0.9) if tested else np.full(len(cell), np.nan)
    return pd.DataFrame(
        {
            "model": "minilm",
            "step": pd.NA,
            "corpus": "EWT dev",
            "scope": scope,
            "split": split,
            "kind": kind,
            "measure": name,
            "layer": layer,
            "head": head,
            "name": [f"{a + 1}-{b + 1}" for a, b in zip(layer, head, strict=True)],
            "n": (2001 if scope == "sentence" else 250) if there else 0,
            "clusters": 318 if there else 0,
            "value": value,
            "ci_low": value * 0.9,
            "ci_high": value * 1.05,
            "even": {"entropy": 3.0, "sieve": 1.0}.get(kind, 0.06) if there else np.nan,
            "near_ties": 3 if kind == "class" else 0,
            "threshold": 3.0 if tested else np.nan,
            "p": p / 4,
            "p_label": p / 2,
            "p_adjusted": p,
        }
    )


@pytest.fixture(scope="module")
def folder(
    written_run: Path, tmp_path_factory: pytest.TempPathFactory, drawing: Callable[..., AbstractContextManager[None]]
) -> Path:
    """A run with shapes and its report; not to be changed."""
    folder = shutil.copytree(written_run, tmp_path_factory.mktemp("shapes") / "minilm-ewt")
    write_studies({"shapes": rows()}, folder)
    with drawing("shapes"):
        write_report(folder)
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> HeadShapes:
    found = head_shapes(Run.open(folder))
    assert found is not None
    return found


def test_a_run_without_shapes_has_no_section(written_run: Path, report: Path) -> None:
    assert head_shapes(Run.open(written_run)) is None
    for name in ("index.html", "report.md"):
        assert "Attention statistics" not in (report / name).read_text("utf-8")
    assert not (report / "figures" / "shapes.png").exists()


def test_the_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_studies({"shapes": rows()}, tmp_path)
    frame = read_tables(tmp_path, STUDY_TABLES)["shapes"]
    assert list(frame.columns) == list(SHAPE_TABLES["shapes"].names)
    assert frame.step.dtype == "Int64"
    assert len(pd.read_csv(tmp_path / "shapes.csv")) == len(frame) == 4 * len(MEASURES) * LAYERS * HEADS


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda frame: frame.assign(split="dev"), "`split` is not one of select, report"),
        (lambda frame: frame.assign(value=51.0), r"`value` lies outside \[0, 1\], or is negative"),
        (lambda frame: frame.assign(p_adjusted=2.0), "`p_adjusted` lies outside"),
        (lambda frame: frame.assign(n=0), "n = 0 but `value` is a number, not NaN"),
        (lambda frame: frame.assign(name="1-1"), "`name` is not layer"),
        (lambda frame: pd.concat([frame, frame[:1]]), "two rows have the same model, step, scope"),
        (lambda frame: frame.drop(columns="even"), r"column\(s\) even missing"),
    ],
)
def test_what_cannot_be_a_shape_is_refused(
    change: Callable[[pd.DataFrame], pd.DataFrame], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"shapes.parquet: {complaint}"):
        write_studies({"shapes": change(rows())}, tmp_path)


def test_every_measure_that_is_kept_is_told_by_its_name(found: HeadShapes) -> None:
    assert {(one.kind, one.name) for one in found.measures} == set(MEASURES)
    assert tuple(TITLES) == KINDS
    assert {*NAMES, *PLACES.values()} <= set(MEASURES)
    titles = [(one.kind, one.title) for one in found.measures]
    assert len(set(titles)) == len(titles)


def test_classes_and_blocks_are_told_of_windows_and_all_else_of_sentences(found: HeadShapes) -> None:
    windows = {(one.kind, one.name) for one in found.measures if one.scope == "window"}
    assert windows == {("sieve", "block"), *(measure for measure in MEASURES if measure[0] == "class")}
    assert all(one.n == (250 if one.scope == "window" else 2001) for one in found.measures)


def test_without_windows_all_is_told_of_sentences_and_blocks_are_left_out(written_run: Path) -> None:
    found = head_shapes(replace(Run.open(written_run), studies={"shapes": rows(("sentence",))}))
    assert found is not None
    assert {one.scope for one in found.measures} == {"sentence"}
    assert [one.name for one in found.sieves] == ["local", "delimiter", "syntactic"]
    assert found.class_scope == "sentence"


def test_sentences_say_what_stands_out(found: HeadShapes) -> None:
    entropy, half, classes = found.sentences
    assert entropy == (
        "Entropies lie between 1.50 nats (head 6-1) and 2.72 (head 1-12); uniform attention has 3.00. Layer 1 is the "
        "broadest on average (2.61), layer 6 the narrowest (1.61)."
    )
    assert half == (
        "All tokens, special tokens included, give more than half of their attention to [SEP] in 1 head (5-2). Words "
        "give more than half of their attention to the previous word in 1 head (3-4). These are means over each text, "
        "then over texts; sinks are defined by the attention of words alone."
    )
    assert classes.startswith("Maps by class, all heads and 250 windows together: vertical 5.0 %, diagonal 5.9 %")


def test_where_no_head_stands_out_that_is_said(written_run: Path) -> None:
    frame = rows()
    frame.loc[frame["kind"].isin(["attention", "offset"]), ["value", "ci_low", "ci_high"]] = 0.2
    found = head_shapes(replace(Run.open(written_run), studies={"shapes": frame}))
    assert found is not None
    assert found.sentences[1].startswith("No head gives more than half of its attention to")


def test_few_clusters_are_told_first(written_run: Path) -> None:
    found = head_shapes(replace(Run.open(written_run), studies={"shapes": rows().assign(clusters=6)}))
    assert found is not None
    assert found.sentences[0].startswith("⚠ Only 6 clusters")


def test_of_many_heads_the_first_are_named() -> None:
    assert names([]) == "–"
    assert names(["3-1", "2-4"]) == "3-1, 2-4"
    assert names(["3-1", "2-4", "1-1"], 2) == "3-1, 2-4 and 1 more"


def test_heads_above_a_sieve_s_threshold_are_named(found: HeadShapes) -> None:
    assert found.threshold == 3.0
    assert {row.name: row.passed for row in found.sieves} == dict.fromkeys(
        ("local", "delimiter", "syntactic", "block"), ("1-6",)
    )
    local = found.sieves[0]
    assert (local.low, local.median, local.high) == (1.5, 1.5, 4.0)


def test_heads_are_counted_by_the_class_of_most_of_their_maps(found: HeadShapes) -> None:
    assert {row.name: len(row.heads) for row in found.classes} == {
        "vertical": 0,
        "diagonal": 1,
        "vertical + diagonal": 0,
        "block": 0,
        "heterogeneous": 71,
    }
    assert found.near_ties == 3 * LAYERS * HEADS


def test_layers_are_told_in_percent_or_in_their_unit(found: HeadShapes) -> None:
    at = dict(zip(found.layer_means.titles, found.layer_means.texts[4], strict=True))
    assert at["to [SEP], %"] == f"{(11 * 10 + 80) / 12:.1f}"
    assert at["entropy, nats"] == "1.81"


def test_charts_have_a_dot_a_head_and_series(found: HeadShapes) -> None:
    drawn = panels(found)
    assert [len(panel.series) for panel in drawn] == [1, 1, 3, 2]
    assert [panel.unit for panel in drawn] == ["nats", "nats", "%", "%"]
    assert drawn[0].top == 3.5
    for panel, chart in zip(drawn, shape_charts(found), strict=True):
        lines, even = chart.spec["layer"]
        heads = lines["layer"][0]["data"]["values"]
        assert [row["value"] for row in heads] == [v for _, one in panel.series for v in (one.scale * one.value).flat]
        assert {row["head"] for row in heads} == {f"{a}-{b}" for a in range(1, LAYERS + 1) for b in range(1, HEADS + 1)}
        means = [row["value"] for row in lines["layer"][1]["data"]["values"]]
        assert means == pytest.approx([v for _, one in panel.series for v in (one.scale * one.value).mean(1)])
        assert [row["value"] for row in even["data"]["values"]] == [one.scale * one.even for _, one in panel.series]


def test_both_pages_tell_the_same(folder: Path, found: HeadShapes) -> None:
    page, text = ((folder / "report" / name).read_text("utf-8") for name in ("index.html", "report.md"))
    assert '<a href="#shapes">' in page
    assert "## Attention statistics" in text
    for part in ("Entropies lie between", "give more than half of their attention to", *(term for term, _ in SHAPES)):
        assert part in page
        assert part in text
    assert "| layer | entropy, nats |" in text
    for suffix in ("png", "pdf"):
        assert (folder / "report" / "figures" / f"shapes.{suffix}").stat().st_size > 5000
    data = re.search(r'data-shapes>.*?<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    heat = json.loads(data[1])
    assert (heat["layers"], heat["heads"]) == (LAYERS, HEADS)
    assert [group["title"] for group in heat["groups"]] == list(TITLES.values())
    (sep,) = (one for group in heat["groups"] for one in group["measures"] if one["title"] == "[SEP]")
    assert sep["value"][4 * HEADS + 1] == 80.0
    assert sep["passed"] == []


def test_the_thresholds_of_the_classes_are_those_of_the_rule() -> None:
    told, rule = dict(SHAPES)["class"], ClassRule()
    assert f"{rule.line:g} more than its uniform share" in told
    assert f"an excess of {rule.clear:g} together" in told
    assert f"where each has {rule.part:g}" in told
    assert f"fewer than {rule.fewest} tokens" in told


def test_a_reader_chooses_a_measure(browser: Any, folder: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((folder / "report" / "index.html").as_uri())
    shapes = page.locator("[data-shapes]")
    assert shapes.locator("td").count() == LAYERS * HEADS
    assert "Entropy: entropy of all rows · uniform attention 3.00 nats" in shapes.locator(".readout").inner_text()
    shapes.locator("[data-role=measure]").select_option(label="[SEP]")
    assert shapes.locator("td").nth(4 * HEADS + 1).inner_text() == "80"
    shapes.locator("td").nth(4 * HEADS + 1).focus()
    assert "Head 5-2 · 80.0 % [72.0, 84.0]" in shapes.locator(".readout").inner_text()
    shapes.locator("[data-role=measure]").select_option(label="local")
    assert shapes.locator("td.specialised").count() == 1
    shapes.locator("td").nth(5).hover()
    assert "significantly above 3" in shapes.locator(".readout").inner_text()
    shapes.locator("[data-role=stretch]").check()
    assert shapes.locator(".scale").inner_text().split() == ["1.50", "times", "uniform", "4.00", "times", "uniform"]
    chart = page.locator("#shapes [data-chart]").first
    chart.scroll_into_view_if_needed()
    chart.locator("svg").wait_for()
    assert chart.locator(".mark-symbol.role-mark path").count() == LAYERS * HEADS
    assert chart.locator(".role-legend-label text").all_text_contents() == ["heads", "uniform attention"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
    assert not complaints
