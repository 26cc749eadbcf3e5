"""Behaviours by name: what they are asked on, that items are a sample, and that what is left out is noted."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from experiments.config.config import ConfigError
from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import open_model
from experiments.record.run_record import Journal
from experiments.run.behaviours import Behaviours
from experiments.run.config import load_config
from experiments.run.context import RunContext
from experiments.run.run import run as run_config
from mha.encoder.encoder import Encoder
from mha.models.masked_prediction import MaskedLM
from mha.models.packages import ModelError
from probes.causal.behaviours import Embedding, Predictions
from probes.causal.labelled_rows import LabelError
from reports import Run
from reports.progress import silent
from tests.probes.causal.test_labels import opinions, planted, tokenizer

Around = Callable[..., RunContext]


@pytest.fixture(scope="module")
def around(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Around:
    """Return the function that opens what `base`, with changes, runs on; its model gets a masked-LM head and a mask."""

    def open_around(*changes: str, head: bool = True) -> RunContext:
        config = load_config(base, changes)
        opened = open_model(config, tmp_path_factory.mktemp("out"), silent)
        run = RunContext(config, opened, open_corpora(config), Journal(), silent)
        if head:
            assert isinstance(run.model.module, Encoder)
            encoder = Encoder(run.model.module.config, lm_head=True).eval()
            encoder.load_state_dict(run.model.module.state_dict(), strict=False)
            model = replace(run.model, module=encoder)
            run.__dict__["lm"] = MaskedLM(model, encoder, 1, None)
        return run

    return open_around


def test_loss_and_embedding_are_of_a_sample_of_the_sentences_of_the_report_split(around: Around) -> None:
    run = around()
    loss, embedding = Behaviours.of(run, ("loss", "embedding"), 7)
    assert isinstance(loss, Predictions)
    assert isinstance(embedding, Embedding)
    documents = {document.id for document in run.corpora[1].stream()}
    for one in (loss, embedding):
        lost = [noted.count for noted in run.journal.dropped if noted.scope == one.name]
        assert lost, "longer than the model"
        assert len(one.clusters) + sum(lost) == 7
    assert set(loss.clusters) <= documents
    (more,) = Behaviours.of(run, ("embedding",), 10)
    assert {one.text.ids.tobytes() for one in embedding.prompts} < {one.text.ids.tobytes() for one in more.prompts}


def test_pairs_are_a_sample_decided_as_behaviour_says(around: Around) -> None:
    run = around('behaviour.method="pll"', "behaviour.first=30", "behaviour.seed=5")
    (pairs,) = Behaviours.of(run, ("grammar",), 12)
    noted = [one for one in run.journal.dropped if one.scope == "grammar"]
    assert len(pairs.clusters) + sum(one.count for one in noted) == 12
    assert all(len(one.wanted) == 1 for one in pairs.prompts), "a place at a time: pseudo-log-likelihood"
    (every,) = Behaviours.of(run, ("grammar",), 100)
    assert set(pairs.clusters) < set(every.clusters)


def test_what_needs_a_head_says_so_before_anything_is_read(around: Around) -> None:
    run = around(head=False)
    for name in ("loss", "grammar"):
        with pytest.raises(ModelError, match="no masked-LM head"):
            Behaviours.of(run, (name,), 3)
    (embedding,) = Behaviours.of(run, ("embedding",), 3)
    assert embedding.clusters


def test_the_same_seed_masks_the_same(around: Around) -> None:
    one, other, third = (next(iter(Behaviours.of(around(*seed), ("loss",), 5))) for seed in ((), (), ("seed=3",)))
    assert [a.places for a in one.prompts] == [a.places for a in other.prompts]
    assert [a.places for a in one.prompts] != [a.places for a in third.prompts]
    assert torch.equal(one.texts([0]).ids, other.texts([0]).ids)


@pytest.mark.parametrize("name", ["classifier", "los"])
def test_a_wrong_name_is_refused_with_what_there_is(name: str, base: Path) -> None:
    known = r"known are loss, embedding, grammar, .*, and files of minimal pairs or of labelled rows"
    with pytest.raises(ConfigError, match=rf"ablation.behaviours: unknown behaviour '{name}'; .*{known}"):
        load_config(base, [f'ablation.behaviours=["{name}"]'])


def test_labels_of_a_file_are_a_behaviour_of_every_measure_and_named_on_the_page(base: Path, tmp_path: Path) -> None:
    module, (layer, head) = planted(5)
    for part in (module, tokenizer()):
        part.save_pretrained(tmp_path / "reviewer")
    opinions(60, 5).to_csv(tmp_path / "reviews.csv", index=False)
    measures = ("ablation", "importance", "slopes", "gates", "pruning")
    asked = [f'{measure}.behaviours=["{tmp_path / "reviews.csv"}"]' for measure in measures]
    changes = [
        *asked,
        f'model.name="{tmp_path / "reviewer"}"',
        "gates.prices=[0.01]",
        "gates.steps=60",
        "pruning.draws=2",
    ]
    run = Run.open(run_config(load_config(base, changes), tmp_path / "runs"))
    place = f"{layer + 1}-{head + 1}"
    costs = run.tables["ablations"].query("kind == 'head'").set_index(["measure", "name"])
    assert {costs.loc[measure, "cost"].idxmax() for measure in ("value", "accuracy", "logit difference")} == {place}
    assert set(costs["n"]) == set(costs["clusters"]) == {60}
    importance, gates = (run.tables[name].set_index("name") for name in ("importance", "gates"))
    assert importance["cost"].to_numpy() == pytest.approx(costs.loc["value", "cost"].to_numpy())
    assert {importance["importance"].idxmax(), gates["gate"].idxmax()} == {place}
    assert (
        set(run.tables["gate_paths"]["measure"])
        == set(run.tables["pruning"]["measure"])
        == {*("value", "accuracy", "logit difference")}
    )
    compared = run.tables["attention_vs_effect"].set_index("name")
    assert (set(compared["behaviour"]), compared["cost"].idxmax()) == ({"labels of reviews"}, place)
    rho = run.tables["attention_vs_effect_correlations"].set_index(["one", "other"]).loc[("importance", "cost")]
    assert rho["low"].iloc[0] <= rho["rho"].iloc[0] <= rho["high"].iloc[0]
    page = (run.folder / "report" / "index.html").read_text("utf-8")
    for text in ("labels of reviews", "accuracy, points", "BertForSequenceClassification: labels bad, good"):
        assert text in page


def test_a_score_of_a_file_takes_the_place_of_the_log_probability(base: Path, tmp_path: Path) -> None:
    module, (layer, head) = planted(5)
    for part in (module, tokenizer()):
        part.save_pretrained(tmp_path / "reviewer")
    opinions(60, 5).to_csv(tmp_path / "reviews.csv", index=False)
    own = tmp_path / "own.py"
    own.write_text("def score(logits, gold):\n    return (logits.argmax(1) == gold).double() * 7\n", encoding="utf-8")
    asked = (f'model.name="{tmp_path / "reviewer"}"', f'ablation.behaviours=["{tmp_path / "reviews.csv"}"]')
    run = Run.open(run_config(load_config(base, [*asked, f'behaviour.score="{own}"']), tmp_path / "runs"))
    costs = run.tables["ablations"].query("kind == 'head'").set_index(["measure", "name"])["cost"]
    assert costs["value"].to_numpy() == pytest.approx(7 * costs["accuracy"].to_numpy())
    assert costs["value"].idxmax() == f"{layer + 1}-{head + 1}"
    assert any("; measured by score of own.py, sha256 " in note for note in run.record.notes)
    with pytest.raises(ConfigError, match=r"behaviour\.score: no measure names labelled rows"):
        load_config(base, [f'behaviour.score="{own}"'])
    for text, wrong in (("points = 1", "own.py: no function called score in it"), ("score =", "it cannot be loaded")):
        own.write_text(text, encoding="utf-8")
        with pytest.raises(LabelError, match=f"behaviour.score: .*{wrong}"):
            run_config(load_config(base, [*asked, f'behaviour.score="{own}"', "name=again"]), tmp_path / "runs")
