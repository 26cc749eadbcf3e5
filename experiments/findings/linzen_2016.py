"""Linzen, Dupoux and Goldberg 2016: LSTMs predict the number of a verb, with more errors the more attractors."""

from __future__ import annotations

from contextlib import suppress

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import preferred, together
from experiments.statements.rule import LearnedRule
from reports.statements.figure import Figure

PAPER = Paper(
    "linzen-2016",
    "Linzen, Dupoux and Goldberg 2016",
    "Assessing the Ability of LSTMs to Learn Syntax-Sensitive Dependencies",
)

MOST = 4
"Attractors, at the most, that the paper tells of."


def _errors(evidence: Evidence, attractors: int | None = None) -> Measured:
    """Return the share of wrong answers: over all sentences, or over those with so many attractors."""
    group = {} if attractors is None else {"attractors": attractors}
    found = preferred(evidence["pairs"], "linzen", **group)
    right = found.decides
    return Measured(Estimate(1 - right.value, 1 - right.high, 1 - right.low, right.n), note=found.note)


def _rise(evidence: Evidence) -> Measured:
    try:
        none, most = _errors(evidence, 0), _errors(evidence, MOST)
    except Missing:
        raise Missing(f"no sentences without and with {MOST} attractors") from None
    more = together(lambda errors: float(errors[1] - errors[0]), [none.decides, most.decides])
    return Measured(more, ours=most.decides, baseline=none.decides.value, note=most.note)


def _drawn(evidence: Evidence) -> Figure:
    points = []
    for number in range(MOST + 1):
        with suppress(Missing):
            points.append(_errors(evidence, number).decides.at(float(number)))
    title = "Wrong numbers of the verb, by attractors"
    return Figure("lines", title, "attractors", "error", {"ours": points}, level=0.5, level_name="chance")


FINDINGS = (
    Finding(
        id="linzen-attractors",
        claim="The number of a verb is mostly right, but errors grow with nouns of the other number before it.",
        where="the experiments on number prediction and on language models",
        model="LSTM",
        data="Sentences of Wikipedia with a verb in the present tense",
        metric="The share of sentences in which the wrong number of the verb is preferred.",
        stands_in="The same source as Gulordava et al. (2018) filtered it: fewer sentences, and more of them with "
        "attractors.",
        differs="A masked language model that sees both sides of the verb, and was not trained for the question.",
        statements=[
            Statement(
                name="overall",
                text="The wrong number is preferred as rarely as by the paper's language model.",
                number="error over all sentences",
                rule=LearnedRule(below=0.068, unit="%"),
                weaker=LearnedRule(below=0.5),
                published=Published(
                    value=0.068,
                    text="trained as a language model; 0.83 % where trained for the question",
                    provenance="memory",
                ),
                measure=_errors,
            ),
            Statement(
                name="attractors",
                text="Errors are more frequent with four attractors than without any.",
                number="error with 4 attractors less that without",
                rule=LearnedRule(above=0.0),
                published=Published(
                    value=0.176,
                    text="with 4 attractors, trained for the question; 0.83 % over all sentences",
                    provenance="memory",
                ),
                measure=_rise,
            ),
        ],
        readings=("pairs",),
        figure=_drawn,
    ),
)
