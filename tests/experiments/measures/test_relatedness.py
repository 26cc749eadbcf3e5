"""Relatedness: the table and notes of a run, and what a page says of invented numbers."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from experiments.measures.relatedness import RELATEDNESS, SHOWN, RelatednessMeasure
from probes.grammar.lexicon import NOUNS
from reports import Run
from reports.blocks.block import Block


def related(ratings: str, correlation: np.ndarray, clusters: int = 30) -> pd.DataFrame:
    """Return the heads of one layer with these correlations, of which those below -0.5 are significant."""
    frame = pd.DataFrame({"head": range(len(correlation)), "correlation": correlation, "p": 0.01})
    known = {"model": "m", "step": pd.NA, "corpus": "sea", "split": "report", "ratings": ratings, "layer": 0}
    ends = {"ci_low": correlation - 0.1, "ci_high": correlation + 0.1}
    adjusted = np.where(correlation < -0.5, 0.01, 0.2)
    frame = frame.assign(**known, **ends, p_adjusted=adjusted, n=1234, pairs=70, clusters=clusters)
    return RELATEDNESS.validated(frame, "relatedness.parquet")


def page(*frames: pd.DataFrame) -> list[Block]:
    return [*RelatednessMeasure.page(SimpleNamespace(tables={"relatedness": pd.concat(frames)}))]


def test_the_strongest_correlations_stand_beside_those_on_other_ratings_whatever_their_sign() -> None:
    men, simlex = related("men", np.linspace(-0.6, 0.5, 12)), related("simlex", np.linspace(0.3, -0.8, 12), 3)
    _, _, summary, strongest, _, rough, contrast = page(men, simlex[1:])
    assert summary.text == (
        "1,234 co-occurrences of rated word pairs within a sentence, 70 different pairs, in 30 documents. "
        "Heads with a significant correlation (corrected p below 0.05): 1 of 12."
    )
    assert "in 3 documents. So few documents make the intervals rough. Heads" in rough.text
    assert [row[0] for row in strongest.table.texts[:3]] == ["1-1", "1-2", "1-12"]
    assert len(strongest.table) == SHOWN
    assert strongest.table.texts[0] == ("1-1", "−0.60", "[−0.70, −0.50]", "0.010", "–"), "simlex has no head 1-1"
    assert contrast.table.texts[0][0] == "1-12"
    assert contrast.table.texts[0][-1] == "0.50"


@pytest.mark.slow
def test_ratings_are_looked_up_in_the_sentences_and_change_no_score(scored: Callable[..., Run], tmp_path: Path) -> None:
    ratings, nouns = tmp_path / "made.txt", sorted({noun.singular for noun in NOUNS})
    pairs = [f"{one} {other} {(i * j) % 11}\n" for i, one in enumerate(nouns) for j, other in enumerate(nouns[:i])]
    ratings.write_text("".join(pairs), encoding="utf-8")
    found = scored(f'relatedness.ratings=["{ratings}"]', "relatedness.permutations=39")
    table = found.tables["relatedness"]
    assert set(table.ratings) == {"made"}
    assert len(table) == 2 * found.layers * found.heads
    assert (table.n > 5).all()
    assert table.p.min() >= 1 / 40
    assert found.scores.equals(scored().scores)
