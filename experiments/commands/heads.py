"""Commands that look at heads: on a sentence, in a run, over runs and models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.options import ModelName, corpus_names
from experiments.console import shown, working


def view(
    text: Annotated[str, typer.Argument(help="A sentence; words are divided at white space.")],
    model: ModelName = "minilm",
    maps: Annotated[str, typer.Option("--maps", help="weights, norms (each row's shares) or rollout.")] = "weights",
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("view.html"),
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write an interactive page of every head on your own sentence."""
    from experiments.view import write_sentence_view

    with working("reading the sentence"):
        page = write_sentence_view(text, model, out, maps=maps)
    typer.echo(f"page: {page}")
    if show:
        typer.launch(str(page))


def flow(
    text: Annotated[str, typer.Argument(help="A short sentence; words are divided at white space.")] = "",
    corpus: Annotated[
        str,
        typer.Option("--corpus", help="In place of a sentence: a corpus by name or file.", autocompletion=corpus_names),
    ] = "",
    first: Annotated[int, typer.Option("--first", min=1, help="Sentences of the corpus.")] = 20,
    model: ModelName = "minilm",
    out: Annotated[Path, typer.Option("--out", help="The table to write.")] = Path("flow.csv"),
) -> None:
    """Write how much can flow from word to word through all layers, beside attention and rollout."""
    from experiments.flow import write_flow

    with shown() as progress:
        table = write_flow(model, out, text=text, corpus=corpus, first=first, progress=progress)
    typer.echo(f"table: {table}")


def head(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    name: Annotated[str, typer.Argument(help="A head by layer and head, counted from 1: 3-5.")],
) -> None:
    """Print all that a run says of one head: its roles, its nearest heads, what it does on sentences."""
    from experiments.cards import print_card

    print_card(folder, name)


def profile(
    folders: Annotated[list[Path], typer.Argument(help="Run folders of one model.")],
    out: Annotated[Path, typer.Option("--out", help="The page to write, in Markdown.")] = Path("profile.md"),
) -> None:
    """Write one line a head: its roles in all of these runs, and what else they measured of it."""
    from experiments.cards import write_profile

    with working("reading the runs"):
        page = write_profile(folders, out)
    typer.echo(f"page: {page}")


def match(
    one: Annotated[str, typer.Argument(help="A run folder, or a model by name, folder or hub id.")],
    other: Annotated[str, typer.Argument(help="Another one.")],
    corpus: Annotated[
        str, typer.Option("--corpus", help="What both read: a corpus by name or file.", autocompletion=corpus_names)
    ] = "grammar",
    sentences: Annotated[int, typer.Option("--sentences", min=1, help="How many sentences of it.")] = 100,
    within_layers: Annotated[bool, typer.Option("--within-layers", help="Match each layer by itself.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="A CSV file to write the matched heads to.")] = None,
) -> None:
    """Say which head of one model is which of another, by their maps of the same sentences."""
    from experiments.match import match_heads_of, print_match

    with working("matching heads"):
        found = match_heads_of(one, other, corpus=corpus, sentences=sentences, within_layers=within_layers)
    print_match(found, one, other)
    if out is not None:
        found.table.to_csv(out, index=False)
