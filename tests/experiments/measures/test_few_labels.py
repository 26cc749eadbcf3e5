"""Heads from few labels: every key, and numbers of the page."""

from collections.abc import Callable

import pandas as pd
import pytest

from experiments.measures.few_labels import ENSEMBLE, HEAD, UNTRAINED, FewLabelsMeasure
from probes.maps import few_labels
from reports import Run
from reports.blocks.block import Charts
from tests.experiments.measures.conftest import told

NAN = float("nan")
TEXTS = ('probes.names=["dependency"]', "corpus.select.documents=20", "corpus.report.documents=20")


def test_methods_are_called_as_they_are_measured() -> None:
    assert (HEAD, ENSEMBLE, UNTRAINED) == few_labels.HEADS


@pytest.mark.slow
def test_every_key_is_followed(scored: Callable[..., Run]) -> None:
    asked = "{{relations=2, arcs=[5, 20], draws={}, largest={}}}"
    found, more, wider = (
        scored(*TEXTS, f"few_labels={asked.format(*keys)}").tables["few_labels"] for keys in ((3, 2), (6, 2), (3, 4))
    )
    assert found.groupby(["label", "variant"]).ngroups == 2
    assert {*found.arcs} == {5, 20}
    assert more.accuracy.tolist() != found.accuracy.tolist()
    ensembles = found.method == ENSEMBLE
    assert wider[~ensembles].accuracy.tolist() == found[~ensembles].accuracy.tolist()
    assert wider[ensembles].accuracy.tolist() != found[ensembles].accuracy.tolist()


def test_the_page_counts_leads_and_has_a_chart_a_label(measured: Callable[..., Run]) -> None:
    leads = {("obj", 10): (0.2, 0.1, 0.3), ("obj", 100): (-0.1, -0.2, -0.05), ("det", 10): (0.1, -0.1, 0.2)}
    rows = []
    for (label, arcs), lead in leads.items():
        for method in (HEAD, ENSEMBLE, UNTRAINED, "offset"):
            accuracy = 0.5 if method == "offset" else 0.5 + lead[0] * (method == HEAD)
            of_method = {HEAD: lead, "offset": (NAN,) * 3}.get(method, (0.0, -0.1, 0.1))
            rows.append((label, method, arcs, accuracy, *of_method, "" if method == "offset" else "offset"))
    columns = ["label", "method", "arcs", "accuracy", "lead", "lead_low", "lead_high", "best_rule"]
    frame = pd.DataFrame(rows, columns=columns).assign(probe="dependency", variant="dependent->head", n=70, clusters=7)
    tables = {"few_labels": frame.assign(low=frame.accuracy - 0.05, high=frame.accuracy + 0.05)}
    page = told(FewLabelsMeasure, measured(**tables))
    assert "10 labelled arcs: of 2 labels, the selected head leads the best rule in 1 and is behind it in 0" in page
    assert "100 labelled arcs: of 1 labels, the selected head leads the best rule in 0 and is behind it in 1" in page
    assert "| obj | dependent->head | +20.0 [+10.0, +30.0]; 70.0, 50.0 offset |" in page
    assert "| det | dependent->head | +10.0 [-10.0, +20.0]; 60.0, 50.0 offset |  |" in page
    (charts,) = (block.charts for block in FewLabelsMeasure.page(measured(**tables)) if isinstance(block, Charts))
    assert [chart.title for chart in charts] == [f"{label} (dependent->head) (accuracy, %)" for label in ("obj", "det")]
    said = [row["text"] for row in charts[0].spec["layer"][-1]["data"]["values"]]
    assert "head, labelled arcs 10: 70 [65, 75]" in said
