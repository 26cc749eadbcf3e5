"""Behaviours of models, a number an item: the loss, preferences, and how near an embedding stays."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from mha import MaskedLM, Model
from mha.pieces import Pieces
from probes.causal.behaviours import (
    Behaviour,
    BehaviourError,
    Embedding,
    Prompt,
    masked_pieces,
    preferences,
    sentence_embeddings,
)
from probes.corpora.corpus import MemoryTexts
from probes.minimal_pairs import Kind, LeftOut, MinimalPair
from probes.pairs.scores import decide
from probes.records import Document
from probes.scoring.aligned import Aligned

KIND = Kind("p", attractors=1)


def pair(good: str, bad: str, source: str) -> MinimalPair:
    return MinimalPair(source, KIND, tuple(good.split()), tuple(bad.split()))


PAIRS = [
    pair("the ships are old", "the ships is old", "one"),
    pair("the old ship is unsinkable", "the old ships unsinkable", "two"),
    pair("she saw the harbours .", "she saw the dog .", "two"),
]
"Apart in one piece, in number and place, and in one word of two pieces."


@pytest.fixture
def aligned(model: Model, random_documents: Callable[..., list[Document]]) -> Aligned:
    return Aligned.of(model, MemoryTexts(random_documents(6, sentences=1, longest=9, seed=3)))


def read(behaviour: Behaviour, batch: list[int]) -> torch.Tensor:
    """Return the values of a batch as the model is."""
    texts = behaviour.texts(batch)
    with torch.no_grad():
        output = behaviour.reader.read(texts.ids, texts.real, texts.selected)
    return behaviour.values(batch, texts, output[None], output)[0]


@pytest.mark.parametrize("method", ["auto", "pll"])
def test_the_value_of_a_pair_is_what_decides_it(lm: MaskedLM, method: str) -> None:
    behaviour = preferences(lm, "ships", PAIRS, method=method)
    found = behaviour.measured(lambda batch: read(behaviour, list(batch))[None], 1, 64)[0]
    made = decide(lm, PAIRS, method=method).made
    np.testing.assert_allclose(found, [one.good - one.bad for one in made], rtol=0, atol=1e-5)  # up to 16 texts
    assert (behaviour.clusters, behaviour.kinds, behaviour.decides) == (("one", "two", "two"), (KIND,) * 3, True)


def test_pairs_that_cannot_be_asked_are_kept_with_their_reason(lm: MaskedLM) -> None:
    unread = LeftOut("four", KIND, "no verb")
    behaviour = preferences(lm, "ships", [unread, *PAIRS], method="masked")
    assert [(one.source, one.reason) for one in behaviour.left_out] == [
        ("four", "no verb"),
        *((name, "not different in exactly one piece") for name in ("two", "two")),
    ]
    with pytest.raises(BehaviourError, match="ships: the model can be asked none of the 1 pairs"):
        preferences(lm, "ships", [unread])


def test_the_loss_is_that_of_masked_pieces_by_hand(lm: MaskedLM, aligned: Aligned) -> None:
    behaviour = masked_pieces(lm, aligned, rate=0.5, seed=4)
    assert not behaviour.decides
    for i, (one, text) in enumerate(zip(behaviour.prompts, aligned.pieces, strict=True)):
        inside = [place for place in range(len(text)) if text.word[place] >= 0]
        assert len(one.places) == max(1, round(0.5 * len(inside)))
        assert set(one.places) <= set(inside)
        assert [int(one.text.ids[place]) for place in one.places] == [lm.mask] * len(one.places)
        with torch.no_grad():
            ids = torch.from_numpy(one.text.ids[None].astype(np.int64))
            logits = lm.read(ids, None, torch.arange(len(text)))
        right = [float(logits[place].log_softmax(-1)[int(text.ids[place])]) for place in one.places]
        assert float(read(behaviour, [i])[0]) == pytest.approx(np.mean(right), abs=1e-6)


def test_the_value_of_an_embedding_is_its_cosine_with_the_intact_one(model: Model, aligned: Aligned) -> None:
    behaviour = sentence_embeddings(model, aligned)
    texts = behaviour.texts([0])
    intact = torch.zeros(*texts.ids.shape, 2)
    intact[..., 0] = 3
    turned = torch.stack([intact, -intact, intact.flip(-1), intact + intact.flip(-1)])
    found = behaviour.values([0], texts, turned, intact)[:, 0]
    torch.testing.assert_close(found, torch.tensor([1, -1, 0, 0.5**0.5]))


UNREAD = Model("unread", "pretrained", "bert", torch.nn.Identity(), None, 1, 1, 9, 0, "")


def asked(*ids: tuple[int, ...], items: tuple[int, ...] = ()) -> Behaviour:
    """Return a behaviour whose texts have these pieces, an item each if nothing is said."""
    texts = [Pieces(np.array(one, np.int32), np.zeros(len(one), np.int32), 1) for one in ids]
    of_text = items or tuple(range(len(ids)))
    return Embedding(
        "e",
        "u",
        UNREAD,
        [Prompt(text, item) for text, item in zip(texts, of_text, strict=True)],
        tuple("d" for _ in range(max(of_text) + 1)),
    )


def test_the_donor_is_the_next_text_of_another_item_with_other_pieces() -> None:
    # in order: 5 (item 0), 5 (item 1), 6 7 (item 2), 6 8 (item 2), 7 1 1 (item 3)
    behaviour = asked((6, 7), (5,), (7, 1, 1), (6, 8), (5,), items=(2, 0, 3, 2, 1))
    assert behaviour.order == [1, 4, 0, 3, 2]
    assert behaviour.donors([0, 1, 2, 3, 4]) == [2, 0, 3, 2, 0]
    assert behaviour.donors([4, 2]) == [0, 3]


@pytest.mark.parametrize("texts", [((1, 2),), ((1, 2), (1, 2))])
def test_a_text_without_another_one_has_no_donor(texts: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(BehaviourError, match="e: resampling takes another text for every one, and there is none"):
        asked(*texts).donors([0])


def test_what_is_masked_is_a_function_of_the_text_and_the_seed(lm: MaskedLM, model: Model, aligned: Aligned) -> None:
    texts = aligned.texts.take(range(len(aligned.texts)))
    turned = Aligned.of(model, MemoryTexts(texts[::-1]))
    places = [[one.places for one in masked_pieces(lm, some, seed=0).prompts] for some in (aligned, turned)]
    assert places[0] == places[1][::-1]
    assert places[0] != [one.places for one in masked_pieces(lm, aligned, seed=1).prompts]
    assert [len(one) for one in places[0]] == [max(1, round(0.15 * (len(text) - 2))) for text in aligned.pieces]
