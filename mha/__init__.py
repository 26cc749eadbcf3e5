"""Models whose heads can be seen and touched: attention, hooks, the encoder, and word-level maps.

Its names are loaded when they are first used, so that what needs no torch does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mha.attention import AttentionError, MultiHeadAttention, attend
    from mha.batches import Batch, collate, plan
    from mha.causal.interventions import Ablate, Attend, intervene
    from mha.encoder.encoder import Encoder, EncoderConfig
    from mha.encoder.weights import export_encoder, load_encoder
    from mha.hooks import HookError, Record, record, watch
    from mha.models.folders import ModelError
    from mha.models.maps import merge, stream_maps
    from mha.models.masked_prediction import MaskedLM
    from mha.models.model import Model, load_model
    from mha.pieces import CLS, SEP, Pieces, align
    from mha.watches import SITES, Seen

_NAMES = {
    "mha.attention": ("AttentionError", "MultiHeadAttention", "attend"),
    "mha.batches": ("Batch", "collate", "plan"),
    "mha.causal.interventions": ("Ablate", "Attend", "intervene"),
    "mha.encoder.encoder": ("Encoder", "EncoderConfig"),
    "mha.encoder.weights": ("export_encoder", "load_encoder"),
    "mha.hooks": ("HookError", "Record", "record", "watch"),
    "mha.models.folders": ("ModelError",),
    "mha.models.maps": ("merge", "stream_maps"),
    "mha.models.masked_prediction": ("MaskedLM",),
    "mha.models.model": ("Model", "load_model"),
    "mha.pieces": ("CLS", "SEP", "Pieces", "align"),
    "mha.watches": ("SITES", "Seen"),
}
"Module -> the names that are exported from it."

_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "CLS",
    "SEP",
    "SITES",
    "Ablate",
    "Attend",
    "AttentionError",
    "Batch",
    "Encoder",
    "EncoderConfig",
    "HookError",
    "MaskedLM",
    "Model",
    "ModelError",
    "MultiHeadAttention",
    "Pieces",
    "Record",
    "Seen",
    "align",
    "attend",
    "collate",
    "export_encoder",
    "intervene",
    "load_encoder",
    "load_model",
    "merge",
    "plan",
    "record",
    "stream_maps",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mha' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
