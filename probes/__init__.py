"""Questions about heads: corpora, probes, the scorer, baselines and intervals.

Its names are loaded when they are first used, so that what needs no torch does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from probes.corpora.conllu import CorpusError
from probes.records import Document, Mention, Sentence
from probes.registry import Probe, UnknownProbeError, get_probe, probe_names, register
from probes.syntax import (  # noqa: F401  # registered by being imported
    agreement,
    clause,
    co_arguments,
    coordination,
    dependency,
    distractors,
    long_range,
    negation,
    preposition,
    temporal,
)
from probes.targets import Targets
from probes.words import (  # noqa: F401  # registered by being imported
    across,
    antecedent,
    coreference,
    position,
    rare,
    reflexive,
    repetition,
    same_atom,
    sense,
)

if TYPE_CHECKING:
    from probes.corpora.corpus import Corpus
    from probes.evidence.results import Split, score_table
    from probes.scoring.score import Settings, learn_baselines, score_corpus

_HOMES = {
    "Corpus": "probes.corpora.corpus",
    **dict.fromkeys(("Split", "score_table"), "probes.evidence.results"),
    **dict.fromkeys(("Settings", "learn_baselines", "score_corpus"), "probes.scoring.score"),
}
"The modules of names that are loaded late."

__all__ = [
    "Corpus",
    "CorpusError",
    "Document",
    "Mention",
    "Probe",
    "Sentence",
    "Settings",
    "Split",
    "Targets",
    "UnknownProbeError",
    "get_probe",
    "learn_baselines",
    "probe_names",
    "register",
    "score_corpus",
    "score_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'probes' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
