"""What a page says of single heads on pairs of words, from planted tables."""

from pathlib import Path

import pandas as pd

from reports import Run, write_measures
from reports.formats import MISSING
from reports.studies.classifiers.section import Classifiers, classifiers

NAN = float("nan")


def paired(task: str, lead: float, p: float, **more: object) -> dict[str, object]:
    row: dict[str, object] = {"model": "minilm", "step": pd.NA, "corpus": "ewt-dev", "task": task}
    row |= {"features": "attention", "layer": 1, "head": 0, "name": "2-1", "selected": True, "n_select": 900, "n": 900}
    row |= {"clusters": 40, "accuracy": 0.6, "ci_low": 0.57, "ci_high": 0.63, "control_accuracy": 0.5}
    row |= {"selectivity": 0.1, "selectivity_low": 0.06, "selectivity_high": 0.14, "codelength": 800.0}
    for rival in ("embedding", "random"):
        row |= {f"{rival}_accuracy": 0.6 - lead, f"{rival}_lead": lead, f"{rival}_p": p}
        row |= {f"{rival}_lead_low": lead - 0.02, f"{rival}_lead_high": lead + 0.02}
    extra = ("together_accuracy", "random_embedding_accuracy", "random_together_accuracy")
    return row | {"compression": 1.1} | dict.fromkeys(extra, 0.9) | more


def shown(folder: Path, *rows: dict[str, object]) -> Classifiers:
    write_measures({"pairs": pd.DataFrame(rows)}, folder)
    found = classifiers(Run.open(folder))
    assert found is not None
    return found


def test_a_head_is_held_against_the_embedding_and_against_random_weights(run_folder: Path) -> None:
    fresh = {f"random_{what}": NAN for what in ("accuracy", "lead", "lead_low", "lead_high", "p")}
    others = {"selected": False}
    rows = (
        paired("agreement", 0.08, 0.0004),
        paired("agreement", 0.06, 0.03, **others, name="2-2", head=1, random_p=0.2),
        paired("agreement", 0.02, 0.3, **others, name="2-3", head=2),
        paired("agreement", 0.06, 0.03, **others, features="outputs"),
        paired("antecedent", -0.01, 0.7, **fresh),
    )
    found = shown(run_folder, *rows)
    assert found.sentences == (
        "In 1 of 2 cases the selected head classifies significantly more pairs of words correctly than both "
        "embeddings: agreement from attention. No head does for antecedent.",
        "In 1 of 1 cases the selected head classifies significantly more pairs of words correctly than the same head "
        "with randomly initialised weights: agreement from attention.",
    )
    (table,) = found.tables
    assert [row[:4] for row in table.texts] == [
        ("agreement", "attention", "2-1", "900"),
        ("antecedent", "attention", "2-1", "900"),
    ]
    assert table.texts[0][7:11] == ("52.0", "+8.0 [+6.0, +10.0]", "< 0.001", "2 of 3")
    assert table.texts[0][-2:] == ("1 of 3", "90.0")
    assert table.texts[1][-5:-1] == (MISSING,) * 4


def test_a_task_in_which_another_head_leads_is_not_one_in_which_none_does(run_folder: Path) -> None:
    other = {"selected": False, "name": "2-2", "head": 1}
    led = paired("agreement", 0.06, 0.03, **other)
    found = shown(run_folder, paired("agreement", 0.0, 0.9), led, paired("next word", 0.0, 0.9))
    assert found.sentences[0].endswith("correctly than both embeddings. No head does for next word.")
    assert found.sentences[0].startswith("In 0 of 2 cases")
