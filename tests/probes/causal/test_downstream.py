"""A head's accuracy downstream: what scoring says of it while heads below are switched off by `intervene`."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from mha import Ablate, MaskedLM, Model
from mha.models.hub import load_hub_model
from probes import get_probe
from probes.causal.ablation import WAYS, measure
from probes.causal.downstream import head_accuracy
from probes.corpora.corpus import MemoryTexts
from probes.evidence.results import pooled_sums
from probes.records import Document
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Question

PROBES = [get_probe(name) for name in ("position", "dependency", "coreference")]
HEAD = (2, 1)
BELOW = [(), ((0, 2),), ((1, 0), (1, 1)), ((0, 0), (1, 2))]
QUESTIONS = [
    ("dependency", "dependent->head", "all"),
    ("dependency", "head<-dependent", "all"),
    ("dependency", "head->dependent", "nsubj:*"),
    ("coreference", "mention->antecedent", "all"),
]


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> MemoryTexts:
    return MemoryTexts(random_documents(7, sentences=2, longest=9, seed=5))


@pytest.fixture(scope="module", params=["encoder", "transformers"])
def deep(request: pytest.FixtureRequest, lm: MaskedLM) -> Model:
    """Return a model of 3 layers x 3 heads: ours, and the same weights in transformers."""
    return lm.model if request.param == "encoder" else replace(lm.model, module=load_hub_model(lm.model.name))


def scored(model: Model, texts: MemoryTexts, reduce: str, *changes: Ablate) -> dict[Question, float]:
    """Return what the scorer says of the accuracy of HEAD while `changes` are made."""
    settings = Settings(reduce=reduce)
    outcome = score_corpus(model, texts, PROBES, {}, settings, changes=lambda documents, batch: changes)
    heads, _ = pooled_sums(outcome, PROBES)
    flat = HEAD[0] * model.heads + HEAD[1]
    return {question: float(sums.hits[:, flat].sum() / sums.n.sum()) for question, sums in heads.items()}


@pytest.mark.slow
@pytest.mark.parametrize("reduce", ["mean", "first"])
def test_accuracy_downstream_is_what_scoring_says_under_the_same_changes(
    deep: Model, texts: MemoryTexts, reduce: str
) -> None:
    oracle = [scored(deep, texts, reduce, *(Ablate(*head) for head in heads)) for heads in BELOW]
    by_name = {probe.name: probe for probe in PROBES}
    questions = [question for question in oracle[0] if question in QUESTIONS]
    assert len(questions) >= 3
    moved = 0
    for question in questions:
        aligned = Aligned.of(deep, texts)
        behaviour = head_accuracy(deep, aligned, by_name[question[0]], question, HEAD, reduce=reduce)
        found = measure(behaviour, BELOW, batch_pieces=40).mean(1).tolist()
        assert found == pytest.approx([one[question] for one in oracle], abs=1e-6)
        moved += len(set(found)) > 1
    assert moved == len(questions), "switching heads off below changes what the head is right about"


@pytest.mark.parametrize("how", WAYS)
def test_heads_of_the_same_layer_and_above_change_nothing(deep: Model, texts: MemoryTexts, how: str) -> None:
    aligned = Aligned.of(deep, texts)
    behaviour = head_accuracy(deep, aligned, PROBES[1], QUESTIONS[0], (1, 0))
    lowest = tuple((0, head) for head in range(3))
    found = measure(behaviour, [(), ((1, 0), (1, 1)), ((2, 0),), lowest, (*lowest, (2, 2))], how, batch_pieces=40)
    assert torch.equal(found[1:3], found[:1].expand(2, -1))
    assert torch.equal(found[4], found[3])
    assert 0 < float(found[0].mean()) < 1
