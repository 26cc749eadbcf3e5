"""Prasanna, Rogers and Rumshisky 2020: half of the heads suffice, and the others can be trained to do much."""

from __future__ import annotations

from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Paper, Published
from experiments.statements.paper_sentence import PaperSentence, measure_of
from experiments.statements.rule import Rule

PAPER = Paper(
    "prasanna-2020",
    "Prasanna, Rogers and Rumshisky 2020",
    "When BERT Plays the Lottery, All Tickets Are Winning",
)

READING = "claim-subnetworks"

GOOD = (
    PaperSentence(
        "kept",
        "The good half, trained further, keeps",
        "What is left keeps nine tenths of the behaviour beyond chance.",
        Rule(above=0.9),
        "times",
        published=Published(text="pruned until 90 % of the score are left, and retrained to that", provenance="memory"),
    ),
    PaperSentence(
        "better",
        "After retraining the bad half",
        "It ends better than as many of the heads that matter least.",
        Rule(above=0.0),
        "nats",
        published=Published(text="bad subnetworks are some points below good ones", provenance="memory"),
    ),
    PaperSentence(
        "beyond random",
        "After retraining a random half",
        "It ends better than as many random heads.",
        Rule(above=0.0),
        "nats",
        published=Published(text="random subnetworks are between good and bad ones", provenance="memory"),
    ),
)

BAD = (
    PaperSentence(
        "kept",
        "The bad half, trained further, keeps",
        "What matters least keeps nine tenths of the behaviour beyond chance too, once it is trained further.",
        Rule(above=0.9),
        "times",
        published=Published(text="bad subnetworks remain highly trainable", provenance="memory"),
    ),
    PaperSentence(
        "beyond random weights",
        "The bad half, trained further, has a lower loss",
        "It ends better than with randomly initialised heads in the place of these.",
        Rule(below=0.0),
        "nats",
        published=Published(text="far above baselines without pre-training", provenance="memory"),
    ),
)


def _drawn(evidence: Evidence) -> Figure:
    (agreement,) = (one for one in evidence[READING].measures if one.name == "agreement")
    series: dict[str, list[Point]] = {}
    for cell in agreement.cells:
        name, _, when = cell.condition.rpartition(", ")
        number = cell.number
        place = 1.0 if when.startswith("after") else 0.0
        series.setdefault(name, []).append((place, number.value, number.low, number.high))
    title = "Agreement before (0) and after retraining (1)"
    return Figure("lines", title, "retrained", "accuracy", series, level=0.5, level_name="chance")


MODEL = "bert-base-uncased, fine-tuned"

DATA = "Nine tasks of GLUE"

STANDS_IN = "Encoders of 2 layers of 8 heads trained here on the embedded grammar, 5 seeds; agreement on minimal pairs."

DIFFERS = (
    "Half of the heads go, feed-forward nets stay; heads are ranked by the masked-LM loss without each; what is left "
    "is trained further on the same texts and not fine-tuned for a task."
)

LEARNED = "all heads, after retraining"

FINDINGS = (
    Finding(
        id="prasanna-good",
        claim="The heads that matter most suffice: a good subnetwork of heads can be trained to do what all do.",
        where="the section on structured pruning: good subnetworks",
        model=MODEL,
        data=DATA,
        metric="The score after fine-tuning of what is left. We: agreement after retraining over that of all heads, "
        "and the loss beside that of the other half.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[one.statement("subnetworks") for one in GOOD],
        readings=(READING,),
        measure=measure_of(GOOD, READING, learned=LEARNED),
        figure=_drawn,
    ),
    Finding(
        id="prasanna-bad",
        claim="Even the heads that matter least can be trained to do well: a bad subnetwork is a winning ticket too.",
        where="the section on structured pruning: bad subnetworks",
        model=MODEL,
        data=DATA,
        metric="The same of the heads that pruning took out.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[one.statement("subnetworks") for one in BAD],
        readings=(READING,),
        measure=measure_of(BAD, READING, learned=LEARNED),
        figure=_drawn,
    ),
)
