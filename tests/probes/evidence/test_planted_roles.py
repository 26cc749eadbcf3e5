"""Heads that are told where to attend: what they know, what they follow, and what scoring then says of them."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import scipy.stats
import torch
from tokenizers import Tokenizer

from mha.batches import Batch, collate
from mha.models.maps import merge
from mha.models.model import Model
from mha.pieces import align
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.evidence.planted import (
    NOWHERE,
    Follows,
    Knows,
    Planted,
    RandomGold,
    nearest_gold,
    piece_pattern,
    planted_changes,
)
from probes.evidence.results import pooled_sums
from probes.records import Document, Mention, Sentence
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Question, Sums

PREVIOUS: Question = ("position", "other words", "previous")
RELATION: Question = ("dependency", "dependent->head", "all")
ANTECEDENT: Question = ("coreference", "preceding mention heads", "all")


def plain(words: int, name: str = "d", mentions: Sequence[Mention] = ()) -> Document:
    """A text of one sentence without a tree."""
    sentence = Sentence(name, ("ship",) * words, np.full(words, -1), ("",) * words, mentions=tuple(mentions))
    return Document(name, (sentence,))


def bounds(n: int, share: float) -> tuple[float, float]:
    """Where a share of n independent items lies in all but one of ten thousand cases."""
    low, high = scipy.stats.binom.interval(0.9999, n, share)
    return float(low) / n, float(high) / n


@pytest.fixture(scope="module")
def documents(random_documents: Callable[..., list[Document]]) -> list[Document]:
    return random_documents(25, seed=4, sentences=3, longest=9)


# --- Knows


@pytest.mark.parametrize("strength", [0.0, 0.3, 0.85])
def test_a_head_knows_the_share_of_answers_that_is_its_strength_and_hits_the_others_by_chance(strength: float) -> None:
    texts = [plain(51, f"d{number}") for number in range(60)]
    right = [Knows(PREVIOUS, strength).attended(text)[1:] == np.arange(50) for text in texts]
    low, high = bounds(60 * 50, strength + (1 - strength) / 50)
    assert low <= np.mean(right) <= high


def test_of_several_right_answers_the_nearest_is_known() -> None:
    mentions = [Mention((word,), word, "e") for word in (1, 4, 9)] + [Mention((7,), 7, "other")]
    text = plain(10, mentions=mentions)
    query, gold = nearest_gold(ANTECEDENT, text)
    assert dict(zip(query.tolist(), gold.tolist(), strict=True)) == {4: 1, 9: 4}
    assert Knows(ANTECEDENT, 1.0).attended(text).tolist() == [-1] * 4 + [1] + [-1] * 4 + [4]


# --- Follows


def test_a_decoy_follows_its_offset_and_attends_nowhere_outside_the_text() -> None:
    assert Follows(-2).attended(plain(5)).tolist() == [NOWHERE, NOWHERE, 0, 1, 2]
    assert Follows(1).attended(plain(4)).tolist() == [1, 2, 3, NOWHERE]
    assert Follows(9).attended(plain(4)).tolist() == [NOWHERE] * 4


# --- RandomGold


def items_of(probe: object, variant: str, text: Document) -> list[tuple[int, int, str]]:
    asked = probe.targets(text)[variant]
    assert asked.gold[1].tolist() == list(range(len(asked))), "one right answer an item"
    return list(zip(asked.query.tolist(), asked.gold[0].tolist(), asked.label, strict=True))


def test_random_answers_among_other_words_are_uniform(tree: Callable[..., Sentence]) -> None:
    rows = "she PRON 2 nsubj _\nsaw VERB 0 root _\nthe DET 5 det _\nold ADJ 5 amod _\nship NOUN 2 obj _"
    text, counts = Document("d", (tree(rows),)), np.zeros((5, 5))
    for number in range(1500):
        for query, gold, _ in items_of(RandomGold.of(get_probe("dependency"), RELATION[1], number), RELATION[1], text):
            counts[query, gold] += 1
    assert counts.sum(1).tolist() == [1500, 0, 1500, 1500, 1500]
    for query in (0, 2, 3, 4):
        assert counts[query, query] == 0
        assert scipy.stats.chisquare(np.delete(counts[query], query)).pvalue > 1e-3


# --- over pieces


def batch_of(tokenizer: Tokenizer, *texts: str, reduce: str = "mean") -> Batch:
    return collate(align(tokenizer, [text.split() for text in texts]), reduce=reduce)


@pytest.mark.parametrize("reduce", ["mean", "first"])
def test_merged_maps_are_the_words_that_were_told(reduce: str, tokenizer: Tokenizer) -> None:
    batch = batch_of(tokenizer, "ship unsinkable harbours the walking", "walking dog", reduce=reduce)
    places = [np.array([1, 4, NOWHERE, 0, 2]), np.array([1, 0])]
    maps = merge(piece_pattern(places, batch)[:, None], batch)[:, 0]
    expected = torch.zeros(2, 5, 7)
    for text, place in enumerate(places):
        for query in np.flatnonzero(place != NOWHERE):
            expected[text, query, place[query]] = 1
    torch.testing.assert_close(maps, expected)


# --- scored


PLANTED: Planted = {
    (0, 0): Knows(RELATION, 0.6, seed=1),
    (0, 2): Follows(-1, 0.8, seed=2),
    (1, 1): Knows(ANTECEDENT, 0.5, seed=3),
}


def texts_of(question: Question, documents: list[Document]) -> Texts:
    corpus = Corpus.of(documents)
    return corpus.sentences() if get_probe(question[0]).scope == "sentence" else corpus.windows(15)


def score(model: Model, question: Question, documents: list[Document], planted: Planted, pieces: int = 4096) -> Sums:
    """The sums of all six heads; `changes` as the sandbox gives them."""
    probes, texts = [get_probe(question[0])], texts_of(question, documents)
    outcome = score_corpus(
        model,
        texts,
        probes,
        {},
        Settings(batch_pieces=pieces, workers=1),
        changes=lambda shown, batch: planted_changes(planted, shown, batch),
    )
    assert outcome.dropped.counts == {}
    return pooled_sums(outcome, probes)[0][question]


@pytest.mark.parametrize(
    ("at", "question"),
    [((0, 0), RELATION), ((0, 2), PREVIOUS), ((1, 1), ANTECEDENT)],
    ids=["relation", "decoy", "coref"],
)
def test_a_planted_head_has_the_accuracy_of_the_words_it_was_told(
    at: tuple[int, int], question: Question, model: Model, documents: list[Document]
) -> None:
    """Its accuracy and mass, item by item from the targets: no map, batch or piece is looked at."""
    right, n = 0, 0
    texts = texts_of(question, documents)
    for text in texts.take(range(len(texts))):
        asked, places = get_probe(question[0]).targets(text)[question[1]], PLANTED[at].attended(text)
        for item, (query, label) in enumerate(zip(asked.query.tolist(), asked.label, strict=True)):
            if question[2] in get_probe(question[0]).pool(label):
                right += int(places[query] in asked.gold[0][asked.gold[1] == item])
                n += 1
    sums = score(model, question, documents, PLANTED)
    column = at[0] * model.heads + at[1]
    assert n > 30
    assert sums.n.sum() == n
    assert sums.hits[:, column].sum() == right
    assert sums.mass[:, column].sum() == pytest.approx(right, abs=1e-4)
