"""Claim: the roles of heads emerge in training."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from experiments.claims.heads import folder_of
from experiments.statements.claim import Claim, Work, claim_measure, rows_of
from experiments.statements.estimates import difference, mean_of
from experiments.statements.rule import Rule
from experiments.statements.trained import ScoredSection, by_seed, heads_of, specialised, trainings
from experiments.training.checkpoints import read_checkpoints
from mha import load_model
from reports.statements.claim_record import ClaimRecord
from reports.statements.statement import judged

START, END = "before training", "after training"

STRAY = 0.5
"Roles a model that count as none: the tests allow for a false find now and then."


class EmergenceSection(ScoredSection):
    """The config of the claim."""

    heads: int = Field(default=8, ge=1)
    "Heads in a layer of the encoders that are looked at."


def measure(section: EmergenceSection, work: Work) -> ClaimRecord:
    """Count roles in the first and in the last checkpoint of every training."""
    folders = trainings(section, work, folder_of(section.heads), heads=section.heads)
    found: dict[str, dict[int, Any]] = {START: {}, END: {}}
    for done, (seed, folder) in enumerate(folders.items()):
        for when in (START, END):
            found[when][seed] = work.part(f"{when} seed {seed}", partial(examine, section, folder, when))
        work.progress("emergence", done + 1, len(folders))
    pairs, heads = ({when: by_seed(seeds, name) for when, seeds in found.items()} for name in ("pairs", "heads"))
    measures = [
        claim_measure(title, unit, tuple(row for when in (START, END) for row in rows_of(values[when], when)))
        for title, unit, values in (
            ("pairs of head and label with a specialised head", "pairs", pairs),
            ("heads specialised in a label", "heads", heads),
        )
    ]
    statements = [
        judged(
            "Roles emerge in training: trained heads have more of them than the same heads before training",
            "pairs of head and label that are specialised, after training − before it, paired by seed",
            difference(pairs[END], pairs[START]),
            Rule(above=0.0, unit="pairs"),
        ),
        judged(
            "Before training there are none",
            f"pairs of head and label that are specialised at step 0; below {STRAY:g} counts as none",
            mean_of([*pairs[START].values()]),
            Rule(below=STRAY, unit="pairs"),
        ),
    ]
    return ClaimRecord(measures, statements, _noticed(found[END]))


def examine(section: EmergenceSection, training: Path, when: str) -> dict[str, Any]:
    """Return what is specialised in the first or in the last checkpoint of a training."""
    checkpoint = read_checkpoints(training)[0 if when == START else -1]
    rows = specialised(section, load_model(str(checkpoint.folder)), checkpoint.folder)
    labels = sorted({f"{probe}: {label}" for probe, label in zip(rows.probe, rows.label, strict=True)})
    pairs = rows[["layer", "head", "probe", "label", "variant"]].drop_duplicates()
    return {"pairs": len(pairs), "heads": heads_of(rows), "labels": labels}


def _noticed(after: dict[int, Any]) -> list[str]:
    everywhere = set.intersection(*(set(one["labels"]) for one in after.values()))
    if not everywhere:
        return ["No label has a specialised head in the trained models of all seeds."]
    return [f"Labels with a specialised head in the trained models of all seeds: {', '.join(sorted(everywhere))}."]


CLAIM = Claim(
    name="emergence",
    title="Do roles emerge in training?",
    sentence="Roles of heads are not designed: they emerge in training.",
    source="Vaswani et al. 2017, section 4 (heads clearly learn to perform different tasks); Clark et al. 2019",
    about=(
        "The encoders of “Several heads or one”, at their first checkpoint, which has randomly initialised weights, "
        "and at their last. A pair of a head and a label counts where the head is specialised in it as in every run "
        "of headscope: by a stable grade in a linguistic role, not in a position.",
    ),
    limits=(
        "Randomly initialised weights of the same architecture are among the controls of both: a role that comes "
        "with the architecture counts neither before training nor after it.",
        "Only labels of the probes in the config are counted.",
    ),
    section=EmergenceSection,
    measure=measure,
)
