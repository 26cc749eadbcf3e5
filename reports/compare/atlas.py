"""The page of an atlas, made from its record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

from reports.blocks.block import Block, Charts, Fold, Paragraph, Points, Section, TableBlock, Terms
from reports.blocks.page import Page
from reports.blocks.short import short_form, short_table
from reports.compare.across import kept_labels, label_table, pair_table, role_cases, sentences
from reports.compare.atlas_record import ATLAS_TABLES, AtlasFacts, AtlasRecord, AtlasRun
from reports.compare.atlas_shares import DOCUMENTS, ITEMS, label_shares, share_chart, share_table
from reports.compare.atlas_summary import (
    AtlasRow,
    Group,
    GroupSummary,
    PooledHead,
    group_summaries,
    groups,
    overview,
    pooled_rows,
    summary,
)
from reports.compare.page_record import RecordPage
from reports.drawing.charts import Chart, series_styles
from reports.drawing.dots import Dot, dot_chart
from reports.formats import MISSING, count, decimal, percent
from reports.scores.plain_names import task
from reports.scores.selected_head import CAUTION, SPECIALISED, TERMS, question_cell
from reports.tables.cells import Cell, TextColumn
from reports.tables.grades import GRADES
from reports.tables.marks import few_documents
from reports.tables.text_table import TextTable


def _number(run: AtlasRun, value: float, text: str = "") -> Cell:
    """Return a number of a run; a dash where the run failed."""
    return Cell(MISSING, sort=float("nan")) if run.failed else Cell(text or count(value), sort=float(value))


def _named(linked: Collection[str], run: AtlasRun) -> Cell:
    page = f"runs/{quote(run.name, safe='')}/report/index.html" if run.name in linked else ""
    return Cell(run.name, link=page)


def _parts(run: AtlasRun, counts: Sequence[int]) -> Cell:
    return _number(run, counts[0] if counts else 0, " / ".join(map(count, counts)))


FAILURE: Final = TextColumn(
    "Failure", lambda run: Cell(run.failed, css="down"), "text", "wrapping", tip="The message of a run that failed."
)

COUNTS: Final = (
    TextColumn("Model", lambda run: run.model, "text"),
    TextColumn("Corpus", lambda run: run.corpus, "text"),
    TextColumn("Seed", lambda run: Cell(str(run.seed), sort=run.seed)),
    TextColumn(
        "Specialised heads",
        lambda run: _number(run, run.specialised),
        css="strong",
        tip="Heads with a stable grade in a linguistic role.",
    ),
    TextColumn(
        f"Grade {' / '.join(map(str, range(1, len(GRADES))))}",
        lambda run: _parts(run, run.grades[1:]),
        tip="The same heads by their highest grade.",
    ),
    TextColumn(
        "Yes / no / undecided",
        lambda run: _parts(run, run.verdicts),
        tip="Verdicts on label–direction pairs in linguistic roles.",
    ),
)

FOLDED: Final = (
    TextColumn("Position only", lambda run: _number(run, run.position), tip="With a stable grade in position only."),
    TextColumn("Heads", lambda run: _number(run, run.heads), tip="Heads of the model.", folded=True),
    TextColumn("Seconds", lambda run: _number(run, run.seconds, decimal(run.seconds, 1)), folded=True),
)


def run_table(record: AtlasRecord, linked: Collection[str] = ()) -> TextTable:
    """Return the runs in their order, those named in `linked` with a link to their page."""
    name = TextColumn("Run", partial(_named, linked), "row")
    failure = [FAILURE] * bool(record.failed)
    return TextTable.of("Runs", (name, *COUNTS[:3], *failure, *COUNTS[3:], *FOLDED), record.runs)


def grid_table(record: AtlasRecord, rows: Sequence[AtlasRow], title: str) -> TextTable:
    """Return labels and directions by model and corpus: recall and grade of the selected head, seeds pooled."""
    columns = [
        TextColumn(" · ".join(group), partial(_by_group, group), plain=" · ".join(group)) for group in groups(record)
    ]
    return TextTable.of(title, (QUESTION, GRADED, *columns), rows)


QUESTION: Final = TextColumn(
    "Label and direction",
    lambda row: question_cell(vars(row)),
    "row",
    "wrapping",
    tip="Probe, label and direction that heads are scored on.",
)


GRADED: Final = TextColumn(
    "Graded in",
    lambda row: Cell(f"{row.graded} of {row.runs}", sort=float(row.graded)),
    tip="Runs in which some head has a stable grade, of those that scored it.",
)


def _by_group(group: Group, row: AtlasRow) -> Cell:
    """Return mean recall, and beside it the selected heads with the most frequent grade; a dash where not scored."""
    if group not in row.by_group:
        return Cell(MISSING, sort=float("nan"))
    pooled = row.by_group[group]
    look = "up" if pooled.grade else ""
    caution = few_documents(pooled.effective_clusters)
    return Cell(percent(pooled.accuracy), graded(pooled), look, sort=float(pooled.accuracy), caution=caution)


def graded(pooled: PooledHead) -> str:
    """Return the selected heads, the most frequent first, with their most frequent grade and how many seeds have it."""
    heads = sorted(dict.fromkeys(pooled.heads), key=lambda head: (head != pooled.head, -pooled.heads.count(head)))
    grade = f"grade {pooled.grade}" if pooled.grade else "no grade"
    seeds = f" in {pooled.grades.count(pooled.grade)} of {pooled.seeds} seeds" if pooled.seeds > 1 else ""
    others = max(pooled.highest)
    also = f"; another head has grade {others}" if others > max(pooled.grades) else ""
    return f"{', '.join(heads)}: {grade}{seeds}{also}"


METHOD: Final = {
    **TERMS,
    "Seeds": "Of controls, bootstrap and trained probes, and of the weights where they are random. Trained weights are "
    "the same in every seed, so seeds of one model and corpus are no independent samples.",
    "Grid": "Mean recall of the selected heads over seeds, the heads, and the most frequent grade (of several the "
    "lowest) with the number of seeds that have it. A dash: not scored there.",
    "Across corpora": "A head that is selected on one corpus, evaluated on the report split of another beside the head "
    "selected there. Counted are heads with a grade on the report split of their own corpus, in linguistic roles, and "
    "labels that both corpora have; of several seeds the first. Baselines, tables and rules are those of the corpus on "
    "which the head is evaluated. The counts describe these corpora and are not tested: cases share heads and texts, "
    "and a grade here without one there is no significant difference. Where report splits hold translations of each "
    "other, grades on both rest on the same content.",
    **CAUTION,
}
"Terms and what they mean."

SELECTED_HERE: Final = (
    "“Selected here”: for the same labels, heads selected on the corpus of the column that have a grade on it."
)

MARKS: Final = "A stroke is the strongest baseline; a filled dot is a selected head with a grade in most seeds."

MOST: Final = 12
"Labels and directions that are drawn."


CRITERION: Final = (
    f"The best head of each label is selected on one split and evaluated on another. {SPECIALISED}p is corrected for "
    "all heads and labels of a run, not for the number of runs. The strongest baseline can also be a table of words or "
    "a rule of grammar."
)


def _specialised(row: GroupSummary) -> str:
    """Write how many heads are specialised, from the least to the most of all seeds."""
    numbers = sorted({run.specialised for run in row.runs})
    return f"{' to '.join(map(count, (numbers[0], *numbers[1:][-1:])))} of {count(row.runs[0].heads)}"


def _of_best(write: Callable[[AtlasRow, PooledHead], str]) -> Callable[[GroupSummary], str]:
    return lambda row: write(*row.best) if row.best else MISSING


GROUPS: Final = (
    TextColumn("Model", lambda row: row.group[0], "row", "wrapping"),
    TextColumn("Corpus", lambda row: row.group[1], "text", "wrapping"),
    TextColumn("Specialised heads", _specialised, css="strong"),
    TextColumn(
        "Specialised head with the largest lead",
        _of_best(lambda row, head: f"{head.head} {task(row.probe, row.label, row.variant)}"),
        "text",
        "wrapping",
    ),
    TextColumn("Accuracy, %", _of_best(lambda row, head: percent(head.accuracy))),
    TextColumn(
        "Strongest baseline, %",
        _of_best(lambda row, head: f"{percent(head.strongest_accuracy)} {head.strongest}"),
    ),
)


def _opening(record: AtlasRecord) -> Iterator[Block]:
    """Yield how many runs have specialised heads, what that means, and the heads of each model and corpus."""
    yield Paragraph(summary(record)[0])
    yield Paragraph(CRITERION)
    if rows := group_summaries(record):
        yield short_table(TextTable.of("Models and corpora", GROUPS, rows), "atlas.csv")


def _page(record: AtlasRecord, folder: Path) -> Page:
    linked = [run.name for run in record.runs if (folder / "runs" / run.name / "report" / "index.html").is_file()]
    opening, pairs = tuple(_opening(record)), tuple(_pairs(record))
    return Page(
        title=f"Atlas {record.name}",
        sections=tuple(_sections(record, opening, pairs, linked)),
        byline=(*overview(record), *[("headscope", record.headscope)] * bool(record.headscope)),
        kicker="headscope atlas",
        version=record.headscope,
        short=tuple(
            short_form(
                opening,
                [*sentences(record.across)] if len({run.model for run in record.runs}) == 1 else [],
                f"headscope atlas {record.name}",
                "every run, label and direction, and heads across corpora; atlas.csv and across.csv have all numbers",
                [chart for block in pairs if isinstance(block, Charts) for chart in block.charts],
            )
        ),
    )


ATLAS_PAGE: Final = RecordPage("atlas", "an atlas", AtlasFacts, AtlasRecord, ATLAS_TABLES, _page, ".parquet")
"The page of an atlas and its record."


def _sections(
    record: AtlasRecord, opening: Sequence[Block], pairs: Sequence[Block], linked: Sequence[str]
) -> Iterator[Section]:
    yield Section("summary", "Summary", [*opening, Points(summary(record)[1:])])
    if shares := label_shares(record):
        yield Section(
            "shares",
            "More than words and rules",
            [Paragraph(SHARES), Charts([share_chart(shares)]), TableBlock(share_table(shares), sorts=True)],
        )
    runs = TableBlock(run_table(record, linked), caption=False, sorts=True)
    yield Section("runs", "Runs", [runs, *(Paragraph(note, note=True) for note in record.notes)])
    yield Section("pairs", "Labels and directions", pairs)
    if across := [*_across(record)]:
        yield Section("across", "Across corpora", across)
    every = (
        "Every number of every run is in atlas.parquet and atlas.csv, those across corpora in across.parquet and "
        "across.csv."
    )
    yield Section("method", "Glossary", [Terms(METHOD.items(), folded=False), Paragraph(every, note=True)])


SHARES: Final = (
    f"Of the labels that were tested on {ITEMS} words and {DOCUMENTS} documents (effective number) or more, and have a "
    "table of words and distances or rules of grammar, in how many has some head that stable grade, in any direction? "
    "Brackets are 95 % intervals, as of labels drawn at random. Grades are nested: a head beyond words is beyond "
    "position and controls too. Ahead and behind: labels whose selected head is above that baseline alone in a "
    "direction, or below it in all (95 % interval, not corrected). Pools and slices of other labels are left out."
)


def _pairs(record: AtlasRecord) -> Iterator[Block]:
    rows = pooled_rows(record)
    if dots := drawn_heads(rows):
        yield Charts([recall_chart(dots)])
        left_out = f" {len(rows) - MOST} more label–direction pairs are in the tables." if len(rows) > MOST else ""
        yield Paragraph(f"{MARKS} Means over seeds.{left_out}", note=True)
    else:
        yield Paragraph("No label–direction pair in a linguistic role was scored.")
    graded, others = ([row for row in rows if bool(row.graded) is having] for having in (True, False))
    if graded:
        yield TableBlock(grid_table(record, graded, "With a stable grade in any run: mean recall, %"), sorts=True)
    if others:
        table = grid_table(record, others, "Without a stable grade in any run: mean recall, %")
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
        for names, head in row.by_group.items():
            series = " · ".join(names)
            said = (
                f"{row.title}, {series}: {head.head} {percent(head.accuracy)} %; {head.strongest} "
                f"{percent(head.strongest_accuracy)} %"
            )
            group = task(row.probe, row.label, row.variant).removeprefix("attends ")
            below = Dot(group, series, series, head.strongest_accuracy, said, "stroke")
            dots += [below, Dot(group, series, series, head.accuracy, said, filled=bool(head.grade))]
    return [dot for dot in dots if dot.value == dot.value]


def recall_chart(dots: Sequence[Dot]) -> Chart:
    """Return the chart, a colour a model and corpus; heads without a grade are hollow."""
    colours = {series: style.colour for series, style in series_styles(dot.series for dot in dots).items()}
    title = "Accuracy of the selected heads and their strongest baselines"
    return dot_chart(title, f"{MARKS} The table below has all numbers.", dots, colours)
