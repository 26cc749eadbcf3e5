"""Vaswani et al. 2017, on layers: what several heads cost, and why scores are divided by sqrt(d_k)."""

from __future__ import annotations

from experiments.findings.vaswani_2017 import PAPER as PAPER
from experiments.findings.vaswani_2017 import of_claim
from experiments.statements.paper_sentence import sentence
from experiments.statements.rule import SAME, Rule

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
