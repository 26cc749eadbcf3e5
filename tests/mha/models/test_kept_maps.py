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
from mha.pieces import CLS, SEP
from tests.mha.conftest import model_of, text_of

LONG, PARTED, SHORT = text_of(1, 1, 1, 1), text_of(2, 1, 3, first=9), text_of(1, 1, first=20)
BYTES = {"long": 3 * 4 * 4 * 6 * 4, "parted": 3 * 4 * 3 * 5 * 4, "short": 3 * 4 * 2 * 4 * 4}
"[layer, head, word, key] numbers of four bytes."

BATCH = collate([LONG, PARTED, SHORT])


@pytest.fixture
def model(encoder: Encoder) -> Model:
    return model_of(encoder)


def streamed(model: Model, batch: Batch) -> list[Tensor]:
    layers: list[Tensor] = []
    stream_maps(model, batch, lambda layer, maps: layers.append(maps.clone()))
    return layers


def watched(model: Model, *batches: Batch, limit: int = 1 << 20) -> KeptMaps:
    kept = KeptMaps(model, limit)
    for batch in batches:
        look = kept.observe((), batch, ())
        stream_maps(model, batch, lambda layer, maps: None, [look.see])
        kept.add(look)
    return kept


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> object:
    """Return what gives the maps that are served, and the number of texts of each pass that this took."""
    counted: list[int] = []
    run = Model.run
    monkeypatch.setattr(Model, "run", lambda model, ids, mask: (counted.append(len(ids)), run(model, ids, mask))[1])

    def served(kept: KeptMaps, model: Model, batch: Batch) -> tuple[list[Tensor], list[int]]:
        layers: list[Tensor] = []
        counted.clear()
        kept.stream(model, batch, lambda layer, maps: layers.append(maps.clone()), maps="weights")
        return layers, [*counted]

    return served


def test_the_same_batch_is_served_bit_for_bit_without_a_pass_whoever_changes_it(model: Model, served) -> None:
    kept, read = watched(model, BATCH, BATCH), streamed(model, BATCH)
    assert (len(kept), kept.bytes) == (3, sum(BYTES.values()))
    kept.stream(model, BATCH, lambda layer, maps: maps.zero_(), maps="weights")
    found, passes = served(kept, model, BATCH)
    assert passes == []
    assert all(map(torch.equal, found, read))
    assert [maps.stride() for maps in found] == [maps.stride() for maps in read]
    kept.clear()
    assert (len(kept), kept.bytes) == (0, 0)
    assert served(kept, model, BATCH)[1] == [3]


def test_texts_are_served_in_other_company_padded_anew(model: Model, served) -> None:
    other = collate([SHORT, PARTED])
    found, passes = served(watched(model, BATCH), model, other)
    assert passes == []
    for one, two in zip(found, streamed(model, other), strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-6)


def test_other_words_of_the_same_pieces_and_other_models_are_read(model: Model, served) -> None:
    kept, other = watched(model, BATCH), replace(model, name="other")
    words = replace(LONG, word=np.array([CLS, 0, 0, 1, 2, SEP], np.int32), words=3)
    assert served(kept, model, collate([words]))[1] == [1]
    assert served(kept, other, BATCH)[1] == [3]


def test_texts_are_kept_in_their_order_while_there_is_room(model: Model, served) -> None:
    """The second text is too large for what the first leaves, and the third is not."""
    room = BYTES["long"] + BYTES["short"]
    kept = watched(model, BATCH, limit=room)
    assert (len(kept), kept.bytes) == (2, room)
    assert served(kept, model, collate([LONG, SHORT]))[1] == []
    found, passes = served(kept, model, BATCH)
    assert passes == [3]
    assert all(map(torch.equal, found, streamed(model, BATCH)))
    assert len(watched(model, BATCH, limit=0)) == 0
