"""The page of a run: its numbers, texts from data, missing values, and failures."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from reports import write_report, write_scores
from reports.formats import interval, percent, signed_interval
from reports.page import page as page_module
from reports.scores.best_heads import best_heads, probes
from reports.templates.environment import PACKED
from tests.packed import loaded

LOADS = {"src", "srcset", "data", "poster", "background", "action", "formaction", "href", "xlink:href"}


class Reader(HTMLParser):
    """Collects what a page loads, its text, its scripts, and the anchors in it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.text, self.data = "", list[str]()
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = "data" if ("type", "application/json") in attrs else tag
        self.loaded += [value or "" for name, value in attrs if name in LOADS]
        self.anchors |= {value or "" for name, value in attrs if name == "id"}

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "data":
            self.data.append(data)
        elif self._inside not in ("script", "style"):
            self.text += f"{data}\n"


@pytest.fixture(scope="module")
def html(report: Path) -> str:
    return (report / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read(html: str) -> Reader:
    return Reader(html)


@pytest.fixture(scope="module")
def markdown(report: Path) -> str:
    return (report / "report.md").read_text(encoding="utf-8")


def test_the_page_loads_nothing_and_its_links_lead_to_places_on_it(html: str, read: Reader):
    made_by_scripts = ("head-",)
    links = {one for one in read.loaded if not one.startswith("data:,")}
    assert {one.removeprefix("#") for one in links if not one.startswith(made_by_scripts, 1)} <= read.anchors
    assert "url(" not in html[html.index("<style>") : html.index("</style>")]


def test_nan_is_never_shown(html: str, read: Reader, markdown: str):
    for shown in (read.text, markdown):
        assert not re.search(r"\bnan\b|\bNone\b|<NA>|\binf\b", shown, re.IGNORECASE)
    assert "NaN" not in "".join(str(loaded(data)) for data in read.data)
    untested = '<td class="head" data-v="">–</td>.*?<td class="verdict" data-v=""><span class="muted">not tested</span>'
    assert re.search(f"{untested}.*?>orphan</td>", html)


def test_long_data_are_packed_and_hold_the_same(read: Reader):
    packed = [data for data in read.data if data.startswith('"')]
    assert packed
    assert all(len(str(loaded(data))) > PACKED for data in packed)
    assert all(len(data) <= PACKED for data in read.data if data not in packed)


def test_hostile_text_stays_text(html: str, read: Reader, markdown: str, hostile: str):
    assert hostile in read.text
    assert hostile not in html
    assert html.count("</script>") == html.count("<script")
    titles = {one["title"] for data in read.data for one in loaded(data).get("numbers", ())}
    assert any(hostile in title for title in titles)
    assert '<b>&"' not in markdown


def test_the_page_holds_the_numbers_of_the_selected_heads(read: Reader, scores: pd.DataFrame):
    for row in (row for probe in probes(scores) for row in best_heads(scores, probe) if row.n):
        for shown in (row.name, row.label, signed_interval(row.margin_low, row.margin_high)):
            assert shown in read.text


def test_markdown_is_one_screen_with_one_table_whose_numbers_are_those_of_the_scores(
    markdown: str, scores: pd.DataFrame
):
    assert len(markdown.split()) <= 600
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    assert sum(line.startswith("|---") for line in lines) == 1
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert 4 < len(rows) <= 12
    chosen = {(row.label, row.variant): row for row in best_heads(scores, "dependency")}
    obj = chosen["obj", "dependent->head"]
    assert [*rows[1][:2], rows[1][2]] == [
        *("from an object to its verb", obj.name),
        f"{percent(obj.accuracy)} {interval(obj.ci_low, obj.ci_high)}",
    ]


def test_at_most_eight_links_lead_to_all_sections(html: str, read: Reader):
    links = re.findall(r'<nav[^>]*id="sections".*?</nav>', html)[0]
    assert len(re.findall("<a ", links)) <= 8
    within = re.findall(r'<nav class="wrap group" aria-label="(\w+)">', html)
    assert within == ["About"], "of several sections; the measures of this run have one"
    assert {"dropped", "methods"} <= read.anchors, "tests in a browser open the others"


@pytest.mark.slow
def test_a_failure_in_the_middle_leaves_the_old_report(run_folder: Path, monkeypatch: pytest.MonkeyPatch):
    old = run_folder / "report"
    old.mkdir()
    (old / "index.html").write_text("the old one")
    monkeypatch.setattr(page_module, "run_page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(run_folder)
    assert {path.name: path.read_text() for path in old.iterdir()} == {"index.html": "the old one"}
    assert not list(run_folder.glob(".report*"))


@pytest.mark.slow
def test_a_run_without_rows_or_controls_or_with_a_bare_record_is_handled(run_folder: Path, scores: pd.DataFrame):
    (run_folder / "run.json").write_text("{}")
    write_scores(scores[scores["label"] == "orphan"], run_folder)
    bare = (run_folder / "config.toml").read_text("utf-8").replace("random = 2", "random = 0")
    (run_folder / "config.toml").write_text(bare.replace("orders = 5", "orders = 0"), "utf-8")
    assert "no controls: significant means above the baselines" in write_report(run_folder).read_text("utf-8")
    write_scores(scores.head(0), run_folder)
    with pytest.raises(ValueError, match=r"scores\.parquet: no rows, so there is nothing to report"):
        write_report(run_folder)
