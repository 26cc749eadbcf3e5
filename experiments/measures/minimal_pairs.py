"""Minimal pairs: which of two sentences a model prefers, by attractors, phenomenon and paradigm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Fold, Heading, Paragraph, TableBlock, Terms
from reports.formats import MISSING, count, interval, percent
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import CHANCE_DRAWN, clusters_shown, ends, spark
from reports.tables.scores import BEHAVIOUR
from reports.tables.shared_columns import CHANCE
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.pairs.corpora import PairCorpus

Row = Mapping[Any, Any]
"A row of a table, by the names of its columns."

SCOPE: Final = "minimal pairs"
"What stands among the dropped, in place of sentences or windows."

METHODS: Final = {
    "masked": "The sentences differ in one word piece. It is masked, and the model prefers the sentence whose piece "
    "has the higher probability there (Goldberg 2019).",
    "pll": "Pseudo-log-likelihood: every piece of a sentence is masked in turn, and the log-probabilities of the "
    "correct pieces are summed; the model prefers the sentence with the higher sum (Salazar et al. 2020).",
    "cloze": "Both sentences have the same word at one place. It is masked, and the model prefers the sentence in "
    "which it has the higher probability (Ettinger 2020).",
}
"Method -> what it is."

DECIDED: Final = (
    "Of two sentences that differ in one point one is correct. "
    "Accuracy is the share of pairs whose correct sentence the model prefers; ties count half, chance is 50. "
    "Intervals (95 %) come from resampling clusters: the sentences or documents that pairs were made from. Where all "
    "clusters are correct the interval is the exact binomial one. A model that always prefers one form of a verb is "
    "correct on all pairs of one number and on none of the other. A phenomenon with few "
    "different words can differ from chance by preferences for words alone: compare with an untrained model."
)

TITLES: Final = {
    "attractors": "By attractors: nouns of the other number between subject and verb (pairs with a coordinated subject "
    "are left out)",
    "number": "By number of the verb in the correct sentence",
    "phenomenon": "By phenomenon",
    "condition": "By condition",
    "paradigm": "By paradigm",
}
"Level -> title of its table, in the order of a page."

VERDICTS: Final = {
    "above chance": ("lies above chance", "up"),
    "below chance": ("lies below chance", "down"),
    "contains chance": ("contains chance", "muted"),
}
"Verdict -> what the interval does, and how its cell looks."

FOLDED: Final = 15
"A table with more rows than this is folded."


class MinimalPairsMeasure(Measure):
    """Which sentence of each of the minimal pairs of [behaviour] the model of a run prefers."""

    name = "minimal_pairs"
    title = "Minimal pairs"
    place = 5
    tables = {"behaviour": BEHAVIOUR}
    methods = (
        Method(
            "Of two sentences that differ in one point the model had to prefer the correct one (corpora: {corpora}; "
            "method: {method}; seed of the grammar’s pairs: {seed}).",
            section="behaviour",
        ),
    )

    def wanted(self, run: RunContext) -> bool:
        """Return whether [behaviour] names corpora.

        Raises ModelError for a model without a masked-LM head and CorpusError for pairs that are not there.
        """
        return bool(_corpora(run) and run.lm)

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the accuracy on all pairs; note what was asked and left out."""
        from probes.pairs.scores import decide
        from probes.pairs.table import pair_table
        from probes.scoring.aligned import Dropped

        method, scoring, decided, facts = run.config.behaviour.method, run.config.scoring, {}, {}
        for corpus in _corpora(run):
            items, fingerprint = corpus.count()
            step = run.counter(f"minimal pairs, {corpus.name}", items)
            made = decide(run.lm, corpus.stream(), method=method, batch_pieces=scoring.batch_pieces, step=step)
            decided[corpus.name] = made
            facts[corpus.name] = {"items": items, "decided": len(made.made), "fingerprint": fingerprint}
            run.journal.drop(corpus.name, SCOPE, Dropped.of(made.left_out))
        run.fact(self.name, facts)
        return {"behaviour": pair_table(decided, replicates=scoring.replicates, seed=run.config.seed)}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield what came out of each corpus, and its groups of pairs."""
        every = run.last("behaviour")
        used = {name for said in every["method"] for name in said.split(", ")}
        yield Paragraph(DECIDED)
        yield Terms([(method, said) for method, said in METHODS.items() if method in used])
        yield Paragraph("Drawn: the accuracy with its 95 % interval, and the line of chance, 50.", note=True)
        for corpus, rows in every.groupby("corpus", sort=False):
            yield Heading(str(corpus))
            yield from _of_corpus(rows)


def _corpora(run: RunContext) -> list[PairCorpus]:
    from probes.pairs.corpora import open_pairs

    section = run.config.behaviour
    return [open_pairs(name, first=section.first, seed=section.seed) for name in section.corpora]


def _of_corpus(rows: pd.DataFrame) -> Iterator[Block]:
    levels = {str(level): part.to_dict("records") for level, part in rows.groupby("level")}
    yield Paragraph(_summary(levels["corpus"][0], levels.get("attractors", ())))
    several = len(levels.get("paradigm", ())) > 1
    shown = [
        TextTable.of(title, PREFERENCES, levels[level])
        for level, title in TITLES.items()
        if len(levels.get(level, ())) > 1 and not (level == "condition" and several)
    ]
    for table in shown or [TextTable.of("All pairs", PREFERENCES, levels["corpus"])]:
        folded = f"{table.title}: {len(table)} rows"
        yield Fold(folded, [TableBlock(table, caption=False)]) if len(table) > FOLDED else TableBlock(table)


def _summary(whole: Row, attractors: Sequence[Row]) -> str:
    if not whole["n"]:
        return f"Nothing was decided; pairs left out: {count(whole['left_out'])}."
    verdict = f"the interval {VERDICTS[said][0]}" if (said := _verdict(whole)) else "too few clusters for a verdict"
    text = f"The correct sentence is preferred in {_accuracy(whole)} pairs: {verdict}."
    known = [row for row in attractors if row["n"] and not _rough(row)] if len(attractors) > 1 else []
    if len(known) > 1:
        text += f" Without attractors {_accuracy(known[0])}, with {_name(known[-1])}: {_accuracy(known[-1])}."
    return text + (f" Pairs left out: {count(whole['left_out'])}." if whole["left_out"] else "")


def _rough(row: Row) -> bool:
    return bool(0 < row["clusters"] < FEW_CLUSTERS)


def _verdict(row: Row) -> str:
    """Return where the interval lies; "" where there is none, or too few clusters for a verdict."""
    if row["ci_low"] != row["ci_low"] or _rough(row):
        return ""
    return (
        "above chance" if row["ci_low"] > CHANCE else "below chance" if row["ci_high"] < CHANCE else "contains chance"
    )


def _accuracy(row: Row) -> str:
    """Write accuracy with its interval and n: "81.5 % [77.0, 85.9] of 412"."""
    between = interval(row["ci_low"], row["ci_high"])
    return f"{percent(row['accuracy'])} %{' ' + between if between else ''} of {count(row['n'])}"


def _name(row: Row) -> str:
    if row["level"] == "corpus":
        return "all pairs"
    if row["level"] == "attractors":
        number = int(row["attractors"])
        return f"{number or 'no'} attractor{'' if number == 1 else 's'}"
    return str(row[row["level"]]).replace("_", " ")


def _drawn(row: Row) -> Cell:
    return Cell("", page=spark(row["accuracy"], row["ci_low"], row["ci_high"], below=CHANCE_DRAWN))


def _judged(row: Row) -> Cell:
    said = _verdict(row)
    return Cell(said or MISSING, css=VERDICTS[said][1] if said else "muted")


PREFERENCES: Final = BEHAVIOUR.text_columns(
    TextColumn("Pairs", _name, "row"),
    BEHAVIOUR["method"].shown(css="muted", write=lambda row: row["method"] or MISSING),
    "n",
    clusters_shown(),
    TextColumn(ends(0, 50, 100), _drawn, "spark", only="page"),
    *BEHAVIOUR["accuracy"].shown_with_interval(css=lambda row: "strong"),
    TextColumn("Interval", _judged, "text", plain="verdict"),
    *("near_ties", "left_out"),
)
"Of the tables of groups of pairs."
