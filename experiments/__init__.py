"""Wiring: configs, runs, the command line, and what one imports in a notebook.

    from experiments import ablate, attention, export, load, open_run, score

These names stand here and not in a package `headscope`, because the folders of this repository are its packages and
this is the one that wires the others. They are loaded when they are first used, so that the command line stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.api import load as load
    from experiments.api import open_run as open_run
    from experiments.api import score as score
    from experiments.heads.exports import export as export
    from experiments.heads.sentence import ablate as ablate
    from experiments.heads.sentence import attention as attention

_HOMES = {
    **dict.fromkeys(("load", "open_run", "score"), "experiments.api"),
    **dict.fromkeys(("ablate", "attention"), "experiments.heads.sentence"),
    "export": "experiments.heads.exports",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'experiments' has no attribute {name!r}; it offers {', '.join(sorted(_HOMES))}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
