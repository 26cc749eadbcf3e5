"""Precision, lift and explained attention: worked out by hand, by plain loops over whole maps, and of planted heads."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
import torch

from mha import Attend, Model, align
from mha.batches import Batch
from mha.hooks import record
from probes import get_probe
from probes.corpora.corpus import Corpus, MemoryTexts, Texts
from probes.evidence.planted import NOWHERE, piece_pattern
from probes.maps.relation_attention import STRONG, GoldPairs, RelationAttention, add_relation_attention
from probes.records import Document, Sentence, frozen_ints
from probes.registry import Probe
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Question
from probes.targets import Items, gather

PROBES = [get_probe(name) for name in ("position", "dependency", "antecedent", "coreference", "repetition")]
ROWS = "the DET 2 det _\nship NOUN 3 nsubj _\nsank VERB 0 root _\n. PUNCT 3 punct _"
HEADS = 6
"Of the model: 2 layers x 3."

Map = list[list[float]]
"[query, key] among the words of a text."

Measured = dict[Question, tuple[list[float], list[float]]]
"Precision and lift of every head."


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    """Windows of one to three sentences, with words of up to three pieces."""
    return Corpus.of(random_documents(12, longest=8)).windows(14)


def observed(model: Model, texts: Texts, probes: Sequence[Probe], **more: object) -> RelationAttention:
    found = RelationAttention(model.layers, model.heads, probes)
    settings = more.pop("settings", Settings())
    score_corpus(model, texts, probes, {}, settings, observers=[found], **more)  # type: ignore[arg-type]
    return found


def word_map(pattern: torch.Tensor, word: Sequence[int], words: int) -> Map:
    """Mean over the pieces that attend, sum over those that are attended to."""
    rows = [[0.0] * words for _ in range(words)]
    for query in range(words):
        mine = [piece for piece, of in enumerate(word) if of == query]
        for piece in mine:
            for other, key in enumerate(word):
                if key >= 0:
                    rows[query][key] += float(pattern[piece, other]) / len(mine)
    return rows


def relations(text: Document, probes: Sequence[Probe]) -> dict[Question, set[tuple[int, int]]]:
    """Return the pairs (attending word, attended word) of every question, pooled labels included."""
    pairs: dict[Question, set[tuple[int, int]]] = defaultdict(set)
    for probe in probes:
        for variant, targets in probe.targets(text).items():
            gold: dict[int, list[int]] = defaultdict(list)
            for key, item in zip(*map(np.ndarray.tolist, targets.gold), strict=True):
                gold[item].append(key)
            for item, query in enumerate(targets.query.tolist()):
                for label in probe.pool(targets.label[item]):
                    of_label = pairs[probe.name, variant, label]
                    for key in gold[item]:
                        if key >= 0 and key != query:
                            of_label.add((key, query) if targets.by_column else (query, key))
    return pairs


class ByLoops:
    """The same numbers, word by word, from dense maps of one text after the other."""

    def __init__(self, model: Model, texts: Texts, probes: Sequence[Probe]) -> None:
        self.maps: list[list[Map]] = []
        self.pairs: list[dict[Question, set[tuple[int, int]]]] = []
        for text in texts.take(range(len(texts))):
            (cut,) = align(model.tokenizer, [text.words])
            with record(model.module) as seen, torch.inference_mode():
                model.run(torch.from_numpy(cut.ids[None].astype(np.int64)), None)
            of_text = [pattern[0, head] for pattern in seen["pattern"] for head in range(model.heads)]
            self.maps.append([word_map(pattern.double(), cut.word.tolist(), len(text)) for pattern in of_text])
            self.pairs.append(relations(text, probes))

    @property
    def questions(self) -> set[Question]:
        return {question for pairs in self.pairs for question in pairs}

    def precision(self, head: int, question: Question) -> float:
        strong = hits = 0
        for maps, pairs in zip(self.maps, self.pairs, strict=True):
            for query, row in enumerate(maps[head]):
                others = [(value, key) for key, value in enumerate(row) if key != query]
                if others and max(others)[0] >= STRONG:
                    strong += 1
                    hits += (query, max(others)[1]) in pairs.get(question, ())
        known = any(pairs.get(question) for pairs in self.pairs)
        return hits / strong if strong and known else math.nan

    def lift(self, head: int, question: Question) -> float:
        """Attention is weighed against what each other word of its text would get if all got the same."""
        weighed = defaultdict[int, list[float]](list)
        for maps in self.maps:
            for query, row in enumerate(maps[head]):
                for key, value in enumerate(row):
                    if key != query:
                        weighed[key - query].append(value / (1 / (len(row) - 1)))
        on = expected = 0.0
        for maps, pairs in zip(self.maps, self.pairs, strict=True):
            for query, key in pairs.get(question, ()):
                on += maps[head][query][key]
                expected += sum(weighed[key - query]) / len(weighed[key - query]) / (len(maps[head]) - 1)
        return on / expected if expected else math.nan

    def explained(self, head: int, roles: Sequence[Question]) -> float:
        on = between = 0.0
        for maps, pairs in zip(self.maps, self.pairs, strict=True):
            mine = {pair for question in roles for pair in pairs.get(question, ())}
            for query, row in enumerate(maps[head]):
                for key, value in enumerate(row):
                    between += value * (query != key)
                    on += value * ((query, key) in mine)
        return on / between


def test_all_numbers_are_those_of_plain_loops_over_whole_maps(model: Model, texts: Texts) -> None:
    loops, found = ByLoops(model, texts, PROBES), observed(model, texts, PROBES, settings=Settings(80, workers=2))
    measures = found.measures()
    assert measures.keys() >= loops.questions
    known = 0
    for question in loops.questions:
        precision = [loops.precision(head, question) for head in range(HEADS)]
        lift = [loops.lift(head, question) for head in range(HEADS)]
        np.testing.assert_allclose(measures[question][0], precision, rtol=0, atol=1e-6, err_msg=str(question))
        np.testing.assert_allclose(measures[question][1], lift, rtol=1e-6, atol=1e-6, err_msg=str(question))
        known += not math.isnan(sum(precision) + sum(lift))
    assert known > 20
    random, every = np.random.default_rng(0), sorted(loops.questions)
    roles = [[every[one] for one in random.choice(len(every), size, replace=False)] for size in (0, 1, 2, 5, 9, 30)]
    expected = [loops.explained(head, questions) for head, questions in enumerate(roles)]
    np.testing.assert_allclose(found.explained(roles), expected, rtol=0, atol=1e-6)
    assert expected[0] == 0
    assert 0 < expected[3] < 1


def test_columns_are_read_from_the_gold_word_to_the_query(model: Model, texts: Texts) -> None:
    """Whichever way it is asked for, a head of a phrase that attends to its dependent is one pair."""
    measures = observed(model, texts, PROBES).measures()
    for label in ("obj", "all"):
        columns, rows = (measures["dependency", way, label] for way in ("head<-dependent", "head->dependent"))
        np.testing.assert_array_equal(columns, rows)


def test_batches_and_threads_change_no_number(model: Model, texts: Texts) -> None:
    small, large = (
        observed(model, texts, PROBES, settings=settings) for settings in (Settings(30, workers=3), Settings(9999))
    )
    one, other = small.measures(), large.measures()
    assert one.keys() == other.keys()
    for question in one:
        np.testing.assert_allclose(one[question], other[question], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(small.between_share, large.between_share, rtol=1e-5)


def test_maps_stay_as_they_are_for_who_sees_them_next(model: Model, texts: Texts) -> None:
    first, second = (RelationAttention(model.layers, model.heads, PROBES) for _ in range(2))
    score_corpus(model, texts, PROBES, {}, Settings(), observers=[first, second])
    assert (first.by_offset[len(first.n) // 2] > 0).all(), "words attend to themselves"
    np.testing.assert_array_equal(first.by_offset, second.by_offset)


def even(documents: Sequence[Document], batch: Batch) -> list[Attend]:
    """Every token gives all tokens the same, in all heads."""
    tokens = batch.to_words.sum(2)
    rows = (tokens / tokens.sum(1, keepdim=True))[:, None].expand(-1, tokens.shape[1], -1)
    return [Attend(layer, dict.fromkeys(range(3), rows)) for layer in range(2)]


def test_even_attention_has_a_lift_of_one_and_shares_its_ties(model: Model, tree: Callable[..., Sentence]) -> None:
    """Of 6 tokens each gets a sixth, so that the three other words of each of 4 words tie."""
    texts = MemoryTexts([Document(name, (tree(ROWS, name=name),)) for name in "abc"])
    found = observed(model, texts, PROBES[:2], changes=even)
    measures = found.measures()
    for label, pairs in (("nsubj", 1), ("det", 1), ("all", 3)):
        precision, lift = measures["dependency", "dependent->head", label]
        np.testing.assert_allclose(precision, [pairs / 3 / 4] * HEADS, rtol=1e-6)
        np.testing.assert_allclose(lift, [1.0] * HEADS, rtol=1e-6)
    np.testing.assert_allclose(found.between_share, [3 / 6] * HEADS, rtol=1e-6)
    roles = [("dependency", "dependent->head", "all"), ("dependency", "head->dependent", "det")]
    np.testing.assert_allclose(found.explained([roles] * HEADS), [(3 + 1) / 12] * HEADS, rtol=1e-6)
    roles = [("dependency", "dependent->head", "det"), ("position", "other words", "next")]
    np.testing.assert_allclose(found.explained([roles] * HEADS), [3 / 12] * HEADS, rtol=1e-6)


def to_other_words(documents: Sequence[Document], batch: Batch) -> list[Attend]:
    """Every word gives all other words of its text the same, in all heads; special tokens attend to [SEP]."""
    width = batch.from_words.shape[1]
    rows = torch.zeros(len(documents), width, width)
    for row, text in zip(rows, documents, strict=True):
        n = len(text)
        row[:n, :n] = (1 - torch.eye(n)) / (n - 1)
    pattern = batch.to_words[:, :, :width] @ rows @ batch.from_words
    pattern += (pattern.sum(2) == 0).float()[:, :, None] * batch.to_words[:, None, :, -2]
    return [Attend(layer, dict.fromkeys(range(3), pattern)) for layer in range(2)]


def test_uniform_attention_has_a_lift_of_one_where_texts_differ_in_length(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    """Words of short texts get more each: mean attention by offset alone would tell them from those of long ones."""
    texts = MemoryTexts([one for one in random_documents(12, longest=12) for one in one.split_sentences()])
    texts = MemoryTexts([text for text in texts.take(range(len(texts))) if len(text) > 1])
    assert len({len(text) for text in texts.take(range(len(texts)))}) > 4
    found = observed(model, texts, PROBES[:2], changes=to_other_words)
    measures = found.measures()
    np.testing.assert_allclose(found.between_share, 1, rtol=1e-6)
    lifts = np.array([lift for _, lift in measures.values() if not np.isnan(lift).any()])
    assert len(lifts) > 20
    np.testing.assert_allclose(lifts, 1, rtol=1e-6)


def attend_as(places: Sequence[int]) -> Callable[[Sequence[Document], Batch], list[Attend]]:
    """Let the first head attend from each word to the word at its place, and from all other tokens to [SEP]."""

    def changes(documents: Sequence[Document], batch: Batch) -> list[Attend]:
        pattern = piece_pattern([np.array(places)] * len(documents), batch)
        nothing = (pattern.sum(2) == 0).float()
        pattern += nothing[:, :, None] * batch.to_words[:, None, :, -2]
        return [Attend(0, {0: pattern})]

    return changes


OBJECTS = (
    *("she PRON 2 nsubj _", "saw VERB 0 root _", "the DET 4 det _", "unsinkable ADJ 2 obj _"),
    *("and CCONJ 6 cc _", "walking VERB 2 conj _", "harbours NOUN 6 obj _", ". PUNCT 2 punct _"),
)
"Two verbs with objects; verbs and objects of up to three pieces."


def test_a_head_that_attends_from_verbs_to_objects_alone_is_right_wherever_it_attends(
    model: Model, tree: Callable[..., Sentence]
) -> None:
    texts = MemoryTexts([Document("a", (tree("\n".join(OBJECTS)),))])
    to = [NOWHERE, 3, NOWHERE, NOWHERE, NOWHERE, 6, NOWHERE, NOWHERE]
    found = observed(model, texts, PROBES[:2], changes=attend_as(to))
    measures = found.measures()
    precision, lift = (one[0] for one in measures["dependency", "head->dependent", "obj"])
    assert precision == pytest.approx(1)
    # 1 of the 6 pairs at offset +2, and 1 of the 7 at offset +1, have all attention
    assert lift == pytest.approx(2 / (1 / 6 + 1 / 7))
    assert found.between[0] == pytest.approx(2)
    assert measures["dependency", "head->dependent", "all"][0][0] == pytest.approx(1)
    assert measures["dependency", "dependent->head", "obj"][0][0] == 0
    assert measures["position", "other words", "next"][0][0] == pytest.approx(1 / 2)
    role = [("dependency", "head->dependent", "obj")]
    assert found.explained([role, *[[]] * 5])[0] == pytest.approx(1)
    to[0] = 1
    more = observed(model, texts, PROBES[:2], changes=attend_as(to))
    assert more.measures()["dependency", "head->dependent", "obj"][0][0] == pytest.approx(2 / 3)
    assert more.explained([role, *[[]] * 5])[0] == pytest.approx(2 / 3)


def test_what_is_no_pair_of_different_words_has_no_number(
    model: Model, random_documents: Callable[..., object]
) -> None:
    texts = Corpus.of(random_documents(3, sentences=5, longest=12)).windows(30)  # type: ignore[arg-type]
    found = observed(model, texts, PROBES)
    measures = found.measures()
    for variant, label in (
        ("all tokens", "[CLS]"),
        ("all tokens", "[SEP]"),
        ("all words", "same"),
        ("no key above a tenth", "broad"),
    ):
        assert np.isnan(measures["position", variant, label]).all(), label
        np.testing.assert_array_equal(found.explained([[("position", variant, label)]] * HEADS), 0)
    assert not np.isnan(measures["position", "other words", "previous"]).any()


def test_a_role_that_was_not_asked_about_has_no_share(model: Model, texts: Texts) -> None:
    found = observed(model, texts, PROBES[1:2])
    known, unknown = ("dependency", "dependent->head", "obj"), ("position", "other words", "next")
    shares = found.explained([[known], [known, unknown], [unknown], [], [known], [known]])
    assert np.isnan(shares).tolist() == [False, True, True, False, False, False]


def test_a_head_without_strong_words_has_no_precision(model: Model) -> None:
    """Of 14 tokens each gets less than a tenth."""
    words = ("the",) * 12
    sentence = Sentence("s", words, frozen_ints([-1, *[0] * 11]), ("root", *("det",) * 11))
    measures = observed(model, MemoryTexts([Document("a", (sentence,))]), PROBES[:2], changes=even).measures()
    for question in (("position", "other words", "next"), ("dependency", "dependent->head", "det")):
        precision, lift = measures[question]
        assert np.isnan(precision).all()
        np.testing.assert_allclose(lift, 1, rtol=1e-6)


def test_a_pair_stands_once_with_all_of_its_questions(random_documents: Callable[..., list[Document]]) -> None:
    documents = random_documents(5)
    asked = [group for probe in PROBES for group in _groups(probe, documents)]
    pairs = GoldPairs.of(asked)
    expected: dict[tuple[int, int, int], set[Question]] = defaultdict(set)
    for items in asked:
        for key, item in zip(*map(np.ndarray.tolist, items.gold), strict=True):
            word, label = int(items.query[item]), items.labels[items.label[item]]
            if key >= 0 and key != word:
                place = (key, word) if items.by_column else (word, key)
                expected[int(items.text[item]), *place].add((items.probe, items.variant, label))
    places = zip(pairs.text.tolist(), pairs.query.tolist(), pairs.key.tolist(), strict=True)
    got = {place: pairs.signatures[one] for place, one in zip(places, pairs.signature, strict=True)}
    assert got == {place: frozenset(questions) for place, questions in expected.items()}
    assert len(got) == len(pairs.text)
    assert len(set(pairs.signatures)) == len(pairs.signatures)


def _groups(probe: Probe, documents: Sequence[Document]) -> list[Items]:
    asked = [probe.targets(document) for document in documents]
    return [gather(probe.name, variant, [of_text[variant] for of_text in asked]) for variant in probe.variants]


def test_nothing_that_was_asked_has_no_pairs(model: Model) -> None:
    assert GoldPairs.of([]).signatures == ()
    texts = MemoryTexts([Document("a", (Sentence("s", ("the", "ship"), frozen_ints([-1, -1]), ("", "")),))])
    found = observed(model, texts, [get_probe("reflexive")])
    assert found.measures() == {}
    assert (found.between > 0).all()


def test_the_report_split_alone_gets_the_numbers_of_its_questions(model: Model, texts: Texts) -> None:
    found = observed(model, texts, PROBES[:2])
    questions = [("dependency", "dependent->head", "obj"), ("position", "all words", "same"), ("other", "v", "obj")]
    rows = [
        {"probe": probe, "variant": variant, "label": label, "split": split, "layer": head // 3, "head": head % 3}
        for probe, variant, label in questions
        for split in ("select", "report")
        for head in range(HEADS)
    ]
    scores = pd.DataFrame(rows).assign(precision=np.nan, lift=np.nan)
    filled = add_relation_attention(scores, found)
    assert scores["precision"].isna().all(), "what is given stays as it is"
    known = (filled["probe"] == "dependency") & (filled["split"] == "report")
    for column, values in zip(("precision", "lift"), found.measures()[questions[0]], strict=True):
        np.testing.assert_array_equal(filled.loc[known, column], values)
        assert filled.loc[~known, column].isna().all()
