"""Answers to the training task: numbers of the page."""

import pandas as pd

from experiments.measures.answers import AGAINST, AnswersMeasure
from probes.causal import attribution
from tests.experiments.measures.pages import text_of


def test_measures_are_compared_with_what_the_kernel_compares_them_with() -> None:
    assert AGAINST == attribution.AGAINST


def test_the_page_has_exact_intervals_a_head_that_is_evaluated_on_other_questions_and_mean_correlations() -> None:
    odds = [1.0, 2.0, -1.0, 3.0, 0.5, 1.5, -2.0, 1.0]
    table = pd.DataFrame({"text": range(8), "words": [1, 1, 2, 2, 5, 5, 9, 9], "answer": "a", "log_odds": odds})
    heads = [
        {"text": text, "layer": 0, "head": head, "name": f"1-{head + 1}", "log_odds": 1.0 if head or text % 2 else -1.0}
        for text in range(8)
        for head in range(2)
    ]  # 1-1 is correct on the odd questions alone, which have no part in the selection
    flows = [
        {"text": text, "words": 3, "layer": 1, "measure": measure, "against": "blank-out", "rho": rho}
        for measure, rho in (("weights", 0.25), ("flow", 0.75))
        for text in range(2)
    ]
    tables = {"answers": table, "one_head": pd.DataFrame(heads), "flows": pd.DataFrame(flows)}
    page = text_of(AnswersMeasure, tables)
    assert page.startswith(r"Of 8 held-out questions 75.0 % \[34.9, 96.8\] are answered correctly.")
    assert "| 2 | 2 | 50.0 % [1.3, 98.7] |" in page
    assert "| 1 | 1-2 | 4 | 100.0 % [39.8, 100.0] | 100.0 % [39.8, 100.0] |" in page
    assert "| 2 | 0.25 | – | 0.75 | – | – | – |" in page
