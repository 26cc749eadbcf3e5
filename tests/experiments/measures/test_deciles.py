"""Deciles and descriptions of heads: those of a run, and what a page says of invented numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from experiments.measures.deciles import DecilesMeasure
from reports import Run

ON = "deciles.enabled=true"

HEADS = [(layer, head) for layer in range(2) for head in range(3)]


def decile(layer: int, head: int, part: int) -> dict[str, Any]:
    texts = {
        "tags": "NOUN→DET 40 %",
        "relations": "no arc 90 %",
        "offsets": "-1 80 %",
        "random": f"s-1: 1→2 ({part} %)",
    }
    numbers = {"low": (part - 1) / 10, "high": part / 10, "n": 70, "before": 0.5, "distance": 3.0, "arcs": 0.1 * head}
    strongest = "s-2: 3→4 (99.0 %)" if part == 10 else ""
    return {"layer": layer, "head": head, "decile": part, **numbers, **texts, "strongest": strongest}


def named(rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows).assign(model="m", step=pd.NA, corpus="sea")
    return frame.assign(name=[f"{row['layer'] + 1}-{row['head'] + 1}" for row in rows])


def tables() -> dict[str, pd.DataFrame]:
    """Return deciles and descriptions of six heads; accuracy rises with the head."""
    described = named(
        [{"layer": layer, "head": head, "description": f"Rule {head}.", "n": 900} for layer, head in HEADS]
    )
    accuracy = 0.2 + 0.1 * described["head"]
    numbers = {"accuracy": accuracy, "gain": accuracy - 0.2, "offset_accuracy": 0.2, "random_accuracy": 0.07}
    return {
        "deciles": named([decile(*at, part) for at in HEADS for part in range(1, 11)]),
        "descriptions": described.assign(**numbers, offset="the word before", between=0.4),
    }


def test_descriptions_stand_beside_an_offset_and_random_weights_best_first(measured: Callable[..., Run]) -> None:
    points, table, _ = DecilesMeasure.page(measured(**tables()))
    own, better = points.sentences
    assert "mean accuracy of 30.0 % over heads, on 900 words" in own
    assert "offset reaches 20.0 %, and descriptions of a randomly initialised model 7.0 %" in own
    assert better.startswith("In 4 of 6 heads the sentence is more than 5 points better")
    assert [row[0] for row in table.table][:2] == ["1-3", "2-3"]


def test_the_card_of_a_head_shows_its_deciles(measured: Callable[..., Run]) -> None:
    run = measured(**tables())
    card = str(run.head("1-3"))
    assert "Rule 2. Accuracy on held-out text: 40.0 %;" in card
    assert "20.0 % (difference +20.0 points)" in card
    assert "Other words get 40.0 % of its attention" in card
    (plotted,) = DecilesMeasure.maps(run)
    np.testing.assert_allclose([row[:3] for row in plotted.values[:2]], [[20, 30, 40]] * 2)


def test_a_run_has_ten_deciles_of_every_head_and_a_description_and_no_other_score(scored: Callable[..., Run]) -> None:
    run = scored(ON)
    deciles, described = run.tables["deciles"], run.tables["descriptions"]
    assert deciles.groupby("name")["decile"].apply(list).tolist() == [[*range(1, 11)]] * 4
    assert described["name"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert described[["accuracy", "offset_accuracy", "random_accuracy", "between"]].gt(0).all(axis=None)
    assert np.allclose(described["gain"], described["accuracy"] - described["offset_accuracy"])
    assert described["description"].str.match("Words attend most to .*[.]").all()
    assert run.scores.equals(scored().scores)


def test_where_no_attention_in_sentences_is_read_a_note_says_so(scored: Callable[..., Run]) -> None:
    run = scored(ON, "scoring.maps='norms'")
    assert "deciles" not in run.tables
    assert any(note.startswith("deciles: they are of attention in sentences") for note in run.record.notes)


def test_the_number_of_texts_decides_what_the_random_model_reads(scored: Callable[..., Run]) -> None:
    few, all_of = (scored(ON, *more).tables["descriptions"] for more in (("deciles.random_texts=3",), ()))
    assert few["random_accuracy"].iloc[0] != all_of["random_accuracy"].iloc[0]
    assert few["accuracy"].equals(all_of["accuracy"])
