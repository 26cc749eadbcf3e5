"""The page of a comparison: two or more runs side by side, role by role and head by head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from reports.blocks.block import (
    Block,
    Fold,
    Heading,
    HeadMap,
    Matrix,
    Paragraph,
    Points,
    Section,
    TableBlock,
    Terms,
)
from reports.blocks.page import Page
from reports.blocks.short import linked, short_form, short_table
from reports.compare.page_record import RecordPage
from reports.compare.record import (
    ALONE,
    CHANGES,
    COMPARE_TABLES,
    COMPARED,
    HEADS,
    Comparison,
    ComparisonFacts,
    RunPair,
)
from reports.formats import percent, signed, signed_interval
from reports.scores.plain_names import task
from reports.tables.cells import Cell, TextColumn, head_cell
from reports.tables.grades import ROLE_ITEMS
from reports.tables.shared_columns import label_columns
from reports.tables.table import Table
from reports.tables.text_table import TextTable

Row = Mapping[Any, Any]

ROWS_FILE, HEADS_FILE = (f"{name}.csv" for name in COMPARE_TABLES)
"The files of `COMPARED` and `HEADS`."

NAMED: Final = 4
"Pairs, and runs, of which the short form says something in words, at most."

RUNS: Final = (
    TextColumn("Run", lambda run: run.name, "row"),
    TextColumn("Model", lambda run: run.model, "text"),
    TextColumn("Evaluated on", lambda run: run.texts, "text"),
    TextColumn("Made", lambda run: run.made, "text"),
)


def _head(table: Table, name: str, title: str) -> TextColumn:
    return table[name].shown(title, css="head", write=lambda row: head_cell(row[name]))


def _other_head(pair: RunPair) -> TextColumn:
    """Return the column of the other run's heads, each with the head of another name that its map was matched to."""
    heads = pair.heads[(pair.heads["head"] != "") & (pair.heads["partner"] != "")]
    of = {} if not pair.by_maps else dict(zip(heads["partner"], heads["head"], strict=True))

    def written(row: Row) -> Cell:
        name = row["other_head"]
        named, was = head_cell(name), of.get(name, name)
        return named if was == name else replace(named, text=f"{name} (matches {was})")

    return COMPARED["other_head"].shown(f"head in {pair.other}", css="head", write=written)


def _difference(row: Row) -> Cell:
    number, ends = float(row["difference"]), signed_interval(row["difference_low"], row["difference_high"])
    look = ("up" if number > 0 else "down") if row["significant"] else ""
    return Cell(signed(number) + ("" if row["paired"] else " ∥"), ends, look, sort=number)


LABEL: Final = (
    *label_columns("label", "role", "ci"),
    COMPARED["variant"].shown("variant", css="muted"),
    COMPARED["change"].shown("change"),
)

CHANGED: Final = (
    COMPARED["difference"].shown("difference", write=_difference),
    COMPARED["p_adjusted"].shown("adjusted p"),
    _head(COMPARED, "partner", "previous head"),
    COMPARED["partner_difference"].shown_beside("its difference"),
    COMPARED["n"].shown(only="page"),
)


def role_table(pair: RunPair, rows: pd.DataFrame, title: str) -> TextTable:
    """Return label–variant pairs: the head of either run, and how they differ."""
    return TextTable.of(title, (*LABEL, *_sides(pair), *CHANGED), rows.to_dict("records"))


def change_table(pair: RunPair) -> TextTable:
    """Return the roles that are no longer the same head's, and every significant difference, for a terminal."""
    return TextTable.of("Changes", (*LABEL, *_sides(pair), CHANGED[0]), pair.changed.to_dict("records"))


def _sides(pair: RunPair) -> list[TextColumn]:
    heads = {"one": _head(COMPARED, "one_head", f"head in {pair.one}"), "other": _other_head(pair)}
    return [
        column
        for side, head in heads.items()
        for column in (
            head,
            COMPARED[f"{side}_accuracy"].shown_beside("accuracy, %", css=partial(_strong, f"{side}_graded")),
        )
    ]


def _strong(flag: str, row: Row) -> str:
    return "strong" if row[flag] else ""


WHOLE: Final = (
    HEADS["change"].shown("change"),
    HEADS["one_role"].shown("main role before"),
    HEADS["other_role"].shown("main role after"),
    HEADS["one_roles"].shown("roles before"),
    HEADS["other_roles"].shown("roles after"),
    HEADS["largest"].shown("largest change in", css="muted"),
    HEADS["largest_from"].shown("from, %"),
    HEADS["largest_to"].shown("to, %"),
)

DISTANCE: Final = HEADS["distance"].shown("distance, nats", "rising")


def head_table(pair: RunPair) -> TextTable:
    """Return every head with its counterpart, and what became of it."""
    named = (_head(HEADS, "head", f"head in {pair.one}"), _head(HEADS, "partner", f"head in {pair.other}"))
    columns = (*named, *WHOLE, *([DISTANCE] if pair.by_maps else []))
    return TextTable.of("Head by head", columns, pair.heads.to_dict("records"))


def head_counts(pair: RunPair) -> TextTable:
    """Return how many heads changed in which way."""
    columns = (TextColumn("changes of heads", lambda row: row[0], "row"), TextColumn("heads", lambda row: row[1]))
    return TextTable.of("Heads", columns, pair.head_counts.items())


METHOD: Final = {
    "Role": f"A label that stands for itself (no pooled label, no slice of others, {ROLE_ITEMS} scored words or "
    "more) in which a head has a grade: its lead over every baseline and control of its run is significant and "
    "above the margin of [verdict]. It is counted in one direction: one in which both runs have a head with a "
    "grade, else one of them, by the largest margin. Other directions, and labels without a role, stand beside it "
    "where their difference is significant.",
    "Role of a checkpoint": "A checkpoint (RUN@seed-1@step-500) has no corrected test. There a head has a role where "
    "the 95 % interval of its margin lies above 0 and the margin is large enough, against the baselines alone. The "
    "selected head is the best on all texts. Its accuracy is held out: heads are selected on one half of the texts and "
    "evaluated on the other; the interval is as wide as that head’s own. The change of a single head is evaluated on "
    "the texts that also selected it, which favours the first run a little.",
    "Difference": "Accuracy in the second run minus that in the first, in percentage points, each of the head that the "
    "run selected on its selection split, evaluated on the report split.",
    "Interval, paired": "Where both runs kept counts of the same words (counts.parquet), interval and p are those of "
    "the differences of groups of texts, by the regression and the t test that runs use for leads; p is two-sided.",
    "Interval, not paired (∥)": "Elsewhere it follows from the intervals of both numbers as if they were independent "
    "(Zou and Donner 2008). Runs on the same texts mostly err alike, so this interval is too wide and the test "
    "conservative.",
    "Adjusted p": "Corrected for all differences on this page by Benjamini and Hochberg: of those called significant, "
    "on average at most a share alpha is false (proven for independent tests; the directions of a label are not "
    "independent).",
    "The previous head": "The head of the second run that corresponds to the head selected in the first, and how far "
    "its accuracy changed, whichever head is the best in the second run.",
}
"Terms and what they mean."


MAIN_ROLE: Final = (
    "A head’s main role is the label, of those in which it has a grade, whose margin has the highest lower end of its "
    "95 % interval. Maps show how its accuracy changed in the label in which it changed most; a dot marks heads with a "
    "role in that run. The largest change of a head is selected as the largest of many, so it is biased upwards; it "
    "has no interval."
)


CRITERION: Final = (
    "Each run selects a head for each label; their accuracies are compared, with 95 % intervals. A "
    "difference is significant where p, corrected for all differences (Benjamini and Hochberg), is below the "
    "threshold; ∥ marks one whose runs share no counts of the same words, which makes its test conservative."
)


def significant_table(pairs: Sequence[RunPair]) -> TextTable:
    """Return the significant differences of all pairs, the largest first."""
    every = [pair.rows[pair.rows["significant"]] for pair in pairs]
    rows = pd.concat(every).sort_values("difference", key=abs, ascending=False, kind="stable").to_dict("records")
    runs = TextColumn("Runs", lambda row: f"{row['one']} → {row['other']}", "text", "wrapping")
    columns = (
        TextColumn(
            "What the head does", lambda row: task(row["probe"], row["label"], row["variant"]), "row", "wrapping"
        ),
        *([runs] if len(pairs) > 1 else []),
        TextColumn("Head before", partial(_selected, "one"), "text"),
        TextColumn("Head after", partial(_selected, "other"), "text"),
        CHANGED[0],
    )
    return TextTable.of("Significant differences", columns, rows)


def _selected(side: str, row: Row) -> str:
    return f"{row[f'{side}_head']}: {percent(row[f'{side}_accuracy'])} %"


def _opening(pairs: Sequence[RunPair]) -> Iterator[Block]:
    """Yield in how many labels accuracy differs, how that was tested, and the largest differences."""
    more = len(pairs) - NAMED
    said = [f"{more} more pairs of runs are below, and in {ROWS_FILE}."] * (more > 0)
    yield Paragraph(" ".join([*(pair.answer for pair in pairs[:NAMED]), *said]))
    yield Paragraph(CRITERION)
    if len(table := significant_table(pairs)):
        yield short_table(table, ROWS_FILE)


def _page(record: Comparison, folder: Path) -> Page:
    pairs, runs = record.each_pair, [run.name for run in record.runs]
    opening = tuple(_opening(pairs))
    return Page(
        title=" beside ".join(runs),
        sections=tuple(_sections(record, pairs, opening)),
        byline=(("headscope", record.headscope),),
        kicker="headscope compare",
        version=record.headscope,
        short=tuple(
            short_form(
                opening,
                [f"{run.name}: {run.model}, evaluated on {run.texts}." for run in record.runs[:NAMED]],
                " ".join(["headscope compare", *runs]),
                f"roles kept, moved, lost and gained, and every head; {ROWS_FILE} and {HEADS_FILE} have all numbers",
            )
        ),
    )


COMPARISON_PAGE: Final = RecordPage("compare", "a comparison", ComparisonFacts, Comparison, COMPARE_TABLES, _page)
"The page of a comparison and its record."


def _sections(record: Comparison, pairs: Sequence[RunPair], opening: Sequence[Block]) -> Iterator[Section]:
    summary = [*opening]
    for pair in pairs:
        summary += [*[Heading(_title(pair))] * (len(pairs) > 1), Points(pair.about_roles())]
    yield Section("summary", "Summary", [*summary, TableBlock(TextTable.of("Runs", RUNS, record.runs), caption=False)])
    parts = [Section(f"pair-{place}", _title(pair), [*_pair(pair, place)]) for place, pair in enumerate(pairs, 1)]
    yield from linked("pairs", "Each pair of runs", parts)
    bold = "In the tables a bold accuracy is that of a head with a grade, a coloured difference is significant."
    every = f"All label–direction pairs are in {ROWS_FILE}, all heads in {HEADS_FILE}."
    yield Section("method", "Glossary", [Terms(METHOD.items(), folded=False), Paragraph(f"{bold} {every}", note=True)])


def _title(pair: RunPair) -> str:
    return f"{pair.one} → {pair.other}"


def _pair(pair: RunPair, place: int) -> Iterator[Block]:
    yield Paragraph(pair.matched)
    yield from (Paragraph(note, note=True) for note in pair.notes)
    if len(pair.shown):
        shown = role_table(pair, pair.shown, "Roles and significant differences")
        yield Heading(shown.title)
        found = pair.counts
        yield Terms([(f"{change} ({found[change]})", said) for change, said in CHANGES.items() if found[change]])
        yield TableBlock(shown, caption=False, sorts=True, filter=f"roles-{place}")
    if len(pair.others):
        others = role_table(pair, pair.others, "Other label–direction pairs")
        table = TableBlock(others, caption=False, sorts=True, filter=f"others-{place}")
        yield Fold(f"{others.title} ({len(others)})", [table])
    yield Heading("Heads, by change")
    yield TableBlock(head_counts(pair), caption=False)
    yield from (Matrix(one.title, [one], HEADS_FILE) for one in head_maps(pair))
    yield Paragraph(MAIN_ROLE, note=True)
    every = head_table(pair)
    table = TableBlock(every, caption=False, sorts=True, filter=f"heads-{place}")
    yield Fold(f"{every.title} ({len(every)})", [table])


def head_maps(pair: RunPair) -> tuple[HeadMap, HeadMap]:
    """Return the heads of either run: how the accuracy of each changed where it changed most, and what became of it."""
    return _map(pair, pair.one, "head", "one_role", pair.shapes[0]), _map(
        pair, pair.other, "partner", "other_role", pair.shapes[1]
    )


def _map(pair: RunPair, name: str, own: str, role: str, shape: tuple[int, int]) -> HeadMap:
    rows: dict[str, Row] = {str(row[own]): row for row in pair.heads.to_dict("records")}
    layers, heads = shape
    found = [rows.get(f"{layer + 1}-{head + 1}") for layer in range(layers) for head in range(heads)]
    moved = [100 * (row["largest_to"] - row["largest_from"]) if row else np.nan for row in found]
    return HeadMap(
        f"Heads of {name}",
        np.array(moved, dtype=float).reshape(shape).tolist(),
        "points",
        texts=[head_summary(row) if row else "Not scored." for row in found],
        marked=[bool(row and row[role]) for row in found],
    )


def head_summary(row: Row) -> str:
    """Say what became of a head in a line."""
    before, now = row["one_role"] or "none", row["other_role"] or "none"
    parts = [row["change"]]
    if row["change"] != ALONE:
        parts.append(f"{row['head']} of the first run, {row['partner']} of the second")
    parts.append(f"main role {before if before == now else f'{before} → {now}'}")
    if row["largest"]:
        change = f"{percent(row['largest_from'])} → {percent(row['largest_to'])} %"
        parts.append(f"largest change {row['largest']} {change}")
    return " · ".join(parts)
