"""What heads hand on to other sentences, as a part of a run and beside what they attend to and cost."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.config.section import ConfigError
from experiments.run.config import load_config
from mha import ModelError
from probes.causal.behaviours import BehaviourError
from probes.pairs.grammar_pairs import grammar_pairs
from reports import Run
from tests.experiments.studies.causal.readers import whole_words

Scored = Callable[..., Run]
ASKED = (
    *('probes.names=["agreement"]', "behaviour.first=120", "scoring.flips=99"),
    *('transfer.behaviours=["grammar"]', "transfer.items=100"),
)
COSTS = ('ablation.behaviours=["grammar"]', "ablation.items=100", "ablation.draws=0", "ablation.layers=false")


@pytest.fixture(scope="module")
def speaker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a masked LM that has whole words for the first pairs of the grammar."""
    pairs = islice(grammar_pairs(71), 120)
    words = {word.lower() for pair in pairs for word in (*pair.good, *pair.bad)}
    return whole_words(tmp_path_factory.mktemp("models") / "speaker", words)


@pytest.fixture(scope="module")
def asked(scored: Scored, speaker: Path) -> Run:
    return scored(f"model.name='{speaker}'", *ASKED, *COSTS)


def test_a_run_has_a_row_a_head_and_the_link_has_the_same_numbers(asked: Run) -> None:
    table = asked.studies["transfer"].set_index("name")
    assert table.index.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert set(table["behaviour"]) == {"grammar"}
    np.testing.assert_allclose(table["transfer"], table["same"] - table["other"], atol=1e-9)
    assert table["transfer"].abs().min() > 0
    linked = asked.studies["link"]
    assert len(linked) >= 4
    for name in ("transfer", "transfer_low", "transfer_high"):
        np.testing.assert_array_equal(linked[name], table.loc[linked["name"], name])
    assert linked["transfer_significant"].tolist() == table.loc[linked["name"], "transfers"].tolist()
    assert (table["n"] == 100).all()
    assert "transfer" in asked.record.stages


def test_the_seed_decides_the_donors_and_the_same_run_gives_the_same_table(
    asked: Run, scored: Scored, speaker: Path
) -> None:
    again, other = (
        scored(f"model.name='{speaker}'", *ASKED, f"transfer.seed={seed}").studies["transfer"] for seed in (97, 5)
    )
    pd.testing.assert_frame_equal(again, asked.studies["transfer"])
    assert not other["same"].equals(again["same"])
    np.testing.assert_array_equal(other["intact"], again["intact"])


def test_items_without_donors_are_noted(scored: Scored, speaker: Path) -> None:
    found = scored(f"model.name='{speaker}'", *ASKED[:4], "transfer.items=8")
    dropped = {one.reason: one.count for one in found.record.dropped if one.scope == "grammar"}
    left_out = dropped["transfer: no donors of another document with another verb"]
    assert left_out > 0
    assert set(found.studies["transfer"]["n"]) == {8 - sum(dropped.values())}


def test_a_run_that_does_not_ask_hands_nothing_on_and_its_link_says_so(scored: Scored, speaker: Path) -> None:
    found = scored(f"model.name='{speaker}'", *ASKED[:3], *COSTS)
    assert "transfer" not in found.studies
    assert found.studies["link"]["transfer"].isna().all()
    assert not found.studies["link"]["transfer_significant"].any()


def test_what_cannot_be_asked_is_refused_by_name(scored: Scored, speaker: Path, base: Path) -> None:
    with pytest.raises(ModelError, match="has no masked-LM head"):
        scored(*ASKED)
    with pytest.raises(BehaviourError, match=r"grammar-pronouns: .* none asks for it \(no agreement of a verb\)"):
        scored(f"model.name='{speaker}'", *ASKED, 'transfer.behaviours=["grammar-pronouns"]')
    with pytest.raises(BehaviourError, match=r"none asks for it .not decided at one masked place"):
        scored(f"model.name='{speaker}'", *ASKED, 'behaviour.method="pll"')
    for name in ("loss", "embedding"):
        with pytest.raises(ConfigError, match=f"'{name}' has no verb whose number could transfer"):
            load_config(base, (f'transfer.behaviours=["{name}"]',))
