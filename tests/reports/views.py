"""Invented maps of a few words, for the page of one's own texts."""

from collections.abc import Collection, Sequence

import numpy as np

from reports.view.view import Level, MapSide, TextAttention


def random_maps(layers: int, heads: int, queries: int, keys: int, seed: int = 3) -> np.ndarray:
    """Return maps [layer, head, query, key] whose rows sum to 1."""
    raw = np.random.default_rng(seed).exponential(1, (layers, heads, queries, keys)) ** 2
    return raw / raw.sum(-1, keepdims=True)


def level(
    maps: np.ndarray, tokens: Sequence[str], keys: Sequence[str] | None = None, special: Collection[int] | None = None
) -> Level:
    """Return maps with their tokens; without `special`, the first and the last are special."""

    def side(tokens: Sequence[str]) -> MapSide:
        return MapSide(tokens, [0, len(tokens) - 1] if special is None else sorted(special))

    return Level(maps, side(tokens), side(tokens if keys is None else keys))


def attention(
    tokens: Sequence[str],
    *,
    shape: tuple[int, int] = (2, 3),
    title: str = "",
    pieces: Sequence[str] = (),
    seed: int = 3,
) -> TextAttention:
    """Return random attention of `shape` (layers, heads) on words, and on pieces where these are others."""
    words = level(random_maps(*shape, len(tokens), len(tokens), seed), tokens)
    cut = level(random_maps(*shape, len(pieces), len(pieces), seed + 1), pieces) if pieces else words
    return TextAttention(title, " ".join(tokens[1:-1]), words, cut)
