from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from mha.batches import collate
from mha.models.model import Model
from mha.pieces import align
from probes.corpora.corpus import MemoryTexts
from probes.maps.confusion import Confusion, confusion_table
from probes.records import Document, Mention, Sentence, frozen_ints
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings, score_corpus
from probes.syntax.distractors import Distractors

WORDS = ("the", "old", "ship", "and", "dog", "sank")


def text_of(name: str, distractors: int = 1) -> Document:
    """The verb agrees with the group of words 0 to 2; the other groups are single words."""
    words = (*WORDS, *("port",) * (distractors - 1))
    n = len(words)
    heads, deprels = [-1] * n, [""] * n
    heads[2], deprels[2] = 5, "nsubj"
    upos = ("", "", "NOUN", "", "NOUN", "VERB", *("NOUN",) * (distractors - 1))
    others = [Mention((word,), word, f"m{word}") for word in (4, *range(6, n))]
    columns = (words, frozen_ints(heads), tuple(deprels), upos)
    return Document(name, (Sentence(f"{name}-1", *columns, mentions=(Mention((0, 1, 2), 2, "s"), *others)),))


def looked(documents: list[Document], maps: list[Tensor], model: Model) -> Confusion:
    """What is told of given maps [batch, head, query, key], one a layer."""
    found = Confusion(len(maps), maps[0].shape[1], {document.id: i for i, document in enumerate(documents)})
    look = found.observe(documents, collate(align(model.tokenizer, [document.words for document in documents])))
    for layer, some in enumerate(maps):
        look.see(layer, some, torch.empty(0))
    found.add(look)
    return found


def rows_of_verb(*rows: list[float]) -> Tensor:
    """Maps of one text [1, head, 6, 8] whose verb attends so to the six words."""
    maps = torch.zeros(1, len(rows), 6, 8)
    maps[0, :, 5, :6] = torch.tensor(rows)
    return maps


def test_bits_are_minus_log2_of_the_share_of_the_right_group_and_heads_are_averaged_before_it(model: Model) -> None:
    """Heads: 0.3 of 0.4, then 0.1 of 0.8; their mean 0.2 of 0.6."""
    maps = rows_of_verb([0.1, 0.1, 0.1, 0.3, 0.1, 0.3], [0.0, 0.0, 0.1, 0.1, 0.7, 0.1])
    sums = looked([text_of("a")], [maps], model).sums()["distractors", "noun groups", "all"]
    assert sums.n.tolist() == [1]
    assert sums.hits[0].tolist() == pytest.approx([np.log2(4 / 3), np.log2(8), np.log2(3), 1.0], rel=1e-6)


def test_chance_is_the_log2_of_the_number_of_candidates_and_none_of_the_attention_is_chance_too(model: Model) -> None:
    nothing = torch.zeros(1, 1, 8, 10)
    sums = looked([text_of("a", distractors=3)], [nothing], model).sums()["distractors", "noun groups", "all"]
    assert sums.hits[0].tolist() == pytest.approx([1.0, 1.0, 2.0]), "three right words of six; four groups"


def test_where_a_verb_has_two_subjects_both_are_right_for_heads_and_by_chance(model: Model) -> None:
    """Groups "the old ship" and "dog" of three: 0.3 + 0.3 of 0.8; two of three by chance."""
    (sentence,) = text_of("a", distractors=2).sentences
    heads, deprels = sentence.heads.copy(), list(sentence.deprels)
    heads[4], deprels[4] = 5, "nsubj"
    document = Document("a", (replace(sentence, heads=heads, deprels=tuple(deprels)),))
    maps = torch.zeros(1, 1, 7, 9)
    maps[0, 0, 5, :7] = torch.tensor([0.1, 0.1, 0.1, 0.0, 0.3, 0.2, 0.2])
    sums = looked([document], [maps], model).sums()["distractors", "noun groups", "all"]
    assert sums.hits[0].tolist() == pytest.approx([np.log2(4 / 3)] * 2 + [np.log2(3 / 2)], rel=1e-6)


def test_the_table_tells_both_splits_and_the_choice_of_the_selection_split(model: Model) -> None:
    both = []
    for documents in ([text_of(f"s{i}") for i in range(8)], [text_of(f"r{i}", distractors=2) for i in range(9)]):
        texts = MemoryTexts(documents)
        both.append(Confusion(model.layers, model.heads, Aligned.of(model, texts).blocks()))
        score_corpus(model, texts, [Distractors()], {}, Settings(), observers=[both[-1]])
    found = confusion_table(*both, ("select", "report"), replicates=200, seed=0)
    assert set(found.split) == {"select", "report"}
    assert set(found[found.split == "report"].label) == {"all", "verb", "2 distractors"}
    whole = found[(found.label == "all") & (found.split == "report")]
    assert len(whole) == model.layers * (model.heads + 1)
    assert set(whole.n) == set(whole.clusters) == {9}
    assert whole.chance.tolist() == pytest.approx([np.log2(3)] * len(whole))
    assert (whole.ci_low <= whole.confusion + 1e-9).all()
    assert (whole.confusion <= whole.ci_high + 1e-9).all()
    chosen = found[(found.label == "all") & found.selected]
    assert len(chosen) == 4, "a head and a layer on each split"
    seen = found[(found.label == "all") & (found.split == "select")]
    for averaged in (True, False):
        some = seen[(seen["head"] == -1) == averaged]
        assert bool(some[some.selected].confusion.eq(some.confusion.min()).all())
    assert not found[found.label == "2 distractors"].selected.any(), "the selection split has no such item"
