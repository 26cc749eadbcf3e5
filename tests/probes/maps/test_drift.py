import numpy as np
import pytest
import torch

from mha import Model
from mha.pieces import Pieces, align
from probes.maps.drift import map_cosines


@pytest.fixture
def text(model: Model) -> Pieces:
    return align(model.tokenizer, [["the", "old", "ships", "sank"]])[0]


def test_the_cosine_is_that_of_whole_maps_head_by_head(
    model: Model, text: Pieces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of [[1, 0], [0.5, 0.5]] and [[0, 1], [0.5, 0.5]] it is 0.5 / 1.5, of equal maps 1."""
    same, other = [[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]
    patterns = iter([torch.tensor([[same, same]]), torch.tensor([[same, other]])])

    class Shown:
        def __enter__(self) -> dict[str, list[torch.Tensor]]:
            return {"pattern": [next(patterns)]}

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr("probes.maps.drift.record", lambda module: Shown())
    np.testing.assert_allclose(map_cosines(model, model, text), [[1.0, 1 / 3]])
