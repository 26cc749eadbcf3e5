"""The encoder of BERT, written to be read: embeddings, then layers of attention and feed-forward, on packed tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mha.attention import MultiHeadAttention
from mha.dropout import Dropout
from mha.encoder.layout import Packing

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
}

GELU_HEADS = ("roberta", "xlm-roberta", "camembert", "roberta-prelayernorm", "electra")
"Families whose masked-LM head uses GELU, whatever the activation of the layers is."


@dataclass(frozen=True)
class EncoderConfig:
    """The shape of an encoder; the defaults are BERT base (Devlin et al. 2019, section 3)."""

    vocab: int = 30522
    layers: int = 12
    heads: int = 12
    "Heads of a layer before any was taken out."
    model: int = 768
    "Size of the vectors between layers."
    feed_forward: int = 3072
    positions: int = 512
    "Longest input in pieces."
    token_types: int = 2
    "Number of segment embeddings; 0 for none."
    norm: str = "post"
    '"post" as in BERT, or "pre": LayerNorm before each block and once at the end.'
    activation: str = "gelu"
    eps: float = 1e-12
    "Added to the variance in LayerNorm."
    dropout: float = 0.1
    attention_dropout: float = 0.1
    embedding: int | None = None
    "Size of the embeddings where they are projected to `model` (ELECTRA); None where they are not."
    position_offset: int = 0
    "Row of the position embedding of the first piece (RoBERTa: 2)."
    padding: int = 0
    "Piece id of padding."
    scale: bool = True
    "Whether scores are divided by sqrt(head_dim)."
    causal: bool = False
    "Whether tokens attend to none after themselves, as in a decoder."
    family: str = "bert"
    "The layout in which weights are exported: a `model_type` of `mha.encoder.families.FAMILIES`."
    pruned: tuple[tuple[int, int], ...] = ()
    "Heads that were taken out, (layer, head) from 0; the others keep their numbers and their size, model / heads."

    def __post_init__(self) -> None:
        """Put the heads that were taken out in order, each once, and refuse what the encoder does not know."""
        object.__setattr__(self, "pruned", tuple(sorted({(layer, head) for layer, head in self.pruned})))
        if self.norm not in ("post", "pre"):
            raise ValueError(f"unknown norm {self.norm!r}; expected 'post' or 'pre'")
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"unknown activation {self.activation!r}; known are {', '.join(ACTIVATIONS)}")
        for name in ("vocab", "layers", "heads", "model", "feed_forward", "positions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, expected at least 1")
        if self.model % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a model of size {self.model}")
        if not 0 <= self.padding < self.vocab:
            raise ValueError(f"padding is piece {self.padding}, outside the vocabulary of {self.vocab}")
        for layer, head in self.pruned:
            if not (0 <= layer < self.layers and 0 <= head < self.heads):
                shape = f"{self.layers} layers of {self.heads} heads"
                raise ValueError(f"head index {head} of layer index {layer} cannot be taken out of {shape}")


class Layer(nn.Module):
    """One layer: attention and a feed-forward net, each with a residual connection and a LayerNorm."""

    def __init__(self, config: EncoderConfig, number: int) -> None:
        """Create layer `number`, from 0, of the shape of `config`."""
        super().__init__()
        norm = partial(nn.LayerNorm, config.model, eps=config.eps)
        self.pre = config.norm == "pre"
        self.attention = MultiHeadAttention(
            config.model, config.heads, dropout=config.attention_dropout, scale=config.scale
        )
        self.attention.prune([head for layer, head in config.pruned if layer == number])
        self.attention_norm = norm()
        self.expand = nn.Linear(config.model, config.feed_forward)
        self.activation = ACTIVATIONS[config.activation]
        self.contract = nn.Linear(config.feed_forward, config.model)
        self.feed_forward_norm = norm()
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "token model"],
        packing: Packing,
        selected: Int[Tensor, " chosen"] | None = None,
        mixed: Float[Tensor, "token model"] | None = None,
    ) -> Tensor:
        """Return the next layer's input, for packed tokens; of the `selected` ones alone where given.

        Each token attends to all that its mask allows: `selected` only says whose result is wanted. `mixed` is what
        `attend` writes for every token, where that is known already.
        """
        old = x if selected is None else x.index_select(0, selected)
        if mixed is None:
            mixed = self.attend(x, packing, selected)
        elif selected is not None:
            mixed = mixed.index_select(0, selected)
        if self.pre:
            x = old + self.dropout(mixed)
            x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
            return x
        x = self.attention_norm(old + self.dropout(mixed))
        x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x

    def read(self, x: Float[Tensor, "token model"], packing: Packing) -> list[Tensor]:
        """Return the queries, keys and values [batch, head, length, head_dim] of the layer's input."""
        projected = self.attention.project(self.attention_norm(x) if self.pre else x)
        return self.attention.divide(packing.unpack(projected))

    def attend(self, x: Float[Tensor, "token model"], packing: Packing, selected: Tensor | None) -> Tensor:
        """Self-attention over packed tokens; only the scores and patterns are padded."""
        attention = self.attention
        heads = packing.pack(attention.concat(self.read(x, packing), packing.bias))
        mixed: Tensor = attention.output(heads if selected is None else heads.index_select(0, selected))
        return mixed

    def feed_forward(self, x: Tensor) -> Tensor:
        """Two linear maps with an activation between."""
        x = self.contract(self.activation(self.expand(x)))
        return x


class MaskedLMHead(nn.Module):
    """BERT's masked-LM head: transform, LayerNorm, and the (tied) embedding as decoder."""

    def __init__(self, config: EncoderConfig, embedding: nn.Embedding) -> None:
        """Create a head whose decoder shares its weight with `embedding`."""
        super().__init__()
        size = embedding.embedding_dim
        self.transform = nn.Linear(config.model, size)
        self.activation = ACTIVATIONS["gelu" if config.family in GELU_HEADS else config.activation]
        self.norm = nn.LayerNorm(size, eps=config.eps)
        self.decoder = nn.Linear(size, config.vocab)
        self.decoder.weight = embedding.weight

    def forward(self, x: Float[Tensor, "*token model"]) -> Float[Tensor, "*token vocab"]:
        """Return the logits of every piece of the vocabulary."""
        logits: Tensor = self.decoder(self.norm(self.activation(self.transform(x))))
        return logits


@dataclass(frozen=True)
class Entry:
    """A place at which a pass can be entered: behind the attention of a layer."""

    layer: int
    "Index of the layer, from 0."
    x: Float[Tensor, "token model"]
    "The layer's input, packed."
    mixed: Float[Tensor, "token model"]
    "What its attention writes, W_O and its bias included."


class Encoder(nn.Module):
    """An encoder with BERT's architecture, or its `causal` sibling, a decoder without cross-attention.

    `pooler` and `lm_head` are there where loaded weights have them.
    """

    pooler: nn.Linear | None
    lm_head: MaskedLMHead | None
    left_out: tuple[str, ...] = ()
    "Names of the loaded file's tensors that the encoder has no place for (heads of other tasks, counting buffers)."
    prefix: str = ""
    "What a wrapper had put before the names of the loaded file's tensors."
    untied_head: bool = False
    "Whether the loaded file has a masked-LM head with a decoder of its own, which an Encoder has no place for."

    def __init__(self, config: EncoderConfig, *, pooler: bool = False, lm_head: bool = False) -> None:
        """Create an encoder with random weights (normal, standard deviation 0.02, as BERT)."""
        super().__init__()
        self.config = config
        size = config.embedding or config.model
        self.pieces = nn.Embedding(config.vocab, size, padding_idx=config.padding)
        self.positions = nn.Embedding(config.positions + config.position_offset, size)
        self.token_types = nn.Embedding(config.token_types, size) if config.token_types else None
        self.embedding_norm = nn.LayerNorm(size, eps=config.eps)
        self.embedding_project = nn.Linear(size, config.model) if size != config.model else None
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(Layer(config, number) for number in range(config.layers))
        self.final_norm = nn.LayerNorm(config.model, eps=config.eps) if config.norm == "pre" else None
        self.pooler = nn.Linear(config.model, config.model) if pooler else None
        self.lm_head = MaskedLMHead(config, self.pieces) if lm_head else None
        self.apply(_initialise)
        with torch.no_grad():  # here and not in _initialise: the tied decoder fills the same matrix
            self.pieces.weight[config.padding] = 0

    def forward(
        self,
        pieces: Int[Tensor, "batch length"],
        mask: Bool[Tensor, "batch length"] | None = None,
        token_types: Int[Tensor, "batch length"] | None = None,
        *,
        places: Int[Tensor, "batch length"] | None = None,
        blocks: Int[Tensor, "batch length"] | None = None,
        selected: Int[Tensor, " chosen"] | None = None,
        entry: Entry | None = None,
    ) -> Float[Tensor, "batch length model"] | Float[Tensor, "chosen model"]:
        """Return the last layer's vectors, zero at padding.

        `mask` is True at real pieces; padding is on the right. Rows of several documents have `places`, the position
        of each piece within its document, and `blocks` in the stead of `mask`: the number of its document, -1 at
        padding; pieces attend to their own document alone. `selected`, indices of real pieces in the flattened batch,
        returns only their vectors, [chosen, model], and spares the last layer the others. With `entry` the pass begins
        there, and of `pieces` only the shape counts. Raises ValueError where the input is longer than the position
        embeddings.
        """
        length = pieces.shape[1]
        longest = length if places is None else int(places.max()) + 1
        if longest > self.config.positions:
            raise ValueError(f"{longest} pieces are too long for this encoder ({self.config.positions} positions)")
        packing = self.packing(pieces, mask, blocks)
        x = self.embed(pieces, packing, token_types, places) if entry is None else entry.x
        start = 0 if entry is None else entry.layer
        wanted = None if selected is None else packing.index(selected)
        for number, layer in enumerate(self.layers[start:], start):
            mixed = entry.mixed if entry is not None and number == start else None
            x = layer(x, packing, wanted if number + 1 == len(self.layers) else None, mixed)
        x = x if self.final_norm is None else self.final_norm(x)
        return packing.unpack_zero(x) if selected is None else x

    @property
    def predicts_masked(self) -> bool:
        """Whether it has a head that predicts masked pieces: that of a causal one predicts next ones."""
        return self.lm_head is not None and not self.config.causal

    def packing(self, pieces: Tensor, mask: Tensor | None, blocks: Tensor | None = None) -> Packing:
        """Return where the real tokens of a batch lie; `mask` and `blocks` as in `forward`."""
        kind = pieces.device.type
        # the lowest float32 is no bfloat16: added to scores it would become -inf, and a row of padding NaN
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else self.pieces.weight.dtype
        if blocks is not None:
            return Packing.of_blocks(blocks, dtype, causal=self.config.causal)
        return Packing.of(mask, pieces, dtype, causal=self.config.causal)

    def embed(
        self, pieces: Tensor, packing: Packing, token_types: Tensor | None, places: Tensor | None = None
    ) -> Float[Tensor, "token model"]:
        """Return the first layer's input for packed tokens."""
        if places is None:
            places = self.places_of(pieces)
        places = places + self.config.position_offset
        x = self.pieces(packing.pack(pieces)) + self.positions(packing.pack(places))
        if self.token_types is not None:
            zeros = torch.zeros_like(pieces) if token_types is None else token_types
            x = x + self.token_types(packing.pack(zeros))
        embedded: Tensor = self.dropout(self.embedding_norm(x))
        if self.embedding_project is not None:
            embedded = self.embedding_project(embedded)
        return embedded

    def places_of(self, pieces: Int[Tensor, "batch length"]) -> Int[Tensor, "batch length"]:
        """Return the place of every piece, from 0; where they are counted from padding on, that piece counts for none.

        So RoBERTa counts in `transformers`, in a text as well, if the vocabulary uses that piece for something else.
        """
        if self.config.position_offset:
            counted = pieces != self.config.padding
            return counted.cumsum(1) * counted - 1
        return torch.arange(pieces.shape[1], device=pieces.device).expand_as(pieces)

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Run `forward` with its hooks."""
        output: Tensor = super().__call__(*args, **kwargs)
        return output


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
