"""What heads hand on to other sentences, as a part of a run and beside what they attend to and cost."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.config.section import ConfigError
from experiments.measures.transfer import SHOWN, TRANSFER, TransferMeasure
from experiments.run.config import load_config
from mha import ModelError
from probes.causal.behaviours import BehaviourError
from probes.pairs.grammar_pairs import grammar_pairs
from reports import Run
from tests.experiments.measures.conftest import told
from tests.experiments.measures.pages import of_heads
from tests.experiments.measures.readers import whole_words

Scored = Callable[..., Run]
ASKED = (
    *('probes.names=["agreement"]', "behaviour.first=120"),
    *('transfer.behaviours=["grammar"]', "transfer.items=100"),
)
COSTS = ('ablation.behaviours=["grammar"]', "ablation.items=100", "ablation.draws=0", "ablation.layers=false")


@pytest.fixture(scope="module")
def speaker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a masked LM that has whole words for the first pairs of the grammar."""
    pairs = islice(grammar_pairs(71), 120)
    words = {word.lower() for pair in pairs for word in (*pair.good, *pair.bad)}
    return whole_words(tmp_path_factory.mktemp("models") / "speaker", words)


def test_a_run_has_a_row_a_head_and_the_link_has_the_same_numbers(scored: Scored, speaker: Path) -> None:
    asked = scored(f"model.name='{speaker}'", *ASKED, *COSTS)
    table = asked.tables["transfer"].set_index("name")
    assert table.index.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert set(table["behaviour"]) == {"grammar"}
    np.testing.assert_allclose(table["transfer"], table["same"] - table["other"], atol=1e-9)
    assert table["transfer"].abs().min() > 0
    linked = asked.tables["attention_vs_effect"]
    assert len(linked) >= 4
    for name in ("transfer", "transfer_low", "transfer_high"):
        np.testing.assert_array_equal(linked[name], table.loc[linked["name"], name])
    assert linked["transfer_significant"].tolist() == table.loc[linked["name"], "transfers"].tolist()
    assert (table["n"] == 100).all()
    assert "transfer" in asked.record.stages


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


def rows(layers: int = 2, clusters: int = 60) -> pd.DataFrame:
    """The second head transfers 3 nats, the third -1, which is none, and the others hardly anything."""
    cell = np.arange(2 * layers)
    transfer = np.select([cell == 1, cell == 2], [3.0, -1.0], 0.01 * cell)
    ends = {"transfer": transfer, "transfer_low": transfer - 0.5, "transfer_high": transfer + 0.5}
    told = {"behaviour": "pairs", "unit": "nats between the two sentences", "transfers": cell == 1}
    numbers = {"n": 80, "clusters": clusters, "matched": 0.75, "intact": 2.0, "accuracy": 0.95}
    return of_heads(TRANSFER, layers, 2, **told, **ends, **numbers)


def test_heads_are_in_the_order_of_what_they_transfer_and_sentences_name_them(measured: Callable[..., Run]) -> None:
    text = told(TransferMeasure, measured(transfer=rows(SHOWN // 2 + 3)))
    shown = [line for line in text.splitlines() if line[:3] in {f"| {layer}" for layer in range(1, 10)}]
    assert shown[0].startswith("| 1-2 | 3.00 | [2.50, 3.50] |")
    assert shown[1].startswith("| 2-1 | -1.00 |")
    assert (
        "- 80 sentences of 60 documents; for 75.0 % of them both donors have the same construction and as many "
        "attractors. The correct form is preferred in 95.0 % of sentences, by 2.00 nats on average." in text
    )
    assert "- Of 18 heads 1 significantly transfer the number of the verb (in nats: 1-2 3.00)." in text
    none = told(TransferMeasure, measured(transfer=rows(clusters=3).assign(transfers=False)))
    assert "- ⚠ Only 3 documents" in none
    assert "- Of 4 heads none significantly transfer the number of the verb." in none
