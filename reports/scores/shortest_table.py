"""Which heads do what, in a dozen rows: the one table of a terminal, a notebook, the first screen and Markdown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from reports.formats import count, points
from reports.run.folder import RunFolder
from reports.run.record import RunRecord
from reports.scores.best_heads import BestHead, has_few_clusters, leaders, run_best_heads
from reports.scores.best_table import answer_columns, best_frame, does, verdict
from reports.scores.thresholds import RunThresholds, run_thresholds
from reports.tables.cells import Cell
from reports.tables.marks import FEW_CLUSTERS
from reports.tables.text_table import TextTable

GENERATED: Final = "grammar"
"How names of corpora begin that the embedded grammar generates."

SHOWN: Final = 12
"Rows of a terminal and a notebook; pages and Markdown have those of `leaders`."


def shortest_table(run: RunFolder) -> TextTable:
    """Return the SHOWN rows that say first what a run found, of all that `best_table` has.

    Its note also says what ⚠ means, and for which probes the corpora have no items.
    """
    every = run_best_heads(run.scores)
    rows = leaders(every, SHOWN)
    title = f"{run.name}: which heads do what, {len(rows)} of {count(len(every))} labels and directions"
    table = answers(title, rows, run_thresholds(run), run.record)
    few = any(map(has_few_clusters, rows))
    note = f" ⚠: fewer than {FEW_CLUSTERS} documents (effective number), so intervals and tests are rough." * few
    if lacking := run.without_items:
        note += f" The corpora have no items for {', '.join(lacking)}: the notes say what is needed."
    return replace(table, note=table.note + note)


def answers(title: str, rows: Sequence[BestHead], rule: RunThresholds, record: RunRecord) -> TextTable:
    """Return the table of some of the best heads of a run; its note says what they were evaluated on and its words."""
    select, report = (corpus_name(record, split) for split in ("select", "report"))
    rivals = "baseline or control" if rule.controlled else "baseline"
    note = (
        "Accuracy [95 % interval]: how often the right word gets most attention. Selected on "
        f"{select}, evaluated on {report}. Significant: over {points(rule.margin)} points above the strongest "
        f"{rivals}, corrected for all tests; specialised: that in a linguistic role."
    )
    said = {verdict(row) for row in rows}
    note += " Undecided: neither shown nor excluded." * ("undecided" in said)
    note += " Borderline: under some redraws." * ("borderline" in said)
    columns = answer_columns(rule, _does)
    return replace(TextTable.of(title, columns, rows, note), frame=best_frame(rows))


def corpus_name(record: RunRecord, split: str) -> str:
    """Return the name of a split's corpus with its size, such as "ewt-dev (2,001 sentences, 318 documents)"."""
    corpus = record.corpus(split)
    generated = "generated " if (corpus.name or "").startswith(GENERATED) else ""
    documents = None if corpus.documents is None else f"{count(corpus.documents)} documents"
    known = ", ".join(filter(None, (corpus.texts(generated), documents)))
    return f"{corpus.name or f'the {split} split'}{f' ({known})' if known else ''}"


def _does(row: BestHead) -> Cell:
    """Return what the head does, whatever the candidates."""
    return replace(does(row), aside="")
