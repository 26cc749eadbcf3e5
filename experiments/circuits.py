"""The part of a run that asks what the weights alone say of heads, and whether they do it on text."""

from __future__ import annotations

from experiments.config import Config
from experiments.journal import Journal
from experiments.progress import Progress
from mha import Model
from mha.circuits import encoder_of
from probes.aligned import Aligned
from probes.circuits import Circuits, CircuitSettings, read_circuits
from probes.corpora import MemoryTexts, Texts
from probes.relations import RELATIONS, Pairs, read_relations
from probes.scoring import Settings

SCOPE = "weights alone"
"What stands among the dropped, in place of sentences or windows."


def relations_of(config: Config, model: Model) -> Pairs | None:
    """Return the relations that a run asks about; None where it does not ask what weights alone say.

    Raises CircuitError for an architecture of which it cannot be told, and for a file of relations that cannot be read.
    """
    section = config.circuits
    if not section.enabled:
        return None
    encoder_of(model)
    return RELATIONS if section.relations is None else read_relations(section.relations)


def circuits(
    config: Config, model: Model, texts: Texts, relations: Pairs, journal: Journal, progress: Progress
) -> Circuits:
    """Return what the weights say, beside what heads do on the first sentences of the report split; note it."""
    section, scoring = config.circuits, config.scoring
    chosen = MemoryTexts(texts.take(range(min(section.sentences, len(texts)))))
    done = 0

    def step(more: int) -> None:
        nonlocal done
        done += more
        progress("what the weights say, on text", done, len(chosen))

    with journal.stage("weights alone"):
        aligned = Aligned.of(model, chosen)
        settings = CircuitSettings(section.words, replicates=scoring.replicates, seed=config.seed)
        found = read_circuits(model, aligned, relations, settings, Settings(scoring.batch_pieces), step)
    journal.record["circuits"] = {**found.facts, "sentences": len(aligned.kept)}
    dropped = aligned.dropped
    dropped.update(found.dropped)
    journal.record["dropped"] += [
        {"split": "report", "scope": SCOPE, "reason": reason, "count": count, "examples": dropped.examples[reason]}
        for reason, count in dropped.counts.items()
    ]
    return found
