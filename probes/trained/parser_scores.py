"""Parsers put to a corpus: attention of all heads, distances, and the next word, each with its accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from mha.batches import Batch, collate, plan
from mha.models.maps import stream_maps
from mha.models.model import Model
from mha.parallel import in_order
from mha.pieces import CLS, SEP
from probes.corpora.corpus import Texts
from probes.evidence.statistics import Bootstrap
from probes.records import Document, IntArray
from probes.scoring.aligned import CHUNK, Aligned, name_of
from probes.scoring.arcs import content_of, pick
from probes.scoring.hashed_random import draws
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers
from probes.trained.head_vectors import embedding_of
from probes.trained.parser import PADDING, AttentionParser, Treebank
from probes.trained.selectivity import accuracy_beside_control

COMPONENTS = 16
"Principal components of the word vectors that a parser is given."

REACH = 10
"Distances that a parser of distances tells apart; all beyond count as this one."


@dataclass(frozen=True)
class Parsed:
    """The sentences of one split as a parser is shown them."""

    banks: Sequence[Treebank]
    scored: Sequence[Tensor]
    "[sentence, dependent] True at words that count: those that are no punctuation."
    clusters: Sequence[IntArray]
    "[sentence] Block of the document."
    forms: Sequence[Sequence[tuple[str, ...]]]
    "[sentence] Word forms, lower-cased."

    def hits(self, parse: Callable[[Treebank], Tensor]) -> Numbers:
        """Return for every scored word whether it is given the right head."""
        both = zip(self.banks, self.scored, strict=True)
        return np.concatenate([(parse(bank) == bank.gold)[scored].double().numpy() for bank, scored in both])

    @property
    def blocks(self) -> IntArray:
        """Block of the document of every scored word."""
        both = zip(self.clusters, self.scored, strict=True)
        return np.concatenate([np.repeat(blocks, scored.sum(1).numpy()) for blocks, scored in both])

    @property
    def words(self) -> int:
        """Number of words, punctuation included."""
        return sum(int(bank.real.sum()) for bank in self.banks)

    @property
    def offsets(self) -> list[int]:
        """How far each word's head is from it, ascending; 0 for the root."""
        found: list[int] = []
        for bank in self.banks:
            offset = bank.gold - torch.arange(bank.gold.shape[1])
            found += torch.where(bank.gold == bank.real.sum(1, keepdim=True), 0, offset)[bank.real].tolist()
        return sorted(found)

    def control(self, offsets: Sequence[int], seed: int) -> Parsed:
        """Return the same sentences with the heads of the control task, of which `offsets` are those to draw from."""
        banks = []
        for bank, forms in zip(self.banks, self.forms, strict=True):
            gold = torch.full_like(bank.gold, PADDING)
            for row, some in enumerate(forms):
                gold[row, : len(some)] = torch.tensor(control_heads(some, offsets, seed))
            banks.append(replace(bank, gold=gold))
        return replace(self, banks=banks)

    def changed(self, change: Callable[[Treebank], Treebank]) -> Parsed:
        """Return the same sentences with `change` made to each batch."""
        return replace(self, banks=[change(bank) for bank in self.banks])


def control_heads(forms: Sequence[str], offsets: Sequence[int], seed: int) -> list[int]:
    """Return heads without grammar for the words of a sentence, the number of words for the root.

    Every word form has one of `offsets`, drawn at random: the root where that is 0, else the nearest other word to
    where it points. Only memory can tell them (Hewitt and Liang 2019, section 2, dependency edges).
    """
    return [
        _nearest(place, pick(offsets, draws(seed, "control head", form)[0]), len(forms))
        for place, form in enumerate(forms)
    ]


def _nearest(place: int, offset: int, words: int) -> int:
    others = [word for word in range(words) if word != place] if offset else []
    return min(others, key=lambda word: abs(word - place - offset), default=words)


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

    def read(chosen: list[int]) -> tuple[Treebank, Tensor, IntArray, list[tuple[str, ...]]]:
        documents = aligned.texts.take([aligned.kept[number] for number in chosen])
        batch = collate([aligned.pieces[i] for i in chosen], reduce=settings.reduce, padding=model.padding)
        gold, scored = _answers(documents, int(batch.words.max()))
        bank = _bank(model, batch, gold, vectors)
        forms = [tuple(word.lower() for word in document.words) for document in documents]
        return bank, scored, np.array([blocks[document.id] for document in documents], np.int64), forms

    found = in_order(read, _planned(aligned, numbers, settings), settings.workers)
    return Parsed(*zip(*found, strict=True))


def _planned(aligned: Aligned, numbers: Sequence[int], settings: Settings) -> list[list[int]]:
    pieces, keys = [aligned.pieces[i] for i in numbers], [aligned.keys[i] for i in numbers]
    return [[numbers[i] for i in chosen] for chosen in plan(pieces, keys, settings.batch_pieces, pads=aligned.pads)]


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
    stream_maps(model, batch, lambda layer, maps: layers.append(maps.cpu().permute(0, 2, 3, 1).clone()))
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


NEXT = "next word (right-branching)"
"The parser that every other one is held against: each word's head is the next word, the last word is the root."

ATTENTION: dict[str, Callable[[Treebank], Treebank]] = {"attention": wordless, "attention + words": lambda bank: bank}
"What each parser is shown of a sentence."

DISTANCES: dict[str, Callable[[Treebank], Treebank]] = {
    "distances": lambda bank: wordless(distances(bank)),
    "distances + words": distances,
}


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
    nothing but attention differs. Each is fitted again on the heads of a control task. `step` is called after each
    parser with its name.
    """
    select, report = (Aligned.of(model, one) for one in texts)
    numbers = [sample_sentences(aligned, sentences, seed) for aligned in (select, report)]
    if not all(numbers):
        return pd.DataFrame(), (select, report)
    vectors = word_vectors(model)
    rows: list[dict[str, object]] = []
    for weights, reader in (("trained", model), ("random", random)):
        if reader is None:
            continue
        learned, judged = (
            read_trees(reader, part, some, settings, vectors)
            for part, some in zip((select, report), numbers, strict=True)
        )
        tasks = [(learned, judged), (learned.control(learned.offsets, seed), judged.control(learned.offsets, seed))]
        if not rows:
            bootstrap = Bootstrap.draw(tuple(np.unique(judged.blocks).tolist()), replicates, seed)
            beaten = np.stack([unseen.hits(next_word) for _, unseen in tasks])
            rows.append(_about(NEXT, "none", 0, 0) | _measured(beaten, beaten, judged.blocks, bootstrap))
        for name, change in (ATTENTION if weights == "random" else ATTENTION | DISTANCES).items():
            fits = [AttentionParser.fit([change(bank) for bank in seen.banks]) for seen, _ in tasks]
            parsed = zip(fits, tasks, strict=True)
            hits = np.stack([unseen.changed(change).hits(parser.heads) for parser, (_, unseen) in parsed])
            about = _about(name, weights if name in ATTENTION else "none", fits[0].parameters, learned.words)
            rows.append(about | _measured(hits, beaten, judged.blocks, bootstrap))
            step(name)
    return pd.DataFrame(rows), (select, report)


def _about(parser: str, weights: str, parameters: int, n_select: int) -> dict[str, object]:
    return {"parser": parser, "weights": weights, "parameters": parameters, "n_select": n_select}


def _measured(
    hits: Float[np.ndarray, "2 word"], beaten: Float[np.ndarray, "2 word"], blocks: IntArray, bootstrap: Bootstrap
) -> dict[str, object]:
    """Return what is told of the hits in the task and its control task: selectivity, and the margin over `beaten`."""
    margin, found = (
        {name: float(np.asarray(value).ravel()[0]) for name, value in columns.items()}
        for columns in (
            accuracy_beside_control(blocks, np.stack([hits[0], beaten[0]])[..., None], bootstrap),
            accuracy_beside_control(blocks, hits[..., None], bootstrap),
        )
    )
    named: dict[str, object] = {"n": int(found["n"]), "clusters": int(found["clusters"]), "uas": found["accuracy"]}
    named |= {"ci_low": found["ci_low"], "ci_high": found["ci_high"], "control_uas": found["baseline_accuracy"]}
    named |= {f"selectivity{end}": found[f"margin{end}"] for end in ("", "_low", "_high")}
    return named | {f"margin{end}": margin[f"margin{end}"] for end in ("", "_low", "_high")}
