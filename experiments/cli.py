"""The command line. A user's mistake ends with one line and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(
    name="headscope",
    help="Which attention heads specialise in what, how sure are we, and does it matter?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
errors = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)  # else "file:100:" becomes a picture

PACE_SECONDS = 600
"Over which the time left is estimated: steps of a training may be reported further apart than rich's 30 seconds."

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"Of click, which typer brings along under a name of its own."


class ReportError(ValueError):
    """A run folder that no page can be made from."""


Out = Annotated[Path, typer.Option("--out", help="Folder in which the run folder is made.")]
ModelName = Annotated[str, typer.Option("--model", help="A short name, a folder, or a hub id.")]


@app.command()
def run(
    config: Annotated[Path, typer.Argument(help="A TOML config, such as experiments/configs/quickstart.toml.")],
    changes: Annotated[list[str] | None, typer.Option("--set", help="key=value instead of the config's.")] = None,
    out: Out = Path("runs"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run of another config.")] = False,
) -> None:
    """Load a model, score every head, and write a run folder with its page."""
    from experiments.config import load_config
    from experiments.run import run as do_run

    loaded = load_config(config, changes or ())
    with _shown() as progress:
        folder = do_run(loaded, out, overwrite=overwrite, progress=progress)
    typer.echo(f"page: {folder / 'report' / 'index.html'}")


@app.command()
def train(
    config: Annotated[Path, typer.Argument(help="A TOML config with a table \\[train].")],
    changes: Annotated[list[str] | None, typer.Option("--set", help="key=value instead of the config's.")] = None,
    out: Out = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a training that was cut off.")] = False,
) -> None:
    """Train an encoder, one training a seed; a run can then look at its checkpoints."""
    from experiments.config import load_training
    from experiments.training import noted, train_seeds

    loaded = load_training(config, changes or ())
    with _shown() as progress:
        folders = train_seeds(loaded, out, resume=resume, on_progress=noted(progress))
    for folder in folders.values():
        typer.echo(f"checkpoints: {folder / 'checkpoints'}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A run folder, or the folder of a sandbox, of claims or findings.")],
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Make the page of a run folder, of a sandbox, of claims or of findings, anew from its numbers."""
    from reports import write_report
    from reports.claims import RECORD, write_claims_page
    from reports.findings import RECORD as FINDINGS
    from reports.findings import write_findings_page
    from reports.sandbox import write_sandbox_page

    make = write_sandbox_page if (folder / "sandbox.json").is_file() else write_report
    if next(folder.glob(f"*/{RECORD}"), None):
        make = write_claims_page
    if (folder / FINDINGS).is_file():
        make = write_findings_page
    try:
        page = make(folder)
    except ValueError as error:
        if str(error).startswith(str(folder)):  # the folder's fault, not ours
            raise ReportError(str(error)) from error
        raise
    typer.echo(f"page: {page}")
    if show:
        typer.launch(str(page))


@app.command()
def view(
    text: Annotated[str, typer.Argument(help="A sentence; words are divided at white space.")],
    model: ModelName = "minilm",
    maps: Annotated[str, typer.Option("--maps", help="weights, norms (each row's shares) or rollout.")] = "weights",
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("view.html"),
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write an interactive page of every head on your own sentence."""
    from experiments.view import write_sentence_view

    page = write_sentence_view(text, model, out, maps=maps)
    typer.echo(f"page: {page}")
    if show:
        typer.launch(str(page))


@app.command()
def flow(
    text: Annotated[str, typer.Argument(help="A short sentence; words are divided at white space.")] = "",
    corpus: Annotated[str, typer.Option("--corpus", help="In place of a sentence: a corpus by name or file.")] = "",
    first: Annotated[int, typer.Option("--first", min=1, help="Sentences of the corpus.")] = 20,
    model: ModelName = "minilm",
    out: Annotated[Path, typer.Option("--out", help="The table to write.")] = Path("flow.csv"),
) -> None:
    """Write how much can flow from word to word through all layers, beside attention and rollout."""
    from experiments.flow import write_flow

    typer.echo(f"table: {write_flow(model, out, text=text, corpus=corpus, first=first)}")


@app.command()
def head(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    name: Annotated[str, typer.Argument(help="A head by layer and head, counted from 1: 3-5.")],
) -> None:
    """Print all that a run says of one head: its roles, its nearest heads, what it does on sentences."""
    from experiments.cards import print_card

    print_card(folder, name)


@app.command()
def profile(
    folders: Annotated[list[Path], typer.Argument(help="Run folders of one model.")],
    out: Annotated[Path, typer.Option("--out", help="The page to write, in Markdown.")] = Path("profile.md"),
) -> None:
    """Write one line a head: its roles in all of these runs, and what else they measured of it."""
    from experiments.cards import write_profile

    typer.echo(f"page: {write_profile(folders, out)}")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    to: Annotated[str, typer.Option("--to", help="csv, parquet, dataset, latex, markdown; figures: pdf, png, svg.")],
    table: Annotated[str, typer.Option("--table", help="best, scores, or a table of a study such as shapes.")] = "",
    probes: Annotated[list[str] | None, typer.Option("--probe", help="Only of this probe; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file or folder to write.")] = None,
) -> None:
    """Write a table of a run, or its figures, in a form that papers and other tools take."""
    from experiments.exports import export as do_export

    typer.echo(f"written: {do_export(folder, to, out, table=table, probes=probes or ())}")


@app.command()
def match(
    one: Annotated[str, typer.Argument(help="A run folder, or a model by name, folder or hub id.")],
    other: Annotated[str, typer.Argument(help="Another one.")],
    corpus: Annotated[str, typer.Option("--corpus", help="What both read: a corpus by name or file.")] = "grammar",
    sentences: Annotated[int, typer.Option("--sentences", min=1, help="How many sentences of it.")] = 100,
    within_layers: Annotated[bool, typer.Option("--within-layers", help="Match each layer by itself.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="A CSV file to write the matched heads to.")] = None,
) -> None:
    """Say which head of one model is which of another, by their maps of the same sentences."""
    from experiments.match import match_heads_of, print_match

    found = match_heads_of(one, other, corpus=corpus, sentences=sentences, within_layers=within_layers)
    print_match(found, one, other)
    if out is not None:
        found.table.to_csv(out, index=False)


@app.command()
def sandbox(
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the record and its page; runs/sandbox.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One percent of the runs.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the corpus, the models and all draws.")] = 0,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes side by side.")] = 2,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a study that was cut off.")] = False,
) -> None:
    """Measure power and false positives of the statistics where the truth is known (one to two hours)."""
    from experiments.sandbox import FULL, QUICK, run_study

    with _shown() as progress:
        folder = out or Path("runs/sandbox-quick" if quick else "runs/sandbox")
        page = run_study(folder, QUICK if quick else FULL, seed=seed, workers=workers, progress=progress, resume=resume)
    typer.echo(f"page: {page}")


@app.command()
def claim(
    configs: Annotated[list[Path], typer.Argument(help="TOML configs, such as experiments/configs/claims/*.toml.")],
    changes: Annotated[list[str] | None, typer.Option("--set", help="key=value instead of the configs'.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder of the page, with a folder a claim.")] = Path(
        "runs/claims"
    ),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with claims that were cut off.")] = False,
) -> None:
    """Measure what textbooks say of attention, and say of each claim whether it holds."""
    from experiments.claims.registry import load_claim
    from experiments.claims.study import run_claims

    loaded = [load_claim(config, changes or ()) for config in configs]
    with _shown() as progress:
        page = run_claims(loaded, out, resume=resume, progress=progress)
    typer.echo(f"page: {page}")


@app.command()
def reproduce(
    ids: Annotated[list[str] | None, typer.Argument(help="Findings or papers of 'list findings'; all of them.")] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model", help="[TITLE=]MODEL, MODEL:random, or scratch (encoders trained here); may be repeated."
        ),
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="READING.key=value instead of its config's.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder of the record, the page and all runs.")] = Path(
        "runs/findings"
    ),
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of bootstrap, controls and random weights.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Read all anew, also what is done.")] = False,
) -> None:
    """Hold published findings against models: published number, ours with interval, verdict."""
    from experiments.reproduce.registry import chosen
    from experiments.reproduce.reproduce import reproduce as do_reproduce
    from experiments.reproduce.subject import Subject
    from experiments.reproduce.summary import print_summary

    subjects = [Subject.of(name) for name in models or ["minilm"]]
    with _shown() as progress:
        page = do_reproduce(chosen(ids or ()), subjects, out, changes or (), seed=seed, fresh=fresh, progress=progress)
    print_summary(out)
    typer.echo(f"page: {page}")


@app.command()
def design(
    corpus: Annotated[str, typer.Argument(help="A name of `headscope list corpora`, or a file or folder of one.")],
    margin: Annotated[float, typer.Option("--margin", help="How far a head is above its strongest baseline.")] = 0.2,
    power: Annotated[float, typer.Option("--power", help="Share of runs that are to find it: 0.8 or 0.95.")] = 0.8,
    probes: Annotated[list[str] | None, typer.Option("--probe", help="A probe; may be repeated.")] = None,
) -> None:
    """Say how many sentences each label of a corpus takes for a head to be found."""
    from experiments.design import print_design

    print_design(corpus, probes or ["dependency", "agreement", "coreference"], margin, power)


@app.command(name="list")
def list_(
    what: Annotated[str, typer.Argument(help="probes, corpora, models or findings.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List what headscope knows by name."""
    from experiments.listing import print_list

    print_list(what, as_json=as_json)


@contextmanager
def _shown() -> Iterator[Callable[..., None]]:
    """Show progress on a terminal; elsewhere say nothing."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    noted = TextColumn("{task.fields[note]}")
    shown = errors.is_terminal
    with Progress(*columns, noted, console=errors, disable=not shown, speed_estimate_period=PACE_SECONDS) as bar:
        tasks: dict[str, object] = {}

        def step(what: str, done: int, of: int, note: str = "") -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of, note=note)
            bar.update(tasks[what], completed=done, note=note)  # type: ignore[arg-type]  # rich's TaskID is an int

        yield step


def main() -> None:
    """Run the command line; mistakes of the user end with one line and exit code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], standalone_mode=False))
    except (ValueError, OSError, UsageError) as error:
        if not _is_mistake(error):
            raise
        errors.print(f"headscope: {_one_line(error)}", style="red", markup=False)
        sys.exit(2)


def _one_line(error: Exception) -> str:
    """Return the message of an error in one line; that of a file that cannot be used begins with the file."""
    message = str(error)
    if isinstance(error, UsageError):
        message = f"{error.format_message()} (headscope --help says more)"  # type: ignore[attr-defined]  # click's
    elif isinstance(error, OSError) and error.filename and error.strerror:
        message = f"{error.filename2 or error.filename}: {error.strerror}"
    return " ".join(message.split())


def _is_mistake(error: Exception) -> bool:
    """Return whether an error is one of those that headscope raises for people, not a fault of its own."""
    if isinstance(error, OSError | UsageError):
        return True
    return type(error).__module__.partition(".")[0] in ("mha", "probes", "reports", "experiments")
