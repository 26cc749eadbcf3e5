"""Prasanna, Rogers and Rumshisky 2020: half of the heads suffice, and the others can be trained to do much."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published
from experiments.statements.paper_sentence import sentence
from experiments.statements.rule import Rule

PAPER = Paper(
    "prasanna-2020",
    "Prasanna, Rogers and Rumshisky 2020",
    "When BERT Plays the Lottery, All Tickets Are Winning",
)

READING = "claim-subnetworks"

in_claim = partial(sentence, "subnetworks", learned="all heads, after retraining")

finding = partial(
    Finding,
    model="bert-base-uncased, fine-tuned",
    data="Nine tasks of GLUE",
    stands_in="Encoders of 2 layers of 8 heads trained here on the embedded grammar, 5 seeds; agreement on minimal "
    "pairs.",
    differs="Half of the heads go, feed-forward nets stay; heads are ranked by the masked-LM loss without each; what "
    "is left is trained further on the same texts and not fine-tuned for a task.",
    readings=(READING,),
)

FINDINGS = (
    finding(
        id="prasanna-good",
        claim="The heads that matter most suffice: a good subnetwork of heads can be trained to do what all do.",
        where="the section on structured pruning: good subnetworks",
        metric="The score after fine-tuning of what is left. We: agreement after retraining over that of all heads, "
        "and the loss beside that of the other half.",
        statements=[
            in_claim(
                "kept",
                "The good half, trained further, keeps",
                "What is left keeps nine tenths of the behaviour beyond chance.",
                Rule(above=0.9, unit="times"),
                Published(text="pruned until 90 % of the score are left, and retrained to that", provenance="memory"),
            ),
            in_claim(
                "better",
                "After retraining the bad half",
                "It ends better than as many of the heads that matter least.",
                Rule(above=0.0, unit="nats"),
                Published(text="bad subnetworks are some points below good ones", provenance="memory"),
            ),
            in_claim(
                "beyond random",
                "After retraining a random half",
                "It ends better than as many random heads.",
                Rule(above=0.0, unit="nats"),
                Published(text="random subnetworks are between good and bad ones", provenance="memory"),
            ),
        ],
    ),
    finding(
        id="prasanna-bad",
        claim="Even the heads that matter least can be trained to do well: a bad subnetwork is a winning ticket too.",
        where="the section on structured pruning: bad subnetworks",
        metric="The same of the heads that pruning took out.",
        statements=[
            in_claim(
                "kept",
                "The bad half, trained further, keeps",
                "What matters least keeps nine tenths of the behaviour beyond chance too, once it is trained further.",
                Rule(above=0.9, unit="times"),
                Published(text="bad subnetworks remain highly trainable", provenance="memory"),
            ),
            in_claim(
                "beyond random weights",
                "The bad half, trained further, has a lower loss",
                "It ends better than with randomly initialised heads in the place of these.",
                Rule(below=0.0, unit="nats"),
                Published(text="far above baselines without pre-training", provenance="memory"),
            ),
        ],
    ),
)
