"""Local and global attention: the window of every layer of a model, as ModernBERT and Gemma 2 alternate them."""

from __future__ import annotations

from typing import Any

from torch import nn


def local_windows(module: nn.Module, layers: int) -> list[int | None]:
    """Return the window of each layer: the most pieces that a piece attends to, itself included; None where all.

    `module` is an encoder of ours, whose layers all are global, or one of `transformers`.
    """
    config: Any = module.config
    width = getattr(config, "sliding_window", None)
    if not width:
        return [None] * layers
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"] * layers
    window = _pieces(module, int(width))
    return [window if "sliding" in kind else None for kind in kinds]


def _pieces(module: nn.Module, width: int) -> int:
    """Return how many pieces a window has; `width` is the config's, where attention says none of its own.

    A width is the first distance that is too far: a decoder looks that far back, an encoder to both sides.
    """
    parts = [part for part in module.modules() if isinstance(getattr(part, "is_causal", None), bool)]
    width = next((own for part in parts if (own := getattr(part, "sliding_window", None))), width)
    return width if any(part.is_causal for part in parts) else 2 * width - 1
