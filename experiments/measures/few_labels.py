"""Heads from few labels: how many labelled arcs it takes to select a head, beside what the same arcs teach a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read, tables_of
from probes.evidence.relations import choose_relations
from reports.blocks.block import Block, Charts, Points, TableBlock, Terms
from reports.formats import count, percent, signed, signed_interval
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.statements.figure import Figure, Point
from reports.tables.cells import Cell, TextColumn
from reports.tables.shared_columns import ITEMS, QUESTION, difference, ends, fraction, run_table, text, whole
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from experiments.run.scope import Scored

HEAD, ENSEMBLE, UNTRAINED = "head", "ensemble", "head, random weights"

FEW_LABELS: Final = run_table(
    "One row for each label, method and number of labelled arcs: what a head or an ensemble that was selected from so "
    "few arcs, and what a rule that learned from the same arcs, reach on held-out text.",
    ("probe", "label", "variant", "method", "arcs"),
    (
        *QUESTION,
        text(
            "method",
            "head: the best on the arcs; ensemble: the mean map of several, selected on the arcs; head, random "
            "weights: the best of a randomly initialised model; fixed rule: of the baselines and rules that need no "
            "labels the best on the arcs; else a rule that learned from the arcs.",
        ),
        whole("arcs", "Number of labelled arcs, drawn from the selection split."),
        *ITEMS,
        fraction("accuracy", "Accuracy on the report split, as a mean over draws of arcs.", ""),
        *ends("", "accuracy over draws and documents", percent),
        text("best_rule", "Rule with the highest accuracy from as many arcs; empty for rules."),
        difference("lead", "Accuracy minus that of the best rule; missing for rules.", "lead"),
        *ends("lead", "the lead over the best rule", signed),
    ),
)

TERMS: Final = {
    "from so many arcs": "Labelled arcs are drawn at random from the selection split. A head is selected by its "
    "accuracy on them, and heads are added to an ensemble while the mean of their maps gains; nothing of the model is "
    "trained. Rules learn from the same arcs: an offset, a lexical table of word forms and offsets, the nearest word "
    "of a set of part-of-speech tags. The fixed rule is, of the baselines and rules that need no labels, the best on "
    "the arcs.",
    "lead over the best rule": "Accuracy on held-out text minus that of the rule with the highest accuracy from as "
    "many arcs. The interval is over draws of arcs and resampled documents; it is not corrected for the number of "
    "labels. Rules are not combined with each other, as the heads of an ensemble are.",
}


class FewLabelsMeasure(Measure):
    """Heads, and ensembles of heads, selected from few labelled arcs, beside rules that learn from the same arcs."""

    name = "few_labels"
    title = "Heads from few labels"
    place = 110
    switch = "relations"
    tables = {"few_labels": FEW_LABELS}
    methods = (
        Method(
            "For the {relations} labels with the most items {arcs} labelled arcs were drawn from the selection split, "
            "{draws} times. Selected from the same arcs: the best head, an ensemble of at most {largest} heads whose "
            "maps are averaged, the best head of a randomly initialised model, and the best rule that needs no labels. "
            "Learned from them: the most frequent offset, a lexical table of word forms and offsets, the nearest word "
            "of at most five part-of-speech tags. Intervals are percentiles over draws, each with resampled documents "
            "of the held-out text."
        ),
    )

    relations: int = Field(default=0, ge=0)
    "Labels, those with the most items, that are asked about; 0 for none."
    arcs: list[int] = Field(default=[10, 30, 100, 300, 1000], min_length=1)
    "Numbers of labelled arcs, from which heads are selected and rules learn."
    draws: int = Field(default=20, ge=2)
    "Times that arcs are drawn from the selection split."
    largest: int = Field(default=4, ge=2, le=8)
    "Heads of the largest ensemble."

    def of_part(self, run: RunContext, scored: Scored) -> Iterator[pd.DataFrame]:
        """Yield a table a label; both splits are read once more by the model and by one with random weights."""
        from probes.maps.few_labels import FewLabels, labelled

        part = scored.part
        with run.journal.stage(self.name):
            relations = choose_relations(scored.scores, part.probes, self.relations, run.model.heads)
            questions = [relation.question for relation in relations]
            own, random = (
                [labelled(model, texts, part.probes, questions, part.settings) for texts in part.texts]
                for model in (run.model, run.random_model())
            )
            for question in (question for question in questions if all(question in split for split in own)):
                select, report = (split[question] for split in own)
                untrained = (random[0][question].hits, random[1][question].hits)
                probe, variant, label = question
                asked = next(one for one in part.probes if one.name == probe)
                few = FewLabels(select, report, untrained, asked, self.draws, self.largest, run.config.seed)
                known = {"n": len(report.hits), "clusters": len(set(report.answers.cluster.tolist()))}
                yield few.table(self.arcs).assign(probe=probe, variant=variant, label=label, **known)

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return one row a label, method and number of arcs; nothing where no label has enough items."""
        return tables_of(few_labels=read.rows)

    @classmethod
    def results(cls, run: RunFolder) -> Iterator[str]:
        """Yield on how many labels heads and rules lead, for each number of arcs."""
        for _, rows in run.last("few_labels").groupby("arcs"):
            yield _ahead(rows, int(rows["arcs"].iloc[0]))

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield on how many labels heads and rules lead, a chart a label, and the leads by number of arcs."""
        from reports.statements.drawn import figure_chart

        rows = run.last("few_labels")
        sizes = sorted(rows["arcs"].unique().tolist())
        yield Points([*cls.results(run)])
        labels = rows.groupby(["label", "variant"], sort=False)
        yield Charts([figure_chart(_figure(f"{label} ({variant})", part)) for (label, variant), part in labels])
        for method in (HEAD, ENSEMBLE):
            yield TableBlock(_leads(rows[rows["method"] == method], method, sizes))
        yield Terms(TERMS.items())


def _ahead(rows: pd.DataFrame, size: int) -> str:
    """Write for how many labels heads, ensembles and rules are significantly ahead."""
    heads, ensembles, untrained = (rows[rows["method"] == method] for method in (HEAD, ENSEMBLE, UNTRAINED))
    return (
        f"{count(size)} labelled arcs: of {count(len(heads))} labels, the selected head leads the best rule in "
        f"{count((heads['lead_low'] > 0).sum())} and is behind it in {count((heads['lead_high'] < 0).sum())}; an "
        f"ensemble leads in {count((ensembles['lead_low'] > 0).sum())}, a head of random weights in "
        f"{count((untrained['lead_low'] > 0).sum())}. The others are undecided."
    )


def _leads(rows: pd.DataFrame, method: str, sizes: Sequence[int]) -> TextTable:
    by_label = [
        {"label": label, "variant": variant} | {str(row["arcs"]): row for row in part.to_dict("records")}
        for (label, variant), part in rows.groupby(["label", "variant"], sort=False)
    ]
    columns = [
        FEW_LABELS["label"].shown("Label", "row"),
        FEW_LABELS["variant"].shown("Variant"),
        *(TextColumn(f"{count(size)} arcs", partial(_lead, str(size)), kind="number") for size in sizes),
    ]
    title = f"Lead of the {method} over the best rule in points; accuracy of either, and the rule"
    return TextTable.of(title, columns, by_label)


def _lead(size: str, label: Mapping[str, Any]) -> Cell | str:
    if size not in label:
        return ""
    row = label[size]
    lead = f"{signed(row['lead'])} {signed_interval(row['lead_low'], row['lead_high'])}"
    beside = f"{percent(row['accuracy'])}, {percent(row['accuracy'] - row['lead'])} {row['best_rule']}"
    return Cell(f"{lead}; {beside}", sort=float(row["lead"]))


def _figure(title: str, rows: pd.DataFrame) -> Figure:
    """Return accuracy by number of arcs, rules dashed."""
    series: dict[str, list[Point]] = {}
    for row in rows.to_dict("records"):
        point = (row["arcs"], 100 * row["accuracy"], 100 * row["low"], 100 * row["high"])
        series.setdefault(str(row["method"]), []).append(point)
    rules = [method for method in series if method not in (HEAD, ENSEMBLE, UNTRAINED)]
    return Figure("lines", title, "labelled arcs", "accuracy, %", series, log="x", dashed=rules)
