"""What is measured of a model when it is opened: heads, longest input, whether it may read padding; and its windows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from mha.attention import AttentionError
from mha.cache import kept
from mha.hooks import HookError, record
from mha.models.packages import ModelError
from mha.models.tokenizer import SENTENCES
from mha.pieces import align

LAYOUT = 1
"Part of every key: raise it when what is measured changes, or how hooks read a model."

LENGTH = 24
"Pieces of the longer of the texts that are read."

TOLERANCE = 1e-4
"By which a weight of a text's maps may differ when it is read beside a longer text."


@dataclass(frozen=True)
class Shape:
    """What one small batch shows of an architecture; of it weights can change `pads` alone."""

    layers: int
    heads: int
    positions: int | None
    "Rows of its table of positions that pieces can reach; None where it has no table."
    pads: bool
    "Whether a text's maps are the same alone and padded beside a longer one."


def measured(model: Any, key: str) -> Shape:
    """Return what `measure` finds of a `Model`; kept by `key`: of its folder, and of its weights where they count."""
    return Shape(**kept("checks", f"{key}-{LAYOUT}", lambda: asdict(measure(model))))


@torch.inference_mode()
def measure(model: Any) -> Shape:
    """Read a short text alone and beside a longer one, and return what that shows.

    Raises ModelError where maps cannot be seen, or are not those of its pieces and of as many heads in every layer.
    """
    long, short = _two_texts(model)
    pad = torch.full((len(long) - len(short),), model.padding or 0)
    real = torch.ones(2, len(long), dtype=torch.bool)
    real[1, len(short) :] = False
    positions = _Positions(len(long))
    try:
        with record(model.module) as maps:
            with positions:
                model.run(torch.stack([long, torch.cat([short, pad])]), real)
            both = maps["pattern"]
            model.run(short[None], None)
            alone = maps["pattern"]
    except (HookError, AttentionError) as error:
        raise ModelError(f"{model.name}: {error}") from error
    except Exception as error:  # whatever the code of an architecture raises for pieces and a mask alone
        what = (str(error) or type(error).__name__).splitlines()[0]
        raise ModelError(f"{model.name}: it cannot be run on pieces of text alone: {what}") from error
    shapes = [tuple(one.shape) for one in both]
    if not shapes or len({*shapes}) > 1 or shapes[0][2:] != (len(long), len(long)):
        shown = ", ".join(f"{len([*same])} of {[*shape]}" for shape, same in groupby(shapes)) or "none"
        raise ModelError(
            f"{model.name}: its maps are {shown}, expected [text, head, piece, piece] of {len(long)} pieces in every "
            "layer"
        )
    inside = [one[1:, :, : len(short), : len(short)] for one in both]
    pads = all(bool((one - other).abs().max() <= TOLERANCE) for one, other in zip(inside, alone, strict=True))
    return Shape(len(shapes), shapes[0][1], positions.rows, pads)


def _two_texts(model: Any) -> tuple[Tensor, Tensor]:
    """Return the pieces of a longer and of a shorter text: few, for a config may name more positions than there are."""
    every = max(align(model.tokenizer, SENTENCES), key=len).ids
    longest = torch.from_numpy(every[: min(LENGTH, max(3, model.max_pieces * 3 // 4))]).long()
    longest[1:3] = longest[1:2].clone()  # so that pieces are no row of following numbers
    return longest, longest[: max(1, len(longest) * 2 // 3)]


class _Positions(TorchFunctionMode):
    """Finds the table of positions that a model looks up: its places follow each other."""

    def __init__(self, length: int) -> None:
        """Watch a pass over texts of `length` pieces, of which the first has no padding."""
        super().__init__()
        self._steps = torch.arange(length)
        self.rows: int | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.embedding and len(args) > 1:
            places, table = args[0].squeeze(), args[1]
            places = places[0] if places.ndim == 2 and len(places) == 2 else places
            if places.shape == self._steps.shape and torch.equal(places - places[0], self._steps):
                self.rows = len(table) - int(places[0])
        return func(*args, **(kwargs or {}))


def local_windows(module: nn.Module, layers: int) -> list[int | None]:
    """Return the window of each layer: the most pieces that a piece attends to, itself included; None where all.

    `module` is an encoder of ours, whose layers all are global, or one of `transformers`: ModernBERT and Gemma 2
    alternate local and global attention.
    """
    config: Any = module.config
    width = getattr(config, "sliding_window", None)
    if not width:
        return [None] * layers
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"] * layers
    window = _window(module, int(width))
    return [window if "sliding" in kind else None for kind in kinds]


def _window(module: nn.Module, width: int) -> int:
    """Return how many pieces a window has; `width` is the config's, where attention says none of its own.

    A width is the first distance that is too far: a decoder looks that far back, an encoder to both sides.
    """
    parts = [part for part in module.modules() if isinstance(getattr(part, "is_causal", None), bool)]
    width = next((own for part in parts if (own := getattr(part, "sliding_window", None))), width)
    return width if any(part.is_causal for part in parts) else 2 * width - 1
