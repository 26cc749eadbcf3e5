import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import write_report, write_scores
from reports.formats import interval, percent, signed, signed_interval
from reports.page import page as page_module
from reports.scores.best_heads import best_heads, probes
from tests.reports.conftest import config

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
    assert re.search(
        r'orphan</th>.*?<td class="head" data-v="">–</td><td class="verdict" data-v=""><span class="muted">–</span>',
        html,
    )


def test_hostile_text_stays_text(html: str, read: Reader, markdown: str, hostile: str):
    assert hostile in "\n".join(read.text)
    assert hostile not in html
    assert "b" in read.tags
    assert html.count("</script>") == html.count("<script")
    labels = {one["label"] for data in read.scripts if data.startswith("{") for one in json.loads(data).get("maps", ())}
    assert hostile in labels
    assert '<b>&"' not in markdown


def test_markdown_tables_hold_the_numbers(markdown: str, scores: pd.DataFrame):
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in markdown.splitlines()
        if line[:1] == "|"
    ]
    first, more = ({(row[0], row[1], row[2]): row for row in cells if len(row) == width} for width in (7, 19))
    for row in best_heads(scores, "agreement"):
        shown = first[row.label, row.variant, row.name]
        sign = "⚠ " if row.effective_clusters < 20 else ""
        assert shown[4:] == [
            f"{sign}{percent(row.accuracy)} {interval(row.ci_low, row.ci_high)}",
            f"{percent(row.baseline_accuracy)} {row.baseline}",
            f"{signed(row.margin)} {signed_interval(row.margin_low, row.margin_high)}",
        ]
        shown = more[row.label, row.variant, row.name]
        assert shown[3:5] == [f"{row.n:,}", f"{sign}{row.effective_clusters:.1f}"]
        assert shown[5:10] == ["< 0.001" if row.grade else "0.800", "–", "–", "92.5", percent(row.lexical_accuracy)]
        assert shown[10] == (
            f"{signed(row.lexical_margin)} {signed_interval(row.lexical_margin_low, row.lexical_margin_high)}"
        )
        assert shown[11] == f"{percent(row.rule_accuracy)} {row.rule}"
        assert shown[13:] == [
            f"{percent(row.mass)} {interval(row.mass_low, row.mass_high)}",
            percent(row.coverage),
            percent(row.share),
            percent(row.precision),
            f"{row.lift:.2f}",
            str(row.near_ties),
        ]
    chosen = next(row for row in best_heads(scores, "agreement") if row.grade)
    told = first[chosen.label, chosen.variant, chosen.name][3]
    assert told == "grade 3: beyond grammar rules; 1 other head: 2-2"


def test_a_page_opens_with_eight_columns_and_unfolds_the_others(html: str) -> None:
    head = re.findall(r'id="table-2">.*?<thead>(.*?)</thead>', html, re.DOTALL)[0]
    classes = re.findall(r'<th scope="col" class="([^"]*)"', head)
    folded = [name for name in classes if "more" in name.split()]
    assert len(classes) - len(folded) == 8
    assert len(folded) == 16


def test_few_clusters_dropped_counts_meaning_and_provenance_are_on_the_page(read: Reader):
    text = " ".join(" ".join(read.text).split())
    for said in (
        "⚠",
        "longer than the model's 512 pieces",
        "attention is not explanation",
        "can still have grade 1",
        "Clark et al. 2019, section 3.2",
        "and so no margin and no grade",
        "Benjamini and Yekutieli 2001",
        "Pustejovsky and Tipton 2018",
        "the gold follows the words",
        "Share of resamples of the selection split",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "5d0c3e9a71b2f488",
        "37.4 s",
        "1,422 MB",
        'name = "minilm"',
        "agreement is read from UD features",
        "Selectivity",
    ):
        assert said in text


def plain(read: Reader) -> str:
    return " ".join(" ".join(read.text).split())


def test_the_rule_is_on_both_pages_with_the_thresholds_of_the_run(read: Reader, markdown: str):
    for text in (plain(read), markdown):
        assert "This lead is tested (adjusted p below 0.01)" in text
        assert "more than 12.5 points above that of every baseline of the grade" in text
        assert "No controls" not in text
        first = text.index("Heads by highest grade in a role of language: ")
        assert first < text.index("Other heads: ") < text.index("This lead is tested")
        assert text.index("This lead is tested") < text.index("Best heads", 400)


def test_verdicts_are_in_the_cells_of_the_table(html: str, scores: pd.DataFrame):
    cells = re.findall(r'<td class="verdict" data-v="(\d?)">(.*?)</td>', html)
    untrained = [row for probe in probes(scores) if probe != "classifier" for row in best_heads(scores, probe)]
    assert len(cells) == len(untrained) == 69
    ranks = [rank for rank, _ in cells]
    assert [ranks.count(rank) for rank in ("3", "2", "1")] == [1, 1, 4]
    assert ranks.count("") == 4
    assert sum("grade 2: beyond words" in text for _, text in cells) == 1
    assert sum("no: a lead of 5 points or more is excluded" in text for _, text in cells) == 3
    assert sum("1 other head has one: 2-2" in text for _, text in cells) == 1
    assert html.count('class="dot hollow"') == 2 + 60  # the keys of the first screen and of the tables


def test_few_effective_documents_are_marked(html: str):
    assert html.count("effective number of documents 8.1, below 20: intervals and tests are rough") == 6


def test_controls_are_told_with_their_cost_and_their_switch(html: str, read: Reader, markdown: str):
    for text in (plain(read), markdown):
        assert "Controls of this run: random weights, shuffled word order, control arcs." in text
    for row in (
        "random weights | control: the same architecture with randomly initialised weights | 3 | 12.3 s | `--set "
        "controls.random=0`",
        "as the annotated ones, scored in the same pass | 0 | – | `--set controls.arcs=false`",
        "offset | the most frequent distance of correct words | 42 | – | – |",
        "uniform | uniform attention: chance | 5 | – | – |",
    ):
        assert row in markdown
    assert '<td class="num">3</td><td class="num">12.3 s</td><td><code>--set controls.random=0</code>' in html
    assert '<td class="num">0</td><td class="num">4.5 s</td><td><code>--set controls.words=false</code>' in html
    assert "controls.permuted" not in html


@pytest.mark.slow
def test_the_same_run_gives_the_same_report(report: Path, run_folder: Path):
    again = write_report(run_folder).parent
    for name in ("index.html", "report.md"):
        assert (again / name).read_bytes() == (report / name).read_bytes()


@pytest.mark.slow
def test_a_failure_in_the_middle_leaves_the_old_report(run_folder: Path, monkeypatch: pytest.MonkeyPatch):
    old = run_folder / "report"
    old.mkdir()
    (old / "index.html").write_text("the old one")
    monkeypatch.setattr(page_module, "run_page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(run_folder)
    assert [path.name for path in old.iterdir()] == ["index.html"]
    assert (old / "index.html").read_text() == "the old one"
    assert not list(run_folder.glob(".report*"))


@pytest.mark.slow
def test_a_new_report_takes_the_place_of_the_old_one(run_folder: Path):
    (run_folder / "report").mkdir()
    (run_folder / "report" / "stale.txt").write_text("old")
    assert write_report(run_folder).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert not (run_folder / "report" / "stale.txt").exists()
    assert not list(run_folder.glob(".report*"))


@pytest.mark.slow
def test_a_run_without_rows_or_with_a_bare_record_is_handled(run_folder: Path, scores: pd.DataFrame):
    (run_folder / "run.json").write_text("{}")
    assert write_report(run_folder).exists()
    write_scores(scores.head(0), run_folder)
    with pytest.raises(ValueError, match=r"scores\.parquet: no rows, so there is nothing to report"):
        write_report(run_folder)


@pytest.mark.slow
def test_a_run_without_controls_or_thresholds_says_so(run_folder: Path, scores: pd.DataFrame):
    (run_folder / "run.json").write_text("{}")
    (run_folder / "config.toml").write_text(
        config(controls={"random": 0, "permuted": 0, "words": False, "arcs": False})
    )
    write_scores(scores[scores["label"] != "det"], run_folder)
    page = write_report(run_folder)
    for text in (page.read_text(encoding="utf-8"), (page.parent / "report.md").read_text(encoding="utf-8")):
        assert "adjusted p below 0.05" in text
        assert "more than 5 points above that of every baseline of the grade" in text
        assert "This run had no controls, so grade 1 means above the baselines only." in text
        assert "This run had no controls: grade 1 means above the baselines only." in text


@pytest.mark.slow
def test_a_page_says_which_maps_were_read_and_what_mass_then_is(run_folder: Path, scores: pd.DataFrame):
    weights = write_report(run_folder).read_text(encoding="utf-8")
    assert "attention weights" in weights
    assert "This run did not read" not in weights
    for kind, said in (("norms", "lengths of vectors, written times 100"), ("rollout", "half attention, averaged")):
        write_scores(scores.assign(maps=kind), run_folder)
        page = write_report(run_folder)
        for text in (page.read_text(encoding="utf-8"), (page.parent / "report.md").read_text(encoding="utf-8")):
            assert f"This run did not read attention weights but {kind}" in text
            assert said in text


def test_a_damaged_config_is_one_clear_line(run_folder: Path):
    (run_folder / "config.toml").write_text("[model\nname = 3")
    with pytest.raises(ValueError, match=r"config\.toml: not TOML .*; run again to make a new one") as raised:
        write_report(run_folder)
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_a_page_of_many_labels_stays_below_two_megabytes(run_folder: Path, scores: pd.DataFrame):
    base = scores[(scores["probe"] == "dependency") & scores["label"].isin(["obj"])]
    many = [base.assign(label=f"relation{i}:subtype") for i in range(60)]
    write_scores(pd.concat([scores[scores["probe"] != "dependency"], *many]), run_folder)
    assert write_report(run_folder).stat().st_size < 2_000_000


@pytest.mark.slow
def test_importing_reports_leaves_torch_alone():
    heavy = ("torch", "transformers", "datasets", "matplotlib.pyplot")
    code = f"import sys, reports; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_nan_labels_draw_no_figure_but_a_page(run_folder: Path, scores: pd.DataFrame):
    frame = scores[scores["label"] == "orphan"].copy()
    assert np.isnan(frame["accuracy"]).all()
    write_scores(frame, run_folder)
    assert "orphan" in write_report(run_folder).read_text(encoding="utf-8")
