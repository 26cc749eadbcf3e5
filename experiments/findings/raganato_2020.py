"""Raganato, Scherrer and Tiedemann 2020: most heads of an encoder need not learn where to attend."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published
from experiments.statements.paper_sentence import sentence
from experiments.statements.rule import Rule

PAPER = Paper(
    "raganato-2020",
    "Raganato, Scherrer and Tiedemann 2020",
    "Fixed Encoder Self-Attention Patterns in Transformer-Based Machine Translation",
)

READING = "claim-patterns"

in_claim = partial(sentence, "patterns", learned="learnt")

FINDINGS = (
    Finding(
        id="raganato-fixed",
        claim="Seven of eight heads of an encoder can have fixed patterns, by position alone, and little is lost.",
        where="the tables of translation with high and low resources, and of contrastive tests",
        model="Transformer base, 6 layers of 8 heads; 7 of 8 heads of every encoder layer fixed",
        data="WMT, IWSLT and others",
        metric="The paper: BLEU. We: the masked-LM loss, and agreement on minimal pairs, paired by seed.",
        stands_in="Encoders of 2 layers of 8 heads trained here on the embedded grammar, 5 seeds.",
        differs="No translation and no decoder, whose attention stays learnt in the paper.",
        statements=[
            in_claim(
                "loss",
                "Encoders with seven fixed patterns reach a loss",
                "The loss is then less than 5 % higher than where all heads learn.",
                Rule(below=1.05, unit="times"),
                Published(text="at most about one BLEU less; up to 3 more with few data", provenance="memory"),
            ),
            in_claim(
                "agreement",
                "Encoders with seven fixed patterns lose less than 2 points of agreement",
                "Less than 2 points of agreement are lost.",
                Rule(above=-0.02),
                Published(text="contrastive tests of agreement: as good, but at long distances", provenance="memory"),
                ending="agreement",
            ),
            in_claim(
                "across",
                "Encoders with seven fixed patterns lose less than 2 points of agreement across",
                "Nor are more across a noun of the other number.",
                Rule(above=-0.02),
                Published(text="contrastive tests of agreement: as good, but at long distances", provenance="memory"),
            ),
        ],
        readings=(READING,),
    ),
)
