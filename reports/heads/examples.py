"""What heads attend to on example sentences, in words: the strongest candidate of every scored word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from reports.blocks.block import Block, Heading, Paragraph, TableBlock
from reports.scores.best_heads import BestHead
from reports.tables.cells import TextColumn
from reports.tables.text_table import TextTable

SHOWN, EACH = 6, 2
"How many of a probe's best heads are shown, and on how many sentences each."

SPECIAL: Final = {-1: "[CLS]", -2: "[SEP]"}
"Keys and queries that stand for special tokens."

EXAMPLES: Final = (
    TextColumn("Label", lambda arcs: f"{_first(arcs, 'label')} · {_first(arcs, 'variant')}", "row", "wrapping"),
    TextColumn("Head", lambda arcs: _first(arcs, "name"), "text", "head"),
    TextColumn("Sentence", lambda arcs: shown_text(arcs.iloc[0]), "text", "wrapping"),
    TextColumn("Strongest candidates", lambda arcs: "; ".join(strongest_candidates(arcs)), "text", "wrapping"),
    TextColumn("Source", lambda arcs: _first(arcs, "source"), "text", "muted"),
)
"Of the table of examples; a row is the arcs of one sentence and head."


def second_of(row: Mapping[Any, Any] | pd.Series) -> int:
    """Return where the second text of a sentence begins; 0 where it is no pair."""
    second = row.get("second")
    return 0 if second is None or second != second else int(second)


def shown_text(row: Mapping[Any, Any] | pd.Series) -> str:
    """Return the words of a sentence, the two texts of a pair parted as `headscope view` parts them."""
    words, second = [*row["words"]], second_of(row)
    return " ".join([*words[:second], *["‖"] * bool(second), *words[second:]])


def _first(arcs: pd.DataFrame, column: str) -> str:
    return str(arcs[column].iloc[0])


def scored_end(variant: str) -> str:
    """Return which end of an arc is the scored word: "key" where it is the word that is attended to.

    >>> scored_end("dependent->head"), scored_end("head<-dependent"), scored_end("preceding mention heads by column")
    ('query', 'key', 'key')
    """
    return "key" if "<-" in variant or " by column" in variant else "query"


def strongest_candidates(arcs: pd.DataFrame) -> tuple[str, ...]:
    """Return the strongest candidate of every scored word, from the rows of examples.parquet of one `example`."""
    words, end = dict(enumerate(arcs["words"].iloc[0])) | SPECIAL, scored_end(_first(arcs, "variant"))
    first = arcs[arcs["scored"]].sort_values([end, "weight", "gold"], ascending=[True, False, True], kind="stable")
    rows = first.drop_duplicates(end)[["query", "key", "weight", "gold"]].itertuples(index=False, name=None)
    return tuple(
        f"{words[query]} → {words[key]}: {100 * weight:.0f} % of its attention, {'correct' if gold else 'incorrect'}"
        for query, key, weight, gold in rows
    )


def example_blocks(examples: pd.DataFrame, best: Mapping[str, Sequence[BestHead]]) -> Iterator[Block]:
    """Yield the best heads of every probe on sentences of the run."""
    if examples.empty:
        yield Paragraph("None: the config has page.examples = 0, or no sentence can be shown.")
    else:
        yield Paragraph("The candidate that each scored word attends to most; examples.parquet has all arcs.")
    rows_of = examples.groupby(["probe", "label", "variant", "name"]).indices
    for probe, rows in best.items():
        asked = [rows_of.get((row.probe, row.label, row.variant, row.name)) for row in rows]
        shown = [examples.iloc[found] for found in asked if found is not None][:SHOWN]
        sentences = [arcs for of_head in shown for _, arcs in [*of_head.groupby("example")][:EACH]]
        if sentences:
            yield Heading(f"Examples of {probe}")
            yield TableBlock(TextTable.of(f"Examples of {probe}", EXAMPLES, sentences), caption=False)
