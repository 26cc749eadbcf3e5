"""Limisiewicz, Mareček and Rosa 2020: a relation is often split between heads, and several together find it better."""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, margin, table, together
from experiments.statements.rule import LearnedRule, Rule

PAPER = Paper(
    "limisiewicz-2020",
    "Limisiewicz, Mareček and Rosa 2020",
    "Universal Dependencies According to BERT: Both More Specific and More General",
)

DATA = "Universal Dependencies, English, the development part"

ENOUGH = 8
"Relations of twelve of which a claim about relations has to be true."

TABLE = {
    "nsubj": (0.628, 0.791, 0.492),
    "obj": (0.765, 0.827, 0.414),
    "amod": (0.808, 0.839, 0.763),
    "advmod": (0.482, 0.581, 0.457),
    "aux": (0.835, 0.867, 0.601),
    "det": (0.871, 0.896, 0.584),
    "compound": (0.784, 0.842, 0.847),
    "nmod": (0.410, 0.620, 0.375),
    "nummod": (0.607, 0.709, 0.556),
    "acl": (0.368, 0.502, 0.352),
    "advcl": (0.202, 0.249, 0.113),
    "csubj": (0.737, 0.816, 0.289),
}
"Relation -> best head, mean of two to four heads, most frequent offset."

VARIANTS = {"nsubj": "head->dependent", "obj": "dependent->head"}
"The direction of the published number, where the notes name it; elsewhere the one that is best on train."

ADJACENT = "compound"
"The one relation whose words stand so close that the offset is above all heads."

NEAR = Rule(below=0.0)
"Of that relation: heads are below the offset, as in the paper."


def _ensemble(label: str, evidence: Evidence) -> Measured:
    """Return how far the ensemble of a relation is above what it is held against; its baseline is the best head."""
    why = f"too few {label} to seek an ensemble"
    row = table(evidence, "trees", "ensembles", why, probe="dependency", label=label, selected=True).iloc[0]
    if " " not in str(row["heads"]).strip():
        raise Missing(f"of {label} {row['heads']} alone was chosen: no ensemble is better on train", absent=True)
    above = estimate_of(row, "margin", "margin_low", "margin_high")
    if label != ADJACENT:
        above = together(np.min, [estimate_of(row, "gain", "gain_low", "gain_high"), above])
    return Measured(
        decides=above,
        ours=estimate_of(row, "accuracy", "ci_low", "ci_high"),
        baseline=float(row["accuracy"] - row["gain"]),
        heads=str(row["heads"]),
        note=f"{row['variant']}, {row['baseline']} {row['baseline_accuracy']:.1%}",
    )


def _single(label: str) -> Statement:
    head, _, offset = TABLE[label]
    return Statement(
        name=label,
        text=f"One head finds {label} more often than the best offset."
        if label != ADJACENT
        else f"The best head is below the best offset for {label}.",
        number="accuracy of the chosen head minus that of the strongest baseline",
        rule=LearnedRule(above=0.0) if label != ADJACENT else NEAR,
        published=Published(head, offset, text=VARIANTS.get(label, "")),
        measure=lambda evidence: margin(evidence["trees"], "dependency", label, VARIANTS.get(label)),
    )


def _several(label: str) -> Statement:
    head, mean, offset = TABLE[label]
    return Statement(
        name=label,
        text=f"For {label} the mean of several heads is above the best head, and above the best offset."
        if label != ADJACENT
        else f"For {label} even several heads are below the best offset.",
        number="accuracy of several heads minus that of the best head, or of the strongest baseline if that is higher"
        if label != ADJACENT
        else "accuracy of several heads minus that of the strongest baseline",
        rule=LearnedRule(above=0.0) if label != ADJACENT else NEAR,
        published=Published(mean, head, text=f"offset {offset:.1%}"),
        measure=partial(_ensemble, label),
    )


finding = partial(
    Finding,
    model="BERT for one language, English",
    where="authors' notes of November 2019 (repository ufal/lsd)",
    data=DATA,
)

FINDINGS = (
    finding(
        id="limisiewicz-heads",
        claim="For most relations some head is above the best fixed offset.",
        metric="Accuracy of the most attended word over the arcs of a relation; offsets are from other sentences.",
        stands_in="UD English EWT; the head, its direction and the offset are selected on train and evaluated on dev.",
        differs="Which direction the published number is about is named for nsubj and obj alone.",
        statements=tuple(map(_single, TABLE)),
        readings=("trees",),
        group="relations of EWT",
        repeats="clark-relations",
        bars="The best head of each relation",
        enough=ENOUGH,
    ),
    finding(
        id="limisiewicz-ensembles",
        claim="For most relations the mean of two to four heads finds more than the best single head.",
        metric="Accuracy of the most attended word of the mean of maps; heads are added one by one.",
        stands_in="UD English EWT; heads are added on sentences of train and evaluated on dev.",
        differs="All heads of an ensemble look in one direction, that of the best. It has to beat the offset, too: "
        "the mean of heads that know nothing is better than one of them.",
        statements=tuple(map(_several, TABLE)),
        readings=("trees",),
        bars="Several heads; the baseline is the best head",
        enough=ENOUGH,
    ),
    finding(
        id="limisiewicz-trees",
        claim="Trees made from the ensembles of all relations have two thirds of the arcs right.",
        data=f"{DATA}; heads are selected on 1,000 sentences",
        metric="Attachment, without and with labels, of maximum spanning trees; parts of speech are known.",
        statements=[
            Statement(
                name=name,
                text=f"Trees from ensembles have an attachment score ({name}) of about {value:.0%}.",
                number=f"{name} of trees that are made from ensembles",
                rule=LearnedRule(above=value - 0.1, below=value + 0.1, unit="%"),
                published=Published(value, text="with parts of speech"),
            )
            for name, value in (("UAS", 0.665), ("LAS", 0.390))
        ],
        missing="no tree is made from ensembles of heads; the parsers that are trained here see all heads at once",
    ),
)
