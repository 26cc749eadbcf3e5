"""Heads that are told where to attend: what they know, what they follow, and what scoring then says of them."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
import scipy.stats

from mha.models.model import Model
from probes import get_probe
from probes.corpora.corpus import Corpus
from probes.evidence.planted import NOWHERE, Follows, Knows, Planted, RandomGold, nearest_gold, planted_changes
from probes.evidence.results import pooled_sums
from probes.records import Document, Mention, Sentence
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Question

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


@pytest.mark.parametrize("strength", [0.1, 0.5, 0.9])
def test_a_document_has_a_share_of_its_own_around_that_of_the_head_and_within_0_and_1(strength: float) -> None:
    head = Knows(("dependency", "dependent->head", "obj"), strength, spread=0.4)
    shares = np.array([head._strength_in(Document(f"d{number}", ())) for number in range(400)])
    reach = min(0.4, strength, 1 - strength)
    assert strength - reach <= shares.min() < strength - 0.9 * reach
    assert strength + 0.9 * reach < shares.max() <= strength + reach
    assert abs(shares.mean() - strength) < 4 * reach / (3 * len(shares)) ** 0.5


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


# --- scored


PLANTED: Planted = {
    (0, 0): Knows(RELATION, 0.6, seed=1),
    (0, 2): Follows(-1, 0.8, seed=2),
    (1, 1): Knows(ANTECEDENT, 0.5, seed=3),
}


@pytest.mark.parametrize(
    ("at", "question"),
    [((0, 0), RELATION), ((0, 2), PREVIOUS), ((1, 1), ANTECEDENT)],
    ids=["relation", "decoy", "coref"],
)
def test_a_planted_head_has_the_accuracy_of_the_words_it_was_told(
    at: tuple[int, int], question: Question, model: Model, documents: list[Document]
) -> None:
    """Its accuracy and mass, item by item from the targets: no map, batch or piece is looked at."""
    right, n, probe, corpus = 0, 0, get_probe(question[0]), Corpus.of(documents)
    texts = corpus.sentences() if probe.scope == "sentence" else corpus.windows(15)
    for text in texts.take(range(len(texts))):
        asked, places = probe.targets(text)[question[1]], PLANTED[at].attended(text)
        for item, (query, label) in enumerate(zip(asked.query.tolist(), asked.label, strict=True)):
            if question[2] in probe.pool(label):
                right += int(places[query] in asked.gold[0][asked.gold[1] == item])
                n += 1
    changes = partial(planted_changes, PLANTED)
    outcome = score_corpus(model, texts, [probe], {}, Settings(workers=1), changes=changes)
    assert outcome.dropped.counts == {}
    sums = pooled_sums(outcome, [probe])[0][question]
    column = at[0] * model.heads + at[1]
    assert n > 30
    assert sums.n.sum() == n
    assert sums.hits[:, column].sum() == right
    assert sums.mass[:, column].sum() == pytest.approx(right, abs=1e-4)
