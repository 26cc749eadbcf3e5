"""Ensembles: how much better the mean map of several heads is than the best head, label by label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from markupsafe import Markup

from experiments.measures.headset import HeadSetMeasure
from experiments.run.measure import Frames, Measure, Read, tables_of
from probes.evidence.relations import KEY, Relation, choose_relations
from reports.blocks.block import Block, Points, TableBlock, Terms
from reports.formats import count, percent, signed
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import few_clusters
from reports.tables.shared_columns import (
    BASELINE,
    BASELINE_ACCURACY,
    CORRELATIONS,
    FRACTIONS,
    ITEMS,
    QUESTION,
    difference,
    ends,
    flag,
    fraction,
    label_columns,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from experiments.run.scope import Scored
    from probes.evidence.results import Split
    from probes.maps.ensembles import Answers
    from probes.scoring.tally import Question

AT_A_TIME: Final = 6
"Labels whose ensembles are chosen together: what all heads hold for every candidate of theirs is in memory."

ENSEMBLES: Final = run_table(
    "One row for each label, direction and number of heads whose maps are averaged.",
    ("probe", "label", "variant", "size"),
    (
        *QUESTION,
        whole("size", "Number of heads."),
        text("heads", "Their names, in the order in which they were added on the selection split."),
        fraction("select_accuracy", "Accuracy of the mean map on the selection split."),
        flag("selected", "Whether this number of heads has the highest accuracy on the selection split."),
        *ITEMS,
        fraction("accuracy", "Accuracy of the mean map on the report split.", "ci"),
        *ends("ci", "accuracy", percent, FRACTIONS),
        difference("gain", "Accuracy minus that of the first head alone.", "gain"),
        *ends("gain", "the gain", signed, CORRELATIONS),
        BASELINE,
        BASELINE_ACCURACY,
        difference("margin", "Accuracy minus that of the strongest baseline or control.", "margin"),
        *ends("margin", "the margin", signed, CORRELATIONS),
    ),
)

TERMS: Final = {
    "ensemble": "The map that is the mean of the maps of two or more heads. To the head selected on the selection "
    "split others are added one by one, each the one that helps most there; all sizes are evaluated on the report "
    "split, and the size that was best on the selection split is in bold. The gain is over the first head alone, in "
    "percentage points. Selecting several of many heads uses the gold of the selection split more than selecting one "
    "does; no weight is trained. Each interval is of its relation alone: of many, about one in forty lies above 0 by "
    "chance.",
}


class EnsemblesMeasure(Measure):
    """The ensembles of all relations of a run, as [heads] says."""

    name = "ensembles"
    title = "Ensembles"
    place = 105
    tables = {"ensembles": ENSEMBLES}
    methods = (
        Method(
            "In each scope (sentences, windows), for at most the {relations} labels with the most items, mean maps of "
            "up to {largest} heads were selected on at most {choice_texts} texts of the selection split, and evaluated "
            "on the report split (held out).",
            section="heads",
        ),
    )

    def wanted(self, run: RunContext) -> bool:
        """Return whether ensembles are sought for any label."""
        return HeadSetMeasure.of(run.config).relations > 0

    def of_part(self, run: RunContext, scored: Scored) -> Iterator[pd.DataFrame]:
        """Add heads one by one on the selection split, and evaluate all sizes on the report split; a table a relation.

        Texts are read once more, of the selection split no more than `heads.choice_texts` and `heads.words`.
        """
        from probes.corpora.corpus import MemoryTexts
        from probes.maps.ensembles import choose_ensemble, gather_answers
        from probes.scoring.aligned import sample_texts

        model, part, section = run.model, scored.part, HeadSetMeasure.of(run.config)
        if all(probe.needs == "words" for probe in part.probes):
            return
        with run.journal.stage(self.name):
            relations = choose_relations(scored.scores, part.probes, section.relations, model.heads)
            sample = MemoryTexts(sample_texts(part.texts[0], section.choice_texts, section.words))
            sought: dict[Question, tuple[list[int], list[float]]] = {}
            for first in range(0, len(relations), AT_A_TIME):
                some = relations[first : first + AT_A_TIME]
                known = gather_answers(model, sample, part.probes, {one.question: None for one in some}, part.settings)
                for one in some:
                    if one.question in known:
                        sought[one.question] = choose_ensemble(known[one.question], one.first, section.largest)
            heads = {question: found[0] for question, found in sought.items()}
            answered = gather_answers(model, part.texts[1], part.probes, heads, part.settings)
            for one in relations:
                if (question := one.question) in answered:
                    yield _rows(one, *sought[question], answered[question], scored.splits[1], model.heads)

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return one row a relation and size, the single head first; nothing where no relation has enough items."""
        return tables_of(ensembles=read.rows)

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield how many ensembles are better than their best head, and all of them, the surest gains first."""
        sizes = [rows.to_dict("records") for _, rows in run.tables["ensembles"].groupby(KEY, sort=False)]
        found = [{**next((row for row in rows if row["selected"]), rows[0]), "sizes": rows} for rows in sizes]
        found.sort(key=lambda one: -1.0 if one["gain_low"] != one["gain_low"] else one["gain_low"], reverse=True)
        yield Points([*_gains([one for one in found if one["gain_low"] == one["gain_low"]])])
        yield Terms(TERMS.items())
        title = "Accuracy of the mean map of one head and more, in percent"
        yield TableBlock(TextTable.of(title, COLUMNS, found), caption=False, sorts=True)


def _rows(
    relation: Relation, chosen: Sequence[int], accuracy: Sequence[float], answers: Answers, split: Split, heads: int
) -> pd.DataFrame:
    """Return the rows of one relation, a size each."""
    from probes.evidence.leads import Documents
    from probes.maps.ensembles import ensemble_hits

    clusters, n, hits = ensemble_hits(answers)
    assert clusters == split.heads[relation.question].clusters, "all answer the same items, so that they are paired"
    documents, reached = Documents.of(n), hits.sum(0) / n.sum()
    beaten, margin = split.lead(relation.baseline, relation.question, hits)
    intervals = {
        "ci": documents.share_interval(hits),
        "gain": np.append(np.zeros((2, 1)), documents.lead_interval(hits[:, 1:] - hits[:, :1]), axis=1),
        "margin": margin,
    }
    bounds = {
        f"{name}_{end}": bound
        for name, interval in intervals.items()
        for end, bound in zip(("low", "high"), interval, strict=True)
    }
    names = [f"{head // heads + 1}-{head % heads + 1}" for head in chosen]
    frame = pd.DataFrame({"select_accuracy": accuracy, "accuracy": reached, **bounds})
    return frame.assign(
        **dict(zip(KEY, relation.question, strict=True)),
        size=frame.index + 1,
        heads=[" ".join(names[: size + 1]) for size in frame.index],
        selected=frame.index == int(np.argmax(accuracy)),
        n=int(n.sum()),
        clusters=len(clusters),
        gain=reached - reached[0],
        baseline=relation.baseline,
        baseline_accuracy=beaten,
        margin=reached - beaten,
    )


def _gains(known: Sequence[Mapping[Any, Any]]) -> Iterator[str]:
    """Say how many ensembles are better than their best head."""
    if known:
        better, worse = sum(one["gain_low"] > 0 for one in known), sum(one["gain_high"] < 0 for one in known)
        single = sum(one["sizes"][0]["margin_low"] > 0 for one in known)
        together = sum(one["margin_low"] > 0 for one in known)
        yield (
            f"Ensembles: for {better} of {len(known)} labels the mean map of the selected heads is better "
            f"than the best head alone (95 % interval of the gain above 0), for {worse} worse. The 95 % interval of "
            f"the margin over the strongest baseline or control lies above 0 in {single} for the single head and in "
            f"{together} for the ensemble (not corrected)."
        )


def _baseline(row: Any) -> Cell:
    return Cell(percent(row["baseline_accuracy"]), row["baseline"], "rival", sort=float(row["baseline_accuracy"]))


def _single(row: Any) -> Cell:
    first = row["sizes"][0]
    return Cell(percent(first["accuracy"]), first["heads"], sort=float(first["accuracy"]), quiet="head")


def _sign(of: str, row: Any) -> str:
    return "up" if row[f"{of}_low"] > 0 else "down" if row[f"{of}_high"] < 0 else ""


def _sizes(row: Any) -> Cell:
    sizes = [(percent(size["accuracy"]), size["selected"]) for size in row["sizes"]]
    shown = Markup(" · ").join(Markup("<b>{}</b>").format(said) if chosen else said for said, chosen in sizes)
    return Cell(", ".join(said for said, _ in sizes), page=shown)


COLUMNS: Final = (
    *label_columns("Label"),
    ENSEMBLES["variant"].shown(css="muted"),
    ENSEMBLES["n"].shown(write=lambda row: Cell(count(row["n"]), sort=row["n"], caution=few_clusters(row["clusters"]))),
    ENSEMBLES["baseline"].shown(write=_baseline, kind="num", only="page"),
    ENSEMBLES["baseline"].shown(only="text"),
    ENSEMBLES["baseline_accuracy"].shown("Baseline accuracy", only="text"),
    TextColumn("Best head", _single, only="page"),
    TextColumn("Best head", lambda row: row["sizes"][0]["heads"], "text", only="text"),
    TextColumn("Best head’s accuracy", lambda row: percent(row["sizes"][0]["accuracy"]), only="text"),
    ENSEMBLES["heads"].shown("Ensemble", css="head"),
    ENSEMBLES["accuracy"].shown("Ensemble accuracy", unit=False, css="strong"),
    *ENSEMBLES["gain"].shown_with_interval(css=lambda row: _sign("gain", row)),
    *ENSEMBLES["margin"].shown_with_interval(css=lambda row: _sign("margin", row)),
    TextColumn("Accuracy with 1, 2, ... heads", _sizes, "text", "sizes", fixed=True),
)
