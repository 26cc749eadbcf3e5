"""Maps that are kept are those of the pass that was watched, and need no further one."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from mha import Encoder, Model
from mha.batches import Batch, collate
from mha.models.kept_maps import KeptMaps
from mha.models.maps import stream_maps
from mha.pieces import CLS, SEP, Pieces

LONG, SHORT, PARTED = (1, 1, 1, 1), (1, 1), (2, 1, 3)
BYTES = {LONG: 3 * 4 * 4 * 6 * 4, SHORT: 3 * 4 * 2 * 4 * 4, PARTED: 3 * 4 * 3 * 5 * 4}
"[layer, head, word, key] numbers of four bytes."


def text_of(counts: tuple[int, ...], first: int = 5) -> Pieces:
    """A text whose words have so many pieces each; its pieces are numbered from `first`."""
    word = [CLS, *np.repeat(np.arange(len(counts)), counts).tolist(), SEP]
    return Pieces(np.arange(first, first + len(word), dtype=np.int32), np.array(word, np.int32), len(counts))


@pytest.fixture
def model(encoder: Encoder) -> Model:
    return Model("made", "random", "bert", encoder, None, 3, 4, 24, 0, "")


def streamed(model: Model, batch: Batch) -> list[Tensor]:
    layers: list[Tensor] = []
    stream_maps(model, batch, lambda layer, maps: layers.append(maps.clone()))
    return layers


def served(kept: KeptMaps, model: Model, batch: Batch) -> list[Tensor]:
    layers: list[Tensor] = []
    kept.stream(model, batch, lambda layer, maps: layers.append(maps.clone()), maps="weights")
    return layers


def watched(model: Model, *batches: Batch, limit: int = 1 << 20) -> KeptMaps:
    kept = KeptMaps(model, limit)
    for batch in batches:
        look = kept.observe((), batch, ())
        stream_maps(model, batch, lambda layer, maps: None, [look.see])
        kept.add(look)
    return kept


@pytest.fixture
def batch() -> Batch:
    return collate([text_of(LONG), text_of(PARTED, 9), text_of(SHORT, 20)])


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the passes of models from here on, by the number of texts of each."""
    counted: list[int] = []
    run = Model.run

    def counting(model: Model, ids: Tensor, mask: Tensor | None) -> Tensor:
        counted.append(len(ids))
        return run(model, ids, mask)

    monkeypatch.setattr(Model, "run", counting)
    return counted


def test_the_same_batch_is_served_bit_for_bit_without_a_pass(model: Model, batch: Batch, passes: list[int]) -> None:
    kept, read = watched(model, batch), streamed(model, batch)
    del passes[:]
    found = served(kept, model, batch)
    assert passes == []
    assert all(map(torch.equal, found, read))
    assert [maps.stride() for maps in found] == [maps.stride() for maps in read]


def test_texts_are_served_in_other_company_padded_anew(model: Model, batch: Batch, passes: list[int]) -> None:
    kept, other = watched(model, batch), collate([text_of(SHORT, 20), text_of(PARTED, 9)])
    read = streamed(model, other)
    del passes[:]
    found = served(kept, model, other)
    assert passes == []
    assert [maps.shape for maps in found] == [maps.shape for maps in read]
    for one, two in zip(found, read, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-6)


def test_what_changes_served_maps_does_not_change_those_that_are_kept(model: Model, batch: Batch) -> None:
    kept = watched(model, batch)
    kept.stream(model, batch, lambda layer, maps: maps.zero_(), maps="weights")
    assert all(map(torch.equal, served(kept, model, batch), streamed(model, batch)))


def test_pieces_that_are_divided_into_other_words_are_another_text(
    model: Model, batch: Batch, passes: list[int]
) -> None:
    kept = watched(model, batch)
    words = replace(text_of(LONG), word=np.array([CLS, 0, 0, 1, 2, SEP], np.int32), words=3)
    del passes[:]
    served(kept, model, collate([words]))
    assert passes == [1]


def test_another_model_is_read_itself(model: Model, batch: Batch, passes: list[int]) -> None:
    kept, other = watched(model, batch), replace(model, name="other")
    del passes[:]
    assert all(map(torch.equal, served(kept, other, batch), streamed(other, batch)))
    assert passes == [3, 3]


def test_texts_are_kept_in_their_order_while_there_is_room(model: Model, batch: Batch, passes: list[int]) -> None:
    """The second text is too large for what the first leaves, and the third is not."""
    room = BYTES[LONG] + BYTES[SHORT]
    assert BYTES[PARTED] > BYTES[SHORT]
    kept = watched(model, batch, limit=room)
    assert (len(kept), kept.bytes) == (2, room)
    del passes[:]
    served(kept, model, collate([text_of(LONG), text_of(SHORT, 20)]))
    assert passes == []
    assert all(map(torch.equal, served(kept, model, batch), streamed(model, batch)))
    assert passes[0] == 3


def test_a_text_that_comes_twice_is_kept_once_and_nothing_stays_after_all_is_let_go(
    model: Model, batch: Batch, passes: list[int]
) -> None:
    kept = watched(model, batch, batch)
    assert (len(kept), kept.bytes) == (3, sum(BYTES.values()))
    kept.clear()
    assert (len(kept), kept.bytes) == (0, 0)
    del passes[:]
    served(kept, model, batch)
    assert passes == [3]


def test_nothing_is_kept_without_room(model: Model, batch: Batch) -> None:
    assert len(watched(model, batch, limit=0)) == 0
