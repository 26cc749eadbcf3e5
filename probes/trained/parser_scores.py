"""Parsers put to a corpus: attention of all heads, distances, and the next word, each with its accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from mha.models.model import Model
from probes.corpora.corpus import Texts
from probes.evidence.statistics import Bootstrap
from probes.records import IntArray
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.trained.parser import AttentionParser, Treebank
from probes.trained.parser_data import distances, read_trees, sample_sentences, word_vectors, wordless
from probes.trained.selectivity import accuracy_beside_control

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
