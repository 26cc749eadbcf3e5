"""A corpus from words to sums, on the way that a run takes."""

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from mha import Model, align
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.records import Document, Sentence
from probes.registry import Probe
from probes.scoring.aligned import Dropped
from probes.scoring.baselines import BASELINES, LEXICAL
from probes.scoring.score import PIECELESS, Outcome, Settings, ask, learn_baselines, score_corpus
from probes.scoring.tally import Question, Sums, Tally
from probes.words.position import BROAD

PROBES: list[Probe] = [get_probe(name) for name in ("position", "dependency", "agreement", "coreference")]
MEASURES = ("hits", "mass", "coverage", "near_ties")


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    """Sentences of 1 to 10 words, some twice."""
    documents = random_documents(12, sentences=4, longest=10)
    sentences = [one for document in documents for one in document.split_sentences()]
    repeated = [Document("again", document.sentences) for document in sentences[:5]]
    return Corpus.of([*sentences, *repeated]).windows(100)


def score(model: Model, texts: Texts, **settings: object) -> Outcome:
    baselines = learn_baselines(texts, PROBES, BASELINES)
    return score_corpus(model, texts, PROBES, baselines, Settings(**{"workers": 1, **settings}))


def sums_of(tally: Tally) -> dict[Question, Sums]:
    return dict(tally.pooled(lambda question: (question[2],)))


def assert_identical(one: Outcome, other: Outcome) -> None:
    """Assert that not a bit differs."""
    for name, tally in {"heads": one.heads, **one.baselines}.items():
        ours, theirs = sums_of(tally), sums_of({"heads": other.heads, **other.baselines}[name])
        assert list(ours) == list(theirs)
        for question, sums in ours.items():
            assert sums.clusters == theirs[question].clusters
            for part in ("n", *MEASURES):
                both = getattr(sums, part), getattr(theirs[question], part)
                assert np.array_equal(*both, equal_nan=True), (name, question, part)


ROUNDING = 2e-6
"""How much of a mass single precision loses where the random model's scores are large.

With AVX-512 it is less than 1e-6; on processors with AVX2 alone 1.1e-6 was seen."""


@pytest.fixture(scope="module")
def outcome(model: Model, texts: Texts) -> Outcome:
    return score(model, texts)


def test_every_question_is_scored_for_every_head_and_every_baseline_that_applies(
    outcome: Outcome, texts: Texts, model: Model
) -> None:
    heads = sums_of(outcome.heads)
    assert {question[0] for question in heads} == {"position", "dependency", "agreement", "coreference"}
    for sums in heads.values():
        assert sums.hits.shape[1] == model.layers * model.heads
        assert bool((sums.hits <= sums.n[:, None] + 1e-9).all())
    for name in (*BASELINES, LEXICAL):
        probes = {probe.name for probe in PROBES if name in probe.baselines}
        if name == LEXICAL:
            probes = {"dependency", "agreement", "coreference"}
        assert {question[0] for question in sums_of(outcome.baselines[name])} == probes
    expected: dict[Question, int] = {}
    for document in texts.take(range(len(texts))):
        for probe in PROBES:
            for variant, targets in probe.targets(document).items():
                for label in targets.label:
                    expected[probe.name, variant, label] = expected.get((probe.name, variant, label), 0) + 1
    assert {question: int(sums.n.sum()) for question, sums in heads.items()} == expected
    assert outcome.dropped.counts == {}
    assert outcome.texts == len(texts)
    assert outcome.words == sum(len(document) for document in texts.take(range(len(texts))))


@pytest.mark.slow
def test_neither_order_nor_workers_change_a_number(model: Model, texts: Texts) -> None:
    held = texts.take(range(len(texts)))
    found = []
    for part, workers in ((held, 1), (held[::-1], 3)):
        some = Corpus.of(part).windows(100)
        how = Settings(batch_pieces=40, workers=workers)
        found.append(score_corpus(model, some, PROBES, learn_baselines(some, PROBES, BASELINES), how))
    assert_identical(*found)


def test_a_batch_equals_the_sum_of_its_texts_alone(model: Model, texts: Texts, outcome: Outcome) -> None:
    together: dict[Question, np.ndarray] = {}
    for i in range(len(texts)):
        alone = score_corpus(model, Corpus.of(texts.take([i])).windows(100), PROBES, {}, Settings(workers=1))
        for question, sums in sums_of(alone.heads).items():
            parts = np.stack([sums.hits.sum(0), sums.mass.sum(0), sums.coverage])
            together[question] = together.get(question, np.zeros(parts.shape)) + parts
    expected = sums_of(outcome.heads)
    assert set(together) == set(expected)
    for question, sums in expected.items():
        parts = np.stack([sums.hits.sum(0), sums.mass.sum(0), sums.coverage])
        slack = np.stack([sums.near_ties + 1e-6, *[ROUNDING * sums.n.sum() * np.ones(6)] * 2])
        assert bool((np.abs(parts - together[question]) <= slack).all()), question


def long_text(words: int, name: str = "long") -> Document:
    sentence = Sentence(f"{name}-1", ("ship",) * words, np.full(words, -1), ("",) * words)
    return Document(name, (sentence,))


def test_texts_that_are_too_long_or_empty_are_counted_as_dropped_and_not_cut(model: Model) -> None:
    """The model reads 40 pieces, two of them special tokens."""
    empty = Document("empty", (Sentence("empty-1", (), np.zeros(0, np.int64), ()),))
    held = [long_text(39, "a"), long_text(38, "fits"), empty, *(long_text(99, name) for name in "bce")]
    found = score(model, Corpus.of(held).sentences())
    assert (found.texts, found.words, found.pieces) == (1, 38, 40)
    reasons = {"longer than the model (40 pieces)": ["a-1", "b-1", "c-1"], "text without words": ["empty-1"]}
    assert found.dropped == Dropped(dict(zip(reasons, (4, 1), strict=True)), reasons)


@pytest.mark.parametrize("gone", [0, 2, 5])
def test_of_every_probe_only_questions_about_the_missing_word_are_left_out(
    gone: int, model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    document = next(d for d in random_documents(40, seed=3, sentences=2) if len(d) > 12)
    first = document.sentences[0]
    holed = replace(first, words=(*first.words[:gone], "\u200b", *first.words[gone + 1 :]))
    document = Document("d", (holed, *document.sentences[1:]))
    (cut,) = align(model.tokenizer, [document.words])
    assert cut.missing() == [gone]
    dropped = Dropped()
    for items in ask(PROBES, [document], [cut], dropped):
        assert gone not in items.query
        assert gone not in items.gold[0]
    left = sum(len(items) for items in ask(PROBES, [document], [cut], Dropped()))
    everything = sum(len(targets) for probe in PROBES for targets in probe.targets(document).values())
    assert left + dropped.counts[PIECELESS] == everything
    assert left > everything / 2


def test_broad_heads_have_no_baseline(model: Model) -> None:
    """Uniform rows are always broad: the ceiling, not a baseline."""
    outcome = score(model, Corpus.of([long_text(30)]).sentences())
    asked, answered = set(sums_of(outcome.heads)), set(sums_of(outcome.baselines["uniform"]))
    assert {question[2] for question in asked - answered} == {"broad"}


def test_hits_alone_are_the_same_hits(model: Model, texts: Texts, outcome: Outcome) -> None:
    found = sums_of(score_corpus(model, texts, PROBES, {}, Settings(workers=1), hits_alone=True).heads)
    for question, sums in sums_of(outcome.heads).items():
        assert np.array_equal(found[question].hits, sums.hits)
        assert all(np.isnan(getattr(found[question], part)).all() for part in MEASURES[1:])


def test_broad_heads_are_told_by_shares_of_norms_whatever_their_size(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    """Values of the first layer a hundred times as long: norms grow with them, and their shares do not."""
    even, size = copy.deepcopy(model), model.module.config.model
    with torch.no_grad():
        even.module.layers[0].attention.project.weight[: 2 * size] *= 0.02  # queries and keys
        longer = copy.deepcopy(even)
        longer.module.layers[0].attention.project.weight[-size:] *= 100
        longer.module.layers[0].attention.project.bias[-size:] *= 100
    texts = Corpus.of(random_documents(12, longest=30)).sentences()
    found = [score_corpus(one, texts, PROBES[:1], {}, Settings(maps="norms")).heads for one in (even, longer)]
    before, after = (sums_of(one)["position", BROAD, "broad"] for one in found)
    np.testing.assert_allclose(after.mass[:, :3], 100 * before.mass[:, :3], rtol=1e-4)
    np.testing.assert_array_equal(after.hits[:, :3], before.hits[:, :3])
    assert before.hits[:, :3].max() > 0
