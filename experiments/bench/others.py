"""The same questions with other tools: `output_attentions`, TransformerLens, nnsight, and a paper's script restated.

The first three read batches one after the other, on all threads, and our scorer scores their maps, of all layers at
once, which is what their interfaces give.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from experiments.bench.passes import bert, tokenizer
from mha import Model, align, collate
from mha.models.folders import NAMED
from mha.models.maps import merge
from probes import Document, get_probe
from probes.corpora.corpus import Texts
from probes.records import IntArray
from probes.scoring.aligned import Aligned
from probes.scoring.score import ask
from probes.scoring.scorer import BatchQuestions
from probes.scoring.tally import Segments, Tally
from probes.targets import Targets

ReadMaps = Callable[[Tensor, Tensor], Sequence[Tensor]]
"Takes ids and mask [text, piece]; returns the attention of each layer [text, head, piece, piece]."


def output_attentions() -> ReadMaps:
    """Return how `transformers` itself gives the maps of minilm."""
    model = bert("eager")

    def read(ids: Tensor, mask: Tensor) -> Sequence[Tensor]:
        found: Sequence[Tensor] = model(input_ids=ids, attention_mask=mask, output_attentions=True).attentions
        return found

    return read


def transformer_lens() -> ReadMaps:
    """Return how TransformerLens gives the maps of minilm: by hooks of its bridge.

    The pass ends with the last layer's: the bridge has a head of masked-LM, which nothing asks for.
    """
    from transformer_lens.model_bridge import TransformerBridge

    model = TransformerBridge.boot_transformers(str(NAMED["minilm"]()), tokenizer=tokenizer(), device="cpu")
    layers: int = model.cfg.n_layers

    def read(ids: Tensor, mask: Tensor) -> Sequence[Tensor]:
        found: list[Tensor] = []

        def keep(pattern: Tensor, hook: object) -> None:
            found.append(pattern)
            if len(found) == layers:
                raise _LastLayer

        hooks = [(f"blocks.{layer}.attn.hook_pattern", keep) for layer in range(layers)]
        with suppress(_LastLayer):
            model.run_with_hooks(ids, attention_mask=mask, fwd_hooks=hooks)
        return found

    return read


class _LastLayer(BaseException):
    """All maps have been seen. No error, so none catches it."""


def nnsight() -> ReadMaps:
    """Return how nnsight gives the maps of minilm: saved from a trace of the model of `transformers`."""
    import nnsight as library

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*has a submodule named 'output'")  # of every layer of BERT
        model = library.NNsight(bert("eager"))

    def read(ids: Tensor, mask: Tensor) -> Sequence[Tensor]:
        with model.trace(input_ids=ids, attention_mask=mask):
            found = library.save([layer.attention.self.output[1] for layer in model.encoder.layer])
        maps: Sequence[Tensor] = found
        return maps

    return read


BUDGET: Final = 1024
"Pieces a batch, padding included."


@torch.inference_mode()
def score_with(read: ReadMaps, model: Model, texts: Texts, names: Sequence[str]) -> Tally:
    """Return the sums of all heads on all questions of some probes, by maps that `read` gives; batches one by one."""
    aligned, tally = Aligned.of(model, texts), Tally(model.layers * model.heads)
    probes, blocks = [get_probe(name) for name in names], aligned.blocks()
    for chosen in aligned.batches(BUDGET):
        documents, cut = texts.take([aligned.kept[i] for i in chosen]), [aligned.pieces[i] for i in chosen]
        groups = ask(probes, documents, cut, aligned.dropped)
        batch = collate(cut, padding=model.padding)
        segments = Segments.of(groups, np.array([blocks[document.id] for document in documents], np.int64))
        scorer = BatchQuestions.of(groups, segments, batch).scorer
        mask = torch.ones_like(batch.ids) if batch.mask is None else batch.mask.long()
        maps = [scorer.sums(merge(pattern, batch)).numpy() for pattern in read(batch.ids, mask)]
        tally.add(segments, np.stack(maps, 2).reshape(len(segments), -1, model.layers * model.heads))
    return tally


LENGTH: Final = 128
"Pieces that every text is padded to, as in the script unless it is told another number."
BATCH: Final = 16
"Texts a batch, as there."


@torch.inference_mode()
def score_as_published(model: Model, texts: Sequence[Document]) -> Counter[tuple[int, str, str]]:
    """Return the hits of every head on every dependency label, in the way of the scripts of Clark et al. 2019.

    Keys are head, variant and label. All texts are padded to one length, longer ones are left out, maps are kept in
    half precision and made those of words head by head in numpy, and the words that attend most, or are attended to
    most, are compared one question at a time (attention-analysis: extract_attention.py, Syntax_Analysis.ipynb).
    """
    bert_model, probe, hits = bert("eager"), get_probe("dependency"), Counter[tuple[int, str, str]]()
    cut = [*zip(texts, align(model.tokenizer, [text.words for text in texts]), strict=True)]
    short = [(text, pieces) for text, pieces in cut if len(pieces) <= LENGTH]
    for start in range(0, len(short), BATCH):
        chosen = short[start : start + BATCH]
        ids = np.zeros((len(chosen), LENGTH), np.int64)
        mask = np.zeros_like(ids)
        for row, (_, pieces) in enumerate(chosen):
            ids[row, : len(pieces)], mask[row, : len(pieces)] = pieces.ids, 1
        output = bert_model(
            input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask), output_attentions=True
        )
        maps = np.stack([layer.numpy() for layer in output.attentions], 1)
        for row, (text, pieces) in enumerate(chosen):
            of_text = maps[row, :, :, : len(pieces), : len(pieces)].astype(np.float16)
            words = [np.flatnonzero(pieces.word == number) for number in range(pieces.words)]
            of_words = [_between_words(one, words) for one in of_text.reshape(-1, *of_text.shape[2:])]
            for variant, targets in probe.targets(text).items():
                _count(hits, variant, targets, [one.argmax(0 if targets.by_column else 1) for one in of_words])
    return hits


def _between_words(pattern: npt.NDArray[np.float16], words: Sequence[IntArray]) -> npt.NDArray[np.float16]:
    """Return the attention between words [word, word], of a word to itself -1; `words` are the pieces of each."""
    to_words = np.stack([pattern[:, pieces].sum(1) for pieces in words], 1)
    of_words = np.stack([to_words[pieces].mean(0) for pieces in words])
    np.fill_diagonal(of_words, -1)
    return of_words


def _count(hits: Counter[tuple[int, str, str]], variant: str, targets: Targets, strongest: Sequence[IntArray]) -> None:
    """Count the questions about one text that heads have right; `strongest` is the word of each word, head by head."""
    right: list[set[int]] = [set() for _ in range(len(targets))]
    for key, item in zip(*targets.gold, strict=True):
        right[item].add(int(key))
    for head, words in enumerate(strongest):
        for query, keys, label in zip(targets.query, right, targets.label, strict=True):
            hits[head, variant, label] += int(words[query]) in keys
