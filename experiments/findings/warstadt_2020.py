"""Warstadt et al. 2020 (BLiMP): language models know more of grammar than word n-grams do."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.numbers import preferred
from experiments.statements.rule import LearnedRule

PAPER = Paper("warstadt-2020", "Warstadt et al. 2020", "BLiMP: The Benchmark of Linguistic Minimal Pairs for English")

MODELS = ("5-gram", "LSTM", "Transformer-XL", "GPT-2", "people")

CHANCE = 0.5

PHENOMENA = {
    "overall": (0.612, 0.698, 0.696, 0.830, 0.886),
    "subject_verb_agreement": (0.603, 0.801, 0.760, 0.864, 0.909),
    "determiner_noun_agreement": (0.700, 0.854, 0.830, 0.958, 0.922),
    "anaphor_agreement": (0.479, 0.917, 0.941, 0.993, 0.975),
}
"Phenomenon -> accuracy of MODELS."

DISTRACTED = {
    "distractor_agreement_relational_noun": (0.235, 0.760, 0.772, 0.795),
    "distractor_agreement_relative_clause": (0.217, 0.627, 0.598, 0.657),
}
"Paradigm with a noun of the other number before the verb -> accuracy of MODELS, people left out."


def _statement(name: str, values: tuple[float, ...], level: str) -> Statement:
    """Return that a model is above the 5-gram model, and above chance where that is below it."""
    least, than = (values[0], "the 5-gram model") if values[0] > CHANCE else (CHANCE, "chance")
    text = ", ".join(f"{model} {100 * value:.1f}" for model, value in zip(MODELS, values, strict=False))
    group = {} if name == "overall" else {level: name}
    return Statement(
        name=name,
        text=f"On {name.replace('_', ' ')} the right sentence is preferred more often than {than} does.",
        number="share of pairs whose right sentence is preferred",
        rule=LearnedRule(above=least, unit="%"),
        published=Published(values[MODELS.index("GPT-2")], values[MODELS.index("5-gram")], text),
        measure=lambda evidence: preferred(evidence["constructions"], "blimp", **group),
    )


finding = partial(
    Finding,
    model=", ".join(MODELS[:-1]),
    metric="The share of pairs whose right sentence is more probable. A masked language model has no such probability: "
    "pairs that differ in one piece are decided at that piece, masked in both; the others by pseudo-log-likelihood.",
    stands_in="The same pairs.",
    differs="A part of each paradigm; masked language models, which see both sides of a word; pairs with a word that "
    "the vocabulary lacks are left out, and counted.",
    readings=("constructions",),
)

FINDINGS = (
    finding(
        id="warstadt-phenomena",
        claim="Neural language models are above an n-gram model over all of BLiMP and in each kind of agreement.",
        where="the table of results by phenomenon",
        data="BLiMP: 67 paradigms of 1,000 minimal pairs",
        statements=[_statement(name, values, "phenomenon") for name, values in PHENOMENA.items()],
        bars="Accuracy on BLiMP; published: GPT-2, and a 5-gram model",
    ),
    finding(
        id="warstadt-distractors",
        claim="A noun of the other number before the verb misleads n-grams, and neural models less.",
        where="the table of results by paradigm",
        data="two paradigms of BLiMP",
        statements=[_statement(name, values, "paradigm") for name, values in DISTRACTED.items()],
    ),
)
