"""Heads as a set on both pages, from invented tables."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports import Run, write_report
from reports.formats import percent, signed
from reports.heads.card_parts import CardSource
from reports.page.page import html_page
from reports.page.page_model import gather
from reports.studies.headset.charts import apart, headset_charts, layer_colours, plane_chart
from reports.studies.headset.figure import save_headset
from reports.studies.headset.section import heads_together
from reports.studies.headset.tables import HEADSET_TABLES
from reports.studies.tables import STUDY_TABLES, write_studies
from reports.tables.table import read_tables

Tables = dict[str, pd.DataFrame]
NAMES = ["1-1", "1-2", "1-3", "2-1", "2-2"]


@pytest.fixture
def folder(run_folder: Path, head_tables: Tables) -> Path:
    """A run folder with the tables, which a test may change."""
    write_studies(head_tables, run_folder)
    record = json.loads((run_folder / "run.json").read_text())
    record["heads"] = {"texts": 40, "words": 512, "left_out": 3, "stress": 0.12, "silhouette": 0.31}
    (run_folder / "run.json").write_text(json.dumps(record))
    return run_folder


def test_tables_are_read_as_they_were_written(tmp_path: Path, head_tables: Tables):
    write_studies(head_tables, tmp_path)
    found = read_tables(tmp_path, STUDY_TABLES)
    assert list(found) == list(HEADSET_TABLES)
    for name, table in head_tables.items():
        pd.testing.assert_frame_equal(found[name], table[[*HEADSET_TABLES[name].names]], check_dtype=False)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("distances", {"distance": 0.7}, "`distance` lies outside [0, 0.693]"),
        ("subspaces", {"overlap": 1.1}, "`overlap` lies outside [0, 1]"),
        ("contrasts", {"p": -0.1}, "`p` lies outside [0, 1]"),
        ("places", {"distance": -0.1}, "`distance` lies outside [0, 0.693]"),
        ("ensembles", {"accuracy": 45.0}, "`accuracy` lies outside [0, 1]"),
        ("ensembles", {"size": 1}, "two rows have the same model, step, probe, label, variant, size"),
    ],
)
def test_what_cannot_have_been_measured_is_refused(
    tmp_path: Path, head_tables: Tables, name: str, change: dict[str, object], said: str
):
    with pytest.raises(ValueError, match=re.escape(said)):
        write_studies({name: head_tables[name].assign(**change)}, tmp_path)


def test_the_sentences_say_what_the_tables_say(folder: Path):
    found = heads_together(Run.open(folder))
    assert found is not None
    said = " ".join(found.sentences)
    assert "All 5 heads were compared on 40 texts of the report split, 512 words; 3 more could not be read" in said
    assert (
        "Heads of one layer are nearer to each other in their maps (0.20 nats) than heads of two layers (0.40" in said
    )
    assert "permutation p = 0.004" in said
    assert "heads read (W_V): those of two heads overlap by 29.0 %" in said, "(4 * 0.2 + 6 * 0.35) / 10"
    assert (
        "with randomly initialised weights by 8.0 %; 100.0 % of pairs overlap more than any pair with randomly "
        "initialised weights" in said
    )
    assert "into 2 groups, of 3, 2 heads (mean silhouette 0.31)." in said
    assert "for 1 of 2 labels the mean map of the selected heads is better than the best head alone" in said


def test_ensembles_that_surely_gain_come_first_with_the_size_of_the_selection_split(folder: Path):
    found = heads_together(Run.open(folder))
    assert found is not None
    assert [(one.label, one.best.heads) for one in found.ensembles] == [("obj", "1-1 1-2"), ("det", "1-1")]
    assert [step.accuracy for step in found.ensembles[0].steps] == pytest.approx([0.55, 0.6, 0.65])


def test_the_matrix_holds_every_pair_of_the_upper_triangle(folder: Path):
    found = heads_together(Run.open(folder))
    assert found is not None
    matrix = found.matrix
    assert matrix is not None
    assert [head[0] for head in matrix["heads"]] == NAMES
    assert [name for name, _ in matrix["measures"]] == [
        *(
            "maps: distance, nats",
            "what heads read, W_V: overlap",
            "what heads write, W_O: overlap",
            "outputs: linear CKA",
        )
    ]
    assert matrix["measures"][0][1] == [100, 400, 400, 400, 400, 200, 400, 400, 400, 100]
    assert matrix["measures"][1][1][3] == 600


@pytest.mark.slow
def test_both_pages_tell_it_and_every_figure_is_there(folder: Path):
    report = write_report(folder).parent
    page, text = ((report / name).read_text("utf-8") for name in ("index.html", "report.md"))
    for said in (
        "Relations between heads",
        "2 groups, of 3, 2 heads",
        "Jensen-Shannon",
        "Vaswani et al. 2017",
        "linear CKA",
    ):
        assert said in page
        assert said in text
    assert "| maps: distance, nats | 0.320 | 0.200 | 0.400 | 0.004 | 0.020 | – |" in text
    assert "| dependency: obj | dependent->head | 120 | offset | 50.0 | 1-1 | 55.0 | 1-1 1-2 |\n" in text
    assert "| dependency: obj | dependent->head | 60.0 | +5.0 |" in text
    assert "55.0, **60.0**, 65.0" in text
    for figure in re.findall(r"\]\((figures/[\w-]+)\.png\)", text):
        assert (report / f"{figure}.pdf").is_file()
    assert {"heads-together.png", "ensembles.png"} <= {path.name for path in (report / "figures").iterdir()}
    assert not re.search(r"\bnan\b|\bNone\b", text)


@pytest.mark.slow
@pytest.mark.figures
def test_every_figure_is_drawn(folder: Path):
    found = heads_together(Run.open(folder))
    assert found is not None
    for name in save_headset(found, "made", folder):
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_a_run_with_ensembles_alone_tells_those(run_folder: Path, head_tables: Tables):
    write_studies({"ensembles": head_tables["ensembles"]}, run_folder)
    report = write_report(run_folder).parent
    text = (report / "report.md").read_text("utf-8")
    assert "- Ensembles: for " in text
    assert "within a layer" not in text
    assert "data-pairs" not in (report / "index.html").read_text("utf-8").partition("<script>")[0]


def test_a_run_without_the_tables_has_no_section_but_cards(report: Path):
    page = (report / "index.html").read_text("utf-8")
    assert 'id="headset"' not in page
    assert 'id="cards"' in page
    assert "## All heads" in (report / "report.md").read_text("utf-8")


def test_a_model_with_too_many_heads_has_no_matrix(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reports.studies.headset.section.MOST_IN_MATRIX", 4)
    found = heads_together(Run.open(folder))
    assert found is not None
    assert found.matrix is None


def test_the_plane_holds_every_head_with_what_the_run_says_of_it(folder: Path):
    found = heads_together(Run.open(folder))
    assert found is not None
    plane, *overlaps = headset_charts(found)
    heads = plane.spec["layer"][0]["data"]["values"]
    assert [row["head"] for row in heads] == NAMES
    assert [(row["x"], row["y"]) for row in heads] == [*zip(found.places["x"], found.places["y"], strict=True)]
    rows = CardSource(Run.open(folder)).rows.drop_duplicates("name").set_index("name")
    for row in heads:
        best = rows.loc[row["head"]]
        assert row["surest"] == f"{best['label']} ({best['variant']})"
        assert (row["accuracy"], row["margin"]) == (percent(best["accuracy"]), signed(best["margin"]))
        assert row["role"] == (best["label"] if best["grade"] else "–")
    assert len(overlaps) == 3
    shares = pd.DataFrame(overlaps[0].spec["data"]["values"])
    assert shares.groupby("weights")["share"].sum().to_dict() == pytest.approx(
        {"this model": 100, "randomly initialised weights": 100}
    )
    peak = shares[(shares["weights"] == "this model") & (shares["from"] <= 0.6) & (shares["to"] >= 0.6)]
    assert peak["share"].sum() == pytest.approx(10), "one of ten pairs"


def test_labels_do_not_touch_and_stand_where_there_is_room(folder: Path):
    found = heads_together(Run.open(folder))
    assert found is not None
    _, beside, before = plane_chart(found.places.assign(role="compound")).spec["layer"]
    assert (beside["mark"]["align"], before["mark"]["align"]) == ("left", "right")
    assert [row["head"] for row in beside["data"]["values"]] == NAMES[:4]
    assert [row["head"] for row in before["data"]["values"]] == NAMES[4:], "the last head lies at the right edge"
    assert len(plane_chart(found.places.assign(role="")).spec["layer"]) == 1
    assert apart([("det", 0, 0), ("obj", 5, 4), ("case", 5, 30)]) == [("det", 0, 0), ("case", 5, 30)]
    assert len(set(layer_colours(12))) == 12
    assert layer_colours(1) == [layer_colours(3)[0]]


@pytest.fixture(scope="module")
def page_path(written_run: Path, head_tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with the tables; not to be changed."""
    folder = shutil.copytree(written_run, tmp_path_factory.mktemp("headset") / "minilm-ewt")
    write_studies(head_tables, folder)
    (folder / "index.html").write_text(html_page(gather(folder)), "utf-8")
    return folder / "index.html"


@pytest.fixture
def opened(browser: Any, page_path: Path) -> Iterator[Any]:
    """The page in a browser; fails at the end where it logged an error or asked for anything."""
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else complaints.append(asked.url))
    page.goto(page_path.as_uri() + "#head-2-1")
    yield page
    page.close()
    assert not complaints


@pytest.mark.slow
def test_the_plane_tells_heads_chooses_them_and_follows_the_page(opened: Any):
    plane = opened.locator("#headset [data-chart]").first
    plane.scroll_into_view_if_needed()
    heads = plane.locator(".mark-symbol.role-mark path")
    heads.first.wait_for()
    assert heads.count() == len(NAMES)
    heads.nth(3).hover()
    told = opened.locator("#chart-told.visible")
    told.wait_for()
    said = dict(row.split("\t") for row in told.inner_text().splitlines() if "\t" in row)
    assert (said["head"], said["group"], said["nearest head"]) == ("2-1", "2", "1-2")
    ringed = (
        "() => [...document.querySelectorAll('#headset .role-mark path')]"
        ".findIndex((path) => path.getAttribute('stroke-width') === '2.5')"
    )
    assert opened.evaluate(ringed) == 3, "the head of the address"
    heads.nth(1).click()
    opened.wait_for_function(f"({ringed})() === 1")
    assert opened.locator(".card h3").inner_text() == "Head 1-2"
    legend = plane.locator(".role-legend-label text").first
    light = legend.evaluate("(text) => getComputedStyle(text).fill")
    opened.emulate_media(color_scheme="dark")
    assert legend.evaluate("(text) => getComputedStyle(text).fill") != light


@pytest.mark.slow
def test_all_charts_are_drawn_before_the_page_is_printed(opened: Any):
    states = "[...document.querySelectorAll('[data-chart]')].map((chart) => chart.dataset.chart)"
    assert "" in opened.evaluate(states), "those far from the screen wait"
    opened.pdf()
    assert opened.evaluate(states) == ["drawn"] * 4


@pytest.mark.slow
def test_a_card_opens_by_address_by_name_by_cell_and_by_choice(opened: Any):
    card = opened.locator(".card")
    assert card.locator("h3").inner_text() == "Head 2-1"
    assert "Group 2 of 2" in card.inner_text()
    link = opened.locator("#best td.head a").first
    name = link.inner_text()
    link.click()
    assert card.locator("h3").inner_text() == f"Head {name}"
    assert opened.evaluate("location.hash") == f"#head-{name}"
    opened.locator("#maps [data-head='3-5']").first.click()
    assert card.locator("h3").inner_text() == "Head 3-5"
    opened.locator("#cards select").select_option("1-2")
    assert card.locator("h3").inner_text() == "Head 1-2"
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_pointing_at_the_matrix_names_both_heads_and_their_distance(opened: Any):
    canvas = opened.locator("[data-pairs] canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    cell = box["width"] / 5
    opened.mouse.move(box["x"] + 1.5 * cell, box["y"] + 3.5 * cell)
    assert opened.inner_text("[data-pairs] .readout").startswith("2-1")
    assert opened.inner_text("[data-pairs] .readout").endswith(": 0.200")
    opened.locator("[data-pairs] [data-role=measure]").select_option("1")
    opened.mouse.move(box["x"] + 0.5 * cell, box["y"] + 4.5 * cell)
    assert opened.inner_text("[data-pairs] .readout").endswith(": 0.600")
