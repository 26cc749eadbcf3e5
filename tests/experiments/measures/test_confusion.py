"""Confusion among distractors: the table of a run, and what a page says of invented numbers."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from experiments.measures.confusion import CONFUSION, ConfusionMeasure
from reports import Run


def bits(label: str, split: str = "report", *, chosen: bool = True, n: int = 50) -> pd.DataFrame:
    """Return two layers of two heads and their mean; layer 2 and head 2-1 are chosen, though not the best here."""
    layer, head = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, -1, 0, 1, -1])
    frame = pd.DataFrame({"layer": layer, "head": head, "confusion": [0.2, 1.5, 0.7, 0.4, 1.2, 0.6]})
    known = {"model": "m", "step": pd.NA, "corpus": "sea", "split": split, "label": label, "n": n, "clusters": n}
    ends = {"ci_low": frame.confusion - 0.1, "ci_high": frame.confusion + 0.1}
    selected = ((layer == 1) & (head != 1)) if chosen else np.zeros(6, bool)
    return CONFUSION.validated(frame.assign(**known, **ends, chance=1.0, selected=selected), "confusion.parquet")


def test_layers_and_the_chosen_head_are_those_of_the_report_split() -> None:
    frames = [bits("verb"), bits("all"), bits("verb", "select"), bits("2 distractors", chosen=False, n=7)]
    _, block = ConfusionMeasure.page(SimpleNamespace(tables={"confusion": pd.concat(frames)}))
    rows = block.table.texts
    assert [row[0] for row in rows] == ["all", "2 distractors", "verb"]
    assert rows[0][1:] == ("50", "50", "1.00", "0.70", "0.60", "layer 2 0.60 [0.50, 0.70]", "2-1 0.40 [0.30, 0.50]")
    assert rows[1][1:3] == ("7", "⚠ 7"), "few documents are marked"
    assert rows[1][-2:] == ("–", "–"), "nothing was selected where the selection split has no such item"


@pytest.mark.slow
def test_a_run_that_asks_about_distractors_has_the_confusion_of_both_splits(scored: Callable[..., Run]) -> None:
    found = scored('probes.names=["distractors"]')
    table = found.tables["confusion"]
    assert set(zip(table.split, table.corpus, strict=True)) == {("select", "grammar-1"), ("report", "grammar-2")}
    every = table[(table.label == "all") & (table.split == "report")]
    asked = found.scores[(found.scores.label == "all") & (found.scores.variant == "noun groups")]
    assert set(every.n) == set(asked[asked.split == "report"].n)
    assert sorted(set(every["head"])) == [-1, *range(found.heads)]
    assert "confusion" not in scored().tables, "other probes do not measure it"
