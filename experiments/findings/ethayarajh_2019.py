"""Ethayarajh 2019: states lie in a narrow cone, and depend on the context the more, the higher the layer."""

from __future__ import annotations

import math
from functools import partial

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, minus, points, table
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

PAPER = Paper(
    "ethayarajh-2019",
    "Ethayarajh 2019",
    "How Contextual are Contextualized Word Representations? "
    "Comparing the Geometry of BERT, ELMo, and GPT-2 Embeddings",
)

RANDOM, SELF, SENTENCE, BEYOND, VARIANCE = (
    "random words",
    "self-similarity, adjusted",
    "intra-sentence similarity, adjusted",
    "intra-sentence similarity, beyond random sentences",
    "explained variance, adjusted",
)
"Measures of the table `states`."

NO_STATES = "the states of words were not read"

DIFFERS = "States of words are means over subwords. Intervals are over words, sentences and pairs of random words."

ADJUSTS = (
    "what is subtracted, the similarity of random words, rises with the layer: so the adjusted number falls in "
    "permuted weights (three seeds of three), and in some that are randomly initialised"
)


def _by_layer(evidence: Evidence, measure: str) -> dict[int, Estimate]:
    """Return a measure of every layer, from 0, what the first layer reads."""
    found = table(evidence, "states", "states", NO_STATES, measure=measure)
    return {int(row["layer"]): estimate_of(row, "value", "low", "high") for _, row in found.iterrows()}


def _between(measure: str, first: int, evidence: Evidence) -> Measured:
    """Return how much higher a measure is in the last layer than in the first that has seen the context, or in 0."""
    layers = _by_layer(evidence, measure)
    if len(layers) < 2:
        raise Missing(NO_STATES)
    return Measured(minus(layers[max(layers)], layers[first]), note=_told(layers))


def _told(layers: dict[int, Estimate]) -> str:
    return "by layer from 0: " + ", ".join(f"{one.value:.3f}" for one in layers.values())


def _lowest(measure: str, evidence: Evidence) -> Measured:
    """Return the layer above the input that is lowest."""
    layers = _by_layer(evidence, measure)
    if not (above := [one for layer, one in layers.items() if layer]):
        raise Missing(NO_STATES)
    return Measured(min(above, key=lambda one: one.low), note=_told(layers))


def _highest(measure: str, evidence: Evidence) -> Measured:
    """Return the layer above the input that is highest, of those with a number where there are any."""
    layers = {layer: one for layer, one in _by_layer(evidence, measure).items() if layer}
    if not layers:
        raise Missing(NO_STATES)
    known = [one for one in layers.values() if not math.isnan(one.value)]
    highest = max(known, key=lambda one: one.high, default=next(iter(layers.values())))
    return Measured(highest, note=_told(layers).replace("from 0", "from 1"))


def _drawn(evidence: Evidence) -> Figure:
    tables = {measure: table(evidence, "states", "states", measure=measure) for measure in (RANDOM, SELF, SENTENCE)}
    series = {measure: points(found, "layer", "value", "low", "high") for measure, found in tables.items()}
    return Figure("lines", "How states depend on their contexts", "layer (0: input)", "cosine", series=series)


finding = partial(
    Finding,
    model="BERT base, cased; ELMo; GPT-2",
    data="Sentences of the SemEval tasks on semantic textual similarity, 2012 to 2016; words with 5 contexts at least",
    stands_in="UD English EWT, dev; words with 20 contexts at least.",
    differs=DIFFERS,
    readings=("states",),
)

FINDINGS = (
    finding(
        id="ethayarajh-anisotropy",
        claim="Words of different sentences have similar states: in no layer but the input are directions uniform.",
        where="section 4.1, figure 1",
        metric="Mean cosine of the states of two random words of different sentences.",
        statements=[
            Statement(
                name="every layer",
                text="In every layer above the input the mean cosine of random words is above 0.1.",
                number="lowest mean cosine of a layer above the input",
                rule=Rule(above=0.1, unit=""),
                weaker=Rule(above=0.0),
                published=Published(
                    text="above 0 in all such layers; GPT-2, last layer: above 0.99", provenance="memory"
                ),
                measure=partial(_lowest, RANDOM),
            ),
            Statement(
                name="rises",
                text="It is higher in the last layer than in the input.",
                number="mean cosine in the last layer minus that in the input",
                rule=Rule(above=0.0, unit=""),
                published=Published(text="rises with the layer, but for BERT's last", provenance="memory"),
                measure=partial(_between, RANDOM, 0),
            ),
        ],
        fact="states of randomly initialised weights are similar, too: all share the embedding of their token type, "
        "and attention averages over words (Godey et al. 2024 call it inherent to self-attention)",
        figure=_drawn,
    ),
    finding(
        id="ethayarajh-self-similarity",
        claim="The higher the layer, the more differ the states of one word in different contexts.",
        where="section 4.2, figure 2",
        metric="Self-similarity: mean cosine of the states of a word in two contexts, minus that of random words.",
        statements=[
            Statement(
                name="falls",
                text="Adjusted self-similarity is lower in the last layer than in the first.",
                number="adjusted self-similarity of the last layer minus that of the first",
                rule=Rule(below=0.0, unit=""),
                published=Published(text="falls with the layer in all models", provenance="memory"),
                measure=partial(_between, SELF, 1),
            )
        ],
        fact=ADJUSTS,
        figure=_drawn,
    ),
    finding(
        id="ethayarajh-sentences",
        claim="In BERT, words of one sentence grow apart with the layer, but stay more alike than random words.",
        where="section 4.2, figure 3",
        metric="Intra-sentence similarity: mean cosine of a word and the mean of its sentence, minus the mean cosine "
        "of random words.",
        differs=DIFFERS
        + " A word is part of the mean that it is compared with, which alone makes it more similar to its "
        "sentence than random words are to each other: so random words are compared with their own mean, too.",
        statements=[
            Statement(
                name="above random",
                text="In every layer above the input, words are more similar to their sentence than as many random "
                "words are to their mean.",
                number="lowest intra-sentence similarity of a layer above the input minus that of random sentences",
                rule=Rule(above=0.0, unit=""),
                published=Published(text="above 0", provenance="memory"),
                measure=partial(_lowest, BEYOND),
            ),
            Statement(
                name="falls",
                text="Adjusted intra-sentence similarity is lower in the last layer than in the first.",
                number="adjusted intra-sentence similarity of the last layer minus that of the first",
                rule=Rule(below=0.0, unit=""),
                published=Published(text="falls with the layer in BERT", provenance="memory"),
                measure=partial(_between, SENTENCE, 1),
            ),
        ],
        fact=ADJUSTS,
        figure=_drawn,
    ),
    finding(
        id="ethayarajh-static",
        claim="A static embedding explains less than 5 % of the variance of a word's states.",
        where="section 4.3, figure 4",
        metric="Maximum explainable variance: share of the variance of a word's states on their first principal "
        "component, centred as in the author's later code, minus that of as many random words.",
        differs=DIFFERS + " 20 contexts of every word; random words are sets of the same size.",
        unclaimed="the paper's formula, the code of its numbers (a truncated SVD, not centred) and the later code (a "
        "principal component of centred states) give three quantities; ours is the last, in which 1 of 19 parts is "
        "explained whatever the states are, of random words too",
        statements=[
            Statement(
                name="static",
                text="In every layer above the input it is below 5 %.",
                number="highest adjusted explained variance of a layer above the input",
                rule=LearnedRule(below=0.05, unit="%"),
                weaker=LearnedRule(below=0.1),
                published=Published(0.05, text="less than 5 % on average", provenance="memory"),
                measure=partial(_highest, VARIANCE),
            )
        ],
    ),
)
