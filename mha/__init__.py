"""Models whose heads can be seen and touched: attention, hooks, the encoder, and word-level maps."""

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
