"""Voita and Titov 2020: how short labels can be coded tells what a model knows, where accuracy may not."""

from __future__ import annotations

from functools import partial

from experiments.statements.estimates import mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import table
from experiments.statements.rule import LearnedRule

PAPER = Paper("voita-2020", "Voita and Titov 2020", "Information-Theoretic Probing with Minimum Description Length")

TASK = "part of speech"

ONLINE = "compression; 96.02 kbit; accuracy 97.48 %; on OntoNotes, layer 0: 24.47, 461.55 kbit, 91.28 %"


def _code(evidence: Evidence) -> Measured:
    """Return by how much labels are compressed more than those of the control task, on the mean over heads."""
    codes = table(evidence, "classifiers", "codes", "parts of speech were not coded", task=TASK)
    ratio = codes.assign(gain=codes.compression / codes.control_compression - 1)
    means = ratio.groupby("draw")[["gain", "compression"]].mean()
    by_head = codes.groupby("name")[["compression", "control_compression"]].mean()
    best = by_head.sort_values("compression").iloc[-1]
    return Measured(
        decides=mean_of(means.gain.tolist()),
        ours=mean_of(means.compression.tolist()),
        baseline=float(by_head.control_compression.mean()),
        heads=str(best.name),
        note=f"the best head: {best['compression']:.2f}, control {best['control_compression']:.2f}",
    )


finding = partial(
    Finding,
    model="ELMo, first layer, classifier with hidden layers",
    where="authors' notebooks",
    data="Penn Treebank, parts of speech",
)

FINDINGS = (
    finding(
        id="voita-codes",
        claim="The code of linguistic labels is much shorter than that of labels drawn at random.",
        metric="Online code: blocks end at 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50 and 100 % of the examples; "
        "the first costs log2 K a label, each other one its loss under what was learned before. Compression: N log2 K "
        "over the length of the code.",
        stands_in="the outputs of every head, on UD English GUM",
        differs="Linear classifiers of single heads on few examples compress far less; the interval is over draws of "
        "the examples, of the order of coding and of the control task.",
        statements=[
            Statement(
                name=TASK,
                text="On the mean over heads, parts of speech are compressed a tenth more than labels drawn at random.",
                number="compression over that of the control task, minus 1, mean over heads",
                rule=LearnedRule(above=0.1, unit="%"),
                published=Published(53.06, text=ONLINE),
                shown="times",
            )
        ],
        readings=("classifiers",),
        measure=_code,
    ),
    finding(
        id="voita-variational",
        claim="A variational code agrees with the online one, and says how large a classifier has to be.",
        metric="Bits of a classifier whose weights are pruned as it learns, and of the labels that it then tells.",
        statements=[
            Statement(
                name="variational",
                text="The variational code is not longer than the online code.",
                number="compression of the variational code over that of the online code, minus 1",
                rule=LearnedRule(above=0.0, unit="%"),
                published=Published(59.76, text="compression; 85 kbit; classifier pruned to 664-55-35"),
                shown="times",
            )
        ],
        missing="labels are coded online only; no classifier here is pruned as it learns",
    ),
)
