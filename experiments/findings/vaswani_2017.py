"""Vaswani et al. 2017: why there are several heads, what they cost, and why scores are divided by sqrt(d_k)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from experiments.claims.averaging import LEEWAY
from experiments.claims.compute import SAME
from experiments.estimates import Estimate
from experiments.reproduce.figure import Figure
from experiments.reproduce.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.reproduce.numbers import over_units
from experiments.rules import Rule
from reports.claims_record import ClaimRecord

PAPER = Paper("vaswani-2017", "Vaswani et al. 2017", "Attention Is All You Need")

SIMILAR = Rule(above=0.8, below=1.25)


@dataclass(frozen=True)
class Told:
    """A statement of a claim that stands for a sentence of the paper."""

    name: str
    opening: str
    "How the statement in the record of the claim begins; one that has a place on an axis ends with it."
    text: str
    rule: Rule
    unit: str
    ending: str = ""

    def found_in(self, claim: ClaimRecord) -> Measured | Missing:
        """Return the number that decides it."""
        for one in claim.statements:
            if one.text.startswith(self.opening) and one.text.endswith(self.ending):
                number = one.estimate
                return Measured(Estimate(number.value, number.low, number.high, number.n), note=one.number)
        return Missing(f"the claim {claim.claim} has no statement {self.opening!r}")


SEVERAL = (
    Told(
        "loss",
        "Encoders with 8 heads a layer reach a lower loss",
        "Eight heads reach a lower loss than one of the same size together.",
        Rule(below=0.0),
        "nats",
    ),
    Told(
        "agreement",
        "Encoders with 8 heads a layer are better at agreement",
        "Eight heads are better than one at agreement across a noun of the other number.",
        Rule(above=0.0),
        "points",
    ),
)

ROLES = (
    Told(
        "number",
        "With more heads, more heads are specialised",
        "With twice as many heads more of them are specialised.",
        Rule(above=0.0),
        "heads",
    ),
)

AVERAGING = (
    Told(
        "one head",
        "A single head does no better than an equal average",
        "A single head is hardly better than an equal average of both values allows.",
        Rule(below=LEEWAY),
        "points",
    ),
    Told(
        "two heads",
        "Two heads do better than one",
        "Two heads of half the size do better than one.",
        Rule(above=0.0),
        "points",
    ),
)

COST = (
    Told(
        "operations",
        "8 heads of 64 and one head of 512 take equally many operations",
        "Eight heads take as many operations as one of full size.",
        SAME,
        "times",
    ),
    *(
        Told(
            f"time, {length}",
            "8 heads of 64 and one head of 512 take similar time",
            f"They take similar time, in sequences of {length}.",
            SIMILAR,
            "times",
            ending=f"of {length}",
        )
        for length in (64, 256, 1024)
    ),
)

DIVISION = (
    Told(
        "variance",
        "The product of a random query and key",
        "The product of a random query and key has variance d_k.",
        Rule(above=0.95, below=1.05),
        "times",
    ),
    Told(
        "gradient",
        "Without the division a larger d_k leaves a smaller gradient",
        "Without the division a larger d_k leaves a smaller gradient.",
        Rule(below=1.0),
        "times",
    ),
)

TRAINED = (
    Told(
        "gradient",
        "Encoders trained without the division end with smaller gradients",
        "Encoders that do not divide end with smaller gradients for their scores.",
        Rule(below=1.0),
        "times",
    ),
    Told(
        "loss",
        "Encoders trained without the division end with a higher loss",
        "Encoders that do not divide end with a higher loss.",
        Rule(above=0.0),
        "nats",
    ),
)

RECURRENT = tuple(
    Told(
        f"length {length}",
        "Self-attention of width 512 is faster than an LSTM",
        f"Self-attention of width 512 is faster than an LSTM of that width, in sequences of {length}.",
        Rule(above=1.0),
        "times",
        ending=f"of {length}",
    )
    for length in (16, 64, 256)
)


def _finding(
    name: str,
    claim: str,
    where: str,
    reading: str,
    told: Sequence[Told],
    metric: str,
    differs: str,
    untrained: str = "",
) -> Finding:
    """Return a finding whose statements stand in the record of one claim."""

    def measure(evidence: Evidence) -> Numbers:
        return {one.name: one.found_in(evidence[reading]) for one in told}

    statements = [
        Statement(
            name=one.name,
            text=one.text,
            number=f"see the claim {reading.removeprefix('claim-')}",
            rule=one.rule,
            unit=one.unit,
            shown=one.unit,
            published=Published(text="said in words"),
        )
        for one in told
    ]
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
        measure=measure,
        figure=_heads_drawn if told is SEVERAL else None,
        learned=not untrained,
        untrained=untrained,
    )


def _heads_drawn(evidence: Evidence) -> Figure:
    """Return the loss by the number of heads, as the paper's table 3 (A) varies them."""
    loss = next(one for one in evidence["claim-heads"].measures if one.name == "evaluation loss")
    points = [
        (float(cell.at), cell.number.value, cell.number.low, cell.number.high)
        for cell in loss.cells
        if cell.at is not None
    ]
    return Figure("lines", "Loss by heads in a layer, at equal size", "heads in a layer", "nats", {"loss": points})


def _one_relation(evidence: Evidence) -> Numbers:
    scores = evidence["trees"].scores
    told = scores[(scores.probe == "dependency") & (scores.split == "report") & (scores.label != "all")]
    told = told[~told.label.str.endswith(":*")]  # a relation with its subtypes
    if told.empty:
        return {name: Missing("no relation was scored") for name in ("each", "one")}
    relations = told[told.specialised].groupby("name").label.nunique()
    heads = pd.DataFrame({"relations": relations.reindex(told["name"].unique(), fill_value=0)})
    some = heads[heads.relations > 0]
    each = over_units(lambda drawn: float((drawn.relations > 0).mean()), heads)
    found: dict[str, Measured | Missing] = {"each": Measured(each, note=f"{len(some)} of {len(heads)} heads")}
    found["one"] = Missing("no head has a relation")
    if len(some):
        found["one"] = Measured(over_units(lambda drawn: float(drawn.relations.mean()), some))
    return found


WIDE = "the layer of the original paper, d_model 512, on this machine"

FINDINGS = (
    _finding(
        "several-heads",
        "Several heads are better than one head of the same size together.",
        "section 3.2.2 and table 3 (A)",
        "claim-heads",
        SEVERAL,
        "The paper: BLEU and perplexity. We: the masked-LM loss, and agreement on minimal pairs, paired by seed.",
        "Small encoders of a generated language in the place of translation.",
    ),
    _finding(
        "roles",
        "Heads learn different tasks, so that more of them have more roles.",
        "section 3.2.2 and the appendix on attention",
        "claim-heads",
        ROLES,
        "The paper shows examples. We: how many heads are specialised by the rule of headscope's runs.",
        "The paper counts nothing.",
    ),
    _finding(
        "averaging",
        "With a single head, averaging keeps it from attending to several places at once.",
        "section 3.2.2",
        "claim-averaging",
        AVERAGING,
        "The paper says it in words. We: a task that needs two keys in their order.",
        "One layer, trained for that task.",
    ),
    _finding(
        "compute",
        "Several small heads cost about as much as one of full size.",
        "section 3.2.2",
        "claim-compute",
        COST,
        "The paper says it in words. We: operations of matrix products, and times in which both take turns.",
        WIDE,
        "It is about sizes of matrices, not about what they hold.",
    ),
    _finding(
        "scaling",
        "Products of queries and keys grow with d_k, and the softmax then has small gradients.",
        "section 3.2.1",
        "claim-scaling",
        DIVISION,
        "The paper says it in words. We: the variance of products, and the length of gradients, over d_k.",
        "Random queries and keys, as in the paper's footnote.",
        "It is said of random queries and keys.",
    ),
    _finding(
        "scaling-trained",
        "Without the division by sqrt(d_k) an encoder learns less well.",
        "section 3.2.1",
        "claim-scaling",
        TRAINED,
        "The paper says it in words. We: gradients and losses of encoders that divide, and of those that do not.",
        "Small encoders of a generated language, d_k of 16.",
    ),
    _finding(
        "recurrence",
        "Self-attention is faster than recurrence where sequences are shorter than the vectors.",
        "section 4",
        "claim-recurrence",
        RECURRENT,
        "The paper counts operations. We: times in which both take turns.",
        WIDE,
        "It is about sizes, not about what is learned.",
    ),
    Finding(
        id="vaswani-one-relation",
        claim="Each head focuses on one relation.",
        where="the examples of heads in the appendix; textbooks make it a sentence about each head",
        model="Transformer, base",
        data="WMT 2014 English-German",
        metric="The paper shows examples. We: relations in which heads are specialised, by headscope's rule.",
        stands_in="UD English EWT; heads are chosen on train and told on dev.",
        differs="Syntactic relations alone: a head may have another role.",
        statements=[
            Statement(
                name="each",
                text="Nearly every head is specialised in a relation.",
                number="share of heads that are specialised in a relation",
                rule=Rule(above=0.9),
                unit="%",
                published=Published(text="each head"),
            ),
            Statement(
                name="one",
                text="A head that is specialised in relations has one of them.",
                number="mean number of relations of heads that have any",
                rule=Rule(below=1.5),
                unit="relations",
                shown="relations",
                published=Published(text="one relation"),
            ),
        ],
        readings=("trees",),
        measure=_one_relation,
    ),
)
