"""Commands that say what headscope knows and finds."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands.console import loading, shown, working
from experiments.commands.options import fetched_names, list_names


def list_(
    what: Annotated[str, typer.Argument(help="probes, corpora, models or findings.", autocompletion=list_names)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List what headscope knows by name."""
    from experiments.commands.listing import listed, print_list

    with loading():
        rows = listed(what)
    print_list(rows, as_json=as_json)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """Say what this installation has: versions, device, threads, data, models, and what to do about what it lacks."""
    with loading():
        from experiments.commands.doctor import examine, print_findings

    with working("looking at what is installed"):
        found = examine()
    print_findings(found, as_json=as_json)
    if any(one.state == "broken" for one in found):
        raise typer.Exit(1)


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names of corpora, or treebanks: ud:German-PUD@r2.15.", autocompletion=fetched_names),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Bring every corpus that has an address.")] = False,
    show: Annotated[bool, typer.Option("--list", help="List what can be brought; bring nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --list: print JSON instead of a table.")] = False,
) -> None:
    """Bring named corpora from their own sources to the folder HEADSCOPE_DATA, checked by sha256."""
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
