"""Questions about heads: corpora, probes, the scorer, baselines and intervals."""

from probes import (  # noqa: F401  # registered by being imported
    agreement,
    antecedent,
    clause,
    co_arguments,
    coordination,
    coreference,
    dependency,
    distractors,
    long_range,
    negation,
    position,
    preposition,
    rare,
    reflexive,
    repetition,
    sense,
    temporal,
)
from probes.conllu_reader import CorpusError
from probes.corpora import Corpus
from probes.records import Document, Mention, Sentence
from probes.registry import Probe, UnknownProbeError, get_probe, probe_names, register
from probes.results import Split, score_table
from probes.scoring import Settings, learn_baselines, score_corpus
from probes.targets import Targets

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
