"""Attention statistics: what heads attend to and how broadly, which sieves they pass, and their types of maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Charts, HeadMap, Paragraph, Points, TableBlock, Terms
from reports.formats import count, decimal, names
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.tables.cells import TextColumn, columns_of
from reports.tables.column import outside
from reports.tables.scores import no_number_of_nothing
from reports.tables.shared_columns import (
    CLUSTERS,
    LEVEL,
    NEAR_TIES,
    ONE_HEAD,
    P_ADJUSTED,
    P_LABEL,
    SPLIT,
    SPLITS,
    P,
    ends,
    number,
    run_table,
    text,
    whole,
)
from reports.tables.table import Refuse, last_step
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.corpora.corpus import Texts
    from probes.maps.shapes import Shapes

UNITS: Final = {"entropy": "nats", "distance": "words", "sieve": "times uniform"}
"Kind -> unit; the others are fractions, written in percent."


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    highest = frame["kind"].isin([*UNITS]).map({True: float("inf"), False: 1.0})
    for column in ("value", "ci_low", "ci_high", "even"):
        refuse(outside(frame[column], 0, highest), f"`{column}` lies outside [0, 1], or is negative")
    no_number_of_nothing(frame, refuse, "value")


SHAPES: Final = run_table(
    "One row for each scope, split, measure and head. Values are nats for entropy, words for distance, times "
    "uniform attention for sieves, and fractions in [0, 1] for all other kinds.",
    ("scope", "split", "kind", "measure", "layer", "head"),
    (
        text("scope", "Texts that are read: sentences, or windows of several."),
        SPLIT,
        text("kind", "Kind of the measure, such as entropy, offset or sieve."),
        text("measure", "What is measured, such as attention to [SEP]."),
        *ONE_HEAD,
        whole("n", "Number of texts; 0 where nothing could be measured."),
        CLUSTERS,
        number("value", "Mean over texts, in the unit of its kind; missing where n = 0.", None, "ci"),
        *ends("ci", "the value"),
        number("even", "Value of a map of equal numbers; missing where that is not defined."),
        replace(NEAR_TIES, meaning="Maps with a number within 0.00001 of a threshold that their class hangs on."),
        number("threshold", "Value that a sieve must exceed; missing where nothing was tested."),
        replace(P, meaning="One-sided p-value that the value exceeds the threshold; missing where nothing was tested."),
        replace(P_LABEL, meaning="p corrected for all heads (Holm 1979); missing where nothing was tested."),
        replace(P_ADJUSTED, meaning="p corrected for all heads and sieves; missing where nothing was tested."),
    ),
    _check,
)

TERMS: Final = {
    "token, word": "Entropy, confidence, attention to special tokens and punctuation, sieves and classes are about the "
    "model’s tokens, as in the papers: the pieces of words, [CLS] and [SEP]. Offsets and distances are about words. A "
    "text counts once, however long it is; what a text does not have (a tree, a word eight further on) it does not "
    "count for.",
    "entropy": "Of a row, in nats: 0 if all attention goes to one token, log n if n tokens get the same. A "
    "ten-thousandth of the row is replaced by uniform attention first (Clark et al. 2019, section 3.3, and their "
    "code). Mean over all rows, and the row of [CLS].",
    "confidence": "Mean over the pieces of words of the largest attention to one token, [SEP] aside (Voita et al. "
    "2019, section 5.1, who leave out the end of the sentence).",
    "attention to": "Mean over all tokens, special ones too, of the attention that goes to [CLS], to [SEP], to a "
    "period or a comma (Clark et al. 2019, section 3.2, figure 2), or to words that the corpus tags PUNCT.",
    "offset": "Mean attention to the word so many words further on, over the words that have one there. −1 is the "
    "previous word; special tokens take their part. Of pairs, A to B is from the first text to the second.",
    "distance": "Mean distance in words between a word and the words it attends to, weighted by attention; itself is 0 "
    "away, and attention to special tokens does not count (after Vig and Belinkov 2019).",
    "sieve": "Mean attention to the tokens of a sieve, over that to all tokens; mean over tokens (Pande et al. 2021). "
    "1 is uniform attention. Local: up to two tokens away. Delimiter: [CLS] and [SEP]. Syntactic: the head and the "
    "dependents of a word in the tree. Block: the words of the same sentence in windows of several, times the row’s "
    "entropy over log n, for a block is broad (the paper takes the entropy itself, which grows with the length of a "
    "text). A head is significantly above the threshold by a one-sided t test by cluster that allows for skew (Hall "
    "1992), at 5 %, corrected for all heads (Holm 1979) and all sieves (Benjamini and Bogomolov 2014); the paper takes "
    "t tests and corrects for nothing.",
    "class": "Type of a map (Kovaleva et al. 2019, section 4.1), by rules. Shares of a map are given as an excess over "
    "uniform attention, so that all there is makes 1. A column is a line if it gets 0.1 more than its uniform share of "
    "each row on average. If lines, and outside of them each token with its two neighbours, have an excess of 0.5 "
    "together, the map is vertical + diagonal where each has 0.1, else vertical or diagonal by the larger one. If not, "
    "it is a block where words keep an excess of 0.5 to their own sentence, in windows of several, and else "
    "heterogeneous. Maps of fewer than 8 tokens have no class.",
    "near ties": "Maps with a number within 0.00001 of a threshold that their class hangs on. Another batch size or "
    "machine can change at most that many.",
}
"`probes.maps.classes.ClassRule` has the thresholds of classes."

TITLES: Final = {
    "attention": "Attention to",
    "offset": "Attention by offset",
    "pair": "Between two texts",
    "sieve": "Sieves",
    "class": "Maps by class",
}
"Kind -> what a group of measures is called where that is not its name."

NAMES: Final = {
    ("entropy", "all tokens"): "entropy of all rows",
    ("entropy", "[CLS]"): "entropy of the [CLS] row",
    ("confidence", "without [SEP]"): "mean maximum, without [SEP]",
    ("attention", "[SEP] from [SEP]"): "[SEP], from [SEP]",
    ("attention", "[SEP] from others"): "[SEP], from other tokens",
    ("attention", "punctuation"): "words tagged PUNCT",
    ("offset", "before -8"): "more than 8 before",
    ("offset", "-1"): "−1, the previous word",
    ("offset", "0"): "0, the word itself",
    ("offset", "+1"): "+1, the next word",
    ("offset", "beyond +8"): "more than 8 after",
    ("distance", "words"): "mean distance of attended words",
}
"Kind and measure -> how it is called where that is not its name."

WHICH: Final = TextColumn("Which", lambda row: row[-1], "text", "wrapping")

BY_LAYER: Final = {
    ("entropy", "all tokens"): "entropy",
    ("entropy", "[CLS]"): "of the [CLS] row",
    ("confidence", "without [SEP]"): "confidence",
    ("attention", "[CLS]"): "to [CLS]",
    ("attention", "[SEP]"): "to [SEP]",
    ("attention", "period or comma"): "to periods and commas",
    ("offset", "-1"): "to the previous word",
    ("offset", "0"): "to itself",
    ("offset", "+1"): "to the next word",
    ("distance", "words"): "distance",
    ("pair", "A to B"): "A to B",
    ("pair", "B to A"): "B to A",
}
"What is reported by layer, and how its column is called; what begins with “to” is a place that attention goes to."

PANELS: Final = {
    "Entropy of all rows": {"heads": ("entropy", "all tokens")},
    "Entropy of the [CLS] row": {"heads": ("entropy", "[CLS]")},
    "Attention to special tokens and punctuation": {k: ("attention", k) for k in ("[CLS]", "[SEP]", "period or comma")},
    "Attention to [SEP]": {
        "from [SEP]": ("attention", "[SEP] from [SEP]"),
        "from other tokens": ("attention", "[SEP] from others"),
    },
}
"Title of a chart -> its series (Clark et al. 2019, figures 2 and 4)."


class ShapesMeasure(Measure):
    """Whether attention statistics are measured: entropies, attention by distance and kind, sieves, classes."""

    name = "shapes"
    title = "Attention statistics"
    place = 10
    switch = "enabled"
    tables = {"shapes": SHAPES}
    methods = (
        Method(
            "Entropy, attention by distance and kind of token, sieves and classes of every map were measured in the "
            "pass in which heads are scored. A head has the bias of a sieve whose score is significantly above "
            "{threshold} (Pande et al. 2021)."
        ),
    )

    enabled: bool = True
    "Whether it is measured, in the pass in which heads are scored."
    threshold: float = Field(default=3.0, gt=0)
    "A head is said to have the bias of a sieve whose score is surely above this (Pande et al. 2021: 3; even: 1)."

    def observers(self, run: RunContext, scope: str, split: str, texts: Texts) -> Sequence[Shapes]:
        """Return what sees the maps of a split."""
        from probes.maps.shapes import Shapes

        return [Shapes(run.model, texts.ids())]

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the shapes on all scopes and both splits."""
        from probes.maps.shapes import Shapes, add_adjusted, shape_table

        frames = []
        for scored in read.parts:
            (select,), (report,) = (scored.observed(Shapes, split) for split in SPLITS)
            frames.append(shape_table(select, report, run.effort, self.threshold).assign(scope=scored.part.scope))
        return {"shapes": add_adjusted(pd.concat(frames, ignore_index=True))}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield what stands out, charts by layer, and tables by layer, sieve and class."""
        if shapes := of_report(run):
            yield Paragraph(
                "How broadly heads attend, and to which kinds of token and distances. Numbers are means over the texts "
                "of the report split; uniform attention, a dashed line in the charts, gives every token the same."
            )
            yield Points([*_sentences(shapes)])
            yield Charts([*_charts(shapes)])
            yield from map(TableBlock, _tables(shapes))
            yield Terms(TERMS.items())

    @classmethod
    def maps(cls, run: RunFolder) -> Iterator[HeadMap]:
        """Yield every number of attention maps."""
        yield from (_map(*key, rows, (run.layers, run.heads)) for key, rows in of_report(run).items())


Shape = Mapping[tuple[str, str], pd.DataFrame]
"Kind and measure -> its rows, one a head in the order of layers and heads, with values in `unit`."


def of_report(run: RunFolder) -> Shape:
    """Return what was measured on the report split, at the model's last step; none where nothing was.

    It is that of sentences where those were read; of classes that of windows, for there are no blocks in a sentence.
    """
    table = run.tables.get("shapes", pd.DataFrame(columns=[*SHAPES.names]))
    table = table[(table["split"] == SPLITS[1]) & (table["n"] > 0)]
    if table.empty:
        return {}
    table = last_step(table).sort_values(["layer", "head"], kind="stable")
    table = table.assign(unit=table["kind"].map(UNITS).fillna("%"))
    table.loc[table["unit"] == "%", ["value", "ci_low", "ci_high", "even"]] *= 100
    found = {}
    for (kind, measure), rows in table.groupby(["kind", "measure"], sort=False):
        scopes = sorted(set(rows["scope"]), reverse=kind == "class")
        found[str(kind), str(measure)] = rows[rows["scope"] == scopes[0]]
    return found


def _of_kind(shapes: Shape, wanted: str) -> dict[str, pd.DataFrame]:
    return {measure: rows for (kind, measure), rows in shapes.items() if kind == wanted}


def _written(row: Mapping[Any, Any], column: str = "value") -> str:
    """Write a number of a row, without its unit."""
    return decimal(row[column], 1 if row["unit"] == "%" else 2)


def _about(rows: pd.DataFrame) -> dict[Any, Any]:
    """Return what all heads share of a measure, and in `value` their mean."""
    return {**rows.iloc[0].to_dict(), "value": rows["value"].mean()}


def _texts(rows: pd.DataFrame) -> str:
    return f"{count(rows['n'].iloc[0])} {rows['scope'].iloc[0]}s"


def _ranked(rows: pd.DataFrame) -> list[str]:
    """Return the names of heads, the highest value first."""
    return list(rows.sort_values("value", ascending=False, kind="stable")["name"])


def _sentences(shapes: Shape) -> Iterator[str]:
    """Yield what stands out, and where too few clusters are behind it."""
    clusters = max(int(rows["clusters"].iloc[0]) for rows in shapes.values())
    if clusters < FEW_CLUSTERS:
        yield f"⚠ Only {count(clusters)} clusters: intervals are rough, and sieves are tested with little power."
    if (rows := shapes.get(("entropy", "all tokens"))) is not None:
        layers, heads, values = rows.groupby("layer")["value"].mean().to_numpy(), _ranked(rows), rows["value"]
        yield (
            f"Entropies lie between {values.min():.2f} nats (head {heads[-1]}) and {values.max():.2f} (head "
            f"{heads[0]}); uniform attention has {rows['even'].iloc[0]:.2f}. Layer {layers.argmax() + 1} is the "
            f"broadest on average ({layers.max():.2f}), layer {layers.argmin() + 1} the narrowest ({layers.min():.2f})."
        )
    yield " ".join(_most_attended(shapes))
    if classes := _of_kind(shapes, "class"):
        shares = ", ".join(f"{name} {_written(_about(rows))} %" for name, rows in classes.items())
        yield f"Maps by class, all heads and {_texts(next(iter(classes.values())))} together: {shares}."


def _most_attended(shapes: Shape) -> Iterator[str]:
    """Yield which heads give a place more than half of their attention (Clark et al. 2019, sections 3.1 and 3.2)."""
    places = [key for key, title in BY_LAYER.items() if key in shapes and title.startswith("to ")]
    above = {key: _ranked(shapes[key].query("value > 50")) for key in places}
    for kind, tokens in (("attention", "All tokens, special tokens included,"), ("offset", "Words")):
        parts = [
            f"{BY_LAYER[key]} in {len(heads)} head{'s' * (len(heads) > 1)} ({names(heads, 6)})"
            for key, heads in above.items()
            if heads and key[0] == kind
        ]
        if parts:
            yield f"{tokens} give more than half of their attention {'; '.join(parts)}."
    if any(above.values()):
        yield "These are means over each text, then over texts; sinks are defined by the attention of words alone."
    else:
        yield "No head gives more than half of its attention to a special token, a sign, a neighbour or itself."


def _charts(shapes: Shape) -> Iterator[Any]:
    """Yield entropy and attention by layer: a dot a head, and means."""
    from reports.drawing.charts import heads_by_layer

    text = "A dot a head, by layer, with means over heads; the tables below and shapes.csv have the numbers."
    for title, wanted in PANELS.items():
        if series := {name: shapes[key] for name, key in wanted.items() if key in shapes}:
            yield heads_by_layer(title, text, series)


def _map(kind: str, measure: str, rows: pd.DataFrame, shape: tuple[int, int]) -> HeadMap:
    """Return the map of all heads of a measure."""
    about, group = _about(rows), TITLES.get(kind, kind).lower()
    name = NAMES.get((kind, measure), measure.replace("-", "−") if kind == "offset" else measure)
    return HeadMap.of(
        f"{group} {name}" if kind == "attention" else f"{group}: {name}" if kind in TITLES else name,
        rows,
        "value",
        shape,
        unit=about["unit"],
        text=_text,
        marked=(rows["p_adjusted"] < LEVEL).tolist(),
        group=group,
        about=f"uniform attention {_written(about, 'even')} {about['unit']} · n {_texts(rows)} · clusters "
        f"{count(about['clusters'])}",
    )


def _text(row: Mapping[Any, Any]) -> str:
    """Say what a measure is of one head."""
    interval = f" [{_written(row, 'ci_low')}, {_written(row, 'ci_high')}]" if row["ci_low"] == row["ci_low"] else ""
    passed = f" · significantly above {row['threshold']:g}" if row["p_adjusted"] < LEVEL else ""
    return f"{_written(row)} {row['unit']}{interval}{passed}"


def _tables(shapes: Shape) -> Iterator[TextTable]:
    """Yield the means by layer, the sieves with the heads above their threshold, and the classes with their heads."""
    shown = {title: shapes[key] for key, title in BY_LAYER.items() if key in shapes}
    titles = ("Layer", *(f"{title}, {rows['unit'].iloc[0]}" for title, rows in shown.items()))
    layers = next(iter(shapes.values()))["layer"].unique()
    of_layers = [
        (layer + 1, *(_written(_about(rows[rows["layer"] == layer])) for rows in shown.values())) for layer in layers
    ]
    yield TextTable.of("Means over the heads of a layer", columns_of(titles), of_layers)
    made: list[Sequence[object]] = []
    for name, rows in (sieves := _of_kind(shapes, "sieve")).items():
        spread, heads = map(decimal, rows["value"].quantile([0, 0.5, 1])), _ranked(rows[rows["p_adjusted"] < LEVEL])
        made.append((name, _texts(rows), *spread, len(heads), names(heads)))
    if made:
        threshold = max(rows["threshold"].max() for rows in sieves.values())
        columns = (*columns_of(("Sieve", "n", "Lowest head", "Median", "Highest", "Heads above")), WHICH)
        yield TextTable.of(f"Sieves: heads whose score is significantly above {threshold:g}", columns, made)
    if classes := _of_kind(shapes, "class"):
        ranked = pd.concat(classes.values()).sort_values("value", ascending=False, kind="stable")
        most = ranked.drop_duplicates("name").groupby("measure")["name"].agg(list)
        of_class = [
            (name, _written(_about(rows)), len(most.get(name, [])), names(most.get(name, [])))
            for name, rows in classes.items()
        ]
        columns = (*columns_of(("Class", "All maps, %", "Heads mostly so")), WHICH)
        first = next(iter(classes.values()))
        near = count(classes.get("block", first)["near_ties"].sum())
        note = f"The class of {near} maps, of all heads together, depends on a difference within rounding."
        yield TextTable.of(f"Maps by class: {_texts(first)}", columns, of_class, note=note)
