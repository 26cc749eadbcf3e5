"""What every head does on one sentence, and what a sentence, or a classifier, loses without some of them."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from experiments.heads.typed_text import TypedError, as_read, check_maps, cut, find_head, written
from experiments.run.behaviours import decided_by
from mha import Ablate, MaskedLM, Model, ModelError, collate, intervene
from mha.causal.interventions import WAYS
from mha.pieces import Pieces
from probes.causal.ablation import SELECTED, HeadSet, measure, single_heads
from probes.causal.ablation_table import ablation_table
from probes.causal.decisions import Score
from probes.causal.labelled_rows import labelled_rows
from probes.causal.labels import Classifier, head_for, labels
from probes.evidence.examples import word_level
from probes.evidence.question import Effort
from probes.plain.text_tables import Entry
from probes.scoring.score import Settings
from reports.formats import MISSING, decimal3, model_title, p_value, percent
from reports.scores.effects import cost_text, deciding, scale_of, too_few
from reports.tables.shared_columns import LEVEL, VALUE
from reports.tables.text_table import TextTable

FIRST, LAST = "[CLS]", "[SEP]"
"What the special tokens before and after the words are called."


@dataclass(frozen=True, repr=False)
class Attention:
    """The maps of all heads on one sentence, at word level.

    A notebook shows them as pictures, layers as rows; `attention.head("3-5")` is one map, `attention.plot("3-5")` its
    chart.
    """

    model: str
    words: tuple[str, ...]
    maps: npt.NDArray[np.float32]
    "[layer, head, query, key] in [0, 1]; queries are the words, keys [CLS], the words and [SEP]. Rows sum to 1."
    notes: tuple[str, ...] = ()
    "What of the text was read otherwise than the model's tokenizer would, in sentences."

    def head(self, name: str) -> pd.DataFrame:
        """Return the map of the head called `name` ("3-5"): a row a word, a column a word that it attends to."""
        return pd.DataFrame(self._map(name), index=[*self.words], columns=[FIRST, *self.words, LAST])

    def plot(self, name: str) -> Any:
        """Return the map of one head as a chart: words as rows, what they attend to as columns."""
        from reports.notebook.offline import Plot
        from reports.notebook.run_charts import map_chart

        title = f"{self.model}, head {name}"
        return Plot(map_chart(self._map(name), self.words, (FIRST, *self.words, LAST), title))

    def strongest(self, name: str) -> TextTable:
        """Return what every word attends to most in one head, and how much of its attention that is."""
        found = self.head(name)
        place = found.to_numpy().argmax(1)
        keys, weights = [str(found.columns[key]) for key in place], found.to_numpy().max(1)
        rows = tuple((word, key, percent(float(w))) for word, key, w in zip(self.words, keys, weights, strict=True))
        frame = pd.DataFrame({"word": self.words, "attends_to": keys, "weight": weights})
        return TextTable(f"Head {name} of {self.model}", ("word", "attends to", "weight, %"), rows, frame)

    def _map(self, name: str) -> npt.NDArray[np.float32]:
        layers, heads = self.maps.shape[:2]
        return np.asarray(self.maps[find_head(name, self.model, layers, heads)])

    def _repr_html_(self) -> str:
        from reports.notebook.offline import mosaic

        return f"<p>{html.escape(repr(self))}: darker is more</p>{mosaic(self.maps)}"

    def __repr__(self) -> str:
        """What there is, in one line, and what of the text was read otherwise."""
        layers, heads = self.maps.shape[:2]
        shown = f"Attention of {self.model} ({layers} layers x {heads} heads) on {' '.join(self.words)!r}"
        return " ".join([f"{shown}." if self.notes else shown, *self.notes])


def attention(model: Model, text: Entry, maps: str = "weights") -> Attention:
    """Return the maps of all heads on a sentence, or on a pair: a tuple of two strings or of two lists of words.

    Words of strings are those of `typed_words`. `maps` is one of `mha.models.maps.MAPS`; rows of norms are shown as
    shares. Raises TypedError for a text that the model cannot read, and for other maps.
    """
    check_maps(maps)
    words, pieces = cut(model, text)
    found = word_level(model, pieces, Settings(maps=maps))
    rolled = np.roll(found, 1, axis=3)  # [SEP] and [CLS] stand at the end
    return Attention(model_title(model.name), tuple(words), rolled, (*as_read(model, [written(text)]),))


EACH: Final = "each"
"In the place of names of heads: every head, alone."

MOST: Final = 10
"Heads that are shown of every one."


def ablate(
    model: Model,
    heads: str | Sequence[str],
    text: Entry | Path | pd.DataFrame,
    how: str = "zero",
    seed: int = 0,
    score: Score | None = None,
) -> TextTable:
    """Return what a sentence, or a classifier's decision, loses where heads are ablated.

    Of a sentence or a pair: how far words' vectors move, and what is still known. Of labelled rows (a data frame, or
    the `Path` of a .jsonl, .csv or .tsv file, see `probes.causal.labels`): what the model's own classifier loses, with
    intervals over rows; `heads` may there be "each", every head alone, with p corrected for all of them, of which the
    table shows the largest effects and its `frame` has all. `score` takes the place of the log-probability: a function
    of logits [row, label] and the numbers of the gold labels [row] that returns a number a row, in which higher is
    better; rows are words where words have labels.

    `heads` are names such as "3-5"; `how` is zero, uniform or mean (over the texts read at once), see `mha.Ablate`.
    `moved` is 1 minus the cosine of the word's vector (the mean of its pieces) in the last layer with and without the
    heads, in [0, 2]. Of a model with a masked-LM head `known` is the log-probability, in nats, of the word where all
    its pieces are masked, and `lost` how much lower it is without the heads; else both are NaN. `seed` is that of
    resamples of rows. Raises TypedError for a head that the model does not have or a text it cannot read.
    """
    if isinstance(text, str) and re.fullmatch(r"(\S*|.*[/\\].*)\.(csv|tsv|jsonl)", text, re.IGNORECASE):
        raise TypedError(f"a string is a sentence; for the rows of a file give Path({text!r})")
    if isinstance(text, Path | pd.DataFrame):
        return _ablate_rows(model, [heads] if isinstance(heads, str) else heads, text, how, seed, score)
    if how not in WAYS or how == "resample":
        raise TypedError(f"unknown ablation {how!r}; the ways are zero, uniform and mean")
    if not isinstance(heads, str | Sequence):
        raise TypedError(f'heads are given by name, such as "3-5", or as a list of names; got {heads!r}')
    names = [heads] if isinstance(heads, str) else [*heads]
    changes = [Ablate(*find_head(name, model.name, model.layers, model.heads), how) for name in names]
    words, pieces = cut(model, text)
    own, without = _vectors(model, pieces, []), _vectors(model, pieces, changes)
    moved = 1 - torch.cosine_similarity(own, without, dim=1).numpy()
    known, unknown = _known(model, pieces, [], changes)
    frame = pd.DataFrame({"word": words, "moved": moved, "known": known, "lost": known - unknown})
    shown, note = (
        ["word", "moved"],
        "moved: 1 minus the cosine of the word’s vectors in the last layer, with and without.",
    )
    if not np.isnan(known).all():
        shown += ["known", "lost"]
        note += " known: log-probability of the masked word, in nats; lost: how much lower it is without."
    rows = tuple(
        (str(word), *(decimal3(float(number)) for number in numbers))
        for word, *numbers in frame[shown].itertuples(index=False)
    )
    note = " ".join([note, *as_read(model, [written(text)])])
    title = f"{model_title(model.name)} without {', '.join(names) or MISSING} ({how})"
    return TextTable(title, tuple(shown), rows, frame, note)


def _ablate_rows(
    model: Model, heads: Sequence[str], table: Path | pd.DataFrame, how: str, seed: int, score: Score | None
) -> TextTable:
    """Return the costs of heads for labelled rows, the largest effects first."""
    if EACH in heads and len(heads) > 1:
        raise TypedError(f'"{EACH}" is every head alone; give it, or names of heads')
    rows = labelled_rows(table)
    classifier = Classifier.of(model, head_for(rows))
    behaviour = labels(classifier, table.stem if isinstance(table, Path) else "rows", rows, score=score)
    chosen = tuple(find_head(name, model.name, model.layers, model.heads) for name in heads if name != EACH)
    together = [HeadSet(SELECTED, ", ".join(heads), chosen)]
    sets = single_heads(model.layers, model.heads) if EACH in heads else together
    values = measure(behaviour, [(), *(one.heads for one in sets)], how).numpy()
    frame = ablation_table(behaviour, how, sets, values, Effort(seed=seed))
    first = deciding(frame)
    others = (rows for _, rows in frame.drop(first.index).groupby("measure", sort=False))
    groups = [rows.to_dict("records") for rows in (first, *others)]
    order = np.argsort([-abs(row["cost"]) for row in groups[0]], kind="stable")[:MOST]
    cost, *beside = (f"{group[0]['measure'].replace(VALUE, 'cost')}, {scale_of(group[0]).unit}" for group in groups)
    shown = tuple(
        (one["name"], cost_text(one), p_value(one["p_adjusted"]), *(cost_text(group[i]) for group in groups[1:]))
        for i, one in ((i, groups[0][i]) for i in order)
    )
    intact = ", ".join(f"{group[0]['measure']} {scale_of(group[0]).value(group[0]['intact'])}" for group in groups)
    reasons = Counter(one.reason for one in behaviour.left_out)
    left = "".join(f"; {number} left out: {reason}" for reason, number in reasons.items())
    note = (
        f"{intact} with all heads, {len(behaviour.clusters)} rows{left}; {decided_by(behaviour, Effort(seed=seed))}. "
        f"Where a cost is below 0 the model does better without the heads.{too_few(first)}"
    )
    if len(first) > MOST:
        few = f"The {MOST} largest effects of {len(first)}, {(first['p_adjusted'] < LEVEL).sum()} of them significant"
        note = f"{few} (corrected p < {LEVEL}); `.frame` has all. {note}"
    title = f"{behaviour.name}: cost without heads of {model_title(model.name)} ({how})"
    return TextTable(title, ("heads", cost, "corrected p", *beside), shown, frame, note)


@torch.inference_mode()
def _vectors(model: Model, pieces: Pieces, changes: Sequence[Ablate]) -> Float[Tensor, "word model"]:
    batch = collate([pieces], padding=model.padding)
    with intervene(model.module, *changes):
        return batch.from_words[0] @ model.run(batch.ids, batch.mask)[0]


@torch.inference_mode()
def _known(model: Model, pieces: Pieces, *versions: Sequence[Ablate]) -> list[npt.NDArray[np.float64]]:
    """Return, for each version of the model, the log-probability of every word where its pieces are masked."""
    try:
        lm = MaskedLM.of(model)
    except ModelError:
        return [np.full(pieces.words, np.nan) for _ in versions]
    owner, ids = torch.from_numpy(pieces.word).long(), torch.from_numpy(pieces.ids).long()
    of_word = owner == torch.arange(pieces.words)[:, None]
    masked = torch.where(of_word, lm.mask, ids)
    word, place = of_word.nonzero(as_tuple=True)
    found = []
    for changes in versions:
        with intervene(lm.module, *changes):
            logits = lm.read(masked, None, word * len(ids) + place).log_softmax(-1)
        gold = logits.gather(1, ids[place, None])[:, 0].double()
        found.append(torch.zeros(pieces.words, dtype=torch.float64).index_add_(0, word, gold).numpy())
    return found
