import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import page as page_module
from reports import write_report, write_scores
from reports.formats import percent, signed, signed_interval
from reports.tables import best_heads, probes

LOADS = {"src", "srcset", "data", "poster", "background", "action", "formaction"}


class Reader(HTMLParser):
    """Collects what a page loads, its text, and its tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = tag
        self.loaded += [value or "" for name, value in attrs if name in LOADS]
        self.loaded += [value or "" for name, value in attrs if name in {"href", "xlink:href"}]

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.text.append(data)


@pytest.fixture(scope="module")
def html(report: Path) -> str:
    return (report / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.fixture(scope="module")
def markdown(report: Path) -> str:
    return (report / "report.md").read_text(encoding="utf-8")


def test_the_page_loads_nothing(html: str, read: Reader):
    assert all(address.startswith("#") or address == "data:," for address in read.loaded)
    style = html[html.index("<style>") : html.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style
    assert not re.search(r"\b(fetch|XMLHttpRequest|import)\s*\(", html)


def test_every_chosen_head_is_on_the_page_with_its_numbers(read: Reader, scores: pd.DataFrame):
    text = "\n".join(read.text)
    for row in (row for probe in probes(scores) for row in best_heads(scores, probe) if row.n):
        assert row.name in text
        assert row.label in text
        assert signed_interval(row.margin_low, row.margin_high) in text


def test_nan_is_never_shown(html: str, read: Reader, markdown: str):
    shown = " ".join(read.text)
    assert not re.search(r"\bnan\b|\bNone\b|<NA>|\binf\b", shown, re.IGNORECASE)
    assert not re.search(r"\bnan\b|\bNone\b|<NA>", markdown, re.IGNORECASE)
    assert "NaN" not in "".join(data for data in read.scripts if data.startswith("{"))
    assert re.search(r'orphan</th>.*?<td class="head" data-v="">–</td><td class="num" data-v="0">0</td>', html)


def test_hostile_text_stays_text(html: str, read: Reader, markdown: str, hostile: str):
    assert hostile in "\n".join(read.text)
    assert hostile not in html
    assert "b" in read.tags
    assert html.count("</script>") == html.count("<script")
    labels = {one["label"] for data in read.scripts if data.startswith("{") for one in json.loads(data)["maps"]}
    assert hostile in labels
    assert '<b>&"' not in markdown


def test_markdown_tables_hold_the_numbers(markdown: str, scores: pd.DataFrame):
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in markdown.splitlines()
        if line[:1] == "|"
    ]
    rows = {(row[0], row[1], row[2]): row for row in cells if len(row) == 16}
    for row in best_heads(scores, "agreement"):
        shown = rows[row.label, row.variant, row.name]
        assert shown[3] == f"{row.n:,}"
        assert shown[4] == ("⚠ " if row.clusters < 20 else "") + str(row.clusters)
        assert [shown[5], shown[8], shown[9]] == [
            percent(row.accuracy),
            percent(row.baseline_accuracy),
            signed(row.margin),
        ]
        assert [shown[11], shown[14], shown[15]] == [
            percent(row.lexical_accuracy),
            percent(row.share),
            str(row.near_ties),
        ]


def test_every_figure_of_the_markdown_exists_as_png_and_pdf(report: Path, markdown: str):
    shown = re.findall(r"\]\((figures/[\w-]+)\.png\)", markdown)
    assert len(shown) == 10
    for figure in shown:
        assert (report / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (report / f"{figure}.pdf").read_bytes().startswith(b"%PDF")


def test_few_clusters_dropped_counts_meaning_and_provenance_are_on_the_page(read: Reader):
    text = " ".join(" ".join(read.text).split())
    for said in (
        "⚠",
        "longer than the model's 512 pieces",
        "attention is not explanation",
        "not thereby unspecialised",
        "Clark et al. 2019, section 3.2",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "5d0c3e9a71b2f488",
        "37.4 s",
        "1,422 MB",
        'name = "minilm"',
        "agreement is read from UD features",
        "Selectivity",
    ):
        assert said in text


def test_the_same_run_gives_the_same_report(report: Path, run_folder: Path):
    again = write_report(run_folder).parent
    for name in ("index.html", "report.md", "figures/best-dependency.png", "figures/heatmap-dependency.pdf"):
        assert (again / name).read_bytes() == (report / name).read_bytes()


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "_save_figures", lambda contents, _: {part.name: [] for part in contents.probes})


@pytest.mark.usefixtures("without_figures")
def test_a_failure_in_the_middle_leaves_the_old_report(run_folder: Path, monkeypatch: pytest.MonkeyPatch):
    old = run_folder / "report"
    old.mkdir()
    (old / "index.html").write_text("the old one")
    monkeypatch.setattr(page_module, "html_page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(run_folder)
    assert [path.name for path in old.iterdir()] == ["index.html"]
    assert (old / "index.html").read_text() == "the old one"
    assert not list(run_folder.glob(".report*"))


@pytest.mark.usefixtures("without_figures")
def test_a_new_report_takes_the_place_of_the_old_one(run_folder: Path):
    (run_folder / "report").mkdir()
    (run_folder / "report" / "stale.txt").write_text("old")
    assert write_report(run_folder).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert not (run_folder / "report" / "stale.txt").exists()
    assert not list(run_folder.glob(".report*"))


@pytest.mark.usefixtures("without_figures")
def test_a_run_without_rows_or_with_a_bare_record_is_handled(run_folder: Path, scores: pd.DataFrame):
    (run_folder / "run.json").write_text("{}")
    assert write_report(run_folder).exists()
    write_scores(scores.head(0), run_folder)
    with pytest.raises(ValueError, match=r"scores\.parquet: no rows, so there is nothing to report"):
        write_report(run_folder)


@pytest.mark.usefixtures("without_figures")
def test_a_page_of_many_labels_stays_below_two_megabytes(run_folder: Path, scores: pd.DataFrame):
    base = scores[(scores["probe"] == "dependency") & scores["label"].isin(["obj"])]
    many = [base.assign(label=f"relation{i}:subtype") for i in range(60)]
    write_scores(pd.concat([scores[scores["probe"] != "dependency"], *many]), run_folder)
    assert write_report(run_folder).stat().st_size < 2_000_000


def test_importing_reports_leaves_torch_alone():
    heavy = ("torch", "transformers", "datasets", "altair", "matplotlib.pyplot")
    code = f"import sys, reports; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_nan_labels_draw_no_figure_but_a_page(run_folder: Path, scores: pd.DataFrame):
    frame = scores[scores["label"] == "orphan"].copy()
    assert np.isnan(frame["accuracy"]).all()
    write_scores(frame, run_folder)
    assert "orphan" in write_report(run_folder).read_text(encoding="utf-8")
