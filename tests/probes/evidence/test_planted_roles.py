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
OBJECT: Question = ("dependency", "dependent->head", "obj")
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


@pytest.mark.parametrize("question", [PREVIOUS, RELATION, ANTECEDENT])
def test_a_head_of_strength_1_is_always_right(question: Question, documents: list[Document]) -> None:
    for text in documents:
        query, gold = nearest_gold(question, text)
        places = Knows(question, 1.0).attended(text)
        last = {int(q): int(g) for q, g in zip(query, gold, strict=True)}  # a head word of two mentions has one row
        assert all(places[q] == g for q, g in last.items())


def test_a_word_that_is_not_asked_attends_nowhere(documents: list[Document]) -> None:
    for text in documents:
        asked = {word for word, label in enumerate(text.deprels) if label == "obj"}
        places = Knows(OBJECT, 0.5).attended(text)
        assert set(np.flatnonzero(places != NOWHERE).tolist()) == asked


def test_a_wrong_answer_is_another_word_of_the_text_any_of_them_alike() -> None:
    """Word 2 of 7, in 3000 texts: six other words, the right one among them."""
    found = [int(Knows(PREVIOUS, 0.0).attended(plain(7, f"d{number}"))[2]) for number in range(3000)]
    counts = np.bincount(found, minlength=7)
    assert counts[2] == 0
    assert scipy.stats.chisquare(np.delete(counts, 2)).pvalue > 1e-3


def test_of_several_right_answers_the_nearest_is_known() -> None:
    mentions = [Mention((word,), word, "e") for word in (1, 4, 9)] + [Mention((7,), 7, "other")]
    text = plain(10, mentions=mentions)
    query, gold = nearest_gold(ANTECEDENT, text)
    assert dict(zip(query.tolist(), gold.tolist(), strict=True)) == {4: 1, 9: 4}
    assert Knows(ANTECEDENT, 1.0).attended(text).tolist() == [-1] * 4 + [1] + [-1] * 4 + [4]


def test_only_items_of_the_label_are_asked(tree: Callable[..., Sentence]) -> None:
    rows = "she PRON 2 nsubj _\nsaw VERB 0 root _\nthe DET 4 det _\nship NOUN 2 obj _"
    text = Document("d", (tree(rows),))
    assert [part.tolist() for part in nearest_gold(OBJECT, text)] == [[3], [1]]
    assert [part.tolist() for part in nearest_gold(RELATION, text)] == [[0, 2, 3], [1, 3, 1]]


def test_texts_without_a_question_are_left_alone() -> None:
    assert Knows(ANTECEDENT, 1.0).attended(plain(5)).tolist() == [NOWHERE] * 5
    assert Knows(PREVIOUS, 0.5).attended(plain(1)).tolist() == [NOWHERE]


def test_answers_that_are_known_already_change_nothing_and_seeds_do(documents: list[Document]) -> None:
    text = documents[0]
    places = Knows(RELATION, 0.5, seed=1).attended(text)
    assert np.array_equal(Knows(RELATION, 0.5, seed=1).attended(text, nearest_gold(RELATION, text)), places)
    assert not np.array_equal(Knows(RELATION, 0.5, seed=2).attended(text), places)


def test_texts_of_one_document_are_answered_independently() -> None:
    one, other = (Document("d", (Sentence(name, ("w",) * 40, np.full(40, -1), ("",) * 40),)) for name in ("a", "b"))
    first, second = (Knows(PREVIOUS, 0.0).attended(text) for text in (one, other))
    assert (first == second)[1:].mean() < 0.3


# --- Follows


def test_a_decoy_follows_its_offset_and_attends_nowhere_outside_the_text() -> None:
    assert Follows(-2).attended(plain(5)).tolist() == [NOWHERE, NOWHERE, 0, 1, 2]
    assert Follows(1).attended(plain(4)).tolist() == [1, 2, 3, NOWHERE]
    assert Follows(9).attended(plain(4)).tolist() == [NOWHERE] * 4


def test_a_decoy_follows_in_the_share_that_is_its_strength() -> None:
    texts = [plain(51, f"d{number}") for number in range(60)]
    followed = [Follows(3, 0.7).attended(text)[:-3] == np.arange(3, 51) for text in texts]
    low, high = bounds(60 * 48, 0.7 + 0.3 / 50)
    assert low <= np.mean(followed) <= high


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


def test_random_answers_among_listed_candidates_are_uniform() -> None:
    """Mentions at 1, 2, 5 and 8, all of one entity but that at 2; the heads before 5 and 8 are its candidates."""
    mentions = [Mention((word,), word, "other" if word == 2 else "e") for word in (1, 2, 5, 8)]
    text, counts = plain(9, mentions=mentions), np.zeros((9, 9))
    for number in range(1500):
        probe = RandomGold.of(get_probe("coreference"), ANTECEDENT[1], number)
        for query, gold, _ in items_of(probe, ANTECEDENT[1], text):
            counts[query, gold] += 1
    for query, candidates in ((5, [1, 2]), (8, [1, 2, 5])):
        assert counts[query, candidates].sum() == counts[query].sum() == 1500
        assert scipy.stats.chisquare(counts[query, candidates]).pvalue > 1e-3
    assert counts.sum() == 3000


@pytest.mark.parametrize("question", [PREVIOUS, RELATION, ANTECEDENT])
def test_random_answers_leave_queries_labels_and_candidates_as_they_are(
    question: Question, documents: list[Document]
) -> None:
    probe, variant, _ = question
    drawn = RandomGold.of(get_probe(probe), variant, 0)
    assert drawn.variants == (variant,)
    assert drawn.pool("nominal") == get_probe(probe).pool("nominal")
    for text in documents:
        real, random = get_probe(probe).targets(text)[variant], drawn.targets(text)[variant]
        assert np.array_equal(real.query, random.query)
        assert list(real.label) == list(random.label)
        assert str(real.candidates) == str(random.candidates)


def test_a_drawing_is_the_same_again_and_others_are_others(documents: list[Document]) -> None:
    first, again, other = (
        [items_of(RandomGold.of(get_probe("dependency"), RELATION[1], n), RELATION[1], text) for text in documents]
        for n in (0, 0, 1)
    )
    assert first == again
    assert np.mean([a == b for one, two in zip(first, other, strict=True) for a, b in zip(one, two, strict=True)]) < 0.5


@pytest.mark.parametrize("variant", ["all words", "all tokens", "no key above a tenth"])
def test_random_answers_are_refused_where_candidates_are_not_other_words(variant: str) -> None:
    probe = RandomGold.of(get_probe("position"), variant, 0)
    with pytest.raises(ValueError, match="drawn among other words or listed candidates"):
        probe.targets(plain(30))


# --- over pieces


def batch_of(tokenizer: Tokenizer, *texts: str, reduce: str = "mean") -> Batch:
    return collate(align(tokenizer, [text.split() for text in texts]), reduce=reduce)


def test_all_pieces_of_a_word_attend_to_all_pieces_of_the_word_told(tokenizer: Tokenizer) -> None:
    """[CLS] ship un ##sink ##able [SEP], and a longer text that pads it."""
    batch = batch_of(tokenizer, "ship unsinkable", "the old dog saw it . ship")
    pattern = piece_pattern([np.array([1, 0]), np.full(7, NOWHERE)], batch)
    assert pattern.shape == (2, 9, 9)
    expected = torch.zeros(9, 9)
    expected[1, 2:5] = 1 / 3
    expected[2:5, 1] = 1
    torch.testing.assert_close(pattern[0], expected)
    assert not bool(pattern[1].any())


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


def test_what_heads_are_told_of_a_text_does_not_depend_on_its_batch(
    tokenizer: Tokenizer, documents: list[Document]
) -> None:
    planted: Planted = {(0, 1): Knows(RELATION, 0.5), (0, 2): Follows(1, 0.5), (1, 0): Knows(PREVIOUS, 0.5)}
    texts = [text for document in documents[:3] for text in document.split_sentences()]
    cut = align(tokenizer, [text.words for text in texts])
    together = planted_changes(planted, texts, collate(cut))
    assert [(change.layer, sorted(change.patterns)) for change in together] == [(0, [1, 2]), (1, [0])]
    for number, (text, pieces) in enumerate(zip(texts, cut, strict=True)):
        for whole, alone in zip(together, planted_changes(planted, [text], collate([pieces])), strict=True):
            for head, pattern in alone.patterns.items():
                length = len(pieces)
                torch.testing.assert_close(whole.patterns[head][number, :length, :length], pattern[0])
                assert not bool(whole.patterns[head][number, :, length:].any())


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


@pytest.mark.parametrize("pieces", [1, 60])
def test_batches_change_nothing_about_planted_heads(pieces: int, model: Model, documents: list[Document]) -> None:
    whole, parts = score(model, RELATION, documents, PLANTED), score(model, RELATION, documents, PLANTED, pieces)
    assert np.array_equal(whole.hits[:, [0, 2]], parts.hits[:, [0, 2]])


def test_heads_beside_planted_ones_stay_as_they_are_and_those_above_see_the_change(
    model: Model, documents: list[Document]
) -> None:
    before, after = (score(model, RELATION, documents, planted) for planted in ({}, PLANTED))
    assert np.array_equal(before.mass[:, 1], after.mass[:, 1])
    assert np.array_equal(before.hits[:, 1], after.hits[:, 1])
    for column in (0, 2, 3, 5):
        assert np.abs(before.mass[:, column] - after.mass[:, column]).max() > 0.01


def test_a_planted_head_keeps_its_own_pattern_for_words_that_are_not_asked(
    model: Model, documents: list[Document]
) -> None:
    """Determiners are told; the rows of objects are those of the head itself."""
    told: Planted = {(0, 1): Knows(("dependency", "dependent->head", "det"), 1.0)}
    before, after = (score(model, OBJECT, documents, planted) for planted in ({}, told))
    np.testing.assert_allclose(after.mass[:, :3], before.mass[:, :3], rtol=1e-6)
