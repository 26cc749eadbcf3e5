"""Token identifiability: whether a state still tells which piece of its text it stands for (Brunner et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

PENALTY = 1e-3
"Of the ridge regression, relative to the mean variance of the states."


@dataclass
class Recovery:
    """A linear map from states of each depth back to the embeddings they began as; fitted on texts seen so far."""

    count: int = 0
    sums: dict[str, Tensor] = field(default_factory=dict)
    "Sums over pieces in double precision: x, y [depth, model], xx, xy [depth, model, model]."

    def add(self, states: Float[Tensor, "depth piece model"]) -> None:
        """Learn from a text; its embeddings are the states at depth 0."""
        x = states.double()
        y = x[:1].expand_as(x)
        seen = {"x": x.sum(1), "y": y.sum(1), "xx": x.mT @ x, "xy": x.mT @ y}
        self.sums = {name: self.sums[name] + part for name, part in seen.items()} if self.sums else seen
        self.count += states.shape[1]

    def fitted(self) -> LinearMap:
        """Return the ridge regression of embeddings on states, with an intercept."""
        mean_x, mean_y = self.sums["x"] / self.count, self.sums["y"] / self.count
        xx = self.sums["xx"] / self.count - torch.einsum("dm,dn->dmn", mean_x, mean_x)
        xy = self.sums["xy"] / self.count - torch.einsum("dm,dn->dmn", mean_x, mean_y)
        ridge = PENALTY * xx.diagonal(dim1=1, dim2=2).mean(1).clamp(min=1e-12)
        penalised = xx + ridge[:, None, None] * torch.eye(xx.shape[-1], dtype=xx.dtype)
        slope = torch.cholesky_solve(xy, torch.linalg.cholesky(penalised))  # torch.linalg.solve: pytorch issue 142815
        return LinearMap(mean_x, mean_y, slope)


@dataclass(frozen=True)
class LinearMap:
    """Recovers embeddings from states, for each depth."""

    mean_x: Float[Tensor, "depth model"]
    mean_y: Float[Tensor, "depth model"]
    slope: Float[Tensor, "depth model model"]

    def identified(self, states: Float[Tensor, "depth piece model"]) -> Float[Tensor, " depth"]:
        """Return the share of pieces whose recovered embedding is nearest, by cosine, to their own of the text's.

        In [0, 1]; one over the number of pieces by chance (Brunner et al. 2020, section 4.1, 1-NN with a linear map).
        """
        x = states.double()
        recovered = (x - self.mean_x[:, None]) @ self.slope + self.mean_y[:, None]
        unit = torch.nn.functional.normalize(x[0], dim=-1)
        nearest = (recovered @ unit.T).argmax(-1)
        return (nearest == torch.arange(x.shape[1])).double().mean(-1)
