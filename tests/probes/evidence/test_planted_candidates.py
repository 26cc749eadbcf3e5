"""Heads planted to know who is meant, which group agrees and what decides a sense are found, and they alone."""

import numpy as np
import pytest

from mha.batches import Batch
from mha.causal.interventions import Change
from mha.models.model import Model
from probes import Document, get_probe
from probes.corpora.corpus import Corpus
from probes.evidence.planted import Knows, planted_changes
from probes.evidence.results import pooled_sums
from probes.grammar import generate
from probes.scoring.score import Settings, learn_baselines, score_corpus
from probes.scoring.tally import Question
from probes.words.senses import sense_items

QUESTIONS: list[Question] = [
    ("antecedent", "pronoun->candidate", "all"),
    ("distractors", "noun groups", "all"),
    ("distractors", "head nouns", "all"),
    ("sense", "noun->cue", "all"),
    ("sense", "noun->cue or rival", "all"),
]


@pytest.fixture(scope="module")
def corpora() -> dict[str, Corpus]:
    grammar = Corpus.of(generate(40, 5))
    return {"antecedent": grammar, "distractors": grammar, "sense": Corpus.of(sense_items(200, 5))}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_planted_head_alone_beats_every_baseline(
    question: Question, model: Model, corpora: dict[str, Corpus]
) -> None:
    probe = get_probe(question[0])
    texts = corpora[probe.name].windows(30) if probe.scope == "window" else corpora[probe.name].sentences()
    baselines = learn_baselines(texts, [probe], probe.baselines, lexical=False)
    planted = {(1, 2): Knows(question, 0.9, seed=3)}

    def changes(documents: list[Document], batch: Batch) -> list[Change]:
        return list(planted_changes(planted, documents, batch))

    outcome = score_corpus(model, texts, [probe], baselines, Settings(), changes=changes)
    heads, rivals = pooled_sums(outcome, [probe])
    n = heads[question].n.sum()
    assert n > 40
    accuracy = heads[question].hits.sum(0) / n
    strongest = max(float(sums[question].hits.sum() / n) for sums in rivals.values() if question in sums)
    assert accuracy.argmax() == model.heads + 2
    assert accuracy[model.heads + 2] > max(0.85, strongest + 0.1)
    assert (np.delete(accuracy, model.heads + 2) < accuracy[model.heads + 2] - 0.1).all()
