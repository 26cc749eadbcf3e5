"""Olsson et al. 2022: induction heads, which look for what followed the same token before, arise all at once."""

from __future__ import annotations

from experiments.statements.finding import Evidence, Finding, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import margin

PAPER = Paper("olsson-2022", "Olsson et al. 2022", "In-context Learning and Induction Heads")

MODEL = "Decoders of one to many layers, trained for this"

DATA = "text, with checkpoints of the training"

GUM = "UD English GUM, in windows of 100 words; the head is selected on train and evaluated on dev."


def _same_word(evidence: Evidence) -> Numbers:
    return {"same word": margin(evidence["coreference"], "repetition", "all", "same word")}


def _word_after(evidence: Evidence) -> Numbers:
    return {"word after": margin(evidence["coreference"], "repetition", "all", "word after")}


FINDINGS = (
    Finding(
        id="olsson-same-word",
        claim="Some heads attend from a token to the same token elsewhere.",
        where="what induction is built from",
        model=MODEL,
        data=DATA,
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
        measure=_same_word,
        unclaimed="Olsson et al. name no such heads: duplicate-token heads are of Wang et al. 2022",
    ),
    Finding(
        id="olsson-induction",
        claim="Some heads attend to what followed the same token when it stood there before.",
        where="definition of induction heads, prefix matching",
        model=MODEL,
        data=DATA,
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
        measure=_word_after,
    ),
    Finding(
        id="olsson-phase-change",
        claim="Induction heads arise in a short part of the training, together with in-context learning.",
        where="phase change",
        model=MODEL,
        data=DATA,
        metric="In-context learning score: loss late in a text minus loss early in it, in nats.",
        statements=[
            Statement(
                name="in-context learning",
                text="The score falls within a short part of the training; not so with one layer.",
                number="in-context learning score after the change minus before it",
                rule=LearnedRule(below=-0.1),
                unit="nats",
                published=Published(
                    -0.4,
                    -0.15,
                    text="between 2.5 and 5 billion tokens; not with one layer",
                    provenance="second-hand",
                ),
                shown="nats",
            )
        ],
        missing="no decoder is trained here, and an encoder has no in-context learning score",
    ),
)
