"""Vaswani et al. 2017: what several heads are for, what a layer costs, and why scores are divided by sqrt(d_k)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.numbers import over_units, rows
from experiments.statements.paper_sentence import drawn_claim, sentence
from experiments.statements.rule import SAME, Rule
from reports.statements.figure import Figure

PAPER = Paper("vaswani-2017", "Vaswani et al. 2017", "Attention Is All You Need")

SEVERAL = (
    sentence(
        "heads",
        "loss",
        "Encoders with 8 heads a layer reach a lower loss",
        "Eight heads reach a lower loss than one of the same size together.",
        Rule(below=0.0, unit="nats"),
    ),
    sentence(
        "heads",
        "agreement",
        "Encoders with 8 heads a layer are better at agreement",
        "Eight heads are better than one at agreement across a noun of the other number.",
        Rule(above=0.0),
    ),
)

ROLES = (
    sentence(
        "heads",
        "share",
        "With more heads, a larger share of them is specialised",
        "With twice as many heads a larger share of them is specialised; more heads are more chances.",
        Rule(above=0.0),
    ),
)

AVERAGING = tuple(
    sentence(
        "averaging",
        f"width {width}, {items}",
        f"Two heads tell more than one of their size, width {width} and {items} ",
        f"Two heads tell more than one of their size, with values of width {width} and {items} in a set.",
        Rule(above=0.0),
    )
    for width, items in (
        *((width, "1 item") for width in (8, 16, 32, 64)),
        *((64, items) for items in ("2 items", "4 items")),
    )
)


def of_claim(
    name: str,
    claim: str,
    where: str,
    reading: str,
    statements: Sequence[Statement],
    metric: str,
    differs: str,
    fact: str = "",
    revised: str = "",
) -> Finding:
    """Return a finding whose statements stand in the record of one claim."""
    return Finding(
        id=f"vaswani-{name}",
        claim=claim,
        where=where,
        model="Transformer, base",
        data="WMT 2014 English-German",
        metric=metric,
        stands_in="Encoders trained here on the embedded grammar, layers and tensors, as the claim says.",
        differs=differs,
        statements=statements,
        readings=(reading,),
        figure=_heads_drawn if statements is SEVERAL else None,
        fact=fact,
        revised=revised,
    )


def _heads_drawn(evidence: Evidence) -> Figure:
    """Return the loss by the number of heads, as the paper's table 3 (A) varies them."""
    title = "Loss by heads in a layer, at equal size"
    return drawn_claim(evidence, "heads", "evaluation loss", title, "heads in a layer", "nats")


def _one_relation(evidence: Evidence) -> Numbers:
    told = rows(evidence["trees"].scores, probe="dependency", split="report")
    told = told[(told.label != "all") & ~told.label.str.endswith(":*")]  # a relation with its subtypes
    if told.empty:
        raise Missing("no relation was scored")
    relations = told[told.specialised].groupby("name").label.nunique()
    heads = pd.DataFrame({"relations": relations.reindex(told["name"].unique(), fill_value=0)})
    some = heads[heads.relations > 0]
    each = over_units(lambda drawn: float((drawn.relations > 0).mean()), heads)
    found: dict[str, Measured | Missing] = {"each": Measured(each, note=f"{len(some)} of {len(heads)} heads")}
    found["one"] = Missing("no head has a relation", absent=True)
    if len(some):
        found["one"] = Measured(over_units(lambda drawn: float(drawn.relations.mean()), some))
    return found


SIMILAR = Rule(above=0.8, below=1.25, unit="times")

COST = (
    sentence(
        "compute",
        "operations",
        "8 heads of 64 and one head of 512 take equally many operations",
        "Eight heads take as many operations as one of full size.",
        SAME,
    ),
    *(
        sentence(
            "compute",
            f"time, {length}",
            "8 heads of 64 and one head of 512 take similar time",
            f"They take similar time, in sequences of {length}.",
            SIMILAR,
            ending=f"of {length}",
        )
        for length in (64, 256, 1024)
    ),
)

DIVISION = (
    sentence(
        "scaling",
        "variance",
        "The product of a random query and key",
        "The product of a random query and key has variance d_k.",
        Rule(above=0.95, below=1.05, unit="times"),
    ),
    sentence(
        "scaling",
        "gradient",
        "Without the division a larger d_k leaves a smaller gradient",
        "Without the division a larger d_k leaves a smaller gradient.",
        Rule(below=1.0, unit="times"),
    ),
)

TRAINED = (
    sentence(
        "scaling",
        "gradient",
        "Encoders trained without the division end with smaller gradients",
        "Encoders that do not divide end with smaller gradients for their scores.",
        Rule(below=1.0, unit="times"),
    ),
    sentence(
        "scaling",
        "loss",
        "Encoders trained without the division end with a higher loss",
        "Encoders that do not divide end with a higher loss.",
        Rule(above=0.0, unit="nats"),
    ),
)

RECURRENT = (
    *(
        sentence(
            "recurrence",
            f"length {length}",
            "Self-attention of width 512 is faster than an LSTM",
            f"Self-attention of width 512 is faster than an LSTM of that width, in sequences of {length}.",
            Rule(above=1.0, unit="times"),
            ending=f"of {length}",
        )
        for length in (16, 64, 256)
    ),
    sentence(
        "recurrence",
        "length 1024",
        "ratio of times",
        "Past the width, in sequences of 1024, it is slower.",
        Rule(below=1.0, unit="times"),
        at=1024.0,
    ),
)

WIDE = "the layer of the original paper, d_model 512, on this machine"


FINDINGS = (
    of_claim(
        "several-heads",
        "Several heads are better than one head of the same size together.",
        "section 3.2.2 and table 3 (A)",
        "claim-heads",
        SEVERAL,
        "The paper: BLEU and perplexity. We: the masked-LM loss, and agreement on minimal pairs, paired by seed.",
        "Small encoders of a generated language in the place of translation.",
    ),
    of_claim(
        "roles",
        "Heads learn different tasks, so that more of them have more roles.",
        "section 3.2.2 and the appendix on attention",
        "claim-heads",
        ROLES,
        "The paper shows examples. We: the share of heads that are specialised by the rule of headscope's runs.",
        "The paper counts nothing.",
    ),
    of_claim(
        "averaging",
        "With a single head, averaging keeps it from attending to several places at once.",
        "section 3.2.2",
        "claim-averaging",
        AVERAGING,
        "The paper says it in words. We: a query that needs two distributions at once, for one head and for two.",
        "One layer, trained for that task.",
        revised="the claim asks another question than before, whose numbers had been seen: two distributions at once",
    ),
    Finding(
        id="vaswani-one-relation",
        claim="Each head focuses on one relation.",
        where="the examples of heads in the appendix; textbooks make it a sentence about each head",
        model="Transformer, base",
        data="WMT 2014 English-German",
        metric="The paper shows examples. We: relations in which heads are specialised, which here takes a lead of "
        "significantly more than 5 points over the best fixed offset, and over no control.",
        stands_in="UD English EWT; heads are selected on train and evaluated on dev.",
        differs="Syntactic relations alone: a head may have another role.",
        statements=[
            Statement(
                name="each",
                text="Nearly every head is specialised in a relation.",
                number="share of heads that are specialised in a relation",
                rule=Rule(above=0.9, unit="%"),
                published=Published(text="each head"),
            ),
            Statement(
                name="one",
                text="A head that is specialised in relations has one of them.",
                number="mean number of relations of heads that have any",
                rule=Rule(below=1.5, unit="relations"),
                published=Published(text="one relation"),
            ),
        ],
        readings=("trees",),
        measure=_one_relation,
        graded=True,
        unclaimed="the paper says that heads learn different tasks; one relation a head is said by textbooks",
    ),
    of_claim(
        "compute",
        "Several small heads cost about as much as one of full size.",
        "section 3.2.2",
        "claim-compute",
        COST,
        "The paper says it in words. We: operations of matrix products, and times in which both take turns.",
        WIDE,
        "it is about sizes of matrices, whatever they hold",
    ),
    of_claim(
        "scaling",
        "Products of queries and keys grow with d_k, and the softmax then has small gradients.",
        "section 3.2.1",
        "claim-scaling",
        DIVISION,
        "The paper says it in words. We: the variance of products, and the length of gradients, over d_k.",
        "Random queries and keys, as in the paper's footnote.",
        "it is arithmetic of random queries and keys",
    ),
    of_claim(
        "scaling-trained",
        "Without the division by sqrt(d_k) an encoder learns less well.",
        "section 3.2.1",
        "claim-scaling",
        TRAINED,
        "The paper says it in words. We: gradients and losses of encoders that divide, and of those that do not.",
        "Small encoders of a generated language, d_k of 16.",
    ),
    of_claim(
        "recurrence",
        "Self-attention is faster than recurrence where sequences are shorter than the vectors.",
        "section 4",
        "claim-recurrence",
        RECURRENT,
        "The paper counts operations. We: times in which both take turns.",
        WIDE,
        "it is about the times of operations, whatever the weights",
    ),
)
