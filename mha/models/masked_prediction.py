"""What a masked language model predicts at masked places: our encoder with its head, or a model of `transformers`."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mha.device import device_of, in_parts, moved
from mha.encoder.encoder import Encoder, Entry
from mha.models.folders import find_model, weights_sha256
from mha.models.hub import HeadMissingError, load_hub_head
from mha.models.model import Model, OfModel, permute_weights, refuse_other_weights, typed
from mha.models.packages import ModelError

MASKS = ("[MASK]", "<mask>")
"What the piece is called that stands for a masked one."

UNKNOWNS = ("[UNK]", "<unk>")
"What the piece is called that stands for whatever the vocabulary lacks."

_chosen: ContextVar[Tensor | None] = ContextVar("chosen", default=None)
"[chosen] The pieces whose vectors alone go through the decoder of a model of `transformers`, in this thread."


@dataclass(frozen=True)
class MaskedLM(OfModel):
    """A model with a masked-LM head, and the pieces that its tokenizer has for masking and for the unknown."""

    module: nn.Module
    "Our `Encoder`, or a masked LM of `transformers`."
    mask: int
    "The piece that stands for a masked one."
    unknown: int | None
    "The piece that stands for what the vocabulary lacks; None where there is none (byte-level vocabularies)."

    @classmethod
    def of(cls, model: Model) -> MaskedLM:
        """Return the masked LM of a model.

        Raises ModelError for a model without a masked-LM head, and for a tokenizer without a mask.
        """
        module = model.module
        if not isinstance(module, Encoder) or module.untied_head:
            module = _from_hub(model)
        elif not module.predicts_masked:
            why = "its weights hold none" if module.lm_head is None else "it predicts from left to right"
            raise ModelError(_no_head(model, why))
        return cls(model, module, mask_piece(model), _piece(model, "unk", UNKNOWNS))

    def read(
        self,
        ids: Int[Tensor, "batch piece"],
        real: Bool[Tensor, "batch piece"] | None,
        selected: Int[Tensor, " chosen"] | None,
        entry: Entry | None = None,
    ) -> Float[Tensor, "chosen vocab"]:
        """Return the logits of every piece of the vocabulary at the `selected` pieces of the flattened batch.

        `real` is True at pieces that are no padding. Only the vectors at these places go through the decoder. With
        `entry`, for our Encoder, the pass begins there. Raises ValueError where nothing is chosen.
        """
        if selected is None:
            raise ValueError("a masked LM is read at chosen pieces: say which")
        device = device_of(self.module)
        ids, real, selected = ids.to(device), moved(device, real), selected.to(device)
        with self.arithmetic():
            logits = self._logits(ids, real, selected, entry)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    def _logits(self, ids: Tensor, real: Tensor | None, selected: Tensor, entry: Entry | None) -> Tensor:
        types = self.types(ids, real)
        if isinstance(self.module, Encoder):
            assert self.module.lm_head is not None
            ours: Tensor = self.module.lm_head(self.module(ids, real, types, selected=selected, entry=entry))
            return ours
        before = _chosen.set(selected)
        try:
            seen = torch.ones_like(ids) if real is None else real.long()
            logits: Tensor = self.module(input_ids=ids, attention_mask=seen, **typed(types)).logits
        finally:
            _chosen.reset(before)
        if logits.ndim != 3 or logits.shape[:2] != (1, len(selected)):
            raise ModelError(f"{self.model.name}: its masked-LM head does not end in its decoder, so it cannot be read")
        return logits[0]

    def log_probabilities(
        self,
        ids: Int[Tensor, "batch piece"],
        real: Bool[Tensor, "batch piece"] | None,
        place: Int[Tensor, " batch"],
    ) -> Float[Tensor, "batch vocab"]:
        """Return the log-probability, in nats, of every piece of the vocabulary at one place of each text."""
        with torch.inference_mode():
            chosen = torch.arange(len(ids)) * ids.shape[1] + place

            def read(texts: slice) -> Tensor:
                part = None if real is None else real[texts]
                return self.read(ids[texts], part, chosen[texts] - texts.start * ids.shape[1]).log_softmax(-1)

            parts = [*in_parts(read, len(ids), f"{self.model.name}, texts of {ids.shape[1]} pieces")]
            return parts[0] if len(parts) == 1 else torch.cat(parts)


def mask_piece(model: Model) -> int:
    """Return the piece that stands for a masked one; raises ModelError for a tokenizer without."""
    mask = _piece(model, "mask", MASKS)
    if mask is None:
        raise ModelError(f"the tokenizer of {model.name} has no piece for a mask, expected {' or '.join(MASKS)}")
    return mask


def hidden_piece(model: Model) -> int:
    """Return what stands for a piece that is hidden: the mask, or the unknown piece of a tokenizer without one.

    Raises ModelError for a tokenizer that has neither.
    """
    unknown = _piece(model, "unk", UNKNOWNS)
    return mask_piece(model) if unknown is None or _piece(model, "mask", MASKS) is not None else unknown


def _piece(model: Model, role: str, names: tuple[str, ...]) -> int | None:
    """Return the piece with that role, or with one of its usual names where the tokenizer names none for it."""
    found = (model.special.get(role), *map(model.tokenizer.token_to_id, names))
    return next((piece for piece in found if piece is not None), None)


def _no_head(model: Model, why: str) -> str:
    return f"{model.name} has no masked-LM head ({why}): it cannot say which of two sentences it prefers"


def _from_hub(model: Model) -> nn.Module:
    """Load a model of `transformers` once more with its masked-LM head."""
    try:
        module = with_head(model, "MaskedLM")
    except HeadMissingError as error:
        raise ModelError(_no_head(model, str(error))) from error
    decoder: Any = module.get_output_embeddings()  # type: ignore[operator]  # of every PreTrainedModel
    if decoder is None:
        raise ModelError(_no_head(model, "transformers knows no decoder of it"))
    decoder.register_forward_pre_hook(_at_places)
    return module


def with_head(model: Model, kind: str) -> nn.Module:
    """Load a model once more with a head, which `load_model` leaves out; `kind` is one of `mha.models.hub.HEADS`.

    Raises HeadMissingError, and ModelError where its folder has other weights by now.
    """
    folder = find_model(model.name)
    refuse_other_weights(model, weights_sha256(folder))
    module = load_hub_head(str(folder), kind, random_seed=model.seed if model.source == "random" else None)
    if model.source == "permuted":
        permute_weights(module, model.seed)
    return module.to(model.device)


def _at_places(decoder: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
    """Reduce what goes into a decoder, [batch, piece, size], to [1, chosen, size]; leave it outside our calls."""
    chosen = _chosen.get()
    if chosen is None:
        return None
    return (inputs[0].flatten(0, 1).index_select(0, chosen).unsqueeze(0), *inputs[1:])
