"""What a page reports of heads from few labels, from a table whose numbers are invented."""

from pathlib import Path

import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.few_labels.figure import few_label_charts
from reports.studies.few_labels.section import few_labels
from reports.studies.few_labels.tables import ENSEMBLE, HEAD, UNTRAINED

NAN = float("nan")
LEADS = {("obj", 10): (0.2, 0.1, 0.3), ("obj", 100): (-0.1, -0.2, -0.05), ("det", 10): (0.1, -0.1, 0.2)}
"(label, arcs) -> lead of the head with its interval."


@pytest.fixture
def asked(run_folder: Path) -> Run:
    rows = []
    for (label, arcs), lead in LEADS.items():
        for method in (HEAD, ENSEMBLE, UNTRAINED, "offset"):
            accuracy = 0.5 if method == "offset" else 0.5 + lead[0] * (method == HEAD)
            leads = {HEAD: lead, "offset": (NAN,) * 3}.get(method, (0.0, -0.1, 0.1))
            rows.append((label, method, arcs, accuracy, *leads, "" if method == "offset" else "offset"))
    columns = ["label", "method", "arcs", "accuracy", "lead", "lead_low", "lead_high", "best_rule"]
    frame = pd.DataFrame(rows, columns=columns).assign(model="m", step=pd.NA, corpus="sea", n=70, clusters=7)
    frame = frame.assign(probe="dependency", variant="dependent->head")
    write_measures({"few_labels": frame.assign(low=frame.accuracy - 0.05, high=frame.accuracy + 0.05)}, run_folder)
    return Run.open(run_folder)


def test_labels_are_counted_where_heads_are_significantly_ahead_or_behind(asked: Run) -> None:
    found = few_labels(asked)
    assert found is not None
    ten, hundred = found.sentences
    assert ten.startswith(
        "10 labelled arcs: of 2 labels, the selected head leads the best rule in 1 and is behind it in 0"
    )
    assert hundred.startswith(
        "100 labelled arcs: of 1 labels, the selected head leads the best rule in 0 and is behind it in 1"
    )


def test_cells_hold_the_lead_and_both_accuracies_and_are_empty_without_so_many_arcs(asked: Run) -> None:
    found = few_labels(asked)
    assert found is not None
    heads, _ = found.tables
    assert heads.titles == ("label", "variant", "10 arcs", "100 arcs")
    first, second = heads
    assert first[2] == "+20.0 [+10.0, +30.0]; 70.0, 50.0 offset"
    assert second[3] == ""


def test_the_page_has_a_chart_a_label_and_a_figure(asked: Run, run_folder: Path) -> None:
    found = few_labels(asked)
    assert found is not None
    charts = few_label_charts(found)
    assert [chart.title for chart in charts] == ["obj (dependent->head)", "det (dependent->head)"]
    said = [row["text"] for row in charts[0].spec["layer"][-1]["data"]["values"]]
    assert "head, 10 arcs: 70.0 % [65.0, 75.0]" in said
    write_report(run_folder)
    assert (run_folder / "report" / "figures" / "few-labels.png").is_file()
    page = (run_folder / "report" / "report.md").read_text(encoding="utf-8")
    assert "## Heads from few labels" in page
    assert "![Accuracy on held-out text by number of labelled arcs](figures/few-labels.png)" in page


def test_a_run_that_did_not_ask_has_no_section(run_folder: Path) -> None:
    assert few_labels(Run.open(run_folder)) is None
