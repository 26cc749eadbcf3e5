"""Commands that measure: the statistics themselves, textbook claims, published findings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.console import loading, shown
from experiments.commands.options import finding_names, probe_names


def sandbox(
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the record and its page; runs/sandbox.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few of the runs.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the corpus, the models and all draws.")] = 0,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes side by side.")] = 2,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a study that was cut off.")] = False,
) -> None:
    """Measure power and false positives of the statistics where the truth is known (one to two hours)."""
    with loading():
        from experiments.sandbox import FULL, QUICK, run_study

    with shown() as progress:
        folder = out or Path("runs/sandbox-quick" if quick else "runs/sandbox")
        page = run_study(folder, QUICK if quick else FULL, seed=seed, workers=workers, progress=progress, resume=resume)
    typer.echo(f"page: {page}")


def claim(
    configs: Annotated[list[Path], typer.Argument(help="TOML configs, or names of them: claims/heads.")],
    changes: Annotated[list[str] | None, typer.Option("--set", help="key=value instead of the configs'.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder of the page, with a folder a claim.")] = Path(
        "runs/claims"
    ),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with claims that were cut off.")] = False,
) -> None:
    """Measure what textbooks say of attention, and say of each claim whether it holds."""
    with loading():
        from experiments.claims.run.registry import load_claim
        from experiments.claims.run.study import run_claims

    loaded = [load_claim(config, changes or ()) for config in configs]
    with shown() as progress:
        page = run_claims(loaded, out, resume=resume, progress=progress)
    typer.echo(f"page: {page}")


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="Findings or papers of 'list findings'; all of them.", autocompletion=finding_names),
    ] = None,
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
    controls: Annotated[
        bool, typer.Option("--controls", help="Also random and shuffled weights of each model, three seeds each.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--rejudge", help="Measure nothing: judge the record in --out by the rules of today.")
    ] = False,
) -> None:
    """Hold published findings against models: published number, ours with interval, verdict."""
    with loading():
        from experiments.reproduce.registry import chosen
        from experiments.reproduce.reproduce import rejudge
        from experiments.reproduce.reproduce import reproduce as do_reproduce
        from experiments.reproduce.summary import print_summary
        from experiments.statements.subject import Subject

    subjects = [Subject.of(name) for name in models or ["minilm"]]
    with shown() as progress:
        if again:
            page = rejudge(out, progress)
        else:
            asked, how = chosen(ids or ()), {"fresh": fresh, "controls": controls}
            page = do_reproduce(asked, subjects, out, changes or (), seed=seed, **how, progress=progress)
    print_summary(out)
    typer.echo(f"page: {page}")


def design(
    folder: Annotated[Path, typer.Argument(help="A run folder, of a part of the text or of all.")],
    lead: Annotated[
        float, typer.Option("--lead", min=0.0, max=1.0, help="How far the head is above its strongest rival.")
    ] = 0.2,
    power: Annotated[
        float, typer.Option("--power", min=0.01, max=0.999, help="Share of corpora that are to find it.")
    ] = 0.8,
    grade: Annotated[int, typer.Option("--grade", min=1, max=3, help="The grade that it is to have.")] = 1,
    probes: Annotated[
        list[str] | None, typer.Option("--probe", help="A probe; may be repeated.", autocompletion=probe_names)
    ] = None,
) -> None:
    """Say how many documents each label takes for a head to have a grade, by the errors of a run."""
    with loading():
        from experiments.run.design import design as do_design
        from experiments.run.design import print_design

    print_design(do_design(folder, probes or (), lead, power, grade))
