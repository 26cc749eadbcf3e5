"""Dropout (Srivastava et al. 2014) whose noise is cheap on a CPU."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
"The integers as wide as a floating-point number of that many bytes."


def dropout_noise(shape: Sequence[int], rate: float, dtype: torch.dtype) -> Tensor:
    """Return random numbers [*shape] on the CPU: 0 with probability `rate`, else 1 / (1 - rate).

    torch draws each number of a Bernoulli distribution by itself, on one core, which takes longer than a layer's matrix
    products. Here a number costs one random byte: it is kept where the byte is below a limit. The limit 256 (1 - rate)
    lies between two bytes, so each row (last dimension) draws one of the two, such that `rate` is met exactly. The
    bytes come from torch's generator, so a seed or a restored state brings them back.
    """
    size = torch.Size(shape)
    random = torch.empty(-(-size.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    limit = (256 * (1 - rate) + torch.rand(*size[:-1], 1)).to(torch.int16)
    # shifting out all but the sign leaves -1, all bits set, where the difference is negative: no slow comparison
    kept = random.view(torch.uint8)[: size.numel()].view(size).to(torch.int16).sub_(limit).bitwise_right_shift_(15)
    scale = torch.tensor(1 / (1 - rate), dtype=dtype)
    bits = INTEGERS[dtype.itemsize]
    return kept.to(bits).bitwise_and_(scale.view(bits)).view(dtype)


def dropout(x: Tensor, rate: float) -> Tensor:
    """Return x with each number set to 0 with probability `rate` in [0, 1), the others divided by 1 - rate."""
    if not rate:
        return x
    return F.dropout(x, rate) if x.device.type != "cpu" else x * dropout_noise(x.shape, rate, x.dtype)


class Dropout(nn.Module):
    """`dropout` while training, nothing in evaluation."""

    def __init__(self, rate: float) -> None:
        """Create dropout of `rate`. Raises ValueError outside [0, 1)."""
        super().__init__()
        if not 0 <= rate < 1:
            raise ValueError(f"dropout rate {rate} is outside [0, 1)")
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Return x, noisy while training."""
        return dropout(x, self.rate) if self.training else x
