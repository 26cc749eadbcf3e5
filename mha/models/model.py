"""Models: weights and tokenizer of a folder, checked, and the controls made from them."""

from __future__ import annotations

import html
import inspect
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mha.attention import MultiHeadAttention
from mha.device import autocast, device_of, find_device, moved, placed, uses_bf16
from mha.encoder.encoder import Encoder, Entry, MaskedLMHead
from mha.encoder.families import COUNTING
from mha.encoder.weights import FAMILIES, load_encoder
from mha.files import summary
from mha.messages import OneLineError
from mha.models.check import measured
from mha.models.folders import (
    hub_revision,
    inner_folder,
    outer_folder,
    read_model_config,
    sentence_notes,
    settings_sha256,
    weights_sha256,
)
from mha.models.hub import load_hub_model
from mha.models.packages import ModelError
from mha.models.tokenizer import PairForm, load_tokenizer, second_type, tokenizer_key, tokenizer_sha256
from mha.own_attention import attend_fully

_drawing = threading.Lock()
"Held while weights are drawn from torch's own random numbers, of which every thread takes the next."

UNTRAINED = ("random", "permuted")
"Randomly initialised weights of the same architecture; loaded weights permuted within each matrix."

SOURCES = ("pretrained", *UNTRAINED)
"As loaded, and the untrained ones."


@dataclass(frozen=True)
class Model:
    """A model, its tokenizer, and what a run has to know of them."""

    name: str
    source: str
    architecture: str
    module: nn.Module = field(repr=False)
    tokenizer: Any = field(repr=False)
    "A `tokenizers.Tokenizer` that neither truncates nor pads, and takes special tokens in a text for text."
    layers: int
    heads: int
    max_pieces: int
    "Longest input in pieces, special tokens included."
    padding: int | None
    "Piece that fills texts up in a batch; None where padding would change maps (`mha.models.check`)."
    sha256: str
    "Of the weights as loaded from disk."
    tokenizer_sha256: str | None = None
    "Of the tokenizer as it is used; None where it is of no folder."
    settings_sha256: str | None = None
    "Of its config.json; None where it is of no folder."
    revision: str | None = None
    "Commit of the hub; None for models from elsewhere."
    precision: str = "fp32"
    "Of products, one of `mha.device.PRECISIONS`."
    special: Mapping[str, int] = field(default_factory=dict, repr=False)
    "Role (one of `mha.models.tokenizer.SPECIAL`) -> the tokenizer's piece for it; empty for models made by hand."
    pairs: PairForm = field(default=PairForm(), repr=False)
    "How its tokenizer writes pairs of texts."
    notes: tuple[str, ...] = ()
    "What its folder holds that was not read, in sentences."
    seed: int = 0
    "Of its weights, where its source is random or permuted."

    def __post_init__(self) -> None:
        """Refuse an encoder from which heads were taken out: what is not there has no map and no score."""
        if isinstance(self.module, Encoder) and (out := len(self.module.config.pruned)):
            raise ModelError(
                f"{self.name}: {out} of its {self.layers * self.heads} heads were taken out, and one that is not there "
                "has no score: take the full-size model with the same outputs, which mha.causal.pruning.zeroed makes"
            )

    def _repr_html_(self) -> str:
        told = {
            **{"architecture": self.architecture, "heads": f"{self.layers} layers of {self.heads}"},
            **{"weights": f"{self.source}, sha256 {self.sha256[:12]}", "longest input": f"{self.max_pieces} pieces"},
            **({"notes": " ".join(self.notes)} if self.notes else {}),
        }
        rows = "".join(f"<tr><th>{what}</th><td>{html.escape(value)}</td></tr>" for what, value in told.items())
        return f"<table><caption>{html.escape(self.name)}</caption>{rows}</table>"

    @property
    def layers_of_weights(self) -> int:
        """Number of layers with weights of their own: fewer than `layers` where some share them, as in ALBERT."""
        config: Any = self.module.config
        return min(self.layers, getattr(config, "num_hidden_groups", self.layers))

    @property
    def device(self) -> torch.device:
        """Where it runs: what is read is taken there, and what the model gives lies there."""
        return device_of(self.module)

    def on_cpu(self) -> Model:
        """Return the model on the CPU and in fp32, for what is computed of weights: not all devices have float64."""
        if self.device.type != "cpu":
            return replace(self, module=deepcopy(self.module).to("cpu"), precision="fp32")
        return self if self.precision == "fp32" else replace(self, precision="fp32")

    def run(self, ids: Int[Tensor, "batch piece"], mask: Bool[Tensor, "batch piece"] | None) -> Float[Tensor, "b p m"]:
        """Return the vectors of the last layer."""
        return self.read(ids, mask)

    def read(
        self,
        ids: Int[Tensor, "batch piece"],
        real: Bool[Tensor, "batch piece"] | None,
        selected: Int[Tensor, " chosen"] | None = None,
        entry: Entry | None = None,
    ) -> Tensor:
        """Return the vectors of the last layer [batch, piece, model], or at the `selected` pieces [chosen, model].

        `selected` are indices in the flattened batch. With `entry`, for our Encoder, the pass begins there.
        """
        ids, real, selected = ids.to(self.device), moved(self.device, real), moved(self.device, selected)
        types = self.types(ids, real)
        with self.arithmetic():
            if isinstance(self.module, Encoder):
                return self.module(ids, real, types, selected=selected, entry=entry)
            seen = torch.ones_like(ids) if real is None else real.long()
            vectors: Tensor = self.module(input_ids=ids, attention_mask=seen, **typed(types))[0]
        vectors = vectors.to(torch.promote_types(vectors.dtype, torch.float32))
        return vectors if selected is None else vectors.flatten(0, 1).index_select(0, selected)

    def types(
        self, ids: Int[Tensor, "batch piece"], real: Bool[Tensor, "batch piece"] | None
    ) -> Int[Tensor, "batch piece"] | None:
        """Return the type (segment) of every piece, 1 in the second text of a pair; None where all are 0."""
        if self.pairs.separator is None:
            return None
        types: Tensor = second_type(ids, self.pairs.separator)
        types = types if real is None else types * real
        return types if bool(types.any()) else None

    def arithmetic(self) -> AbstractContextManager[object]:
        """Return the context in which it computes: that of its `precision`."""
        return autocast(uses_bf16(self.precision, self.device), self.device)


@dataclass(frozen=True)
class OfModel:
    """Something else that is read of a model, and is given what the model would be given."""

    model: Model

    def types(
        self, ids: Int[Tensor, "batch piece"], real: Bool[Tensor, "batch piece"] | None
    ) -> Int[Tensor, "batch piece"] | None:
        """Return the type (segment) of every piece, as the model is given it."""
        return self.model.types(ids, real)

    def arithmetic(self) -> AbstractContextManager[object]:
        """Return the context in which it computes, that of its model."""
        return self.model.arithmetic()


def typed(types: Tensor | None) -> dict[str, Tensor]:
    """Return the argument by which a model of `transformers` is given the types of pieces; none where all are 0."""
    return {} if types is None else {"token_type_ids": types}


def load_model(
    name: str, source: str = "pretrained", seed: int = 0, *, whole: bool = False, device: str = "cpu"
) -> Model:
    """Load a model by short name, folder or "hub:owner/name", in evaluation mode.

    BERT-family weights are loaded into our `Encoder`; other architectures run in `transformers` through `attend`. Of an
    encoder-decoder it is the encoder, or with `whole` all of it, for `mha.reading.cross_attention`. `seed` decides the
    weights of the sources "random" and "permuted"; `device`, one of `mha.device.DEVICES`, changes none of them. What is
    opened is checked: the tokenizer by `mha.models.tokenizer.load_tokenizer`, what hooks show by `mha.models.check`.
    Raises ModelError or WeightsError, with what to do, where a weight is missing, has no place or is not a finite
    number, where the tokenizer has pieces without an embedding, and where words have no pieces or heads no maps;
    DeviceError for a device that is not there.
    """
    if source not in SOURCES:
        raise ModelError(f"unknown model source {source!r}; the sources are {', '.join(SOURCES)}")
    place = find_device(device)
    outer = outer_folder(name)
    folder = inner_folder(outer)
    config = read_model_config(folder)
    module = _load(folder, config, seed if source == "random" else None, whole)
    check_finite(folder, module)
    if source == "permuted":
        permute_weights(module, seed)
    tokenizer, special, pairs = load_tokenizer(folder)
    rows = check_vocabulary(folder, tokenizer, module)
    layers, heads, positions = _shape(module)
    model = Model(
        name=name,
        source=source,
        architecture=config.get("model_type", "?"),
        module=module,
        tokenizer=tokenizer,
        layers=layers,
        heads=heads,
        max_pieces=positions,
        padding=config.get("pad_token_id") or 0,
        sha256=weights_sha256(folder),
        seed=seed if source in UNTRAINED else 0,
        tokenizer_sha256=tokenizer_sha256(tokenizer),
        settings_sha256=settings_sha256(folder),
        revision=hub_revision(name, folder),
        special={role: piece for role, piece in special.items() if piece < rows},
        pairs=pairs if _has_types(module) else replace(pairs, separator=None),
        notes=(*_notes(config, module), *sentence_notes(outer, tokenizer)),
    )
    model = model if whole else _as_measured(model, tokenizer_key(folder))
    return replace(model, module=placed(module, place))


def _as_measured(model: Model, key: str) -> Model:
    """Return a model with the layers, heads and longest input that it shows."""
    shape = measured(model, key if isinstance(model.module, Encoder) else f"{key}-{model.sha256[:16]}-{model.source}")
    longest = model.max_pieces if shape.positions is None else min(model.max_pieces, shape.positions)
    padding = model.padding if shape.pads else None
    other = f"layers are counted by attention maps: there are {shape.layers}, and config.json says {model.layers}"
    notes = (*model.notes, *[other] * (shape.layers != model.layers))
    return replace(model, layers=shape.layers, heads=shape.heads, max_pieces=longest, padding=padding, notes=notes)


def _has_types(module: nn.Module) -> bool:
    """Return whether a module is given types of pieces."""
    if isinstance(module, Encoder):
        return module.config.token_types > 1
    return "token_type_ids" in inspect.signature(module.forward).parameters


def _notes(config: dict[str, Any], module: nn.Module) -> Iterator[str]:
    """Yield what of a folder is not read."""
    if prefix := getattr(module, "prefix", ""):
        yield f"the names of the model's weights are read without {prefix!r}, which stands before them"
    if left := [key for key in getattr(module, "left_out", ()) if not COUNTING.search(key)]:
        yield f"of the model's folder, the encoder that is scored leaves out: {summary(left)}"
    if "auto_map" in config:
        yield f"the model's config.json names code, which is not run: it is read as any {config['model_type']}"


def untrained(model: Model, source: str, seed: int) -> Model:
    """Return a trained model with the weights that `load_model` gives it for the sources "random" and "permuted".

    The files of our `Encoder` are not read again; of others, raises ModelError where they have changed.
    """
    if not isinstance(model.module, Encoder):
        again = load_model(model.name, source, seed, device=model.device.type)
        refuse_other_weights(model, again.sha256)
        return replace(again, precision=model.precision)
    if source == "random":
        return replace(model, source=source, seed=seed, module=_fresh(model.module, seed).to(model.device))
    module = deepcopy(model.module)
    permute_weights(module, seed)
    return replace(model, source=source, seed=seed, module=module)


def refuse_other_weights(model: Model, sha256: str) -> None:
    """Raise ModelError where the weights that lie in the folder of a model by now are not those it was loaded with."""
    if sha256 != model.sha256:
        raise ModelError(f"{model.name}: its folder has other weights than when it was loaded; load it again")


def _load(folder: Path, config: dict[str, Any], random_seed: int | None, whole: bool) -> nn.Module:
    if config.get("model_type") not in FAMILIES:
        try:
            with nullcontext() if random_seed is None else _drawing:
                return load_hub_model(str(folder), random_seed=random_seed, whole=whole)
        except OneLineError:
            raise
        except Exception as error:  # transformers, safetensors and torch each have errors of their own
            if "custom code" in str(error):
                raise ModelError(
                    f"{folder}: model_type {config.get('model_type')!r} is code in the folder itself, which headscope "
                    "never runs; docs/architectures.md lists what can be read"
                ) from error
            what = " ".join(str(error).split())[:300]
            raise ModelError(f"{folder}: transformers cannot load it: {what}") from error
    encoder = load_encoder(folder)
    return encoder if random_seed is None else _fresh(encoder, random_seed)


def _fresh(encoder: Encoder, seed: int) -> Encoder:
    with _drawing, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = Encoder(encoder.config).eval()
        fresh.left_out, fresh.prefix, fresh.untied_head = encoder.left_out, encoder.prefix, encoder.untied_head
        if encoder.lm_head is not None:
            fresh.lm_head = _fresh_head(fresh)  # last: the body has the weights that it would have without
        return fresh


def _fresh_head(encoder: Encoder) -> MaskedLMHead:
    head = MaskedLMHead(encoder.config, encoder.pieces).eval()
    nn.init.normal_(head.transform.weight, std=0.02)
    nn.init.zeros_(head.transform.bias)
    nn.init.zeros_(head.decoder.bias)
    return head


def _shape(module: nn.Module) -> tuple[int, int, int]:
    """Return layers, heads and the longest input of a module; of the parts of an encoder-decoder as its config says."""
    config: Any = module.config
    if isinstance(module, Encoder):
        return config.layers, config.heads, config.positions
    positions = getattr(config, "max_position_embeddings", None) or 0
    positions = positions if positions > 0 else 2**30  # XLNet says -1
    full = attend_fully(module)
    heads = getattr(config, "num_attention_heads", 0)  # FNet has none
    return config.num_hidden_layers, heads, positions if full is None else min(positions, full)


def check_finite(folder: Path, module: nn.Module) -> None:
    """Raise ModelError for weights of a folder that are not finite numbers: every score from them would be made up."""
    for name, weights in module.named_parameters():
        if not torch.isfinite(weights).all():
            wrong = int((~torch.isfinite(weights)).sum())
            raise ModelError(f"{folder}: {wrong} of {weights.numel()} numbers of {name!r} are not finite")


def check_vocabulary(folder: Path, tokenizer: Any, module: nn.Module) -> int:
    """Return the number of the module's embeddings.

    Raises ModelError where the tokenizer has a piece without one, but for special tokens, which no text becomes.
    """
    embeddings = module.pieces if isinstance(module, Encoder) else _input_embeddings(module)
    if embeddings is None:
        return 2**31
    pieces = tokenizer.get_vocab(with_added_tokens=True).items()
    special = {number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    ordinary = ((piece, number) for piece, number in pieces if number not in special)
    piece, last = max(ordinary, key=lambda one: one[1], default=("", -1))
    if last >= (rows := embeddings.weight.shape[0]):
        raise ModelError(f"{folder}: its tokenizer has a piece {last} ({piece!r}), but the model has {rows} embeddings")
    return int(rows)


def _input_embeddings(module: nn.Module) -> Any:
    try:
        return cast(Any, module).get_input_embeddings()
    except NotImplementedError:
        return None


def permute_weights(module: nn.Module, seed: int) -> None:
    """Permute the entries within each weight matrix; vectors (biases, LayerNorm) stay."""
    generator = torch.Generator().manual_seed(seed)
    fused = {id(part.project.weight) for part in module.modules() if isinstance(part, MultiHeadAttention)}
    with torch.no_grad():
        for parameter in module.parameters():
            # W_Q, W_K and W_V are three matrices, also where they lie in one
            for matrix in parameter.chunk(3) if id(parameter) in fused else [parameter]:
                if matrix.ndim >= 2:
                    matrix.copy_(matrix.flatten().index_select(0, _order(matrix, generator)).view_as(matrix))


def _order(matrix: Tensor, generator: torch.Generator) -> Tensor:
    """Return a random order of a matrix's entries; as 32-bit integers it is the same and takes less time."""
    count = matrix.numel()
    dtype = torch.int32 if count <= torch.iinfo(torch.int32).max else torch.int64
    return torch.randperm(count, generator=generator, dtype=dtype).to(matrix.device)
