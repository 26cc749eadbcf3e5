"""The numbers by which a page colours and places heads are those of the run's tables, and no others."""

from dataclasses import replace
from typing import Any

import pandas as pd

from reports import Run
from reports.heads.card_parts import CardSource
from reports.heads.numbers import accuracy_title, head_numbers, number_data
from reports.tables.grades import own_labels


def of_all(run: Run, **columns: Any) -> pd.DataFrame:
    """Return a table of all heads: head i of a layer, from 0, has i hundredths as `value`, `special` and `cost`."""
    places = [(layer, head) for layer in range(run.layers) for head in range(run.heads)]
    rows = pd.DataFrame(places, columns=["layer", "head"]).assign(step=pd.NA, split="report", scope="sentence")
    return rows.assign(**dict.fromkeys(("value", "special", "cost"), rows["head"] / 100)).assign(**columns)


def numbers(run: Run, **tables: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {one["title"]: one for one in number_data(head_numbers(CardSource(replace(run, tables=tables))))}


def test_accuracies_are_those_of_all_tested_labels_that_are_no_slices_of_others(run: Run) -> None:
    found, rows = numbers(run), CardSource(run).rows
    own = own_labels(zip(rows["probe"], rows["label"], strict=True))
    tested = {(row.probe, row.label, row.variant) for row in rows.itertuples() if (row.probe, row.label) in own}
    assert set(found) == {accuracy_title(*one) for one in tested}
    heads = rows[(rows["label"] == "det") & (rows["variant"] == "dependent->head")].sort_values(["layer", "head"])
    det = found["accuracy: from an article or other determiner to its noun"]
    assert det["values"] == [round(100 * accuracy, 1) for accuracy in heads["accuracy"]]
    assert (det["unit"], det["group"]) == ("%", "accuracy, dependency")
    assert det["marked"] == [place for place, grade in enumerate(heads["grade"]) if grade] != []
    rivals = "a fixed offset 36.0 %, a table of words and distances 85.0 %, the rule of grammar “"
    assert found["accuracy: from an object to its verb"]["about"].startswith(rivals)


def test_attention_is_of_the_first_scope_of_the_report_split(run: Run) -> None:
    entropy = of_all(run, kind="entropy", measure="all tokens")
    others = [entropy.assign(value=9.0, scope="window"), entropy.assign(value=9.0, split="select")]
    found = numbers(run, shapes=pd.concat([entropy, *others]), sinks=of_all(run, special=0.4567))
    assert found["entropy of its rows"]["values"][:3] == [0.0, 0.01, 0.02]
    assert found["entropy of its rows"]["unit"] == "nats"
    assert set(found["attention of words to special tokens"]["values"]) == {45.7}
    assert not [title for title in found if "[CLS]" in title and not title.startswith("accuracy")]


def test_the_effect_of_a_head_is_its_cost_in_its_unit_and_unknown_where_it_was_not_ablated(run: Run) -> None:
    about = {"behaviour": "agreement", "way": "zero", "measure": "value", "unit": "nats", "kind": "head"}
    costs = of_all(run, **about).iloc[1:]
    shares, layers = costs.assign(measure="accuracy"), costs.assign(kind="layer", cost=5.0)
    found = numbers(run, ablations=pd.concat([costs, shares, layers]))
    assert found["effect: loss of agreement without the head (zero)"]["values"][:3] == [None, 0.01, 0.02]
    accuracy = found["effect: loss of agreement, accuracy without the head (zero)"]
    assert (accuracy["values"][:3], accuracy["unit"]) == ([None, 1.0, 2.0], "percentage points")
