"""Parsers put to a corpus: attention of all heads, distances, and the next word, each with its accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from mha.batches import Batch, collate, plan
from mha.maps import stream_maps
from mha.models import Model
from mha.parallel import in_order
from mha.pieces import CLS, SEP
from probes.aligned import CHUNK, Aligned, name_of
from probes.arcs import content_of
from probes.corpora import Texts
from probes.draws import draws
from probes.head_vectors import embedding_of
from probes.parser import PADDING, AttentionParser, Treebank
from probes.records import Document, IntArray
from probes.scoring import Settings
from probes.selectivity import accuracy_beside_control
from probes.statistics import Bootstrap
from probes.tally import Numbers

COMPONENTS = 16
"Principal components of the word vectors that a parser is given."

REACH = 10
"Distances that a parser of distances tells apart; all beyond count as this one."

NEXT = "next word (right-branching)"
"The parser that every other one is held against: each word's head is the next word, the last word is the root."


@dataclass(frozen=True)
class Parsed:
    """The sentences of one split as a parser is shown them."""

    banks: Sequence[Treebank]
    scored: Sequence[Tensor]
    "[sentence, dependent] True at words that count: those that are no punctuation."
    clusters: Sequence[IntArray]
    "[sentence] Block of the document."

    def hits(self, parse: Callable[[Treebank], Tensor]) -> tuple[Numbers, IntArray]:
        """Return for every scored word whether it is given the right head, and its cluster."""
        hits, clusters = [], []
        for bank, scored, blocks in zip(self.banks, self.scored, self.clusters, strict=True):
            hits.append((parse(bank) == bank.gold)[scored].double().numpy())
            clusters.append(np.repeat(blocks, scored.sum(1).numpy()))
        return np.concatenate(hits), np.concatenate(clusters)

    def words(self) -> int:
        """Return the number of words, punctuation included."""
        return sum(int(bank.real.sum()) for bank in self.banks)

    def changed(self, change: Callable[[Treebank], Treebank]) -> Parsed:
        """Return the same sentences with `change` made to each batch."""
        return replace(self, banks=[change(bank) for bank in self.banks])


def sample_sentences(aligned: Aligned, most: int, seed: int) -> list[int]:
    """Return at most `most` texts that have a tree, by random rank, ascending; those without are counted."""
    ranked = []
    for start in range(0, len(aligned.kept), CHUNK):
        numbers = range(start, min(start + CHUNK, len(aligned.kept)))
        for number, document in zip(numbers, aligned.texts.take([aligned.kept[i] for i in numbers]), strict=True):
            if all(document.deprels) and (document.heads < 0).sum() == len(document.sentences):
                ranked.append((draws(seed, "parser", content_of(document)), aligned.keys[number], number))
            else:
                aligned.dropped.add("sentence without a whole tree", name_of(document))
    return sorted(number for _, _, number in sorted(ranked)[:most])


def read_trees(model: Model, aligned: Aligned, numbers: Sequence[int], settings: Settings, vectors: Tensor) -> Parsed:
    """Read sentences into memory: 4 bytes x pairs of words x heads, 60 MB for 500 sentences of EWT and 144 heads.

    `vectors` [vocab, component] says what is known of every piece of the vocabulary; of a word its pieces' mean.
    """
    blocks = aligned.blocks()

    def read(chosen: list[int]) -> tuple[Treebank, Tensor, IntArray]:
        documents = aligned.texts.take([aligned.kept[number] for number in chosen])
        batch = collate([aligned.pieces[i] for i in chosen], reduce=settings.reduce, padding=model.padding)
        gold, scored = _answers(documents, int(batch.words.max()))
        bank = _bank(model, batch, gold, vectors)
        return bank, scored, np.array([blocks[document.id] for document in documents], np.int64)

    found = list(in_order(read, _planned(aligned, numbers, settings), settings.workers))
    return Parsed([one[0] for one in found], [one[1] for one in found], [one[2] for one in found])


def _planned(aligned: Aligned, numbers: Sequence[int], settings: Settings) -> list[list[int]]:
    pieces, keys = [aligned.pieces[i] for i in numbers], [aligned.keys[i] for i in numbers]
    return [[numbers[i] for i in chosen] for chosen in plan(pieces, keys, settings.batch_pieces)]


def _answers(documents: Sequence[Document], width: int) -> tuple[Tensor, Tensor]:
    """Return the head of every word as in `Treebank.gold`, and whether it is scored."""
    gold = torch.full((len(documents), width), PADDING)
    scored = torch.zeros(len(documents), width, dtype=torch.bool)
    for row, document in enumerate(documents):
        n = len(document)
        gold[row, :n] = torch.from_numpy(np.where(document.heads < 0, n, document.heads))
        marks = [
            tag == "PUNCT" or relation == "punct" for tag, relation in zip(document.upos, document.deprels, strict=True)
        ]
        scored[row, :n] = ~torch.tensor(marks)
    return gold, scored


def _bank(model: Model, batch: Batch, gold: Tensor, vectors: Tensor) -> Treebank:
    layers: list[Tensor] = []
    stream_maps(model, batch, lambda layer, maps: layers.append(maps.permute(0, 2, 3, 1).clone()))
    maps = torch.cat(layers, -1)
    words = gold.shape[1]
    ends = torch.cat([maps[:, :, CLS], maps[:, :, SEP]], -1)
    return Treebank(maps[:, :, :words].contiguous(), ends, torch.bmm(batch.from_words, vectors[batch.ids]), gold)


def word_vectors(model: Model, components: int = COMPONENTS) -> Tensor:
    """Return [vocab, component], the principal components of a model's embedding; that of the first has variance 1."""
    from sklearn.decomposition import PCA

    table = embedding_of(model).numpy()
    found = PCA(min(components, *table.shape), svd_solver="covariance_eigh").fit_transform(table)
    return torch.from_numpy(np.ascontiguousarray(found / found.std(0).max(), np.float32))


def wordless(bank: Treebank) -> Treebank:
    """Return a batch of which the words are not seen."""
    return replace(bank, vectors=bank.vectors[..., :0])


def distances(bank: Treebank) -> Treebank:
    """Return a batch of which nothing is known but how far words are from each other."""
    place = torch.arange(bank.gold.shape[1])
    offset = (place[None] - place[:, None]).clamp(-REACH, REACH) + REACH
    maps = torch.nn.functional.one_hot(offset, 2 * REACH + 1).to(bank.maps.dtype)
    return replace(bank, maps=maps.expand(len(bank.gold), -1, -1, -1), ends=bank.ends[..., :0])


def next_word(bank: Treebank) -> Tensor:
    """Return the next word as the head of every word, the root for the last."""
    return (torch.arange(bank.gold.shape[1]) + 1).expand_as(bank.gold)


def parser_table(
    model: Model,
    random: Model | None,
    texts: Sequence[Texts],
    settings: Settings,
    *,
    sentences: int,
    replicates: int,
    seed: int,
    step: Callable[[str], None] = lambda parser: None,
) -> tuple[pd.DataFrame, tuple[Aligned, Aligned]]:
    """Fit parsers on the selection split; return a row a parser, in the columns of parser.parquet, and what was read.

    At most `sentences` of each split are read. The parsers of random weights see the words as the model does, so that
    nothing but attention differs. `step` is called before each fit with the parser's name.
    """
    select, report = (Aligned.of(model, one) for one in texts)
    numbers = [sample_sentences(aligned, sentences, seed) for aligned in (select, report)]
    if not all(numbers):
        return pd.DataFrame(), (select, report)
    vectors = word_vectors(model)
    rows: list[dict[str, object]] = []
    beaten: Numbers | None = None
    bootstrap: Bootstrap | None = None
    for weights, reader in (("trained", model), ("random", random)):
        if reader is None:
            continue
        both = [
            read_trees(reader, part, some, settings, vectors)
            for part, some in zip((select, report), numbers, strict=True)
        ]
        if beaten is None or bootstrap is None:
            beaten, clusters = both[1].hits(next_word)
            bootstrap = Bootstrap.draw(tuple(np.unique(clusters).tolist()), replicates, seed)
            rows.append(_row(NEXT, "none", 0, 0, beaten, beaten, clusters, bootstrap))
        kinds = {"attention": wordless, "attention + words": lambda bank: bank}
        if weights == "trained":
            kinds |= {"distances": lambda bank: wordless(distances(bank)), "distances + words": distances}
        for name, change in kinds.items():
            step(f"{name}, {weights}" if random is not None else name)
            learned, judged = (part.changed(change) for part in both)
            parser = AttentionParser.fit(learned.banks)
            hits, clusters = judged.hits(parser.heads)
            told = weights if name.startswith("attention") else "none"
            rows.append(_row(name, told, learned.words(), parser.parameters, hits, beaten, clusters, bootstrap))
    return pd.DataFrame(rows), (select, report)


def _row(
    parser: str,
    weights: str,
    n_select: int,
    parameters: int,
    hits: Numbers,
    beaten: Numbers,
    clusters: IntArray,
    bootstrap: Bootstrap,
) -> dict[str, object]:
    measured = accuracy_beside_control(clusters, np.stack([hits, beaten])[..., None], bootstrap)
    values = {name: float(np.asarray(value).reshape(-1)[0]) for name, value in measured.items()}
    return {
        "parser": parser,
        "weights": weights,
        "parameters": parameters,
        "n_select": n_select,
        "n": int(values["n"]),
        "clusters": int(values["clusters"]),
        "uas": values["accuracy"],
        **{name: values[name] for name in ("ci_low", "ci_high", "margin", "margin_low", "margin_high")},
    }
