"""The classes of maps, on maps that were drawn to be of each class."""

import numpy as np
import pytest
import torch

from mha import Model
from mha.batches import collate
from mha.pieces import CLS, SEP, Pieces
from probes.maps.classes import CLASSES, ClassRule
from probes.maps.shapes import MEASURES, Shapes
from probes.records import Document, Sentence

SIZE = 14
"Tokens: [CLS], two sentences of six words, [SEP]."

EVEN = torch.full((SIZE, SIZE), 1 / SIZE)
TEXT = Document("d", tuple(Sentence(f"s{i}", ("ship",) * 6, np.full(6, -1), ("",) * 6) for i in range(2)))


def column(place: int) -> torch.Tensor:
    pattern = torch.zeros(SIZE, SIZE)
    pattern[:, place] = 1
    return pattern


def diagonal() -> torch.Tensor:
    """Every token attends to the one before it, the first to itself."""
    pattern = torch.zeros(SIZE, SIZE)
    pattern[torch.arange(SIZE), (torch.arange(SIZE) - 1).clamp(min=0)] = 1
    return pattern


def blocks() -> torch.Tensor:
    """Words attend to all words of their sentence alike, special tokens to everything."""
    pattern = EVEN.clone()
    pattern[1:13] = 0
    pattern[1:7, 1:7] = pattern[7:13, 7:13] = 1 / 6
    return pattern


def scattered() -> torch.Tensor:
    """Every token attends to one that is far, and each to another."""
    pattern = torch.zeros(SIZE, SIZE)
    pattern[torch.arange(SIZE), (5 * torch.arange(SIZE) + 7) % SIZE] = 1
    return pattern


def classes_of(model: Model, pattern: torch.Tensor, rule: ClassRule | None = None) -> tuple[str, int]:
    """Return the class of a map, and how many near-ties it counts as."""
    cut = Pieces(np.full(SIZE, 5, np.int32), np.array([CLS, *range(12), SEP], np.int32), 12)
    shapes = Shapes(model, ["d"], rule)
    batch = collate([cut])
    look = shapes.observe([TEXT], batch)
    look.see(0, torch.zeros(()), pattern.expand(1, model.heads, SIZE, SIZE).contiguous())
    shapes.add(look)
    found = {name: shapes.sums[:, MEASURES.index(("class", name)), 0].sum() for name in CLASSES}
    assert sorted(found.values()) == [0, 0, 0, 0, 1], "one class each"
    return max(found, key=found.__getitem__), int(shapes.near_ties[0])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (column(SIZE - 1), "vertical"),
        (0.4 * column(0) + 0.4 * column(SIZE - 1) + 0.2 * EVEN, "vertical"),
        (0.65 * column(4) + 0.35 * diagonal(), "vertical + diagonal"),
        (diagonal(), "diagonal"),
        (0.6 * diagonal() + 0.4 * EVEN, "diagonal"),
        (0.9 * column(0) + 0.1 * diagonal(), "vertical"),
        (blocks(), "block"),
        (scattered(), "heterogeneous"),
        (0.3 * column(0) + 0.7 * EVEN, "heterogeneous"),
    ],
)
def test_planted_maps_are_of_the_class_they_were_planted_in(pattern: torch.Tensor, expected: str, model: Model) -> None:
    assert classes_of(model, pattern) == (expected, 0)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (ClassRule(), "vertical + diagonal"),
        (ClassRule(clear=0.95), "heterogeneous"),
        (ClassRule(line=0.7), "heterogeneous"),
        (ClassRule(part=0.2), "vertical"),
    ],
)
def test_every_threshold_is_heard(rule: ClassRule, expected: str, model: Model) -> None:
    """Of the map 0.6 goes to one column, 0.3 to the token before."""
    pattern = 0.6 * column(SIZE - 1) + 0.3 * diagonal() + 0.1 * EVEN
    assert classes_of(model, pattern, rule)[0] == expected


def test_maps_that_hang_on_rounding_are_counted(model: Model) -> None:
    pattern = 0.55 * column(0) + 0.45 * EVEN
    rule = ClassRule(clear=_both(pattern))
    for nudge, near in ((-1e-6, 1), (1e-6, 1), (1e-3, 0)):
        assert classes_of(model, pattern + nudge * column(0), rule)[1] == near


def _both(pattern: torch.Tensor) -> float:
    """Return the excess of the first column and of what else lies on the diagonal together."""
    beside = [(i, j) for i in range(SIZE) for j in range(1, SIZE) if abs(i - j) <= 1]
    share = float(pattern[0, 0]) + sum(float(pattern[cell]) for cell in beside) / SIZE
    level = 1 / SIZE + len(beside) / SIZE**2
    return (share - level) / (1 - level)
