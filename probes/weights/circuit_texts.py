"""What heads do on text with places and word forms: the counterpart of what their weights alone say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn

from mha.batches import Batch, collate
from mha.encoder.encoder import Encoder
from mha.hooks import watch
from mha.models.circuits import CircuitError, encoder_of, readouts
from mha.models.model import Model
from mha.parallel import in_order
from mha.watches import Seen
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.scoring.scorer import TINY

CONSTANT = 1e-5
"Vectors whose variance is a smaller part of their mean square are the same everywhere, as far as rounding can tell."

Sums = dict[str, Tensor]
"Name -> sums over pieces, [head, ...] of a layer or [layer, head, ...] of all, in double precision."


@dataclass(frozen=True)
class TextMeasures:
    """Measures of every head, [layer, head], over the pieces of words; [CLS] and [SEP] are left aside."""

    offsets: Float64[Tensor, "layer head offset"]
    "Mean attention from a piece to the piece at an offset of -reach to reach, where a word has one there."
    same_word: Float64[Tensor, "layer head"]
    """Of the attention that a piece gives other pieces of words, the share for repeats of itself, less the share that
    uniform attention gives them; mean over pieces that are repeated. In [-1, 1]."""
    related: Float64[Tensor, "layer head"]
    """Mean cosine between the embedding of a piece and those it attends to, weighted by attention, less the plain mean
    of the cosines; repeats left aside. In [-2, 2]."""
    copying: Float64[Tensor, "layer head"]
    """Correlation of what a head writes with what raises the logits of the pieces it attends to, both as vectors
    about their means. In [-1, 1]; NaN where one of them does not vary."""
    write_norm: Float64[Tensor, "layer head"]
    "Mean length of the vector that a head writes (Kobayashi et al. 2020, of the whole head), in the layer's units."
    pieces: int
    "Pieces that were read."


def measure_texts(
    model: Model, aligned: Aligned, reach: int, settings: Settings, progress: Callable[[int], None] = lambda texts: None
) -> TextMeasures:
    """Read texts and return what every head does there. Raises CircuitError as `mha.models.circuits.encoder_of` does.

    Batches are read side by side and added in their order. `progress` is told the number of texts of each batch.
    """
    model = model.on_cpu()
    encoder = encoder_of(model)
    mean = encoder.pieces.weight.detach().mean(0)
    total: Sums = {}

    def read(chosen: list[int]) -> Sums:
        batch = collate([aligned.pieces[i] for i in chosen], padding=model.padding)
        return _Reading(model, encoder, batch, encoder.pieces.weight.detach()[batch.ids] - mean, reach).run()

    batches = aligned.batches(settings.batch_pieces)
    for chosen, sums in zip(batches, in_order(read, batches, settings.workers), strict=True):
        total = {name: total[name] + part for name, part in sums.items()} if total else sums
        progress(len(chosen))
    if not total:
        raise CircuitError(f"{model.name}: no text that it can read, so there is nothing to hold its weights against")
    return _measures(total)


def _measures(total: Sums) -> TextMeasures:
    pieces = total["pieces"][0]
    return TextMeasures(
        offsets=total["offsets"] / total["offset_pieces"][:, None],
        same_word=total["same"] / total["same_pieces"][:, None],
        related=total["related"] / total["related_pieces"][:, None],
        copying=_correlation(total, pieces),
        write_norm=total["write_norm"] / pieces,
        pieces=int(pieces),
    )


def _correlation(total: Sums, pieces: Tensor) -> Float64[Tensor, "layer head"]:
    """Return the correlation of what is written with what is attended to; NaN where one of them hardly varies."""
    means, squares = [], []
    for kind in ("write", "mixed"):
        mean, square = total[kind] / pieces, total[f"{kind}_squares"] / pieces
        varies = square - mean.square().sum(-1)
        means.append(mean)
        squares.append(torch.where(varies > CONSTANT * square, varies, torch.nan))
    joint = total["joint"] / pieces - (means[0] * means[1]).sum(-1)
    return (joint / (squares[0] * squares[1]).sqrt()).clamp(-1, 1)


@dataclass
class _Reading:
    """One batch, read layer by layer."""

    model: Model
    encoder: Encoder
    batch: Batch
    embedded: Float[Tensor, "batch piece size"]
    "The embedding of every piece, the mean of the vocabulary taken off."
    reach: int
    layers: list[Sums] = field(default_factory=list)
    pattern: Tensor | None = None

    def __post_init__(self) -> None:
        """Lay out what does not depend on the layer."""
        ids = self.batch.ids
        self.inside = self.batch.to_words[:, :, :-2].sum(2) > 0
        self.both = self.inside[:, :, None] & self.inside[:, None]
        self.others = self.both & ~torch.eye(ids.shape[1], dtype=torch.bool)
        self.repeats = self.others & (ids[:, :, None] == ids[:, None])
        unit = nn.functional.normalize(self.embedded, dim=-1)
        self.cosine = unit @ unit.transpose(1, 2)
        self.directions = [self.embedded @ matrix.float() for matrix in readouts(self.encoder)]

    def run(self) -> Sums:
        """Run the model and return the sums of the batch, all layers one after the other."""
        with torch.inference_mode(), watch(self.encoder, self.look, ["pattern", "head_output"]):
            self.model.run(self.batch.ids, self.batch.mask)
        return {name: torch.stack([layer[name] for layer in self.layers]) for name in self.layers[0]}

    def look(self, seen: Seen) -> None:
        """Take the pattern of a layer, then what its heads made of it."""
        if seen.site == "pattern":
            self.pattern = seen.tensor
            return
        assert self.pattern is not None
        assert seen.call is not None
        sums = self._places(self.pattern) | self._forms(self.pattern)
        sums |= self._writes(self.pattern, seen.tensor, seen.written_norms(), seen.call.output_weights())
        self.layers.append({name: part.double() for name, part in sums.items()})

    def _places(self, pattern: Float[Tensor, "batch head query key"]) -> Sums:
        found, counts = [], []
        for offset in range(-self.reach, self.reach + 1):
            there = self.both.diagonal(offset, 1, 2)
            found.append((pattern.diagonal(offset, 2, 3) * there[:, None]).double().sum((0, 2)))
            counts.append(there.sum())
        return {"offsets": torch.stack(found, 1), "offset_pieces": torch.stack(counts)}

    def _forms(self, pattern: Float[Tensor, "batch head query key"]) -> Sums:
        repeats, fresh = self.repeats, self.others & ~self.repeats
        asked = repeats.any(2) & fresh.any(2)
        rest = _over(pattern, self.others)
        even = repeats.sum(2) / self.others.sum(2).clamp(min=1)
        share = _over(pattern, repeats) / rest.clamp(min=TINY) - even[:, None]
        several = fresh.sum(2) > 1
        near = _over(pattern * self.cosine[:, None], fresh) / _over(pattern, fresh).clamp(min=TINY)
        plain = (self.cosine * fresh).sum(2) / fresh.sum(2).clamp(min=1)
        return {
            "same": _total(share, asked),
            "same_pieces": asked.sum(),
            "related": _total(near - plain[:, None], several),
            "related_pieces": several.sum(),
        }

    def _writes(self, pattern: Tensor, output: Tensor, lengths: Tensor, weights: Tensor) -> Sums:
        """Sum lengths and products of the head's vector w and of the mixture m of directions that it attends to.

        Neither is made in the size of the model for every piece: w m' goes through head_dim, |m|^2 through the products
        of the directions.
        """
        direction, inside = self.directions[len(self.layers)], self.inside
        attended = pattern * inside[:, None, None]
        through = torch.einsum("bkm,hdm->bhkd", direction, weights)
        products = torch.bmm(direction, direction.transpose(1, 2))[:, None]
        given = (attended * inside[:, None, :, None]).double().sum(2)
        return {
            "pieces": inside.sum(),
            "joint": _total((output * torch.matmul(attended, through)).sum(-1), inside),
            "write_squares": _total(lengths.square(), inside),
            "mixed_squares": _total((torch.matmul(attended, products) * attended).sum(-1), inside),
            "write": torch.einsum("hd,hdm->hm", _total(output, inside), weights.double()),
            "mixed": torch.einsum("bhk,bkm->hm", given, direction.double()),
            "write_norm": _total(lengths, inside),
        }


def _over(values: Float[Tensor, "batch head query key"], keys: Bool[Tensor, "batch query key"]) -> Tensor:
    """Return the sums [batch, head, query] over some keys."""
    return torch.einsum("bhqk,bqk->bhq", values, keys.to(values.dtype))


def _total(values: Tensor, asked: Bool[Tensor, "batch query"]) -> Tensor:
    """Return [head, ...] the sums over the queries that are asked, of values [batch, head, query, ...]."""
    chosen = asked[:, None] if values.ndim == 3 else asked[:, None, :, None]
    return torch.where(chosen, values, 0).double().sum((0, 2))
