"""Which attention heads of a Transformer encoder specialise in what, how certain that is, and whether it matters.

    import headscope as hs

    run = hs.score("minilm", "grammar", ["dependency", "coreference"])
    run.best()

What these names offer lies in the packages beside this one, `mha`, `probes`, `reports` and `experiments`, which are
loaded when they are first used.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from experiments.api import compare as compare
    from experiments.api import corpus as corpus
    from experiments.api import load as load
    from experiments.api import open_run as open_run
    from experiments.api import probe as probe
    from experiments.api import score as score
    from experiments.api import view as view
    from experiments.heads.exports import export as export
    from experiments.heads.sentence import ablate as ablate
    from experiments.heads.sentence import attention as attention

ROOMS: Final = ("mha", "probes", "reports", "experiments")
"The packages that lie beside this one."

_HOMES: Final = {
    **dict.fromkeys(("load", "corpus", "probe", "score", "open_run", "view", "compare"), "experiments.api"),
    **dict.fromkeys(("attention", "ablate"), "experiments.heads.sentence"),
    "export": "experiments.heads.exports",
}

__all__ = [*_HOMES]


def _check_rooms() -> None:
    """Raise ImportError where another package of the name of one of ROOMS is found in its stead."""
    beside = Path(__file__).resolve().parents[1]
    for room in ROOMS:
        module = sys.modules.get(room)
        spec = find_spec(room) if module is None else module.__spec__
        found = None if spec is None else spec.origin or next(iter(spec.submodule_search_locations or ()), None)
        if found is None or Path(found).resolve().parent not in (beside, beside / room):
            hides = Path(found or "")
            hides = hides.parent if hides.name == "__init__.py" else hides
            lies = "is missing" if found is None else f"is hidden by {hides}: give that another name"
            raise ImportError(f"the package {room} of headscope, in {beside}, {lies}, or start Python elsewhere")


_check_rooms()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'headscope' has no attribute {name!r}; it offers {', '.join(_HOMES)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
