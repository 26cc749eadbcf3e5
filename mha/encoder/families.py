"""The BERT family: what each member calls its parameters and settings, as tables from our names to theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

Table = Mapping[str, str | tuple[str, str, str]]
"Our module or parameter -> theirs; {i} is the layer. Three names are the query, key and value parts of one of ours."


@dataclass(frozen=True)
class Family:
    """How the models of one `model_type` are written down."""

    prefix: str
    "What stands before the names of `body` in files that also hold a head."
    architecture: str
    "Stem of the class names in `transformers`."
    settings: Mapping[str, str]
    "Field of EncoderConfig -> key of config.json."
    body: Table
    head: Table
    "The masked-LM head, whose names carry no prefix."
    tied: Mapping[str, str]
    "Second names that files of a head may have -> the names of the tensors that they repeat."
    defaults: Mapping[str, Any] = field(default_factory=dict)
    "Fields whose value differs from that of EncoderConfig where config.json is silent, or always."
    positions_after_padding: bool = False
    "Whether the first piece has position padding + 1 (RoBERTa)."
    causal: bool = False
    "Whether a decoder without cross-attention is written down in the same way, with `is_decoder` in config.json."

    def names(self, encoder: nn.Module) -> dict[str, tuple[str, ...]]:
        """Return every parameter of an Encoder and its name(s) in this family, without prefix; a tied one once."""
        return {ours: self._name(ours) for ours, _ in encoder.named_parameters()}

    def _name(self, ours: str) -> tuple[str, ...]:
        layer = re.search(r"\d+", ours)
        general = re.sub(r"\d+", "{i}", ours, count=1)
        table = {**self.body, **self.head}
        module, _, kind = general.rpartition(".")
        if general in table:
            theirs, suffix = table[general], ""
        else:
            theirs, suffix = table[module], f".{kind}"
        parts = (theirs,) if isinstance(theirs, str) else theirs
        return tuple(part.replace("{i}", layer[0] if layer else "") + suffix for part in parts)

    def weights(self, table: Table, layers: int) -> set[str]:
        """Return the names, without prefix, of a weight of each module in a table of this family."""
        return {
            part.replace("{i}", str(layer)) + ("" if ours.endswith(".bias") else ".weight")
            for ours, theirs in table.items()
            for part in ((theirs,) if isinstance(theirs, str) else theirs)
            for layer in range(layers)
        }

    def of_body(self, name: str) -> bool:
        """Return whether a name without prefix is one of the encoder's own: of an embedding, a layer or the pooler."""
        parts = [theirs if isinstance(theirs, str) else theirs[0] for theirs in self.body.values()]
        own = {part if part == POOLER["pooler"] else part.partition(".")[0] for part in parts}
        return any(name.startswith(f"{part}.") for part in own) and not COUNTING.search(name)

    def of_head(self, name: str) -> bool:
        """Return whether a name is one of the masked-LM head's."""
        modules = tuple(theirs for theirs in self.head.values() if isinstance(theirs, str))
        return name in self.tied or name.startswith(modules)


BERT_SETTINGS = {
    "vocab": "vocab_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "model": "hidden_size",
    "feed_forward": "intermediate_size",
    "positions": "max_position_embeddings",
    "token_types": "type_vocab_size",
    "activation": "hidden_act",
    "eps": "layer_norm_eps",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "padding": "pad_token_id",
}

EMBEDDINGS: Table = {
    "pieces": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
}
TOKEN_TYPES: Table = {"token_types": "embeddings.token_type_embeddings"}
POOLER: Table = {"pooler": "pooler.dense"}

BERT_LAYER: Table = {
    "layers.{i}.attention.project": (
        "encoder.layer.{i}.attention.self.query",
        "encoder.layer.{i}.attention.self.key",
        "encoder.layer.{i}.attention.self.value",
    ),
    "layers.{i}.attention.output": "encoder.layer.{i}.attention.output.dense",
    "layers.{i}.attention_norm": "encoder.layer.{i}.attention.output.LayerNorm",
    "layers.{i}.expand": "encoder.layer.{i}.intermediate.dense",
    "layers.{i}.contract": "encoder.layer.{i}.output.dense",
    "layers.{i}.feed_forward_norm": "encoder.layer.{i}.output.LayerNorm",
}

PRE_NORM_LAYER: Table = {
    **BERT_LAYER,
    "layers.{i}.attention_norm": "encoder.layer.{i}.attention.LayerNorm",
    "layers.{i}.feed_forward_norm": "encoder.layer.{i}.intermediate.LayerNorm",
    "final_norm": "LayerNorm",
}

DISTILBERT_LAYER: Table = {
    "layers.{i}.attention.project": (
        "transformer.layer.{i}.attention.q_lin",
        "transformer.layer.{i}.attention.k_lin",
        "transformer.layer.{i}.attention.v_lin",
    ),
    "layers.{i}.attention.output": "transformer.layer.{i}.attention.out_lin",
    "layers.{i}.attention_norm": "transformer.layer.{i}.sa_layer_norm",
    "layers.{i}.expand": "transformer.layer.{i}.ffn.lin1",
    "layers.{i}.contract": "transformer.layer.{i}.ffn.lin2",
    "layers.{i}.feed_forward_norm": "transformer.layer.{i}.output_layer_norm",
}

PIECES = "embeddings.word_embeddings.weight"
"The piece embedding, to which decoders are tied."

BERT_HEAD: Table = {
    "lm_head.transform": "cls.predictions.transform.dense",
    "lm_head.norm": "cls.predictions.transform.LayerNorm",
    "lm_head.decoder.bias": "cls.predictions.bias",
}
ROBERTA_HEAD: Table = {
    "lm_head.transform": "lm_head.dense",
    "lm_head.norm": "lm_head.layer_norm",
    "lm_head.decoder.bias": "lm_head.bias",
}
ELECTRA_HEAD: Table = {
    "lm_head.transform": "generator_predictions.dense",
    "lm_head.norm": "generator_predictions.LayerNorm",
    "lm_head.decoder.bias": "generator_lm_head.bias",
}
BERT_TIED = {"cls.predictions.decoder.weight": PIECES, "cls.predictions.decoder.bias": "cls.predictions.bias"}
ROBERTA_TIED = {"lm_head.decoder.weight": PIECES, "lm_head.decoder.bias": "lm_head.bias"}
DISTILBERT_HEAD: Table = {
    "lm_head.transform": "vocab_transform",
    "lm_head.norm": "vocab_layer_norm",
    "lm_head.decoder.bias": "vocab_projector.bias",
}


def _roberta(prefix: str, architecture: str, layer: Table = BERT_LAYER, norm: str = "post") -> Family:
    return Family(
        prefix=prefix,
        architecture=architecture,
        settings=BERT_SETTINGS,
        body={**EMBEDDINGS, **TOKEN_TYPES, **layer, **POOLER},
        head=ROBERTA_HEAD,
        tied=ROBERTA_TIED,
        defaults={"padding": 1, "norm": norm},
        positions_after_padding=True,
    )


FAMILIES: Mapping[str, Family] = {
    "bert": Family(
        prefix="bert.",
        architecture="Bert",
        settings=BERT_SETTINGS,
        body={**EMBEDDINGS, **TOKEN_TYPES, **BERT_LAYER, **POOLER},
        head=BERT_HEAD,
        tied=BERT_TIED,
        causal=True,
    ),
    "roberta": _roberta("roberta.", "Roberta"),
    "xlm-roberta": _roberta("roberta.", "XLMRoberta"),
    "camembert": _roberta("roberta.", "Camembert"),
    "roberta-prelayernorm": _roberta("roberta_prelayernorm.", "RobertaPreLayerNorm", PRE_NORM_LAYER, "pre"),
    "electra": Family(
        prefix="electra.",
        architecture="Electra",
        settings={**BERT_SETTINGS, "embedding": "embedding_size"},
        body={**EMBEDDINGS, **TOKEN_TYPES, "embedding_project": "embeddings_project", **BERT_LAYER},
        head=ELECTRA_HEAD,
        tied={"generator_lm_head.weight": PIECES},
    ),
    "distilbert": Family(
        prefix="distilbert.",
        architecture="DistilBert",
        settings={
            "vocab": "vocab_size",
            "layers": "n_layers",
            "heads": "n_heads",
            "model": "dim",
            "feed_forward": "hidden_dim",
            "positions": "max_position_embeddings",
            "activation": "activation",
            "dropout": "dropout",
            "attention_dropout": "attention_dropout",
            "padding": "pad_token_id",
        },
        body={**EMBEDDINGS, **DISTILBERT_LAYER},
        head=DISTILBERT_HEAD,
        tied={"vocab_projector.weight": PIECES},
        defaults={"token_types": 0},
    ),
}
"`model_type` of config.json -> how that family is written down."

COUNTING = re.compile(
    r"(^|\.)(position_ids|token_type_ids|inv_freq|embed_positions|masked_bias|(attn|attention)\.bias)$"
)
"Buffers that are no weights, which old files hold: they count 0, 1, 2 ..., or say what a piece may see."

PRUNED = "pruned_heads"
"""Key of config.json: number of a layer -> numbers of the heads that were taken out of it.

`transformers` up to version 4 wrote it; its number of heads stays the one before, and so does the size of a head.
Version 5 does not know it, finds matrices of another size than it expects, and raises RuntimeError. With
`ignore_mismatched_sizes=True` it opens the folder and makes up the weights of these layers' attention.
"""


def read_pruned(value: Any) -> tuple[tuple[int, int], ...]:
    """Return the heads (layer, head) that the value of `pruned_heads` names; raises ValueError for another form."""
    layers = {} if value is None else value
    numbered = isinstance(layers, dict) and all(isinstance(key, str) and key.isdecimal() for key in layers)
    if not numbered or not all(isinstance(heads, list) for heads in layers.values()):
        raise ValueError(f'{PRUNED} is {value!r}, expected numbers of heads by layer, such as {{"0": [2, 3]}}')
    pairs = tuple((int(key), head) for key, heads in layers.items() for head in heads)
    for _, head in pairs:
        if type(head) is not int:
            raise ValueError(f"{PRUNED} names head {head!r}, expected a number")
    return pairs


def write_pruned(pruned: Iterable[tuple[int, int]]) -> dict[str, list[int]]:
    """Return the value of `pruned_heads` for heads (layer, head)."""
    found: dict[str, list[int]] = {}
    for layer, head in pruned:
        found.setdefault(str(layer), []).append(head)
    return found


DECODER = "is_decoder"
"Key of config.json: whether tokens attend to none after themselves."

SETTINGS_REFUSED: Mapping[str, tuple[Any, ...]] = {
    DECODER: (False, None),
    "is_encoder_decoder": (False, None),
    "add_cross_attention": (False, None),
    "position_embedding_type": ("absolute", None),
    "quantization_config": (None,),
}
"Keys of config.json and the values of them that the encoder can do; a `causal` family may also be a decoder."
