"""The attention of every head on example sentences, small enough to be embedded in a page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from reports.heads.card_parts import CardSource
from reports.heads.examples import second_of
from reports.run.folder import RunFolder
from reports.scores.best_heads import page_scores
from reports.scores.plain_names import role

MOST_WORDS: Final = 254
"Longer texts are not shown: with the special tokens, keys are numbers of one byte."

Relation = tuple[str, str, str]
"Probe, label and variant."

_RELATION: Final = ["probe", "label", "variant"]


@dataclass(frozen=True)
class AttentionView:
    """What the page's script draws."""

    data: Mapping[str, Any]
    kept: int
    "Strongest keys of every word that the run kept."
    left_out: int
    "Texts of more than MOST_WORDS words."


def attention_view(source: CardSource) -> AttentionView | None:
    """Return the view of a run's example sentences, with the relations that were scored; None where the run kept none.

    A word's keys and weights are bytes in turn, the strongest key first, for every head and every word; the special
    tokens before (-1) and after (-2) the words become the two keys that follow the last word.
    """
    run, found = source.run, source.run.attention
    if found is None or found.sentences.empty:
        return None
    scores = page_scores(run.scores)[0]
    scored = scores.loc[(scores["split"] == "report") & (scores["n"] > 0), _RELATION].drop_duplicates()
    gold = found.gold.merge(scored, on=_RELATION)
    relations = list(gold[_RELATION].drop_duplicates().itertuples(index=False, name=None))
    short = found.sentences[found.sentences["words"].map(len) <= MOST_WORDS]
    of_sentence = dict(tuple(found.attention.groupby("sentence")))
    arcs = dict(tuple(gold.groupby("sentence")))
    sentences = [
        _text(row)
        | {"gold": _gold(arcs.get(row["sentence"], gold[:0]), len(row["words"]), relations)}
        | _weights(of_sentence[row["sentence"]], len(row["words"]), run)
        for row in short.to_dict("records")
        if row["sentence"] in of_sentence
    ]
    named = [f"{probe}: {role(probe, label, variant)}" for probe, label, variant in relations]
    data = {"layers": run.layers, "heads": run.heads, "relations": named, "sentences": sentences}
    kept = max((sentence["keys"] for sentence in sentences), default=0)
    return AttentionView(data | {"roles": _roles(source, relations)}, kept, len(found.sentences) - len(short))


def _text(row: Mapping[Any, Any]) -> dict[str, Any]:
    words, pieces = list(row["words"]), [list(word) for word in row["pieces"]]
    found = {"source": row["source"], "words": words, "pieces": pieces, "ends": [row["before"], row["after"]]}
    return found | ({"second": second} if (second := second_of(row)) else {})


def _gold(arcs: pd.DataFrame, words: int, relations: Sequence[Relation]) -> dict[int, list[int]]:
    """Return the arcs of every relation that a sentence has, as query, key, query, key and so on."""
    found: dict[int, list[int]] = {}
    columns = (arcs[column].tolist() for column in (*_RELATION, "query", "key"))
    for probe, label, variant, query, key in zip(*columns, strict=True):
        place = relations.index((probe, label, variant))
        found.setdefault(place, []).extend(words - 1 - end if end < 0 else end for end in (query, key))
    return found


def _weights(rows: pd.DataFrame, words: int, run: RunFolder) -> dict[str, Any]:
    """Return how many keys of a word are kept, and keys and weights of all heads; of those not in `rows` nothing."""
    keys = np.stack(rows["keys"].tolist()).reshape(len(rows), words, -1)
    weights = np.stack(rows["weights"].tolist()).reshape(keys.shape)
    kept = np.zeros((run.layers * run.heads, *keys.shape[1:], 2), np.uint8)
    places = np.where(keys < 0, words - 1 - keys, keys)
    kept[rows["layer"] * run.heads + rows["head"]] = np.stack([places, weights], axis=-1)
    return {"keys": keys.shape[2], "weights": base64.b64encode(kept.tobytes()).decode("ascii")}


def _roles(source: CardSource, relations: Sequence[Relation]) -> dict[str, int]:
    """Return the main role of each head that has one, as an index into `relations`."""
    rows = source.surest[source.surest["graded"]]
    places = {relation: place for place, relation in enumerate(relations)}
    found = zip(rows["name"], rows[_RELATION].itertuples(index=False, name=None), strict=True)
    return {name: places[relation] for name, relation in found if relation in places}
