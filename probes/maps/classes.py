"""The five classes of attention maps (Kovaleva et al. 2019, section 4.1), by rules instead of by eye.

Shares of a map are told as an excess over uniform attention: 0 where a share is what it is in a map of equal numbers, 1
where it is all there is. So a short text, in which a few columns or a diagonal are a large part of the map anyway, is
held to the same thresholds as a long one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

CLASSES = ("vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous")

CLOSE = 1e-5
"A map whose class hangs on a difference of no more than this is a near-tie."


@dataclass(frozen=True)
class ClassRule:
    """When a map is of which class.

    A column is a line if the rows give it, on average, `line` more than its uniform share. Of a map the vertical part
    is what lines get, the diagonal part what pieces outside of lines get from themselves and their two neighbours. If
    both parts together have an excess of `clear`, the map is vertical + diagonal where each has one of `part`, and else
    what the larger of both is. If they have not, it is a block if words keep an excess of `clear` to their own
    sentence, in a text of several, and else heterogeneous.
    """

    line: float = 0.1
    clear: float = 0.5
    part: float = 0.1
    fewest: int = 8
    "Maps of fewer pieces have no class: lines, diagonals and blocks are then made of the same few cells."


@dataclass(frozen=True)
class EvenParts:
    """What `MapParts` is of uniform attention."""

    columns: Float[Tensor, "batch piece"]
    band: Float[Tensor, "batch piece"]
    within: Float[Tensor, " batch"]
    "1 where a text is no more than one sentence."


@dataclass(frozen=True)
class MapParts:
    """What the classes of the maps of a batch follow from; padding is 0."""

    columns: Float[Tensor, "batch head piece"]
    "Mean attention to each piece."
    band: Float[Tensor, "batch head piece"]
    "The part of it that comes from the piece itself and its two neighbours."
    within: Float[Tensor, "batch head"]
    "Mean attention of words to the words of their own sentence."
    even: EvenParts


def classify(parts: MapParts, rule: ClassRule) -> tuple[Float[Tensor, "batch class head"], Bool[Tensor, "batch head"]]:
    """Return 1 at the class of every map, in the order of CLASSES, and whether that is a near-tie."""
    even = parts.even
    over = parts.columns - even.columns[:, None]
    lines = (over >= rule.line).to(over.dtype)
    share = (parts.columns * lines).sum(-1), (parts.band * (1 - lines)).sum(-1)
    level = (even.columns[:, None] * lines).sum(-1), (even.band[:, None] * (1 - lines)).sum(-1)
    vertical, diagonal = _excess(share[0], level[0]), _excess(share[1], level[1])
    both = _excess(share[0] + share[1], level[0] + level[1])
    within = _excess(parts.within, even.within[:, None].expand_as(parts.within))
    lesser = torch.minimum(vertical, diagonal)
    clear, mixed, block = both >= rule.clear, lesser >= rule.part, within >= rule.clear
    classes = (
        clear & ~mixed & (vertical > diagonal),
        clear & ~mixed & (vertical <= diagonal),
        clear & mixed,
        ~clear & block,
        ~clear & ~block,
    )
    near = _near(over, rule.line).any(-1) | _near(both, rule.clear)
    near |= clear & (_near(lesser, rule.part) | (~mixed & _near(vertical - diagonal, 0.0)))
    near |= ~clear & _near(within, rule.clear)
    return torch.stack(classes, 1).to(over.dtype), near


def _near(value: Tensor, threshold: float) -> Tensor:
    return (value - threshold).abs() <= CLOSE


def _excess(share: Tensor, even: Tensor) -> Tensor:
    """Return how far a share is above the even one, from there to 1; 0 where the even one is all there is."""
    room = 1 - even
    return torch.where(room > CLOSE, (share - even) / room.clamp(min=CLOSE), torch.zeros_like(share))
