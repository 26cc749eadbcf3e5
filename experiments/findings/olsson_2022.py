"""Olsson et al. 2022: induction heads, which look for what followed the same token before, arise all at once."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.numbers import margin
from experiments.statements.paper_sentence import sentence
from experiments.statements.rule import LearnedRule, Rule

PAPER = Paper("olsson-2022", "Olsson et al. 2022", "In-context Learning and Induction Heads")

GUM = "UD English GUM, in windows of 100 words; the head is selected on train and evaluated on dev."

DECODERS = "claim-induction"

HALF = Published(text="in models of two layers or more, not of one; the bars are ours", provenance="second-hand")

in_claim = partial(sentence, "induction")

finding = partial(
    Finding,
    model="Decoders of one to many layers, trained for this",
    data="text, with checkpoints of the training",
    stands_in="Decoders of one and of two layers, trained here on 21 million pieces of English prose, three seeds.",
    differs="Contexts of 128 pieces of a vocabulary of 2,000, and a hundredth of the texts.",
    readings=(DECODERS,),
)

FINDINGS = (
    finding(
        id="olsson-same-word",
        claim="Some heads attend from a token to the same token elsewhere.",
        where="what induction is built from",
        metric="How often the most attended other word is the same word.",
        stands_in=GUM,
        differs="An encoder, which sees both sides: the other occurrence may stand before or after.",
        statements=[
            Statement(
                name="same word",
                text="A head finds the same word again more often than any fixed offset does.",
                number="accuracy of the chosen head minus that of the strongest baseline",
                rule=LearnedRule(above=0.0),
                published=Published(
                    text="no number; heads for duplicate tokens are the analogue in encoders", provenance="second-hand"
                ),
            )
        ],
        readings=("coreference",),
        measure=lambda evidence: margin(evidence["coreference"], "repetition", "all", "same word"),
        unclaimed="Olsson et al. name no such heads: duplicate-token heads are of Wang et al. 2022",
    ),
    finding(
        id="olsson-induction",
        claim="Some heads attend to what followed the same token when it stood there before.",
        where="definition of induction heads, prefix matching",
        metric="How often the most attended other word is the one after the nearest earlier occurrence of the word.",
        stands_in=GUM,
        differs="An encoder, which is not trained to tell the next word and has little use for such a head.",
        statements=[
            Statement(
                name="word after",
                text="A head finds what followed the word before more often than any fixed offset does.",
                number="accuracy of the chosen head minus that of the strongest baseline",
                rule=LearnedRule(above=0.0),
                published=Published(text="in models of two layers or more, not of one", provenance="second-hand"),
            )
        ],
        readings=("coreference",),
        measure=lambda evidence: margin(evidence["coreference"], "repetition", "all", "word after"),
    ),
    finding(
        id="olsson-depth",
        claim="Decoders of two layers have induction heads, decoders of one have none.",
        where="definition of induction heads; models of one layer",
        metric="How often the most attended piece of random pieces that come twice is the one that followed before.",
        statements=[
            in_claim(
                "two layers",
                "With two layers a head attends to what followed the same piece before",
                "With two layers a head attends to what followed before at half of the queries.",
                Rule(above=0.5, unit="%"),
                published=HALF,
            ),
            in_claim(
                "one layer",
                "With one layer of the same size no head does",
                "With one layer no head does, at a tenth of them.",
                Rule(below=0.1, unit="%"),
                published=HALF,
            ),
        ],
    ),
    finding(
        id="olsson-phase-change",
        revised="the bar of abruptness was made stricter after a part of one training had been seen",
        claim="Induction heads arise in a short part of the training, together with in-context learning.",
        where="phase change",
        metric="In-context learning score: loss late in a text minus loss early in it, in nats.",
        statements=[
            in_claim(
                "abrupt",
                "The head arises within half of the steps that it took to begin",
                "It rises from a quarter to three quarters of its height within half of the steps that it took to a "
                "quarter.",
                Rule(below=0.5, unit="times"),
                Published(text="between 2.5 and 5 billion tokens; the bar is ours", provenance="second-hand"),
            ),
            in_claim(
                "in-context learning",
                "While the head arises, the in-context learning score falls",
                "Meanwhile the in-context learning score falls by 0.1 nats more than with one layer of the same size.",
                Rule(below=-0.1, unit="nats"),
                Published(text="-0.15 nats before, -0.4 after; not with one layer", provenance="second-hand"),
            ),
        ],
    ),
    finding(
        id="olsson-ablation",
        claim="In-context learning of small decoders rests on induction heads, these on heads for the token before.",
        where="ablations; the mechanism of induction heads",
        metric="In-context learning score, and attention of induction heads, without heads and without as many others.",
        statements=[
            in_claim(
                "score",
                "Without its induction head a decoder has less in-context learning",
                "Without the induction head the in-context learning score is higher than without another head of its "
                "layer.",
                Rule(above=0.0, unit="nats"),
                Published(text="ablation, in small models (figures)", provenance="memory"),
            ),
            in_claim(
                "token before",
                "The induction head is built on a head that attends to the token before",
                "Without the head for the token before, the induction head attends to what followed before at fewer "
                "queries.",
                Rule(below=-0.1),
                Published(text="the mechanism in two layers, argued from weights", provenance="memory"),
            ),
        ],
    ),
)
