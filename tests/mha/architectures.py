"""Every architecture read and compared with `transformers` alone, and docs/architectures.md, made from it.

python -m tests.mha.architectures
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import transformers as hub
from torch import Tensor, nn

from mha.batches import collate
from mha.encoder.encoder import Encoder
from mha.encoder.families import FAMILIES
from mha.hooks import record, watch
from mha.models.maps import stream_maps
from mha.models.model import Model, load_model
from mha.models.packages import ModelError
from mha.pieces import Pieces, align
from mha.projections import OUTPUT_PROJECTIONS
from tests.mha.tiny.models import ARCHITECTURES, save
from tests.mha.tiny.vocabularies import describe

PAGE = Path(__file__).parents[2] / "docs" / "architectures.md"

SENTENCES = (
    ("The", "keys", "to", "Zoë's", "cabinet", "are", "here", "."),
    ("Mira", "sees", "the", "old", "café", ",", "singing"),
    ("it", "is", "in"),
)


@dataclass(frozen=True)
class Outcome:
    """What came of an architecture."""

    kind: str
    refused: str = ""
    "why it is refused; empty where it is read"
    family: str = ""
    "encoder, decoder, or encoder of an encoder-decoder"
    pieces: bool = True
    "whether pieces and their words are those of the plain text as the folder's own tokenizer cuts it"
    shape: bool = True
    "whether layers and heads are as many as there are maps"
    off: float = 0.0
    "largest difference of a map or of the output from the model's own eager attention"
    words: float = 0.0
    "largest difference of a map of words, which is merged here in another way"
    written: float | None = None
    "largest difference of what all heads write from the output of W_O; None where the place of W_O is not known"
    pads: tuple[bool, bool] = (True, True)
    "whether texts of several lengths are read in one batch, and whether transformers gives a text the same maps in one"
    local: str = ""
    "how many layers attend to a window alone"
    masked: bool = False
    "whether `transformers` has a masked-LM head for it"


class Reference:
    """A folder as `transformers` alone reads it: eager attention, the tokenizer's own call on the plain text."""

    def __init__(self, folder: Path) -> None:
        config = hub.AutoConfig.from_pretrained(folder)
        full = {"attention_type": "original_full"} if config.model_type == "big_bird" else {}
        model: Any = hub.AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32, **full)
        self.model = (model.get_encoder() if model.config.is_encoder_decoder else model).eval()
        self.tokenizer = hub.AutoTokenizer.from_pretrained(folder)

    def pieces(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the pieces of a text and the word of each by its characters, -1 for special pieces."""
        given = self.tokenizer(" ".join(words), return_offsets_mapping=True, return_special_tokens_mask=True)
        ends = np.cumsum([len(word) + 1 for word in words]) - 1  # a blank belongs to the word behind it
        found = [
            -1 if special else int(np.searchsorted(ends, max(begin, end - 1), side="right"))
            for (begin, end), special in zip(given["offset_mapping"], given["special_tokens_mask"], strict=True)
        ]
        return list(given["input_ids"]), found

    def run(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the output and the maps of a batch."""
        with torch.no_grad():
            made = self.model(input_ids=ids, attention_mask=mask, output_attentions=True)
        squeezed = self.model.config.model_type == "squeezebert"  # which gives the scores in their place
        return made[0], [one.softmax(-1) if squeezed else one for one in made.attentions]

    def by_word(self, words: Sequence[str]) -> np.ndarray[Any, Any]:
        """Return the maps of a text alone, [layer, head, query, key] between its words."""
        ids, of = self.pieces(words)
        given = torch.tensor([ids])
        maps = torch.cat(self.run(given, torch.ones_like(given))[1]).double().numpy()
        member = (np.array(of) == np.arange(len(words))[:, None]).astype(float)
        merged: np.ndarray[Any, Any] = (member / member.sum(1, keepdims=True)) @ maps @ member.T
        return merged


def try_out(kind: str, folder: Path, change: Callable[[nn.Module], None] = lambda model: None) -> Outcome:
    """Open a folder of a tiny model, and compare what is read of it with what `transformers` alone makes of it.

    `change` is done to our model alone, for tests that a difference is seen.
    """
    try:
        model = load_model(str(save(kind, folder)))
    except ModelError as error:
        return Outcome(kind, str(error).removeprefix(f"{folder}: "))
    change(model.module)
    own = Reference(folder)
    cut = [own.pieces(words) for words in SENTENCES]
    texts = align(model.tokenizer, SENTENCES)
    ids, real = _padded([ids for ids, _ in cut], model.padding or 0)
    with torch.no_grad(), record(model.module) as maps:
        output = model.run(ids, real)
    expected, patterns = own.run(ids, real.long())
    shown, rows = zip(maps["pattern"], patterns, strict=True), real[:, None, :, None]
    return Outcome(
        kind,
        family=_family(model, maps["pattern"]),
        pieces=[(text.ids.tolist(), np.maximum(text.word, -1).tolist()) for text in texts] == cut,
        shape=(model.layers, model.heads) == (len(patterns), patterns[0].shape[1]),
        off=_farthest([*((ours * rows, theirs * rows) for ours, theirs in shown), (output[real], expected[real])]),
        words=_words_off(model, own, texts),
        written=_written(model, ids, real),
        pads=(model.padding is not None, _pads(own, ids, real, patterns)),
        local=_local(maps["pattern"]),
        masked=kind in hub.models.auto.modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )


def _pads(own: Reference, ids: Tensor, real: Tensor, patterns: Sequence[Tensor]) -> bool:
    """Return whether the maps of the texts alone are those that they have in a batch."""
    apart = []
    for place, length in enumerate(real.sum(1).tolist()):
        text = ids[place : place + 1, :length]
        alone = own.run(text, torch.ones_like(text))[1]
        inside = [pattern[place : place + 1, :, :length, :length] for pattern in patterns]
        apart.append(_farthest([*zip(alone, inside, strict=True)]))
    return max(apart) < 1e-4


def _padded(texts: Sequence[Sequence[int]], padding: int) -> tuple[Tensor, Tensor]:
    length = max(map(len, texts))
    ids = torch.tensor([[*text, *[padding] * (length - len(text))] for text in texts])
    return ids, torch.arange(length) < torch.tensor([len(text) for text in texts])[:, None]


def _words_off(model: Model, own: Reference, texts: Sequence[Pieces]) -> float:
    """Return the largest difference of a map of words, each text alone."""
    off = []
    for text, words in zip(texts, SENTENCES, strict=True):
        layers: list[Tensor] = []
        stream_maps(model, collate([text]), lambda _, maps, layers=layers: layers.append(maps[0]))
        found = torch.stack(layers)[..., : text.words].double().numpy()
        off.append(float(np.abs(found - own.by_word(words)).max()))
    return max(off)


def _family(model: Model, maps: list[Tensor]) -> str:
    config: Any = model.module.config
    if getattr(config, "is_encoder_decoder", False):
        return "encoder of an encoder-decoder"
    return "encoder" if any(bool((pattern[0].triu(1) > 0).any()) for pattern in maps) else "decoder"


def _written(model: Model, ids: Tensor, real: Tensor) -> float | None:
    """Return how far what the heads write together is from what the module of W_O returns without its bias."""
    ours = isinstance(model.module, Encoder)
    if not ours and model.architecture not in OUTPUT_PROJECTIONS:
        return None
    found: list[Tensor] = []
    summed: list[Tensor] = []
    suffix = "output" if ours else OUTPUT_PROJECTIONS[model.architecture].removeprefix("../")
    handles = []
    for name, module in model.module.named_modules():
        if name.endswith(f".{suffix}") and re.search("attention|attn", name.lower()):
            bias = 0 if module.bias is None else module.bias
            handles.append(module.register_forward_hook(lambda _, __, out, bias=bias: found.append(_first(out) - bias)))
    with torch.no_grad(), watch(model.module, lambda seen: summed.append(seen.tensor.sum(1)), ["head_write"]):
        model.run(ids, real)
    for handle in handles:
        handle.remove()
    pairs = zip(found, summed, strict=True)  # our Encoder leaves padding out
    return _farthest([(out, heads[real]) if ours else (out.view_as(heads), heads) for out, heads in pairs])


def _first(output: Any) -> Tensor:
    return output[0] if isinstance(output, tuple) else output  # I-BERT's has a scale beside it


def _farthest(pairs: list[tuple[Tensor, Tensor]]) -> float:
    """Return the largest difference of tensors of the same shapes; NaN where one has a NaN."""
    assert all(ours.shape == theirs.shape for ours, theirs in pairs)
    return float(torch.stack([(ours - theirs).abs().max() for ours, theirs in pairs]).max())


def _local(maps: list[Tensor]) -> str:
    """Return how many layers give nothing to some pieces of the first text, whose pieces all are real."""
    local = 0
    for pattern in maps:
        first = pattern[0, 0]
        seen = first if bool((first.triu(1) > 0).any()) else first + first.T  # of a decoder what lies before
        local += bool((seen == 0).any())
    return f"{local} of {len(maps)}" if local else ""


def row(outcome: Outcome) -> str:
    """Return the row of the page."""
    if outcome.refused:
        return f"| {outcome.kind} | {outcome.refused} |"
    near = "within 1e-5" if outcome.kind in FAMILIES else "identical"
    same = near if outcome.off <= (1e-5 if outcome.kind in FAMILIES else 0) else f"off by {outcome.off:.0e}"
    written = (
        "no W_O" if outcome.written is None else f"W_O off by {outcome.written:.0e}" if outcome.written >= 1e-5 else ""
    )
    remarks = [
        "" if same == "identical" else same,
        "" if outcome.pads[0] else "one length",
        outcome.local and f"local: {outcome.local}",
        written,
        "masked-LM head" if outcome.masked else "",
    ]
    return f"| {outcome.kind} | {describe(outcome.kind)} | {'; '.join(filter(None, remarks))} |"


def page(outcomes: list[Outcome]) -> str:
    """Return docs/architectures.md: what it says before its tables, and the tables anew."""
    about = PAGE.read_text(encoding="utf-8").partition("\n## Read")[0]
    parts = [re.sub(r"transformers \d[\d.]* alone", f"transformers {hub.__version__} alone", about)]
    for family in dict.fromkeys(one.family for one in outcomes if not one.refused):
        rows = [row(one) for one in outcomes if one.family == family and not one.refused]
        parts += [f"## Read: {family}, {len(rows)}", "", "| architecture | tokenizer | |\n|---|---|---|", *rows, ""]
    refused = [row(one) for one in outcomes if one.refused]
    parts += [f"## Refused: {len(refused)}", "", "| architecture | reason |\n|---|---|", *refused, ""]
    return "\n".join(parts)


if __name__ == "__main__":
    hub.logging.set_verbosity_error()
    with TemporaryDirectory() as folders:
        tried = [try_out(kind, Path(folders, kind)) for kind in ARCHITECTURES]
    PAGE.write_text(page(tried), encoding="utf-8")
