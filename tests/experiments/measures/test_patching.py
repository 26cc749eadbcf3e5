from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.measures.patching import PATCHING, PatchingMeasure
from probes.pairs.number_swaps import NumberSwap, number_swapped
from reports import Run
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts
from reports.tables.effects import ALL_PLACES as ALL
from tests.experiments.measures.conftest import told
from tests.experiments.measures.pages import of_heads
from tests.experiments.measures.readers import whole_words

FACTS = {"items": 150, "clusters": 61, "clean": 4.25, "corrupted": -3.5, "right_clean": 0.96, "right_corrupted": 0.08}
FACTS |= {"estimate_rho": 0.83, "estimate_low": 0.61, "estimate_high": 0.97, "estimate_slope": 0.5}
WHY = {"why_no_direct": "tiny is post-norm: no product says it"}


def rows(role: str, *shares: float) -> pd.DataFrame:
    share, p = np.array(shares), np.where(np.array(shares) > 0.72, 0.001, 0.6)
    numbers = {"share": share, "estimate": share / 2, "ci_low": share - 0.1, "ci_high": share + 0.1}
    return of_heads(PATCHING, 2, 3, role=role, n=150, clusters=61, **numbers, p=p, p_label=p, p_adjusted=p)


def table() -> pd.DataFrame:
    subject, verb = rows("subject", *[0.005] * 6), rows("verb", 0, 0, 0, 0, 0.7, 0)
    return pd.concat([rows(ALL, 0.01, -0.25, 0.0, 0.02, 0.75, 0.1), subject, verb], ignore_index=True)


def test_the_page_says_what_was_asked_what_was_found_and_why_something_is_not_told(
    measured: Callable[..., Run],
) -> None:
    run = measured({"patching": FACTS | WHY}, patching=table())
    text = told(PatchingMeasure, run)
    assert "- 150 sentences of the embedded grammar, from 61 documents." in text
    assert "preferred in 96.0 % of the clean ones (by 4.25" in text
    assert "in 8.0 % of the corrupted ones (-3.50)" in text
    assert "Of 6 heads 1 restore a significant part (2-2), and 0 significantly reduce the answer (–)." in text
    assert "2-2: +75.0 % of the difference, [+65.0, +85.0]" in text
    assert "rank correlation of 0.83 [0.61, 0.97]; its shares are 0.50 times as large" in text
    assert "No direct logit attribution: tiny is post-norm: no product says it." in text
    assert "| 2-2 | +75.0 | [+65.0, +85.0] | 0.001 | +37.5 | +0.5 | +70.0 |" in text
    (shares,) = PatchingMeasure.maps(run)
    np.testing.assert_allclose(np.array(shares.values)[:2, :3], [[1, -25, 0], [2, 75, 10]])
    assert np.flatnonzero(shares.marked).tolist() == [run.heads + 1]
    (said,) = PatchingMeasure.effects(run, Verdicts(RunThresholds(), ()))
    assert "1 of 6 heads, each alone, restore a significant part" in said


@pytest.mark.slow
def test_a_run_patches_every_head_on_the_sentences_that_the_seed_draws(
    scored: Callable[..., Run], tmp_path: Path
) -> None:
    swaps = [one for seed in (1, 2) for one in islice(number_swapped(seed), 60) if isinstance(one, NumberSwap)]
    words = {word.lower() for one in swaps for word in (*one.clean, *one.corrupted, one.wrong)}
    reader = whole_words(tmp_path / "reader", words)
    asked = ('probes.names=["position"]', f"model.name='{reader}'", "patching.enabled=true", "patching.items=12")
    found, other = (scored(*asked, f"patching.seed={seed}") for seed in (1, 2))
    table, facts = found.tables["patching"], found.facts("patching")
    every = table[table["role"] == ALL]
    assert every["name"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert (every["n"] == facts["items"]).all()
    assert every["share"].notna().all() == (facts["clean"] > facts["corrupted"])
    lost = {one.reason: one.count for one in found.record.dropped or () if one.reason.startswith("patching: ")}
    asked_of = sum(count for reason, count in lost.items() if "longer" in reason or "vocabulary" in reason)
    assert facts["items"] + asked_of == 12
    assert not other.tables["patching"]["estimate"].equals(table["estimate"])
