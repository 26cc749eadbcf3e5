"""Claim: most heads need not learn where to attend."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from experiments.interventions.syntax import NONE, condition_measures, folder_of
from experiments.statements.claim import Claim, Work
from experiments.statements.estimates import difference, ratio
from experiments.statements.rule import Rule
from experiments.statements.trained import AgreementSection, agreement_accuracy, by_seed, each_training
from experiments.training.checkpoints import read_checkpoints
from mha import load_model
from mha.causal.fixed_patterns import PATTERNS, fixed_heads
from reports.statements.claim_record import ClaimRecord
from reports.statements.statement import JudgedStatement, judged

LEARNT, FIXED = "learnt", "7 of 8 fixed"

LITTLE_LOSS, LITTLE_AGREEMENT = 1.05, 0.02
"How many times as high the loss may be, and how much accuracy may be lost, until fixed patterns do harm."


class PatternsSection(AgreementSection):
    """The config of the claim."""


def measure(section: PatternsSection, work: Work) -> ClaimRecord:
    """Train encoders whose heads learn all patterns, and others whose first seven heads of every layer learn none."""
    found: dict[str, dict[int, Any]] = {}
    for condition, label, fixed in ((LEARNT, folder_of(NONE), ()), (FIXED, "fixed", PATTERNS)):
        examined = partial(examine, section, fixed)
        found[condition] = each_training(section, work, label, examined, train={"fixed": fixed})
    return ClaimRecord(condition_measures(found, MEASURED), _statements(found))


def examine(section: PatternsSection, fixed: tuple[str, ...], training: Path) -> dict[str, float]:
    """Return loss and agreement of the last checkpoint of a training, its heads fixed as they were."""
    last = read_checkpoints(training)[-1]
    model = load_model(str(last.folder))
    with fixed_heads(model.module, fixed):
        accuracy = agreement_accuracy(model, section.pairs, section.pairs_seed)
    return {"loss": last.evaluation_loss, "agreement": accuracy.every, "across": accuracy.across}


Results = Mapping[str, Mapping[int, Mapping[str, float]]]
"Condition -> seed -> what was measured."


MEASURED = (
    ("loss", "evaluation loss", "nats"),
    ("agreement", "agreement", "%"),
    ("across", "agreement across a noun of the other number", "%"),
)
"Key, name on the page, and unit of what is measured."


def _statements(found: Results) -> list[JudgedStatement]:
    loss = {way: by_seed(found[way], "loss") for way in found}
    seeds = sorted(loss[LEARNT])
    statements = [
        judged(
            "Encoders with seven fixed patterns reach a loss that is less than 5 % higher",
            f"evaluation loss, {FIXED} / {LEARNT}, paired by seed",
            ratio([loss[FIXED][seed] for seed in seeds], [loss[LEARNT][seed] for seed in seeds]),
            Rule(below=LITTLE_LOSS, unit="times"),
        )
    ]
    for name, where in (("agreement", ""), ("across", " across a noun of the other number")):
        statements.append(
            judged(
                f"Encoders with seven fixed patterns lose less than 2 points of agreement{where}",
                f"accuracy, {FIXED} − {LEARNT}, paired by seed",
                difference(by_seed(found[FIXED], name), by_seed(found[LEARNT], name)),
                Rule(above=-LITTLE_AGREEMENT),
            )
        )
    return statements


CLAIM = Claim(
    name="patterns",
    title="Must heads learn where to attend?",
    sentence="Seven of eight heads of every layer can have fixed patterns, by position alone, and little is lost.",
    source="Raganato et al. 2020, Fixed Encoder Self-Attention Patterns in Transformer-Based Machine Translation",
    about=(
        "Encoders trained from scratch on the embedded grammar, with the same first weights, texts and masks. In one "
        "way all heads learn; in the other, heads 1 to 7 of every layer attend to the query itself, to the token "
        "before it, after it, to those further left or right (the nearer the more), to the first and to the last "
        "token, whatever is said, in training and in evaluation. Values and W_O learn in both ways.",
        "The encoders of which all heads learn are those without a term of “Does grammar need attention to syntax?”.",
    ),
    limits=(
        "The paper fixes the encoder of translation, whose decoder keeps all of its learnt attention; here there is no "
        "decoder.",
        "Texts are single sentences of a generated language.",
        "Fixed heads have queries and keys that nothing uses: the smaller encoder is not made smaller.",
    ),
    section=PatternsSection,
    measure=measure,
)
