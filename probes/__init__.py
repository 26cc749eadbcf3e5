"""Questions about heads: corpora, probes, the scorer, baselines and intervals."""

from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import Corpus
from probes.evidence.results import Split, score_table
from probes.records import Document, Mention, Sentence
from probes.registry import Probe, UnknownProbeError, get_probe, probe_names, register
from probes.scoring.score import Settings, learn_baselines, score_corpus
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
    antecedent,
    coreference,
    position,
    rare,
    reflexive,
    repetition,
    sense,
)

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
