"""Warstadt et al. 2020 (BLiMP): language models know more of grammar than word n-grams do."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.statements.figure import Figure
from experiments.statements.finding import Evidence, Finding, Measured, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import preferred

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


def _phenomena(evidence: Evidence) -> Numbers:
    run = evidence["constructions"]
    of_phenomenon = {name: preferred(run, "blimp", "phenomenon", phenomenon=name) for name in PHENOMENA}
    return of_phenomenon | {"overall": preferred(run, "blimp")}


def _distracted(evidence: Evidence) -> Numbers:
    return {name: preferred(evidence["constructions"], "blimp", "paradigm", paradigm=name) for name in DISTRACTED}


def _beside_the_models(title: str, told: Mapping[str, tuple[float, ...]], ours: Numbers) -> Figure:
    """Return bars of our accuracy and of those of the paper's models."""
    series = {
        model: [(float(place), values[number]) for place, values in enumerate(told.values()) if number < len(values)]
        for number, model in enumerate(MODELS)
    }
    found = [
        (float(place), one.decides.value, one.decides.low, one.decides.high)
        for place, name in enumerate(told)
        if isinstance(one := ours[name], Measured)
    ]
    shown = {model: points for model, points in series.items() if points}
    names = [name.replace("_", " ") for name in told]
    return Figure("bars", title, "", "accuracy", {"ours": found, **shown}, names, level=CHANCE, level_name="chance")


def _published(values: tuple[float, ...]) -> Published:
    text = ", ".join(f"{model} {100 * value:.1f}" for model, value in zip(MODELS, values, strict=False))
    return Published(value=values[MODELS.index("GPT-2")], baseline=values[MODELS.index("5-gram")], text=text)


def _statement(name: str, values: tuple[float, ...]) -> Statement:
    """Return that a model is above the 5-gram model, and above chance where that is below it."""
    least, than = (values[0], "the 5-gram model") if values[0] > CHANCE else (CHANCE, "chance")
    return Statement(
        name=name,
        text=f"On {name.replace('_', ' ')} the right sentence is preferred more often than {than} does.",
        number="share of pairs whose right sentence is preferred",
        rule=LearnedRule(above=least),
        unit="%",
        published=_published(values),
    )


METRIC = (
    "The share of pairs whose right sentence is more probable. A masked language model has no such probability: pairs "
    "that differ in one piece are decided at that piece, masked in both; the others by pseudo-log-likelihood."
)

DIFFERS = (
    "A part of each paradigm; masked language models, which see both sides of a word; pairs with a word that the "
    "vocabulary lacks are left out, and counted."
)

FINDINGS = (
    Finding(
        id="warstadt-phenomena",
        claim="Neural language models are above an n-gram model over all of BLiMP and in each kind of agreement.",
        where="the table of results by phenomenon",
        model=", ".join(MODELS[:-1]),
        data="BLiMP: 67 paradigms of 1,000 minimal pairs",
        metric=METRIC,
        stands_in="The same pairs.",
        differs=DIFFERS,
        statements=[_statement(name, values) for name, values in PHENOMENA.items()],
        readings=("constructions",),
        measure=_phenomena,
        figure=lambda evidence: _beside_the_models("Accuracy on BLiMP", PHENOMENA, _phenomena(evidence)),
    ),
    Finding(
        id="warstadt-distractors",
        claim="A noun of the other number before the verb misleads n-grams, and neural models less.",
        where="the table of results by paradigm",
        model=", ".join(MODELS[:-1]),
        data="two paradigms of BLiMP",
        metric=METRIC,
        stands_in="The same pairs.",
        differs=DIFFERS,
        statements=[_statement(name, values) for name, values in DISTRACTED.items()],
        readings=("constructions",),
        measure=_distracted,
        figure=lambda evidence: _beside_the_models("Agreement with distractors", DISTRACTED, _distracted(evidence)),
    ),
)
