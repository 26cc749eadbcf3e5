"""Commands that say what headscope knows and finds."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands.console import loading, working
from experiments.commands.options import list_names


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
