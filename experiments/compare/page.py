"""A comparison as a page with its tables, on a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from experiments.compare.compare import compare, open_sides, shortened
from experiments.compare.sides import CompareError, Side
from experiments.record.progress import Progress, silent
from reports.compare.page import write_comparison
from reports.compare.record import Compared
from reports.compare.table import RunPair
from reports.compare.text_tables import change_table
from reports.formats import count, day


def write_compared(
    names: Sequence[str], out: Path, *, match: bool = False, progress: Progress = silent
) -> tuple[Path, list[RunPair]]:
    """Compare runs and write the page and its tables into `out`; raises CompareError where `out` holds a run."""
    if (out / "scores.parquet").is_file():
        raise CompareError(f"{out} is a run folder; choose another --out")
    sides = open_sides(names, progress)
    pairs = compare(sides, shortened(names), match=match, progress=progress)
    runs = [_compared(title, side) for title, side in zip(shortened(names), sides, strict=True)]
    version = ", ".join(sorted({side.run.record.headscope or "" for side in sides}))
    return write_comparison(out, runs, pairs, version), pairs


def _compared(title: str, side: Side) -> Compared:
    record = side.run.record
    model, corpus = record.model, record.corpus("report")
    layers, heads = (int(side.heads[column].max()) + 1 for column in ("layer", "head"))
    about = f"{model.name or ''} ({model.source or ''}), {layers} layers of {heads} heads"
    # the hash is that of the weights of the run's model, as they are read
    known = not side.checkpoint and model.source not in ("random", "permuted")
    weights = f", weights {(model.sha256 or '')[:12]}" if known else ""
    size = f" ({count(corpus.sentences)} sentences)" if corpus.sentences is not None else ""
    made = f"{day(record.started)}, headscope {record.headscope or ''}{weights}"
    return Compared(title, about, f"{corpus.name or ''}{size}", made)


def print_pairs(pairs: Sequence[RunPair]) -> None:
    """Print what came out, the roles that are no longer the same head's, and every significant difference."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for pair in pairs:
        console.print(Text(f"{pair.first} → {pair.second}", style="bold"))
        for sentence in (*pair.sentences, *pair.notes):
            console.print(Text(sentence))
        if len(pair.changed):
            console.print(change_table(pair))
        console.print()


def as_record(page: Path, pairs: Sequence[RunPair]) -> str:
    """Return page and pairs as JSON; a number that was not measured is null."""
    told = [
        {
            **{"one": pair.first, "other": pair.second, "roles": pair.counts, "heads": pair.head_counts},
            **{"sentences": pair.sentences, "matched": pair.matched, "notes": pair.notes},
            "rows": json.loads(pair.rows.drop(columns=["one", "other"]).to_json(orient="records")),
        }
        for pair in pairs
    ]
    return json.dumps({"page": str(page), "pairs": told}, indent=2, ensure_ascii=False)
