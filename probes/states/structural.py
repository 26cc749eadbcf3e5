"""The structural probe: a projection in which squared distances are distances in the tree (Hewitt and Manning 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from probes.records import Document
from probes.states.trees import GoldTree, in_a_row, is_tree
from probes.states.word_states import ClusteredMean, WordStates
from reports.tables.classifiers import RANK

DISTANCES, DEPTHS = ("tree distances", "tree depths")
"Tasks."

ATTACHED, CORRELATION, ROOT = ("undirected attachment", "rank correlation", "root")
"Measures."

ROW = -1
"In the place of a layer: words in a row."

SHORTEST, LONGEST = 5, 50
"Words of the sentences whose rank correlations are told (section 4.1)."

EPOCHS, BATCH, RATE = 12, 20, 0.005
"How projections are fitted: passes over the sentences, sentences a step, first rate of Adam."


@dataclass(frozen=True)
class StructuralProbe:
    """The projections of every layer, for distances and for depths."""

    scale: Float[Tensor, "layer 1 1 1"]
    "Standard deviation of a layer's states, by which they are divided."
    distances: Float[Tensor, "layer model rank"]
    depths: Float[Tensor, "layer model rank"]

    @classmethod
    def fit(cls, states: WordStates, texts: Sequence[int], seed: int) -> StructuralProbe:
        """Fit both projections of all layers at once, each with the L1 loss (section 3.1, equation 2).

        The loss of a sentence of n words is the sum of absolute errors over n^2 pairs, or over n words. All layers see
        the same batches in the same order; the rate of Adam falls to 0.
        """
        random = np.random.default_rng(seed)
        scale = torch.from_numpy(states.vectors.std((1, 2)))[:, None, None, None].clamp_min(1e-12)
        layers, _, size = states.vectors.shape
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.rand(2, layers, size, min(RANK, size), generator=generator)
        both = [(0.1 * one - 0.05).requires_grad_() for one in drawn]  # as in the authors' code
        optimizer = torch.optim.Adam(both, lr=RATE)
        ordered = sorted(texts, key=lambda text: len(states.documents[text]))
        parts = [ordered[begin : begin + BATCH] for begin in range(0, len(ordered), BATCH)]
        batches = [parts[place] for _ in range(EPOCHS) for place in random.permutation(len(parts))]
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, max(1, len(batches)))
        gold = {text: _gold(states.documents[text]) for text in texts}
        for part in batches:
            optimizer.zero_grad()
            _loss(states, part, gold, scale, both).backward()  # type: ignore[no-untyped-call]  # of torch
            optimizer.step()
            schedule.step()
        return cls(scale, both[0].detach(), both[1].detach())

    def predicted(self, states: WordStates, text: int) -> tuple[np.ndarray, np.ndarray]:
        """Return squared distances [layer, word, word] and lengths [layer, word] of the words of a text."""
        here = states.vectors[:, states.starts[text] : states.starts[text + 1]]
        words = torch.from_numpy(here)[:, None] / self.scale
        apart, below = squared_distances(words, self.distances), squared_lengths(words, self.depths)
        return apart[:, 0].numpy(), below[:, 0].numpy()


def squared_lengths(
    states: Float[Tensor, "layer text word model"], projection: Float[Tensor, "layer model rank"]
) -> Float[Tensor, "layer text word"]:
    """Return ||B h||^2 of every word."""
    return torch.einsum("ltwm,lmk->ltwk", states, projection).square().sum(-1)


def squared_distances(
    states: Float[Tensor, "layer text word model"], projection: Float[Tensor, "layer model rank"]
) -> Float[Tensor, "layer text word word"]:
    """Return ||B (h_i - h_j)||^2 of every two words (section 2.1, equation 1)."""
    projected = torch.einsum("ltwm,lmk->ltwk", states, projection)
    products = torch.einsum("ltik,ltjk->ltij", projected, projected)
    lengths = torch.diagonal(products, dim1=-2, dim2=-1)
    return (lengths[..., :, None] + lengths[..., None, :] - 2 * products).clamp_min(0)


def _gold(document: Document) -> tuple[Tensor, Tensor]:
    tree = GoldTree.of(document)
    return torch.from_numpy(tree.distances).float(), torch.from_numpy(tree.depths).float()


def _loss(
    states: WordStates, texts: list[int], gold: dict[int, tuple[Tensor, Tensor]], scale: Tensor, both: list[Tensor]
) -> Tensor:
    """Return the mean loss of some sentences, summed over layers and over both projections."""
    longest = max(len(states.documents[text]) for text in texts)
    x = torch.zeros(len(scale), len(texts), longest, states.vectors.shape[-1])
    distances, depths = torch.zeros(len(texts), longest, longest), torch.zeros(len(texts), longest)
    weight = torch.zeros(len(texts), longest)
    for row, text in enumerate(texts):
        begin, end = states.starts[text : text + 2]
        n = int(end - begin)
        x[:, row, :n] = torch.from_numpy(states.vectors[:, begin:end])
        distances[row, :n, :n], depths[row, :n] = gold[text]
        weight[row, :n] = 1 / n
    x = x / scale
    apart = (squared_distances(x, both[0]) - distances).abs() * weight[:, :, None] * weight[:, None, :]
    below = (squared_lengths(x, both[1]) - depths).abs() * weight
    return (apart.sum() + below.sum()) / len(texts)


def probe_trees(select: WordStates, report: WordStates, seed: int) -> pd.DataFrame:
    """Return a row for each layer and measure of both tasks; nothing where a split has no trees.

    Of the selection split four fifths of the documents are learned from; `held_out` is the value on the others, by
    which a layer may be selected. `baseline` is that of words in a row. Sentences have LONGEST words at the most. A
    rank correlation is the mean over sentences of a length, then over lengths from SHORTEST words on (section 4.1);
    `low` and `high` end a 95 % interval over documents.
    """
    texts = [[text for text, one in enumerate(part.documents) if _usable(one)] for part in (select, report)]
    held_out = [text for text in texts[0] if select.held_out[text]]
    learned = [text for text in texts[0] if not select.held_out[text]]
    if not (learned and held_out and texts[1]):
        return pd.DataFrame()
    probe = StructuralProbe.fit(select, learned, seed)
    inside, outside = (_measured(probe, *part) for part in ((select, held_out), (report, texts[1])))
    rows = []
    for (task, measure, layer), mean in outside.items():
        if layer != ROW:
            baseline = outside[task, measure, ROW].value if (task, measure, ROW) in outside else np.nan
            known = {"held_out": inside[task, measure, layer].value, "baseline": baseline}
            rows.append({"task": task, "measure": measure, "layer": layer} | mean.row | known)
    return pd.DataFrame(rows)


def _usable(document: Document) -> bool:
    return is_tree(document) and len(document) <= LONGEST and sum(tag != "PUNCT" for tag in document.upos) > 1


Key = tuple[str, str, int]
"Task, measure and layer, or ROW."


def _measured(probe: StructuralProbe, states: WordStates, texts: Sequence[int]) -> dict[Key, ClusteredMean]:
    """Return every measure of every layer, and of words in a row."""
    values: dict[Key, list[float]] = {}
    sources: dict[Key, list[int]] = {}
    for text in texts:
        tree = GoldTree.of(states.documents[text])
        apart, below = probe.predicted(states, text)
        measures = _of_depths(tree, below) | _of_distances(tree, apart, 0)
        measures |= _of_distances(tree, in_a_row(len(tree.depths))[None], ROW)
        for key, some in measures.items():
            values.setdefault(key, []).extend(some)
            sources.setdefault(key, []).extend([text] * len(some))
    lengths = np.diff(states.starts)
    return {
        key: ClusteredMean.of_means(np.array(some), lengths[sources[key]], states.clusters[sources[key]])
        if key[1] == CORRELATION
        else ClusteredMean.of(np.array(some), states.clusters[sources[key]])
        for key, some in values.items()
    }


def _of_distances(tree: GoldTree, apart: np.ndarray, first: int) -> dict[Key, list[float]]:
    """Return the measures of distances [layer, word, word], of layers from `first` on."""
    found = {(DISTANCES, ATTACHED, first + layer): tree.attached(one) for layer, one in enumerate(apart)}
    if len(tree.depths) >= SHORTEST:
        every = tree.distance_correlation(apart)
        found |= {(DISTANCES, CORRELATION, first + layer): [float(one)] for layer, one in enumerate(every)}
    return found


def _of_depths(tree: GoldTree, below: np.ndarray) -> dict[Key, list[float]]:
    """Return the measures of depths [layer, word]."""
    found = {(DEPTHS, ROOT, layer): [float(one)] for layer, one in enumerate(tree.root_correct(below))}
    if len(tree.depths) >= SHORTEST:
        every = tree.depth_correlation(below)
        found |= {(DEPTHS, CORRELATION, layer): [float(one)] for layer, one in enumerate(every)}
    return found
