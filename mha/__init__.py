"""Models whose heads can be seen and touched: attention, hooks, the encoder, and word-level maps."""

from mha.attention import AttentionError, MultiHeadAttention, attend
from mha.batches import Batch, collate, plan
from mha.encoder import Encoder, EncoderConfig
from mha.hooks import SITES, HookError, Record, Seen, record, watch
from mha.interventions import Ablate, Attend, intervene
from mha.maps import merge, stream_maps
from mha.masked_prediction import MaskedLM
from mha.models import Model, ModelError, load_model
from mha.pieces import CLS, SEP, Pieces, align
from mha.weights import export_encoder, load_encoder

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
