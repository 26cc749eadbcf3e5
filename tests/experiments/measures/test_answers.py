"""Answers to the training task: those of the model, and numbers of the page."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from experiments.measures.answers import AGAINST, MEASURES, AnswersMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.training.texts import open_material
from experiments.training.train import open_checkpoint
from mha import Ablate, MaskedLM, intervene
from probes.causal import attribution
from reports import Run
from tests.experiments.measures.conftest import told

TOML = """
name = "number"
model.source = "train"
[train]
data = { name = "grammar", documents = 40, seed = 1, unit = "verb" }
held_out_share = 0.2
tokenizer.size = 400
encoder = { layers = 2, heads = 2, model = 16 }
masking = { answers = ["singular", "plural"], hidden = 1.0, random = 0.0 }
length = 48
steps = 4
rows = 4
warmup = 2
[corpus]
select = { name = "grammar", documents = 6, seed = 11 }
report = { name = "grammar", documents = 6, seed = 12 }
[probes]
names = ["position"]
[answers]
texts = 3
questions = 20
one_head = 6
shortest = 5
longest = 9
[shapes]
enabled = false
[heads]
texts = 0
relations = 0
[scoring]
replicates = 20
[controls]
random = 0
permuted = 0
orders = 0
"""


def test_the_page_has_exact_intervals_a_head_that_is_evaluated_on_other_questions_and_mean_correlations(
    measured: Callable[..., Run],
) -> None:
    odds = [1.0, 2.0, -1.0, 3.0, 0.5, 1.5, -2.0, 1.0]
    table = pd.DataFrame({"text": range(8), "words": [1, 1, 2, 2, 5, 5, 9, 9], "answer": "a", "log_odds": odds})
    heads = [
        {"text": text, "layer": 0, "head": head, "name": f"1-{head + 1}", "log_odds": 1.0 if head or text % 2 else -1.0}
        for text in range(8)
        for head in range(2)
    ]  # 1-1 is correct on the odd questions alone, which have no part in the selection
    flows = [
        {"text": text, "words": 3, "layer": 1, "measure": measure, "against": "blank-out", "rho": rho}
        for measure, rho in (("weights", 0.25), ("flow", 0.75))
        for text in range(2)
    ]
    tables = {"answers": table, "one_head": pd.DataFrame(heads), "flows": pd.DataFrame(flows)}
    page = told(AnswersMeasure, measured(**tables))
    assert page.startswith("Of 8 held-out questions 75.0 % [34.9, 96.8] are answered correctly.")
    assert "| 2 | 2 | 50.0 % [1.3, 98.7] |" in page
    assert "| 1 | 1-2 | 4 | 100.0 % [39.8, 100.0] | 100.0 % [39.8, 100.0] |" in page
    assert "| 2 | 0.25 | – | 0.75 | – | – | – |" in page


@pytest.mark.slow
def test_log_odds_are_those_of_the_model_with_all_heads_and_with_one_of_a_layer(tmp_path: Path) -> None:
    (tmp_path / "number.toml").write_text(TOML, encoding="utf-8")
    opened = load_config(tmp_path / "number.toml")
    folder = run(opened, tmp_path / "out")
    found = Run.open(folder)
    told, rhos, left = (found.tables[name] for name in ("answers", "flows", "one_head"))
    assert len(told) == 20
    assert {*rhos.text} <= {*told.text[told.words.between(5, 9)]}
    assert rhos.groupby(["layer", "measure", "against"]).size().to_dict() == {
        (layer, measure, against): 3 for layer in range(2) for measure in MEASURES for against in AGAINST
    }
    assert left.groupby("name").size().to_dict() == {"1-1": 6, "1-2": 6, "2-1": 6, "2-2": 6}
    assert any("of 20 held-out questions" in note for note in found.record.notes)
    assert opened.train is not None
    texts = [text.split() for text in open_material(opened.train).held_out][:20]
    assert [text[0] for text in texts] == told.answer.tolist()
    lm = MaskedLM.of(open_checkpoint(folder / "seed-0")[0])
    asked = list(attribution.number_prompts(lm, texts, ("singular", "plural")))
    behaviour = attribution.as_behaviour(lm, asked)

    def odds(place: int) -> float:
        batch = behaviour.texts([place])
        logits = lm.read(batch.ids, batch.real, batch.selected)[0].detach()
        return float(logits[asked[place].wanted[0]] - logits[asked[place].wanted[1]])

    assert [odds(place) for place in range(20)] == pytest.approx(told.log_odds.tolist(), abs=1e-5)
    with intervene(lm.module, Ablate(layer=1, head=0)):
        alone = left[(left.name == "2-2") & (left.text == 2)].log_odds.item()
        assert alone == pytest.approx(odds(2), abs=1e-5)
