"""The command line: its commands, and how mistakes end. A user's mistake ends with one line and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import typer

from experiments.commands import heads, knowledge, runs, studies
from experiments.commands.console import Talk, Voice, errors

app = typer.Typer(
    name="headscope",
    help="Measure what attention heads attend to, with what uncertainty, and what the model loses without them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

COMMANDS: Final[Mapping[str, tuple[Callable[..., Any], ...]]] = {
    "Heads": (heads.view, runs.run, runs.report, heads.compare, heads.head),
    "More about heads": (heads.profile, heads.flow, heads.match, heads.targets, heads.prune, runs.export),
    "Training": (runs.train,),
    "Studies": (runs.atlas, studies.reproduce, studies.claim, studies.sandbox, studies.design),
    "Data and models": (knowledge.list_, knowledge.fetch, knowledge.doctor),
}
"By the headings of the help, in its order."

for _heading, _commands in COMMANDS.items():
    for _command in _commands:
        app.command(name=_command.__name__.strip("_"), rich_help_panel=_heading)(_command)

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"Of click, which typer brings along under a name of its own."


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"headscope {version('headscope')}")
        raise typer.Exit


@app.callback()
def set_verbosity(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print when every stage begins and ends.")] = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")
    ] = False,
) -> None:
    """Set how much is printed beside results and errors."""
    if quiet and verbose:
        raise typer.BadParameter("--quiet and --verbose are opposites: give one of them")
    Voice.talk = Talk.QUIET if quiet else Talk.VERBOSE if verbose else Talk.NORMAL


def main() -> None:
    """Run the command line; mistakes of the user end with one line and exit code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], standalone_mode=False, prog_name="headscope"))
    except (ValueError, RuntimeError, OSError, UsageError) as error:  # RuntimeError: attention that cannot be seen
        if not _is_mistake(error):
            raise
        errors.print(f"headscope: {_one_line(error)}", style="red", markup=False)
        sys.exit(2)


def _one_line(error: Exception) -> str:
    """Return the message of an error in one line; that of a file that cannot be used begins with the file."""
    message = str(error)
    if isinstance(error, UsageError):
        message = f"{error.format_message()} (see headscope --help)"  # type: ignore[attr-defined]  # click's
    elif isinstance(error, OSError) and error.filename and error.strerror:
        message = f"{error.filename2 or error.filename}: {error.strerror}"
    elif _lacks_memory(error):
        message += ' Take shorter texts, a smaller model, or a device with more memory (--set model.device="cpu").'
    return " ".join(" ".join([message, *getattr(error, "__notes__", ())]).split())


def _lacks_memory(error: Exception) -> bool:
    """Return whether the memory of a device is full, as torch has it; what needs no torch does not load it here."""
    if not isinstance(error, RuntimeError) or "torch" not in sys.modules:
        return False
    from mha.device import lacks_memory

    return lacks_memory(error)


def _is_mistake(error: Exception) -> bool:
    """Return whether an error is one of those that headscope raises for people, not a fault of its own."""
    if isinstance(error, OSError | UsageError) or _lacks_memory(error):
        return True
    return type(error).__module__.partition(".")[0] in ("mha", "probes", "reports", "experiments", "headscope")
