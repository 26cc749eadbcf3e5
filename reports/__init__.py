"""Run folders and what is made from them: tables, figures, pages. Reads numbers only; runs no model.

Its names are loaded when they are first used, so that what needs no matplotlib does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reports.measures.registry import write_measures
    from reports.notebook.run import Run
    from reports.page.page import write_report
    from reports.run.sentence_attention import write_attention
    from reports.tables.scores import read_examples, read_scores, write_examples, write_scores
    from reports.view.view import write_view

__all__ = ["Run", "read_examples", "read_scores", "write_attention", "write_examples", "write_measures"]
__all__ += ["write_report", "write_scores", "write_view"]

_NAMES = {
    "reports.notebook.run": ("Run",),
    "reports.page.page": ("write_report",),
    "reports.run.sentence_attention": ("write_attention",),
    "reports.measures.registry": ("write_measures",),
    "reports.tables.scores": ("read_examples", "read_scores", "write_examples", "write_scores"),
    "reports.view.view": ("write_view",),
}
"Module -> the names that are exported from it."

_HOMES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'reports' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
