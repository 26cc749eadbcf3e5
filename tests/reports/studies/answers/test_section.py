"""What a page says of learned answers, and of maps that moved, from planted tables."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from reports.formats import escaped
from reports.sections.report_section import FilledSection
from reports.studies.answers.section import answers
from reports.studies.answers.study import STUDY
from reports.studies.drift.section import drift
from reports.templates.environment import environment

STEP = {"step": pd.array([9], dtype="Int64")[0]}


def run(**tables: pd.DataFrame) -> Any:
    return SimpleNamespace(studies=tables)


@pytest.fixture
def asked() -> dict[str, pd.DataFrame]:
    """Eight questions, six of which are answered rightly; head 1-2 alone is right on all, 1-1 on none."""
    odds = [1.0, 2.0, -1.0, 3.0, 0.5, 1.5, -2.0, 1.0]
    table = pd.DataFrame({"text": range(8), "words": [1, 1, 2, 2, 5, 5, 9, 9], "answer": "a", "log_odds": odds}).assign(
        **STEP
    )
    heads = [
        {"text": text, "layer": 0, "head": head, "name": f"1-{head + 1}", "log_odds": 1.0 if head else -1.0}
        for text in range(8)
        for head in range(2)
    ]
    flows = [
        {"text": text, "layer": 1, "measure": measure, "against": "blank-out", "rho": rho}
        for measure, rho in (("weights", 0.25), ("flow", 0.75))
        for text in range(2)
    ]
    return {
        "answers": table,
        "one_head": pd.DataFrame(heads).assign(**STEP),
        "flows": pd.DataFrame(flows).assign(**STEP),
    }


def test_right_answers_are_counted_with_an_exact_interval_and_by_length(asked: dict[str, pd.DataFrame]) -> None:
    found = answers(run(**asked))
    assert found is not None
    assert found.summary == "Of 8 held-out questions 75.0 % [34.9, 96.8] are answered correctly."
    assert found.tables[0].texts == (
        ("1", "2", "100.0 % [15.8, 100.0]"),
        ("2", "2", "50.0 % [1.3, 98.7]"),
        ("5", "2", "100.0 % [15.8, 100.0]"),
        ("9", "2", "50.0 % [1.3, 98.7]"),
    )


def test_the_best_head_left_alone_is_chosen_on_some_questions_and_told_on_others(
    asked: dict[str, pd.DataFrame],
) -> None:
    found = answers(run(**asked))
    assert found is not None
    assert found.tables[1].texts == (("1", "1-2", "4", "100.0 % [39.8, 100.0]", "100.0 % [39.8, 100.0]"),)
    lucky = asked["one_head"]
    odd_only = (lucky["text"] % 2 == 1) & (lucky["name"] == "1-1")
    swapped = lucky.assign(log_odds=lucky["log_odds"].mask(odd_only, 9.0))
    again = answers(run(**asked | {"one_head": swapped}))
    assert again is not None
    assert again.tables[1].texts[0][1] == "1-2", "what it is told on has no part in the choice"


def test_flows_are_means_by_layer_with_gaps_where_nothing_was_measured(asked: dict[str, pd.DataFrame]) -> None:
    found = answers(run(**asked))
    assert found is not None
    assert found.tables[-1].titles[1] == "weights, blank-out"
    assert found.tables[-1].texts == (("2", "0.25", "–", "0.75", "–", "–", "–"),)
    alone = answers(run(answers=asked["answers"]))
    assert alone is not None
    assert [one.title for one in alone.tables] == ["Correct answers by length"]
    assert answers(run()) is None


def test_heads_that_moved_most_are_named() -> None:
    rows = [("1-1", 0, 0.9), ("1-2", 0, 0.5), ("2-1", 1, 1.0), ("2-2", 1, 0.8)]
    table = pd.DataFrame(
        [
            {"text": text, "name": name, "layer": layer, "cosine": cosine}
            for name, layer, cosine in rows
            for text in (0, 1)
        ]
    ).assign(**STEP)
    found = drift(run(drift=table))
    assert found is not None
    assert found.summary.startswith(
        "On 2 sentences of the report split the maps moved most in these heads: 1-2 (0.500), 2-2"
    )
    assert found.layers.texts == (
        ("1", "0.700", "1-2 (0.500)", "1-1 (0.900)"),
        ("2", "0.900", "2-2 (0.800)", "2-1 (1.000)"),
    )
    assert drift(run()) is None


def test_both_sections_are_laid_out_in_html_and_markdown(asked: dict[str, pd.DataFrame]) -> None:
    assert STUDY.section is not None
    told = FilledSection(STUDY.section, answers(run(**asked)))
    html = environment().get_template("answers.html.j2").render(section=told)
    assert html.count("<table") == html.count("</table>") == 3
    assert '<td class="num">0.75</td>' in html
    made = environment(html=False)
    made.filters["md"] = escaped
    text = made.get_template("answers.md.j2").render(section=told)
    tables = [block for block in text.split("\n\n") if block.lstrip().startswith("|")]
    assert len(tables) == 3
    for table in tables:
        assert len({line.count("|") for line in table.strip().splitlines()}) == 1, table
