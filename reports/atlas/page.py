"""The page of an atlas, made from its record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from reports.atlas.across import kept_labels, label_table, pair_table, role_cases
from reports.atlas.pooled import AtlasRow, pooled_rows
from reports.atlas.record import AtlasRecord, read_record, write_record
from reports.atlas.sentences import overview, summary
from reports.atlas.shown import grid_table, run_table
from reports.blocks.block import Block, Charts, Fold, Paragraph, Points, Section, TableBlock, Terms
from reports.blocks.page import Page, write_page
from reports.drawing.charts import Chart, series_styles
from reports.drawing.dots import Dot, dot_chart
from reports.formats import percent
from reports.progress import Step, each, silent
from reports.scores.selected_head import CAUTION, TERMS

METHOD: Final = (
    *TERMS,
    (
        "Specialised",
        "A head with a grade in a role of language: in any probe but position. Runs correct p for all heads and labels "
        "of their own, not for the number of runs.",
    ),
    (
        "Seeds",
        "Of controls, bootstrap and trained probes, and of the weights where they are random. Trained weights are the "
        "same in every seed, so seeds of one model and corpus are no independent samples.",
    ),
    (
        "Grid",
        "Mean recall of the selected heads over seeds, the heads, and the most frequent grade (of several the lowest) "
        "with the number of seeds that have it. A dash: not scored there.",
    ),
    (
        "Across corpora",
        "A head that is selected on one corpus, evaluated on the report split of another beside the head selected "
        "there. Counted are heads with a grade on the report split of their own corpus, in roles of language, and "
        "labels that both corpora have; of several seeds the first. Baselines, tables and rules are those of the "
        "corpus on which the head is evaluated. The counts describe these corpora and are not tested: cases share "
        "heads and texts, and a grade here without one there is no significant difference. Where report splits hold "
        "translations of each other, grades on both rest on the same content.",
    ),
    *CAUTION,
)
"Terms and what they mean."

SELECTED_HERE: Final = (
    "“Selected here”: for the same labels, heads selected on the corpus of the column that have a grade on it."
)

MARKS: Final = "A stroke is the strongest baseline; a filled dot is a head with a grade."

MOST: Final = 12
"Labels and directions that are drawn."


def write_atlas(folder: Path, record: AtlasRecord, step: Step = silent) -> Path:
    """Write the record and the page made of it into `folder`; return the page's path."""
    write_record(folder, record)
    return write_atlas_page(folder, step)


def write_atlas_page(folder: Path, step: Step = silent) -> Path:
    """Make index.html and report.md from the record in `folder`; ValueError says what is wrong with that."""
    record = read_record(folder)
    linked = [run.name for run in record.runs if (folder / "runs" / run.name / "report" / "index.html").is_file()]
    page = Page(
        title=f"Atlas {record.name}",
        sections=tuple(_sections(record, linked)),
        byline=(*overview(record), *[("headscope", record.headscope)] * bool(record.headscope)),
        kicker="headscope atlas",
        version=record.headscope,
    )
    (path,) = (write_page(folder, one) for one in each("page", (page,), step))
    return path


def _sections(record: AtlasRecord, linked: Sequence[str]) -> Iterator[Section]:
    yield Section("summary", "Summary", [Points(summary(record))])
    runs = TableBlock(run_table(record, linked), caption=False, sorts=True)
    yield Section("runs", "Runs", [runs, *(Paragraph(note, note=True) for note in record.notes)])
    yield Section("pairs", "Labels and directions", [*_pairs(record)])
    if across := [*_across(record)]:
        yield Section("across", "Across corpora", across)
    every = (
        "Every number of every run is in atlas.parquet and atlas.csv, those across corpora in across.parquet and "
        "across.csv."
    )
    yield Section("method", "Glossary", [Terms(METHOD, folded=False), Paragraph(every, note=True)])


def _pairs(record: AtlasRecord) -> Iterator[Block]:
    rows = pooled_rows(record)
    if dots := drawn_heads(rows):
        yield Charts([recall_chart(dots)])
        left_out = f" {len(rows) - MOST} more label–direction pairs are in the tables." if len(rows) > MOST else ""
        yield Paragraph(f"{MARKS} Means over seeds.{left_out}", note=True)
    else:
        yield Paragraph("No label–direction pair in a role of language was scored.")
    graded, others = ([row for row in rows if bool(row.graded) is having] for having in (True, False))
    if graded:
        yield TableBlock(grid_table(record, graded, "With a grade in any run: mean recall, %"), sorts=True)
    if others:
        table = grid_table(record, others, "Without a grade in any run: mean recall, %")
        yield Fold(f"{table.title} ({len(table)})", [TableBlock(table, caption=False, sorts=True)])


def _across(record: AtlasRecord) -> Iterator[Block]:
    cases = role_cases(record.across)
    kept = kept_labels(cases)
    if kept:
        yield Paragraph("How many heads selected with a grade on one corpus have a grade on another.")
    for model in dict.fromkeys(row["model"] for row in kept):
        yield TableBlock(pair_table(record.across, cases, model), sorts=True)
        yield Paragraph(SELECTED_HERE, note=True)
        yield TableBlock(label_table(model, [row for row in kept if row["model"] == model]), sorts=True)


def drawn_heads(rows: Sequence[AtlasRow]) -> list[Dot]:
    """Return the heads of the first rows over their strongest baselines, those that were scored."""
    dots = []
    for row in rows[:MOST]:
        for group, head in row.by_group.items():
            series = " · ".join(group)
            said = (
                f"{row.title}, {series}: {head.head} {percent(head.accuracy)} %; {head.strongest} "
                f"{percent(head.strongest_accuracy)} %"
            )
            below = Dot(row.title, series, series, head.strongest_accuracy, said, "stroke")
            dots += [below, Dot(row.title, series, series, head.accuracy, said, filled=bool(head.grade))]
    return [dot for dot in dots if dot.value == dot.value]


def recall_chart(dots: Sequence[Dot]) -> Chart:
    """Return the chart, a colour a model and corpus; heads without a grade are hollow."""
    colours = {series: style.colour for series, style in series_styles(dot.series for dot in dots).items()}
    title = "Recall of the selected heads and their strongest baselines"
    return dot_chart(title, f"{MARKS} The table below has all numbers.", dots, colours)
