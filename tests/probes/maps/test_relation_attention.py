"""Precision, lift and explained attention: worked out by hand, by plain loops over whole maps, and of planted heads."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
import torch

from mha import Model, align
from mha.hooks import record
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.maps.relation_attention import STRONG, RelationAttention, add_relation_attention
from probes.records import Document
from probes.registry import Probe
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Question

PROBES = [get_probe(name) for name in ("position", "dependency", "antecedent", "coreference", "repetition")]
HEADS = 6
"Of the model: 2 layers x 3."

Map = list[list[float]]
"[query, key] among the words of a text."


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
