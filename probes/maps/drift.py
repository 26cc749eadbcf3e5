"""How near the maps of a model are to those of another of its shape, such as itself before a training."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from mha import record
from mha.models.model import Model
from mha.pieces import Pieces


def map_cosines(first: Model, second: Model, text: Pieces) -> Float[Tensor, "layer head"]:
    """Return the cosine of the maps of each head of two models on a text, each map [piece, piece] taken as one vector.

    In [0, 1]; 1 where nothing differs. Special tokens count (Kovaleva et al. 2019, who hold heads before and after
    fine-tuning against each other so).
    """
    ids = torch.from_numpy(text.ids)[None].long()
    found = []
    for model in (first, second):
        with torch.inference_mode(), record(model.module) as seen:
            model.run(ids, None)
        found.append(torch.cat(seen["pattern"]).cpu().double().flatten(2))
    return F.cosine_similarity(found[0], found[1], dim=2)
