"""Lin, Tan and Frank 2019: BERT's lower layers know positions, its upper ones which noun a verb agrees with."""

from __future__ import annotations

from functools import partial

import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import average, by_depth, compared, points, table
from experiments.statements.rule import LearnedRule
from reports.statements.figure import Figure

PAPER = Paper("lin-2019", "Lin, Tan and Frank 2019", "Open Sesame: Getting Inside BERT's Linguistic Knowledge")

DATA = "sentences that a grammar writes, 10,000 a condition"

KINDS = ("verb", "reflexive")
"What looks for the noun group that it agrees with."

FALL = 0.1
"Bits by which confusion has to fall: that of layers that know nothing differs by next to nothing."

TASK = "absolute position"

NOTHING = "nothing was asked, or the model has too few layers"


def _rise(layers: pd.DataFrame, value: str) -> Measured:
    """Return the mean of `value` over the upper third of the layers minus that over the lower third."""
    lower, upper = (average(by_depth(layers, *part), value) for part in ((0, 1 / 3), (2 / 3, 1)))
    if not (lower.n and upper.n):
        raise Missing(NOTHING)
    return compared(upper, lower, note="the baseline is the lower third")


def _confused(evidence: Evidence, kind: str) -> pd.DataFrame:
    """Return the confusion of the mean of each layer's heads, a row a layer."""
    found = table(evidence, "distractors", "confusion", NOTHING, label=kind, head=-1, split="report")
    return found.sort_values("layer")


def _confusion(kind: str, evidence: Evidence) -> Measured:
    return _rise(_confused(evidence, kind), "confusion")


def _position(evidence: Evidence) -> Measured:
    layers = table(evidence, "classifiers", "layers", NOTHING, task=TASK)
    return _rise(layers[layers.layer > 0].assign(layer=layers.layer - 1), "accuracy")


def _drawn_confusion(evidence: Evidence) -> Figure:
    found = {kind: _confused(evidence, kind) for kind in KINDS}
    series = {kind: points(one, "layer", "confusion", "ci_low", "ci_high", first=1) for kind, one in found.items()}
    return Figure("lines", "Confusion among noun groups, heads of a layer averaged", "layer", "bits", series)


def _drawn_position(evidence: Evidence) -> Figure:
    layers = table(evidence, "classifiers", "layers", task=TASK).sort_values("layer")
    series = {TASK: points(layers, "layer", "accuracy", "ci_low", "ci_high")}
    return Figure("lines", "Where a word stands, told from one layer", "layer (0: embedding)", "accuracy", series)


finding = partial(Finding, model="BERT base and large", data=DATA)

FINDINGS = (
    finding(
        id="lin-confusion",
        claim="With depth, attention from a verb or a reflexive is less and less confused by other nouns.",
        where="section 4",
        data=f"{DATA}; the authors' log tells of 26.12 sentences a second",
        metric="Heads of a layer are averaged; attention to each noun group is divided by that to all; -log2 of the "
        "right one's part. 0 bits: perfect; log2 of the number of groups: chance.",
        stands_in="sentences of the authors' files, 400 a file",
        differs="Depth is divided into thirds.",
        statements=[
            Statement(
                name=kind,
                text=f"From a {kind}, the upper third of the layers is a tenth of a bit less confused than the lower.",
                number="mean confusion of the upper third of the layers minus that of the lower third",
                rule=LearnedRule(below=-FALL, unit="bits"),
                published=Published(text="confusion falls with depth (figure)", provenance="second-hand"),
                measure=partial(_confusion, kind),
            )
            for kind in KINDS
        ],
        readings=("distractors",),
        figure=_drawn_confusion,
    ),
    finding(
        id="lin-position",
        claim="What a layer knows about the position of a word falls with depth.",
        where="diagnostic classifiers of positions",
        metric="Accuracy of a classifier that tells where a word stands from what one layer gives to it. We: in bands.",
        stands_in="UD English GUM; the outputs of all heads of a layer",
        differs="Natural sentences; depth is divided into thirds.",
        statements=[
            Statement(
                name=TASK,
                text="Where a word stands is told better from the lower third of the layers than from the upper one.",
                number="accuracy from the upper third of the layers minus that from the lower third",
                rule=LearnedRule(below=0.0),
                published=Published(text="positional information is in the lower layers", provenance="second-hand"),
            )
        ],
        readings=("classifiers",),
        measure=_position,
        figure=_drawn_position,
    ),
    finding(
        id="lin-hierarchy",
        claim="What a layer knows about the hierarchy of a sentence is in the upper layers.",
        where="diagnostic classifiers of hierarchy",
        metric="Accuracy of a classifier that finds words by their place in the hierarchy of the sentence.",
        missing="no task of our classifiers asks for the place of a word in a hierarchy",
    ),
)
