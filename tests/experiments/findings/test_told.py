"""What single papers' findings compute of their own, against numbers worked out by hand."""

from pathlib import Path

import pandas as pd
import pytest

from experiments.findings.chen_2023 import attachment, halfway
from experiments.findings.michel_2019_pruning import prunable
from experiments.reproduce.registry import all_findings
from experiments.statements.estimates import Estimate
from experiments.statements.finding import Missing
from experiments.statements.paper_sentence import InClaim
from tests.experiments.findings.michel_2019 import PLANTED as OF_MICHEL
from tests.experiments.findings.planted import planted_run
from tests.experiments.findings.voita_2019_gates import PLANTED

ALL_PLANTED = PLANTED | OF_MICHEL

PUBLISHED = Path(__file__).parents[3] / "reports" / "published"


def test_heads_can_go_until_the_first_notable_loss():
    curve = pd.DataFrame(
        {
            "removed": [0, 1, 2, 3, 4],
            "heads": 4,
            "n": 9,
            "cost": [0.0, 0.01, 0.03, 0.01, 0.5],
            "ci_low": [float("nan"), 0.0, 0.01, 0.0, 0.4],
            "ci_high": [float("nan"), 0.025, 0.05, 0.03, 0.6],
        }
    )
    assert prunable(curve, 0.02) == Estimate(0.25, 0.0, 0.75, 9), "a later point that loses less does not count"


def test_where_agreement_is_at_chance_no_head_can_be_spared():
    for finding, study in (("voita-gates", "gate_paths"), ("michel-importance-order", "pruning")):
        holds = ALL_PLANTED[finding][0]["grammar-effects"]
        table = holds.tables[study]
        column = "intact" if study == "gate_paths" else "value"
        lost = planted_run(**{study: table.assign(**{column: 0.52}).to_dict("records")})
        found = all_findings()[finding].numbers({"grammar-effects": lost})
        (share,) = [one for name, one in found.items() if name in ("left", "prunable")]
        assert share == Missing("agreement is no better than chance with all heads: there is nothing to keep")


def test_a_course_is_half_the_way_between_two_steps_on_a_scale_of_doublings():
    assert halfway([0, 4, 16], [0.0, 0.0, 1.0]) == pytest.approx(3.0)
    assert halfway([0, 4, 16, 64], [7.0, 6.0, 4.0, 3.0]) == pytest.approx(2 + 2 * 0.5), "a loss falls"
    assert halfway([2, 4], [1.0, 1.0]) == 1.0, "a course that does not move"


def test_attachment_asks_every_relation_of_the_head_chosen_for_it():
    place = {"probe": "dependency", "variant": "dependent->head", "seed": 1, "step": 8}
    chosen = [("obj", "1-1"), ("det", "1-2"), ("all", "1-1"), ("obj:*", "1-1")]
    scores = [("obj", "1-1", 10, 0.5), ("obj", "1-2", 10, 0.9), ("det", "1-2", 30, 1.0), ("all", "1-1", 99, 0.0)]
    tables = {
        "biography_curves": [place | {"label": label, "name": name} for label, name in chosen],
        "biographies": [
            place | {"label": label, "name": name, "n": n, "accuracy": right} for label, name, n, right in scores
        ],
    }
    found = attachment({name: pd.DataFrame(rows) for name, rows in tables.items()})
    assert found.to_dict("records") == [{"seed": 1, "step": 8, "syntax in attention": 35 / 40}]


IN_CLAIMS = [
    one.measure
    for finding in all_findings().values()
    for one in finding.statements
    if isinstance(one.measure, InClaim) and one.measure.at is None
]


def test_every_statement_of_a_claim_is_one_that_the_claim_publishes():
    lines = [
        line for path in PUBLISHED.rglob("*.md") for line in path.read_text("utf-8").splitlines() if line[:1] == "|"
    ]
    rows = [[cell.strip() for cell in line.replace("\\_", "_").split("|")] for line in lines]
    statements = {row[2 if len(row) == 7 else 1] for row in rows if len(row) in (6, 7)}  # claims, and what is no claim
    statements.update(*(pd.read_parquet(path)["text"] for path in PUBLISHED.rglob("statements.parquet")))
    assert len(IN_CLAIMS) > 30
    for one in IN_CLAIMS:
        fits = [text for text in statements if text.startswith(one.opening) and text.endswith(one.ending)]
        assert len(fits) == 1, one
