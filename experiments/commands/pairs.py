"""Commands that compare models or runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.console import loading, shown
from experiments.commands.options import Page, named


def match(
    first: Annotated[str, typer.Argument(help="A run folder, or a model by name, folder or hub:owner/name.")],
    second: Annotated[str, typer.Argument(help="Another run folder or model.")],
    corpus: Annotated[
        str,
        typer.Option("--corpus", help="Corpus that both read, by name or file.", autocompletion=named("corpora")),
    ] = "grammar",
    sentences: Annotated[int, typer.Option("--sentences", min=1, help="How many sentences of it.")] = 100,
    within_layers: Annotated[bool, typer.Option("--within-layers", help="Match each layer by itself.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="A CSV file to write the matched heads to.")] = None,
) -> None:
    """Match the heads of two models by their attention maps of the same sentences.

    Needs two models or run folders with heads of equal number.
    Makes a table on the terminal, and a CSV file with --out.

    Example: headscope match minilm runs/scratch
    """
    with loading():
        from experiments.heads.match import match_heads_of, print_match

    with shown() as progress:
        found = match_heads_of(
            first, second, corpus=corpus, sentences=sentences, within_layers=within_layers, progress=progress
        )
    print_match(found, first, second)
    if out is not None:
        from reports.tables.files import write_csv

        write_csv(found.table, out)


def compare(
    folders: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Run folders, or checkpoints of one: RUN@seed-2@step-500.")
    ],
    matched: Annotated[
        bool, typer.Option("--match", help="Pair heads by their attention maps, not by their names.")
    ] = False,
    out: Page = Path("compare"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of sentences and a table.")] = False,
) -> None:
    """Compare the first run with each of the others: roles kept, moved, lost and gained, head by head.

    Needs two or more run folders, or checkpoints of a training run.
    Makes OUT/index.html, report.md, compare.csv and heads.csv.

    Example: headscope compare runs/quickstart runs/permuted
    """
    with loading():
        from experiments.compare.compare import as_record, print_pairs, write_compared

    with shown() as progress:
        page, pairs = write_compared(folders, out, match=matched, progress=progress)
    if as_json:
        typer.echo(as_record(page, pairs))
        return
    print_pairs(pairs)
    typer.echo(f"page: {page}")
