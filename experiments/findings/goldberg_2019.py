"""Goldberg 2019: BERT knows the number of verbs, in nonce sentences and past attractors, too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from experiments.statements.finding import (
    Evidence,
    Finding,
    Measure,
    Measured,
    Missing,
    Paper,
    Published,
    Statement,
)
from experiments.statements.numbers import preferred, together
from experiments.statements.rule import LearnedRule
from experiments.statements.subject import ORIGINALS
from reports.statements.figure import Figure, Point

PAPER = Paper("goldberg-2019", "Goldberg 2019", "Assessing BERT's Syntactic Abilities")

NONCE = {"all": (0.833, 0.796, 383), "0": (0.836, 0.804, 311), "1": (0.810, 0.746, 63), "2": (0.889, 0.889, 9)}
"Attractors -> accuracy of base and of large, and the number of sentences."

ATTRACTED = {1: (0.97, 0.97, 24031), 2: (0.97, 0.97, 4414), 3: (0.96, 0.96, 946), 4: (0.97, 0.96, 254)}
"Attractors -> the same on sentences of Wikipedia."

STEADY = 0.01
"Accuracy that is lost from one attractor to four: none by BERT base, a point by BERT large."

ROUNDED = 0.01
"Below the accuracy of BERT base, which is printed in whole points in part."

CONSTRUCTIONS = {
    "simple": (("agr.0",), 1.00, "large 100"),
    "prepositional phrase": (("agr.4", "agr.6", "agr.8", "agr.10"), 0.85, "large 85"),
    "relative clause": (
        ("agr.12", "agr.14", "agr.16", "agr.18"),
        0.84,
        "of a subject, large 85; of an object 89, large 85; inside that of an object 95, large 99",
    ),
    "reflexive": (("refl.0",), 0.94, "large 92"),
    "reflexive, relative clause": (("refl.4",), 0.80, "large 76"),
}
"What stands between subject and verb -> files of open-sesame, the accuracy of base, and what else was printed."


def _nonce(attractors: str, evidence: Evidence) -> Measured:
    group = {} if attractors == "all" else {"attractors": int(attractors)}
    return preferred(evidence["pairs"], "goldberg", **group)


def _attracted(attractors: int, evidence: Evidence) -> Measured:
    return preferred(evidence["pairs"], "linzen", attractors=attractors)


def _steady(evidence: Evidence) -> Measured:
    ends = [_attracted(number, evidence).decides for number in (1, 4)]
    return Measured(together(lambda right: float(right[0] - right[1]), ends))


def _attracted_drawn(evidence: Evidence) -> Figure:
    ours = []
    for number in ATTRACTED:
        with suppress(Missing):
            ours.append(_attracted(number, evidence).decides.at(float(number)))
    base = [(float(number), right) for number, (right, _, _) in ATTRACTED.items()]
    series: dict[str, Sequence[Point]] = {"ours": ours, "BERT base": base}
    title = "The number of the verb, by attractors"
    return Figure("lines", title, "attractors", "accuracy", series, level=0.5, level_name="chance")


def across(construction: str, evidence: Evidence) -> Measured:
    """Return the mean accuracy over the files of a construction; raises Missing where one has none."""
    names = CONSTRUCTIONS[construction][0]
    run = evidence["constructions"]
    found = [preferred(run, "opensesame", paradigm=name).decides for name in names]
    return Measured(together(lambda right: float(right.mean()), found), note=f"{sum(one.n for one in found):,} pairs")


def _above_chance(
    name: str, where: str, published: Published, tolerance: float | None = None, measure: Measure | None = None
) -> Statement:
    return Statement(
        name=name,
        text=f"The right form is preferred as often as by BERT base {where}.",
        number="share of pairs whose right form is preferred",
        rule=LearnedRule(above=round((published.value or 1.0) - ROUNDED, 3), unit="%"),
        weaker=LearnedRule(above=0.5),
        published=published,
        tolerance=tolerance,
        measure=measure,
    )


finding = partial(
    Finding,
    model="bert-base-uncased and bert-large-uncased",
    metric="The share of sentences in which the right form is more probable than the wrong one at a mask in its place.",
    readings=("pairs",),
)

FINDINGS = (
    finding(
        id="goldberg-nonce",
        claim="BERT prefers the right form of the verb in grammatical sentences without sense.",
        where="the table on the stimuli of Gulordava et al.",
        data="Stimuli of Gulordava et al. 2018 in English: 383, 27 left out (is and are, and forms of several pieces)",
        stands_in="The same stimuli.",
        differs="Numbers are computed from the answers that the author put out. A model with other pieces leaves out "
        "other sentences; resampled are constructions, of which there are 41.",
        statements=[
            _above_chance(
                name,
                "in all sentences" if name == "all" else f"with {name} attractors",
                Published(base, text=f"n = {n}; large {100 * large:.1f}", provenance="computed"),
                tolerance=0.01,
                measure=partial(_nonce, name),
            )
            for name, (base, large, n) in NONCE.items()
        ],
        enough=3,  # nine sentences with two attractors decide little
        original=ORIGINALS,
    ),
    finding(
        id="goldberg-attractors",
        claim="Nouns of the other number before the verb mislead BERT hardly more often where there are more of them.",
        where="the table on the sentences of Linzen et al.",
        data="Sentences of Linzen et al. 2016",
        stands_in="The sentences of the same source that Gulordava et al. (2018) filtered.",
        differs="Other sentences of the same source, and fewer.",
        untrained="randomly initialised and permuted weights, a weaker version of it, in one of three seeds each",
        statements=[
            *(
                _above_chance(
                    str(number),
                    f"with {number} attractors" if number > 1 else "with one attractor",
                    Published(base, text=f"n = {n:,}; large {100 * large:.0f}", provenance="memory"),
                    measure=partial(_attracted, number),
                )
                for number, (base, large, n) in ATTRACTED.items()
            ),
            Statement(
                name="steady",
                text="With four attractors it is right less than a point less often than with one.",
                number="accuracy with one attractor less that with four",
                rule=LearnedRule(below=STEADY),
                published=Published(0.0, text="97 and 97; large 97 and 96", provenance="memory"),
                measure=_steady,
            ),
        ],
        figure=_attracted_drawn,
    ),
    finding(
        id="goldberg-constructions",
        claim="BERT prefers the right form across phrases and clauses, and of reflexives.",
        where="the table on the stimuli of Marvin and Linzen",
        data="Stimuli of Marvin and Linzen 2018",
        stands_in="Sentences of Lin, Tan and Frank (2019): does or do for their auxiliaries, himself or herself.",
        differs="Other sentences; a reflexive has to agree in gender, and in number in the paper.",
        statements=[
            _above_chance(
                name,
                f"({name})",
                Published(base, text=more, provenance="memory"),
                measure=partial(across, name),
            )
            for name, (_, base, more) in CONSTRUCTIONS.items()
        ],
        readings=("constructions",),
    ),
)
