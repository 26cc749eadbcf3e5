"""Do heads live in different representation subspaces? What they read, what they write, and what comes out of them.

Vaswani et al. 2017, section 3.2.2, say of multi-head attention that heads attend "to information from different
representation subspaces". The subspace that a head reads its values from is spanned by the columns of W_V, the one that
it writes to by the rows of W_O.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from mha.attention import MultiHeadAttention
from mha.batches import collate
from mha.encoder.encoder import Encoder
from mha.hooks import watch
from mha.models.model import Model
from mha.parallel import in_order
from mha.watches import Seen
from probes.corpora.corpus import MemoryTexts
from probes.records import Document
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers


class SubspaceError(ValueError):
    """A model whose W_V cannot be found."""


def head_weights(model: Model) -> dict[str, Float[Tensor, "head model head_dim"]]:
    """Return what spans the subspace of every head, layer by layer: W_V, and W_O transposed, by these names.

    Raises SubspaceError for a model that is not one of our `Encoder`.
    """
    if not isinstance(model.module, Encoder):
        raise SubspaceError(
            f"{model.name}: where W_V lies is known for models of BERT's family only, not for {model.architecture!r}"
        )
    parts = [part for part in model.module.modules() if isinstance(part, MultiHeadAttention)]
    with torch.no_grad():
        values = torch.cat([part.W_V for part in parts]).clone()
        outputs = torch.cat([part.W_O for part in parts]).transpose(1, 2).clone()
    return {"W_V": values.cpu(), "W_O": outputs.cpu()}


def subspace_overlap(spans: Float[Tensor, "head model head_dim"]) -> tuple[Numbers, Numbers]:
    """Return of every two subspaces, [head, head] each, the overlap and the cosine of the smallest principal angle.

    The overlap is the mean of the squared cosines of all principal angles (Bjorck and Golub 1973): 1 where one holds
    the other, 0 where they are orthogonal, and for random ones of d dimensions in a space of m on average d / m. Both
    lie in [0, 1]; NaN where a span is zero.
    """
    bases, within = torch.linalg.qr(spans.double())  # the decomposition of its small factor takes far less time
    left, sizes, _ = torch.linalg.svd(within)
    real = sizes > sizes[:, :1] * max(spans.shape[1:]) * torch.finfo(torch.float32).eps
    bases = bases @ left * real[:, None]
    rank = real.sum(1).numpy()
    rank = np.where(sizes[:, 0].numpy() > 0, rank, 0)
    squares, nearest = np.zeros((len(bases), len(bases))), np.zeros((len(bases), len(bases)))
    for number, basis in enumerate(bases):
        cosines = torch.linalg.svdvals(torch.einsum("md,hme->hde", basis, bases[number:]))
        for table, values in ((squares, (cosines**2).sum(1)), (nearest, cosines[:, 0])):
            table[number, number:] = table[number:, number] = values.numpy()
    least = np.minimum(rank[:, None], rank).astype(np.float64)
    least[least == 0] = np.nan
    return np.clip(squares / least, 0, 1), np.where(np.isnan(least), np.nan, np.clip(nearest, 0, 1))


def output_similarity(model: Model, texts: Sequence[Document], settings: Settings) -> tuple[Numbers, int]:
    """Return [head, head], linear CKA of the heads' outputs at the words of `texts`, and the number of words.

    The output of a head at a word is the mean over its pieces before W_O. In [0, 1]: 1 for outputs that are the same up
    to rotation, scale and shift (Kornblith et al. 2019, section 3); NaN for a head whose output is constant. Only sums
    of products are kept. With n words independent outputs of d dimensions have about d / n.
    """
    aligned = Aligned.of(model, MemoryTexts(texts))

    def outputs(chosen: list[int]) -> Float[Tensor, "word output"]:
        cut = [aligned.pieces[i] for i in chosen]
        batch = collate(cut, reduce=settings.reduce, padding=model.padding)
        inside, layers = batch.from_words.sum(2) > 0.5, []

        def see(seen: Seen) -> None:
            layers.append(torch.einsum("bwp,bhpd->bwhd", batch.from_words, seen.tensor.cpu())[inside].flatten(1))

        with torch.inference_mode(), watch(model.module, see, ["head_output"]):
            model.run(batch.ids, batch.mask)
        return torch.cat(layers, 1)

    count, total, products = 0, torch.zeros(()), list[Tensor]()
    for batch in in_order(outputs, aligned.batches(settings.batch_pieces), settings.workers):
        rows = batch.double()
        size = rows.shape[1] // model.layers
        products = products or [
            torch.zeros(size, rows.shape[1] - start, dtype=rows.dtype) for start in range(0, rows.shape[1], size)
        ]
        for layer, sums in enumerate(products):
            sums.addmm_(rows[:, layer * size : (layer + 1) * size].T, rows[:, layer * size :])
        count, total = count + len(rows), total + rows.sum(0)
    if not count:
        return np.full((model.layers * model.heads,) * 2, np.nan), 0
    return _alignment(products, total, count, model.layers * model.heads), count


def _alignment(products: Sequence[Tensor], total: Tensor, count: int, heads: int) -> Numbers:
    """Return linear CKA from sums over `count` words: of all outputs, and of their products with those of each layer.

    The products of a layer are those with its own outputs and those of later layers; they are centred in place.
    """
    own, size = heads // len(products), len(total) // heads
    squares, raw, variance = np.zeros((heads, heads)), np.zeros(heads), np.zeros(heads)
    for layer, sums in enumerate(products):
        first = layer * own
        here, later = slice(first, first + own), total[first * size :]
        raw[here] = torch.diagonal(sums).view(own, size).sum(1)
        sums.addr_(later[: own * size], later, alpha=-1 / count)
        variance[here] = torch.diagonal(sums).view(own, size).sum(1)
        squares[here, first:] = sums.view(own, size, -1, size).square_().sum((1, 3))
        squares[first:, here] = squares[here, first:].T
    norms = np.diagonal(squares).copy()
    norms[variance <= 1e-12 * raw] = np.nan  # nothing but rounding is left of a constant
    alignment: Numbers = np.clip(squares / np.sqrt(norms[:, None] * norms), 0, 1)
    return alignment
