"""Commands that look at heads: on a sentence, in a run, over runs, and those of models or runs beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from experiments.commands.console import loading, shown, working
from experiments.commands.options import ModelName, Open, Page, RunFolder, named


def view(
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Sentences, side by side. Default: five examples."),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="A short name, a folder, or hub:owner/name; repeated: side by side. Default: minilm.",
            autocompletion=named("models"),
        ),
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option("--run", help="A run folder: its model, with the roles of its heads; repeatable."),
    ] = None,
    file: Annotated[
        str, typer.Option("--file", help="Texts, a line or paragraph each, in a file, or - for standard input.")
    ] = "",
    pair: Annotated[str, typer.Option("--pair", help="The second text of a pair, read together with one TEXT.")] = "",
    target: Annotated[str, typer.Option("--target", help="Text for the decoder of an encoder-decoder.")] = "",
    maps: Annotated[str, typer.Option("--maps", help="weights, norms (each row's shares) or rollout.")] = "weights",
    explain: Annotated[str, typer.Option(help="LAYER-HEAD, such as 3-5: that head's computation, step by step.")] = "",
    word: Annotated[str, typer.Option(help="Of --explain: the word to follow first, by number or as written.")] = "",
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("view.html"),
    show: Open = False,
) -> None:
    """Write an interactive page of every head on your own sentences, or of one head's computation on one.

    Needs sentences, and a model or a run.
    Makes one HTML page that opens offline.

    Example: headscope view "The keys to the cabinet are on the table."
    """
    with loading():
        from experiments.heads.view import read_texts, write_text_view

    of_file = read_texts(file) if file else []
    given = [*(texts or ()), *of_file]
    if pair and (len(given) != 1 or not isinstance(given[0], str) or explain or target):
        raise typer.BadParameter("--pair goes with one TEXT, and without --explain and --target")
    given = [(str(given[0]), pair)] if pair else given
    if explain and (runs or target or maps != "weights"):
        raise typer.BadParameter("--explain walks through one text and one --model: leave out --run, --target, --maps")
    if word and not explain:
        raise typer.BadParameter("--word goes with --explain LAYER-HEAD, such as --explain 3-5")
    if explain:
        page = _explained(given, models or ["minilm"], explain, word, out)
    else:
        with shown() as progress:
            page = write_text_view(
                out,
                given,
                models=models or (),
                runs=runs or (),
                target=target,
                maps=maps,
                together=len(of_file) > 1,
                progress=progress,
            )
    typer.echo(f"page: {page}")
    if show:
        typer.launch(str(page))


def _explained(texts: Sequence[str | tuple[str, str]], models: list[str], head: str, word: str, out: Path) -> Path:
    """Write the page of one head's computation on one text."""
    text = texts[0] if texts else ""
    if len(texts) != 1 or len(models) != 1 or not isinstance(text, str):
        raise typer.BadParameter(
            f"--explain walks through one text and one --model; given are {len(texts)} and {len(models)}"
        )
    with loading():
        from experiments.heads.explain import explain_head

    with working("following the head"):
        return explain_head(text, models[0], head, out, word=word)


def flow(
    text: Annotated[str, typer.Argument(help="A short sentence.")] = "",
    corpus: Annotated[
        str,
        typer.Option(
            "--corpus", help="A corpus by name or file, in place of a sentence.", autocompletion=named("corpora")
        ),
    ] = "",
    first: Annotated[int, typer.Option("--first", min=1, help="How many sentences of the corpus.")] = 20,
    model: ModelName = "minilm",
    out: Annotated[Path, typer.Option("--out", help="The table to write.")] = Path("flow.csv"),
) -> None:
    """Write attention flow from word to word through all layers, beside raw attention and rollout.

    Needs a sentence or a corpus, and a model.
    Makes a CSV table, and a summary on the terminal.

    Example: headscope flow "The cat sat on the mat."
    """
    with loading():
        from experiments.heads.flow import print_flow, write_flow

    with shown() as progress:
        found = write_flow(model, out, text=text, corpus=corpus, first=first, progress=progress)
    print_flow(*found)
    typer.echo(f"table: {out}")


def head(
    folder: RunFolder,
    name: Annotated[str, typer.Argument(help="The head as layer-head, both counted from 1: 3-5.")],
) -> None:
    """Print the card of one head of a run: its roles, related heads, attention statistics and examples.

    Needs a run folder and the name of a head.
    Makes text on the terminal.

    Example: headscope head runs/quickstart 3-1
    """
    with loading():
        from reports import Run
        from reports.tables.text_table import rich_rows

    with working("reading the run"):
        card = Run.open(folder).head(name)
    console = Console(highlight=False)
    console.print(Text(card.title, style="bold"))
    for part in card.parts:
        console.print()
        console.print(Text(part.title, style="bold cyan"))
        for sentence in part.sentences:
            console.print(Text(sentence))
        if part.rows:
            console.print(rich_rows(part.columns, part.rows, console.width))


def profile(
    folders: Annotated[list[Path], typer.Argument(help="Run folders of one model.")],
    out: Annotated[Path, typer.Option("--out", help="The page to write, in Markdown.")] = Path("profile.md"),
) -> None:
    """Write a table with one row for each head: its roles in all given runs, and other measures.

    Needs run folders of one model.
    Makes one Markdown page of the heads that are specialised most clearly, and a CSV file of all beside it.

    Example: headscope profile runs/minilm-ewt runs/minilm-gum
    """
    with loading():
        from reports import Run
        from reports.heads.profile import head_profile
        from reports.progress import each
        from reports.run.replacing import replace_text
        from reports.tables.files import replace_file

    with shown() as progress:
        profile = head_profile([Run.open(folder) for folder in each("runs opened", folders, progress)], progress)
        every = out.with_name(f"{out.stem}-heads.csv")
        replace_text(out, profile.page(every.name).markdown)
        replace_file(profile.frame, every)
    typer.echo(f"page: {out}")


def prune(
    folder: RunFolder,
    heads: Annotated[str, typer.Option("--heads", help="How many go: a share (30%), a number, or names (3-4,5-1).")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the model that is written.")],
    by: Annotated[
        str | None, typer.Option("--by", help="Effects of the run: ablation, gradient or gates. Default: ablation.")
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--on", help="What the cost is measured on, such as rows.csv. Default: as the effects were."),
    ] = None,
) -> None:
    """Write the model of a run without its least important heads, for transformers, and measure what that costs.

    Needs a run folder with effects of every head (ablation, importance or gates), or the names of heads.
    Makes the folder of a model with its tokenizer, and pruned.json: heads, behaviour and time before and after.

    Example: headscope prune runs/effects-grammar --heads 30% --out pruned
    """
    with loading():
        from transformers.utils.logging import disable_progress_bar

        from experiments.heads.prune import print_pruned, prune_run

    disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    with shown() as progress:
        result = prune_run(folder, heads, by, out, progress, on)
    typer.echo("\n".join(print_pruned(result)))


def targets(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run folders, of one or several models.")],
    out: Page = Path("targets"),
) -> None:
    """Report the heads for agreement, coreference and position: grade, recall, baselines, causal effect.

    Needs run folders.
    Makes OUT/index.html, report.md, targets.csv and effects.csv.

    Example: headscope targets runs/quickstart
    """
    with loading():
        from experiments.compare.targets import print_targets, write_target_page

    with shown() as progress:
        page, record = write_target_page(runs, out, progress)
    print_targets(record)
    typer.echo(f"page: {page}")


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
