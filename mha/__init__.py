"""Models whose heads can be seen and touched: attention, hooks, the encoder, and word-level maps.

Its names are loaded when they are first used, so that what needs no torch does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mha.attention import AttentionError as AttentionError
    from mha.attention import MultiHeadAttention as MultiHeadAttention
    from mha.attention import attend as attend
    from mha.attention import plain_attention as plain_attention
    from mha.batches import Batch as Batch
    from mha.batches import collate as collate
    from mha.batches import plan as plan
    from mha.causal.interventions import Ablate as Ablate
    from mha.causal.interventions import Attend as Attend
    from mha.causal.interventions import intervene as intervene
    from mha.encoder.encoder import Encoder as Encoder
    from mha.encoder.encoder import EncoderConfig as EncoderConfig
    from mha.encoder.weights import export_encoder as export_encoder
    from mha.encoder.weights import load_encoder as load_encoder
    from mha.hooks import HookError as HookError
    from mha.hooks import Record as Record
    from mha.hooks import record as record
    from mha.hooks import watch as watch
    from mha.models.maps import merge as merge
    from mha.models.maps import stream_maps as stream_maps
    from mha.models.masked_prediction import MaskedLM as MaskedLM
    from mha.models.model import Model as Model
    from mha.models.model import load_model as load_model
    from mha.models.packages import ModelError as ModelError
    from mha.pieces import CLS as CLS
    from mha.pieces import SEP as SEP
    from mha.pieces import Pieces as Pieces
    from mha.pieces import align as align
    from mha.watches import SITES as SITES
    from mha.watches import Seen as Seen

_NAMES = {
    "mha.attention": ("AttentionError", "MultiHeadAttention", "attend", "plain_attention"),
    "mha.batches": ("Batch", "collate", "plan"),
    "mha.causal.interventions": ("Ablate", "Attend", "intervene"),
    "mha.encoder.encoder": ("Encoder", "EncoderConfig"),
    "mha.encoder.weights": ("export_encoder", "load_encoder"),
    "mha.hooks": ("HookError", "Record", "record", "watch"),
    "mha.models.packages": ("ModelError",),
    "mha.models.maps": ("merge", "stream_maps"),
    "mha.models.masked_prediction": ("MaskedLM",),
    "mha.models.model": ("Model", "load_model"),
    "mha.pieces": ("CLS", "SEP", "Pieces", "align"),
    "mha.watches": ("SITES", "Seen"),
}
"Module -> the names that are exported from it."

_HOMES = {name: module for module, names in _NAMES.items() for name in names}


__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mha' has no attribute {name!r}; it offers {', '.join(sorted(__all__))}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
