"""Links of heads and rules: the most attended mention before, ties, limits, and what joins into chains."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from mha import Attend
from mha.batches import Batch, collate
from mha.models.model import Model
from mha.pieces import align
from probes.chains.links import BASELINES, Linker, Links
from probes.corpora.corpus import MemoryTexts
from probes.records import Document, Mention, Sentence, frozen_ints
from probes.scoring.score import Settings, score_corpus

WORDS = ("ship", "dog", "port", "she", "ship", "it")
UPOS = ("NOUN", "NOUN", "NOUN", "PRON", "NOUN", "PRON")
ENTITIES = ("e1", "e2", "e3", "e2", "e1", "e1")


def text_of(name: str = "d", entities: Sequence[str] = ENTITIES, words: Sequence[str] = WORDS) -> Document:
    """Every word is a mention of its own; words without an entity are none."""
    mentions = tuple(Mention((i,), i, entity) for i, entity in enumerate(entities) if entity)
    n = len(words)
    roles = tuple("nsubj" if i == 1 else "dep" for i in range(n))
    columns = (tuple(words), frozen_ints([-1] * n), roles, (UPOS + ("NOUN",) * n)[:n])
    return Document(name, (Sentence(f"{name}-1", *columns, mentions=mentions),))


def linked(model: Model, document: Document, *maps: Tensor) -> Links:
    """Return the links of one text by given maps [head, query, key] of the words, one a layer."""
    linker = Linker(len(maps), len(maps[0]))
    look = linker.observe([document], collate(align(model.tokenizer, [document.words])))
    for layer, some in enumerate(maps):
        words = torch.zeros(1, len(some), len(document), len(document) + 2)
        words[0, :, :, : len(document)] = some
        look.see(layer, words, torch.empty(0))
    linker.add(look)
    (found,) = linker.texts
    return found


def attending(*pairs: tuple[int, int, float], words: int = 6) -> Tensor:
    """Return a map [1, query, key] with this attention between words."""
    found = torch.zeros(1, words, words)
    for query, key, value in pairs:
        found[0, query, key] = value
    return found


def rival(found: Links, name: str) -> list[int]:
    """Return the antecedents of a rival."""
    antecedents: list[int] = found.antecedent[:, -len(BASELINES) + BASELINES.index(name)].tolist()
    return antecedents


def test_a_mention_is_linked_to_the_most_attended_mention_before_it_whatever_it_attends_to_behind(model: Model) -> None:
    maps = attending((3, 1, 0.3), (3, 0, 0.2), (3, 4, 0.5), (4, 0, 0.1), (5, 4, 0.4), (5, 3, 0.1), (0, 3, 0.9))
    found = linked(model, text_of(), maps)
    assert found.antecedent[:, 0].tolist() == [-1, -1, -1, 1, 0, 4]
    assert found.strength[3:, 0].tolist() == pytest.approx([0.3, 0.1, 0.4])


def test_of_equally_attended_candidates_each_is_taken_as_often_and_the_name_of_a_text_decides(model: Model) -> None:
    even = torch.full((1, 6, 6), 0.125)
    taken = [int(linked(model, text_of(f"d{i}"), even).antecedent[5, 0]) for i in range(300)]
    counts = np.bincount(taken, minlength=5)
    assert counts.min() > 35, "60 are expected, with a deviation of 7"
    assert taken[7] == linked(model, text_of("d7"), even).antecedent[5, 0]


def test_the_longest_mention_of_a_head_word_says_its_chain(model: Model) -> None:
    mentions = (Mention((1,), 1, "short"), Mention((0, 1), 1, "long"), Mention((3,), 3, "long"))
    (sentence,) = text_of().sentences
    columns = (sentence.words, sentence.heads, sentence.deprels, sentence.upos)
    found = linked(model, Document("d", (Sentence("s", *columns, mentions=mentions),)), attending())
    assert found.entity.tolist() == [0, 0]


def test_rules_link_to_mentions_before_alone_and_prefer_as_they_do_elsewhere(model: Model) -> None:
    """The second ship has a first one, `she` no woman before it, `it` the nearest that may be a thing."""
    found = linked(model, text_of(), attending())
    assert rival(found, "nearest mention") == [-1, 0, 1, 2, 3, 4]
    assert rival(found, "same head word or mention that agrees") == [-1, 0, 1, 2, 0, 4]
    assert rival(found, "same head word, pronouns agree") == [-1, -1, -1, 2, 0, 4], "of nouns only the second ship"
    assert rival(found, "nearest subject") == [-1, -1, 1, 1, 1, 1]
    assert rival(found, "nearest mention that agrees")[5] == 4
    assert rival(found, "one chain") == [-1, 0, 1, 2, 3, 4]
    assert rival(found, "single mentions") == [-1] * 6


def test_links_join_into_chains_and_those_below_the_limit_are_not_made() -> None:
    antecedent = np.array([[-1, -1], [0, -1], [-1, 0], [1, 2], [2, 3]])
    strength = np.array([[0, 0], [0.5, 0], [0, 0.5], [0.5, 0.2], [0.1, 0.5]])
    found = Links("d", np.zeros(5, np.int64), antecedent, strength)
    assert found.chains(np.array([0.1, 0.2])).T.tolist() == [[0, 0, 2, 0, 2], [0, 1, 0, 0, 0]]
    assert found.chains(np.array([0.5, 0.5])).T.tolist() == [[0, 0, 2, 0, 4], [0, 1, 0, 3, 3]]


def test_a_head_that_is_made_to_attend_to_a_mention_links_to_it_through_the_model(model: Model) -> None:
    document = text_of()

    def changes(documents: Sequence[Document], batch: Batch) -> list[Attend]:
        pattern = torch.zeros(*batch.ids.shape, batch.ids.shape[1])
        pattern[:, :, 2] = 1  # [CLS] ship dog
        return [Attend(layer=1, patterns={2: pattern})]

    linker = Linker(model.layers, model.heads, baselines=False)
    score_corpus(model, MemoryTexts([document]), [], {}, Settings(), observers=[linker], changes=changes)
    assert linker.texts[0].antecedent[:, 5].tolist() == [-1, -1, 1, 1, 1, 1]
    assert linker.texts[0].antecedent.shape == (6, 6), "no rivals"
