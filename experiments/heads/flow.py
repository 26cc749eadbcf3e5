"""Attention flow on a few short texts: a sentence of one's own, or the first short ones of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

from experiments.heads.typed_text import cut
from experiments.inputs.corpora import open_corpus
from mha import Model, collate, load_model
from mha.pieces import Pieces
from mha.reading.flow import flow_maps
from probes import Document
from probes.scoring.aligned import Dropped, cut_texts, name_of
from reports.formats import decimal
from reports.progress import Progress, silent
from reports.tables.files import write_csv

MOST_PIECES = 32
"A text with more is left out: the work grows with the fourth power of the pieces."

COLUMNS = ("text", "layer", "query", "key", "query_word", "key_word", "weights", "rollout", "flow")
"""One row a text, layer (from 0) and pair of words (from 0), the heads of a layer averaged: attention, rollout, and
attention flow, in [0, 1] but for words of several pieces, whose flows are added (`mha.reading.flow`)."""


class FlowError(ValueError):
    """A text whose attention flow cannot be told."""


def flow_table(
    model: Model, texts: Sequence[tuple[str, Sequence[str], Pieces]], progress: Progress = silent
) -> tuple[pd.DataFrame, Dropped]:
    """Return COLUMNS for texts given as name, words and their pieces, and what was left out."""
    frames, dropped = [pd.DataFrame(columns=[*COLUMNS])], Dropped()
    for done, (name, words, pieces) in enumerate(texts):
        progress("attention flow", done, len(texts))
        if not words or pieces.missing():
            dropped.add("no words, or one that the tokenizer turns into nothing", name)
        elif len(pieces) > min(MOST_PIECES, model.max_pieces):
            dropped.add(f"longer than {min(MOST_PIECES, model.max_pieces)} pieces", name)
        else:
            found = flow_maps(model, collate([pieces], padding=model.padding))
            frames.append(_rows(name, words, found))
    progress("attention flow", len(texts), len(texts))
    return pd.concat([frame for frame in frames if len(frame)] or frames, ignore_index=True), dropped


def _rows(name: str, words: Sequence[str], found: dict[str, np.ndarray]) -> pd.DataFrame:
    layers, size = len(found["flow"]), len(words)
    layer, query, key = (part.ravel() for part in np.indices((layers, size, size)))
    places: dict[str, object] = {"text": name, "layer": layer, "query": query, "key": key}
    named = {"query_word": np.array(words)[query], "key_word": np.array(words)[key]}
    numbers = {kind: maps[:, :, :size].ravel() for kind, maps in found.items()}
    return pd.DataFrame(places | named | numbers)[[*COLUMNS]]


def agreement(table: pd.DataFrame) -> pd.DataFrame:
    """Return, a layer each, the mean over texts of Spearman's rho between flow and the others, over pairs of words.

    In [-1, 1]; NaN where a text has fewer than two words, or all its numbers are equal.
    """
    rows = []
    for (layer, _), of_text in table.groupby(["layer", "text"]):
        enough = of_text[["weights", "rollout", "flow"]].nunique().min() > 1
        rhos = (spearmanr(of_text["flow"], of_text[kind]).statistic if enough else np.nan for kind in COLUMNS[6:8])
        rows.append((layer, *rhos))
    return pd.DataFrame(rows, columns=["layer", "weights", "rollout"]).groupby("layer", as_index=False).mean()


def write_flow(
    model_name: str, out: Path, *, text: str = "", corpus: str = "", first: int = 20, progress: Progress = silent
) -> tuple[pd.DataFrame, Dropped]:
    """Write COLUMNS of a sentence, or of the first sentences of a corpus, as CSV; return them and what was left out.

    Raises TypedError for a sentence that the model cannot read, FlowError where
    there is no text, or nothing that is short enough.
    """
    if bool(text.split()) == bool(corpus):
        raise FlowError("give either a sentence or --corpus NAME")
    model = load_model(model_name)
    texts = _of_corpus(model, corpus, first) if corpus else [("your sentence", *cut(model, text))]
    table, dropped = flow_table(model, texts, progress)
    if table.empty:
        raise FlowError(f"no text to show: {_left_out(dropped) or 'the corpus is empty'}")
    write_csv(table, out)
    return table, dropped


def _left_out(dropped: Dropped) -> str:
    return "; ".join(f"{count} left out, {reason}" for reason, count in dropped.counts.items())


def print_flow(table: pd.DataFrame, dropped: Dropped) -> None:
    """Print how far flow agrees with attention and with rollout, and what was left out."""
    shown = Table("layer", "texts", "rho with attention", "rho with rollout", box=None)
    texts_shown = str(table["text"].nunique())
    for layer, *rhos in agreement(table).to_numpy().tolist():
        shown.add_row(f"{layer + 1:.0f}", texts_shown, *map(decimal, rhos))
    console = Console(highlight=False)
    console.print("Attention flow beside attention and rollout: Spearman's rho over pairs of words, mean of the texts")
    console.print(shown)
    if told := _left_out(dropped):
        console.print(told)


def _of_corpus(model: Model, name: str, first: int) -> list[tuple[str, Sequence[str], Pieces]]:
    texts = open_corpus(name).sentences()
    chosen: list[Document] = texts.take(range(min(first, len(texts))))
    pieces = cut_texts(model, chosen)
    return [(f"{text.id} {name_of(text)}", text.words, one) for text, one in zip(chosen, pieces, strict=True)]
