"""Commands that test: the statistics themselves, textbook claims, published findings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.console import going_on, loading, shown
from experiments.commands.options import Probes, named


def sandbox(
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the record and its page. Default: runs/sandbox.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small part of the study, whose rates are rough.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the corpus, the models and all draws.")] = 0,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Number of processes.")] = 2,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a study that was interrupted.")] = False,
) -> None:
    """Measure power, false positives and coverage of the statistics where the truth is known.

    Needs nothing; EWT and GUM are used where they are at hand.
    Makes OUT/sandbox.json and its page.
    Takes two to three hours on two cores, about five minutes with --quick.

    Example: headscope sandbox --quick
    """
    with loading():
        from experiments.sandbox.study import FULL, QUICK, run_study

    with going_on("Parts that are done are kept: the same command with --resume goes on."), shown() as progress:
        folder = out or Path("runs/sandbox-quick" if quick else "runs/sandbox")
        page = run_study(folder, QUICK if quick else FULL, seed=seed, workers=workers, progress=progress, resume=resume)
    typer.echo(f"page: {page}")


def claim(
    configs: Annotated[
        list[Path], typer.Argument(help="TOML configs, or names of those that come with headscope: claims/heads.")
    ],
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="key=value in place of that in the configs; repeatable.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder of the page, with a folder for each claim.")] = Path(
        "runs/claims"
    ),
    resume: Annotated[bool, typer.Option("--resume", help="Continue claims that were interrupted.")] = False,
) -> None:
    """Test textbook claims about attention, and report for each statement whether it holds.

    Needs a config for each claim.
    Makes OUT/index.html with a folder for each claim.
    Takes minutes to hours: claims train their own models.

    Example: headscope claim claims/heads
    """
    with loading():
        from experiments.claims.study import load_claim, run_claims

    loaded = [load_claim(config, changes or ()) for config in configs]
    with going_on("What is done is kept: the same command with --resume goes on."), shown() as progress:
        page = run_claims(loaded, out, resume=resume, progress=progress)
    typer.echo(f"page: {page}")


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            help="Findings or papers from 'headscope list findings' (default: all), and finished runs, [TITLE=]FOLDER, "
            "that are judged as they are, without a new run.",
            autocompletion=named("findings"),
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", help="[TITLE=]MODEL, MODEL:random, or scratch (encoders trained here); repeatable."),
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="READING.key=value in place of that in its config; repeatable.")
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--findings", help="A Python file with findings of your own, tested alone unless others are named."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the record, the page and all runs.")] = Path("runs/findings"),
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of bootstrap, controls and random weights.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure everything again, also what is done.")] = False,
    controls: Annotated[
        bool,
        typer.Option("--controls", help="Also randomly initialised and permuted weights, three seeds each."),
    ] = False,
    again: Annotated[
        bool, typer.Option("--rejudge", help="Measure nothing: judge the record in --out again by today's rules.")
    ] = False,
) -> None:
    """Test published findings on models: the published number, ours with its interval, and a verdict.

    Needs ids of findings or papers, and models or finished run folders.
    Makes OUT/findings.json, its page and all runs behind it.
    Takes about 11 minutes for all findings on minilm.

    Example: headscope reproduce htut-2019
    """
    with loading():
        from experiments.reproduce.own_runs import is_run, judge_runs
        from experiments.reproduce.registry import print_summary, select_findings, use
        from experiments.reproduce.reproduce import Invocation, before_the_run, leaving, rejudge
        from experiments.reproduce.reproduce import reproduce as do_reproduce
        from experiments.statements.finding import FindingError
        from experiments.statements.subject import Subject

    own = [name for file in files or () for name in use(file)]
    runs = [name for name in ids or () if is_run(name)]
    if runs and (models or changes or fresh or controls or again or seed):
        raise FindingError(
            f"{runs[0]}: a finished run is judged as it is: leave out --model, --set, --seed, --fresh, --controls and "
            "--rejudge"
        )
    subjects = [] if runs else [Subject.of(name) for name in models or ["minilm"]]
    names = [*own, *(name for name in ids or () if name not in runs)]
    asked = [] if again else select_findings(names)
    unmeasured = () if controls else before_the_run(asked, subjects, Invocation(out, changes or (), seed), names)
    for line in (*leaving(out), *unmeasured):
        typer.echo(line, err=True)
    how = "Readings that are done are kept: the same command goes on with them, without --fresh."
    with going_on(how), shown() as progress:
        if again:
            page = rejudge(out, progress)
        elif runs:
            page = judge_runs(asked, runs, out, progress)
        else:
            page = do_reproduce(
                asked, subjects, out, changes or (), seed=seed, fresh=fresh, controls=controls, progress=progress
            )
    print_summary(out)
    typer.echo(f"page: {page}")


def design(
    folder: Annotated[Path, typer.Argument(help="A run folder, on a part of the text or on all of it.")],
    lead: Annotated[
        float,
        typer.Option("--lead", min=0.0, max=1.0, help="Lead of the head over its strongest baseline, a fraction."),
    ] = 0.2,
    power: Annotated[
        float,
        typer.Option("--power", min=0.01, max=0.999, help="Share of corpora in which the head is to have the grade."),
    ] = 0.8,
    grade: Annotated[int, typer.Option("--grade", min=1, max=3, help="The grade: 1, 2 or 3.")] = 1,
    probes: Probes = None,
) -> None:
    """Estimate how many documents each label needs for a head to have a grade, from the errors of a run.

    Needs a run folder, such as a pilot on a part of the text.
    Makes a table on the terminal.

    Example: headscope design runs/quickstart --lead 0.2
    """
    with loading():
        from experiments.run.design import design as do_design
        from experiments.run.design import print_design

    print_design(do_design(folder, probes or (), lead, power, grade))
