"""Commands about the installation: names that are known, data, state."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands.console import loading, shown, working
from experiments.commands.options import AsJson, named


def list_(
    what: Annotated[
        str, typer.Argument(help="probes, corpora, models or findings.", autocompletion=named("lists"))
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the probes, corpora, models or findings with their names.

    Needs the name of a list.
    Makes text or JSON on the terminal.

    Example: headscope list probes
    """
    from experiments.commands.listing import listed, print_list

    with loading():
        rows = listed(what)
    print_list(rows, as_json=as_json)


def doctor(
    model: Annotated[
        str | None, typer.Argument(help="Short name, folder or hub:owner/name of a model to check instead.")
    ] = None,
    device: Annotated[str, typer.Option("--device", help="With MODEL: compare its maps there with the CPU's.")] = "cpu",
    as_json: AsJson = False,
) -> None:
    """Check this installation, or a model: how it reads texts, what can be measured of it, and what cannot.

    Needs nothing, or the name or folder of a model.
    Makes text or JSON on the terminal; the exit code is 1 where headscope cannot run.

    Example: headscope doctor minilm
    """
    with loading():
        from experiments.commands.doctor import examine, examine_model, print_findings

    with working(f"checking {model or 'the installation'}"):
        found = examine() if model is None else examine_model(model, device)
    print_findings(found, as_json=as_json)
    if any(one.state == "broken" for one in found):
        raise typer.Exit(1)


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names of corpora, or treebanks: ud:German-PUD@r2.15.", autocompletion=named("fetched")),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Fetch every corpus that has an address.")] = False,
    show: Annotated[bool, typer.Option("--list", help="List what can be fetched; fetch nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --list: print JSON instead of a table.")] = False,
) -> None:
    """Fetch named corpora from their own sources, checked by sha256.

    Needs a network and names of corpora.
    Makes the files under HEADSCOPE_DATA, else in the user's cache, with a note of source and licence.

    Example: headscope fetch gap
    """
    with loading():
        from experiments.commands.fetching import fetch_all, fetchable, source_rows
        from experiments.commands.listing import print_list

    if show:
        print_list(source_rows(), as_json=as_json)
        return
    chosen = [*(names or ()), *(fetchable() if every else ())]
    if not chosen:
        raise typer.BadParameter("fetch what? give names, --all, or --list to see what there is")
    with shown() as progress:
        lines = fetch_all(dict.fromkeys(chosen), progress)
    for line in lines:
        typer.echo(line)
