"""The hits that a run keeps by groups of texts."""

from collections.abc import Callable

import numpy as np
import pytest

from experiments.measures.counts import COUNTS
from reports import Run

QUESTION = ["probe", "label", "variant"]


def test_counts_add_up_to_the_accuracies_of_all_heads(scored: Callable[..., Run]) -> None:
    run = scored()
    counts = run.tables["counts"]
    heads = [column for column in counts if column not in COUNTS.dtypes]
    assert heads == ["1-1", "1-2", "2-1", "2-2"]
    assert set(counts["corpus"]) == {"grammar-2"}, "the report split"
    assert not (run.folder / "counts.csv").exists()
    sums = counts.groupby(QUESTION)[["n", *heads]].sum()
    told = run.scores[(run.scores["split"] == "report") & (run.scores["n"] > 0)]
    for (*question, name), row in told.set_index([*QUESTION, "name"]).iterrows():
        found = sums.loc[tuple(question)]
        assert found["n"] == row["n"]
        assert found[name] / found["n"] == pytest.approx(row["accuracy"], abs=1e-6)
    assert len(sums) == told.groupby(QUESTION).ngroups


def test_more_hits_than_items_are_refused(scored: Callable[..., Run]) -> None:
    counts = scored().tables["counts"]
    for wrong in (
        counts.assign(n=0),
        counts.assign(**{"2-2": counts["n"] + 1.0}),
        counts.assign(**{"1-1": np.float32(-1)}),
    ):
        with pytest.raises(ValueError, match=r"counts\.parquet: "):
            COUNTS.validated(wrong, "counts.parquet")
