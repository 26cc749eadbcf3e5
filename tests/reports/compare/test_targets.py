"""The page of targets: its sentences and tables, from invented answers and effects."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports.compare.target_sentences import answer as heads_of
from reports.compare.target_sentences import graded, specialised, spoken
from reports.compare.target_tables import (
    AGREEMENT,
    ANSWERS,
    EFFECTS,
    POSITION,
    TargetRecord,
    TargetRun,
)
from reports.compare.targets import TARGET_PAGE, effect_table, summary_table

pytestmark = pytest.mark.slow

NAN = float("nan")
FORTH, RULE = "verb->subject", "nearest noun that agrees"
PAIRS = {"behaviour": "grammar", "measure": "accuracy with attractors", "unit": "share of pairs", "own": True}
NATS = {"behaviour": "grammar", "measure": "value", "unit": "nats between the two sentences", "own": True}
COSINE = {"behaviour": "sentence embedding", "measure": "value", "unit": "cosine with the intact embedding"}
BEHAVIOURS = {
    "agreement": ("grammar", "linzen"), "coreference": ("grammar-pronouns",), "position": ("masked-LM loss",),
}  # fmt: skip


def answer(
    target: str, label: str, variant: str, name: str, accuracy: float, grade: int, **more: Any
) -> dict[str, Any]:
    row: dict[str, Any] = {"target": target, "run": "one", "model": "minilm", "corpus": "ewt-dev"}
    row |= {"probe": target, "label": label, "variant": variant, "name": name, "n": 500}
    row |= {"effective_clusters": 100.0, "accuracy": accuracy, "ci_low": accuracy - 0.02, "ci_high": accuracy + 0.02}
    row |= {"strongest": RULE, "strongest_accuracy": 0.7, "lead": accuracy - 0.7}
    row |= {"lead_low": accuracy - 0.73, "lead_high": accuracy - 0.67, "precision": 0.25, "lift": 3.5}
    row |= {"baseline": "offset", "baseline_accuracy": 0.5, "lexical_accuracy": 0.6, "rule": RULE}
    row |= {"rule_accuracy": 0.7, "p_adjusted": 0.001 if grade else 0.9, "p_rules": 0.9, "stability": 0.8}
    row |= {"grade": grade, "highest": grade, "highest_heads": name if grade else "", "holds": float(grade > 0)}
    row |= {"specialised": bool(grade) and target != "position"}
    return row | {"verdict": "yes" if grade else "undecided", "excluded": 0.073} | more


def effect(name: str, cost: float, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"target": "agreement", "model": "minilm", "name": name, "run": "effects", "way": "zero"}
    row |= {"n": 300, "clusters": 60, "intact": 0.9, "cost": cost, "ci_low": cost - 0.01, "ci_high": cost + 0.01}
    row |= {"p_adjusted": 0.001, "median_cost": 0.002, "layer_cost": 0.003, "rank": 1, "heads": 72, "own": False}
    row |= {"damage": NAN, "damaging": 0, **dict.fromkeys(("damaging_cost", "damaging_low", "damaging_high"), NAN)}
    row |= {"together": "", **dict.fromkeys(("random_cost", "difference", "difference_low", "difference_high"), NAN)}
    return row | {"p_random": NAN} | more


@pytest.fixture(scope="module")
def record(hostile: str) -> TargetRecord:
    plain = {"rule": "", "rule_accuracy": NAN, "lexical_accuracy": NAN, "strongest": "random weights"}
    rows = [
        answer("agreement", "all", FORTH, "4-7", 0.8, 2),
        answer("agreement", "attractors=1", FORTH, "4-7", 0.6, 0),
        answer("agreement", "all", FORTH, "3-3", 0.9, 3, run="own", model="scratch", corpus="grammar"),
        answer("coreference", "all", "preceding mention heads", "3-5", 0.5, 0, highest=1, highest_heads="2-2"),
        answer("position", "previous", "other words", "1-1", 0.95, 1, **plain),
        answer("position", "[CLS]", "all tokens", "1-2", 0.4, 0, **plain),
        answer("position", hostile, "all tokens", "", NAN, 0, **plain),
    ]
    effects = [
        effect("4-7", 0.45, **NATS),
        effect("4-7", 0.342, together="4-7 3-3", difference=0.351, difference_low=0.235, difference_high=0.456,
               random_cost=0.003, p_random=0.048, **PAIRS),
        effect("1-1", 0.0042, target="position", p_adjusted=0.4, **COSINE),
    ]  # fmt: skip
    runs = (
        TargetRun("one", "minilm", "train / dev", hostile, "targets"),
        TargetRun("own", "scratch", "", "", "targets"),
    )
    tables = (pd.DataFrame(rows)[[*ANSWERS.names]], pd.DataFrame(effects)[[*EFFECTS.names]])
    return TargetRecord("0.1.0", runs, (hostile,), BEHAVIOURS, (), *tables)


@pytest.fixture(scope="module")
def folder(record: TargetRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return TARGET_PAGE.write(tmp_path_factory.mktemp("page"), record).parent


def said(record: TargetRecord, target: Any) -> tuple[str, ...]:
    return dict(spoken(record))[target]


def changed(record: TargetRecord, **values: Any) -> TargetRecord:
    """Return the record with other values of its first effect, the only one."""
    return replace(record, effects=record.effects.iloc[[1]].assign(**values))


# --- sentences


def test_doubts_come_first_then_what_to_know_of_effects(record: TargetRecord) -> None:
    (doubt,) = said(record, AGREEMENT)
    assert doubt == (
        "minilm: no head has a stable grade 3, beyond rules of grammar (2 label–direction pairs). For all "
        "(verb->subject, ewt-dev) the rule “nearest noun that agrees” has 70.0 %, the selected head 80.0 %."
    )
    assert said(changed(record, own=False), AGREEMENT)[1:] == (
        "minilm: no run measured a behaviour of agreement itself.",
    )
    headless = replace(changed(record, own=False), headless=("minilm",))
    assert said(headless, AGREEMENT)[1].endswith("itself: that takes a masked-LM head, which minilm does not have.")


def test_each_model_has_its_head_with_grade_recall_precision_and_effect(record: TargetRecord) -> None:
    table = summary_table(record, AGREEMENT)
    first, second = table.texts
    assert first == (
        *(
            "one minilm, ewt-dev",
            "attends from a verb to the subject that it agrees with agreement: all, verb->subject",
            "4-7",
        ),
        *("grade 2: beyond words", "80.0 [78.0, 82.0]", "70.0 nearest noun that agrees", "+10.0 [+7.0, +13.0]"),
        *("25.0", "3.50", "80.0", "34.2 [33.2, 35.2] percentage points grammar, accuracy with attractors; significant"),
    )
    assert (second[0], second[-1]) == ("own scratch, grammar", "not measured")
    ((*_, effect),) = summary_table(record, POSITION).texts
    assert effect == "0.00420 [−0.00580, 0.0142] cosine sentence embedding, of any text; not significant"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"p_adjusted": 0.2}, "34.2 [33.2, 35.2] percentage points grammar, accuracy with attractors; not significant"),
        ({"cost": -0.2, "ci_low": -0.3, "ci_high": -0.1}, "attractors; a significant gain"),
        ({"p_adjusted": NAN}, "attractors; not tested"),
        ({"own": False}, "accuracy with attractors, of any text; significant"),
    ],
)
def test_what_a_head_costs_is_said_as_far_as_it_is_known(record: TargetRecord, values: Any, words: str) -> None:
    assert summary_table(changed(record, **values), AGREEMENT).texts[0][-1].endswith(words)


@pytest.mark.parametrize(
    ("values", "words", "grade"),
    [
        ({}, "specialised", "grade 2: beyond words"),
        ({"holds": 0.9, "highest": 0}, "borderline", "grade 2: beyond words, borderline (significant in 90.0 % of"),
        ({"holds": 0.9, "highest": 1, "highest_heads": "1-1"}, "not specialised; 1-1 is", "grade 2: beyond words"),
        ({"grade": 0, "holds": 0.0, "highest": 0, "verdict": "no"}, "no head is specialised", "no grade; verdict no"),
        ({"grade": 0, "holds": 0.0, "highest": 0, "verdict": "yes"}, "borderline", "no grade; verdict yes"),
        ({"p_adjusted": NAN, "highest": 0}, "not tested", "not tested"),
    ],
)
def test_only_a_head_with_a_stable_grade_is_specialised(values: Any, words: str, grade: str) -> None:
    row = answer("agreement", "all", FORTH, "4-7", 0.8, 2) | values
    row["highest_heads"] = row["highest_heads"] if row["highest"] else ""
    row["specialised"] = row["grade"] > 0 and row["holds"] >= 0.95
    assert specialised(row) == words
    assert graded(row).startswith(grade)


def test_a_model_has_a_specialised_head_by_any_label_that_the_answer_does_not_define(record: TargetRecord) -> None:
    def of(*labels: tuple[str, str, int]) -> str:
        rows = [answer("coreference", label, "any", "1-1", 0.8, grade, probe=probe) for probe, label, grade in labels]
        return heads_of(replace(record, answers=pd.DataFrame(rows)))

    assert of(("antecedent", "all", 0), ("antecedent", "nearer is right", 1)).endswith("in none of 1 models.")
    assert of(("antecedent", "all", 0), ("coreference", "pronoun", 1)).endswith("in 1 of 1 models.")


# --- tables


def test_an_effect_has_results_beside_that_of_heads_that_damage_as_much(record: TargetRecord) -> None:
    known = {"own": True, "damage": 0.3, "damaging": 7, "damaging_cost": 0.1, "damaging_low": 0.0, "damaging_high": 0.2}

    def said(**values: Any) -> str:
        (_, sentences), *_ = spoken(changed(record, **known | values))
        return " ".join(sentences)

    heads = "ablating the other heads that damage any text at least half as much (7 heads: 10.0 [0.0, 20.0])."
    assert f"minilm: ablating 4-7 costs more than {heads}" in said()
    assert "costs no more than ablating the other heads" in said(damaging_high=0.4)
    assert "costs less than ablating the other heads" in said(damaging_low=0.36, damaging_high=0.5)
    assert "too few heads damage any text half as much as 4-7" in said(damaging_cost=NAN)
    for values in ({"damage": NAN}, {"p_adjusted": 0.2}, {"own": False}):
        assert "damage" not in said(**values)


def test_questions_and_effects_stand_in_tables(folder: Path, record: TargetRecord) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert "<summary>Subject-verb agreement: labels and directions (3)</summary>" in text
    assert "<summary>Subject-verb agreement: effects of ablation (2)</summary>" in text
    assert effect_table(record, AGREEMENT).texts[1] == (
        *("minilm", "4-7", "grammar, accuracy with attractors", "percentage points", "34.2 [33.2, 35.2]", "0.001"),
        *("0.2", "1 of 72", "–", "4-7, 3-3", "35.1 [23.5, 45.6]", "0.048", "effects"),
    )
    assert "scratch: no run measured a behaviour of agreement (grammar, linzen)." in text


def test_the_best_heads_stand_on_one_screen(folder: Path, more_than_a_screen: Callable[[Path], list[str]]) -> None:
    assert more_than_a_screen(folder) == []
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "There are specialised heads for agreement in 2 of 2, for coreference in 1 of 1 models." in text
    assert "There are heads with a stable grade for position in 1 of 1 models." in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(("| from", "| to"))]
    assert [row[1:3] for row in rows] == [
        *(["minilm, ewt-dev", "4-7"], ["scratch, grammar", "3-3"]),
        *(["minilm, ewt-dev", "3-5"], ["minilm, ewt-dev", "1-1"]),
    ]
    assert rows[0][3:] == [
        *("80.0 [78.0, 82.0]", "25.0", "70.0 nearest noun that agrees", "specialised", "80.0"),
        "34.2 points significant |",
    ]
    assert rows[2][6:] == ["not specialised; 2-2 is", "80.0", "not measured |"]
    assert rows[3][6] == "significant", "a position is no linguistic role"
    assert "headscope targets one own" in text
    assert "<script>" not in text
