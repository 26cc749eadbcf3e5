"""Claim: one encoder of several languages holds their trees in the same heads and in the same subspace."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from experiments.multilingual.tree_measures import (
    PERMUTED,
    RANDOM,
    TRAINED,
    LanguageTreesSection,
    best,
    opened,
    read_language,
    transferred,
)
from experiments.statements.claim import Claim, Work, claim_measure
from experiments.statements.estimates import difference
from experiments.statements.rule import Rule
from mha import Model
from probes.evidence.statistics import spearman
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, Row
from reports.statements.statement import JudgedStatement, judged

OWN, OTHER, TOGETHER = "own language", "each other language", "all other languages together"

ROW = "words in a row"

KEPT = 2 / 3
"""Share of what a projection of the own language gains over words in a row that one of all others has to keep.

As a difference: a ratio of gains has no interval where the own gain is near 0, as it was in a first run.
"""

Heads = Mapping[str, Mapping[int, Mapping[str, Any]]]
"Kind of weights -> seed -> language -> what `read_language` found."

Transfer = Mapping[str, Mapping[int, Mapping[str, Any]]]
"Kind of weights -> seed -> what `transferred` found."

ByLanguage = dict[int, float]
"A number for each language, by its number in the config."


def measure(section: LanguageTreesSection, work: Work) -> ClaimRecord:
    """Read all languages with the trained weights, and with randomly initialised and permuted ones."""
    heads: dict[str, dict[int, dict[str, Any]]] = {}
    transfer: dict[str, dict[int, Any]] = {}
    kinds = [(TRAINED, (0,)), (RANDOM, section.seeds), (PERMUTED, section.seeds)]
    for kind, seeds in kinds:
        heads[kind], transfer[kind] = {}, {}
        for seed in seeds:
            name = kind if kind == TRAINED else f"{kind} seed {seed}"
            model: Model = opened(section, kind, seed)
            heads[kind][seed] = {
                language: work.part(f"{name} {language}", partial(read_language, section, model, treebank))
                for language, treebank in section.treebanks.items()
            }
            project = partial(transferred, section, model, together=kind == TRAINED)
            transfer[kind][seed] = work.part(f"{name} projections", project)
            work.progress(f"measure {kind}", len(heads[kind]), len(seeds))
    languages = [*section.treebanks]
    return ClaimRecord(
        _measures(heads, transfer, languages),
        statements(heads, transfer, languages),
        _noticed(heads[TRAINED][0], languages, model.heads),
    )


def own_head(one: Mapping[str, Any], language: str) -> float:
    """Return what the head selected on one half of a language attaches on the other."""
    return float(one[language]["report"][best(one[language]["select"])])


def other_heads(one: Mapping[str, Any], language: str) -> float:
    """Return what the heads selected in the other languages attach, their mean."""
    report = one[language]["report"]
    return float(np.mean([report[best(one[other]["select"])] for other in one if other != language]))


def agreement(one: Mapping[str, Any], language: str) -> float:
    """Return the rank correlation over heads of what they attach in a language and in others, the mean of these.

    Of arcs between words that are no neighbours, so that heads for neighbours, which find arcs in every language, do
    not make them alike.
    """
    report = np.array([one[language]["far report"]])
    others = [spearman(report, np.array([one[other]["far select"]]))[0] for other in one if other != language]
    return float(np.mean(others))


def reliability(one: Mapping[str, Any], language: str) -> float:
    """Return the same between the two halves of one language: what noise leaves of a correlation of 1."""
    return float(spearman(*(np.array([one[language][f"far {half}"]]) for half in ("select", "report")))[0])


def own_projection(one: Mapping[str, Any], language: str) -> float:
    """Return what the projection learned in a language attaches in it."""
    return float(one["pairs"][language][language])


def other_projections(one: Mapping[str, Any], language: str) -> float:
    """Return what the projections learned in the other languages attach in a language, their mean."""
    return float(np.mean([shares[language] for other, shares in one["pairs"].items() if other != language]))


def joint_projection(one: Mapping[str, Any], language: str) -> float:
    """Return what the projection learned in all other languages together attaches in a language."""
    return float(one["together"][language])


def _over(found: Mapping[int, Any], languages: list[str], number: Any) -> ByLanguage:
    """Return a number of every language, the mean over seeds."""
    return {
        place: float(np.mean([number(one, language) for one in found.values()]))
        for place, language in enumerate(languages)
    }


SHARE = "share of arcs between words that the spanning tree"

STATEMENTS = (
    (
        "On average over languages the tree of a single head has a higher UUAS than the chain of adjacent words",
        f"{SHARE} of the selected head has − that of words in a row, paired by language",
    ),
    (
        "On average it has a higher UUAS than the best head of untrained weights",
        f"{SHARE} of the selected head has, trained − random or permuted, whichever is higher, paired by language",
    ),
    (
        "On average a head selected in another language has a higher UUAS than the chain of adjacent words",
        f"{SHARE} of heads selected in the other languages has − that of words in a row, paired by language",
    ),
    (
        "UUAS without adjacent words correlates over heads between languages, more than with untrained weights",
        "difference of two rank correlations over heads, of arcs between words that are no neighbours, in a language "
        "and another: trained − random or permuted, whichever is higher",
    ),
    (
        "A structural probe trained on another language has a higher UUAS than the chain of adjacent words",
        "share of arcs attached, learned in the others − words in a row, paired by language",
    ),
    (
        "It has a higher UUAS than a structural probe of untrained weights trained on another language",
        "share of arcs attached, learned in the others, trained − random or permuted, whichever is higher",
    ),
    (
        "Trained on all other languages together, it has a higher UUAS than the chain of adjacent words",
        "share of arcs attached, learned in all others together − words in a row, paired by language",
    ),
    (
        "Trained on all others together, it keeps more than two thirds of the gain of a probe of the language itself",
        "gain over words in a row, learned in all others together, − two thirds of that of the language itself",
    ),
)
"What is stated, and the number that decides; each holds where it is above 0."

CORRELATION = 3
"The statement whose number is no share."


def statements(heads: Heads, transfer: Transfer, languages: list[str]) -> list[JudgedStatement]:
    """Return the statements; their intervals are over languages."""
    row = {place: float(heads[TRAINED][0][language]["row"]) for place, language in enumerate(languages)}
    own, same, moved = (
        {kind: _over(found, languages, number) for kind, found in of.items()}
        for of, number in ((heads, own_head), (heads, agreement), (transfer, other_projections))
    )
    kept = _over(transfer[TRAINED], languages, own_projection)
    joint = _over(transfer[TRAINED], languages, joint_projection)
    bar = {place: row[place] + KEPT * (value - row[place]) for place, value in kept.items()}
    pairs = (
        (own[TRAINED], row),
        (own[TRAINED], _higher(own)),
        (_over(heads[TRAINED], languages, other_heads), row),
        (same[TRAINED], _higher(same)),
        (moved[TRAINED], row),
        (moved[TRAINED], _higher(moved)),
        (joint, row),
        (joint, bar),
    )
    return [
        judged(*text, difference(*pair), Rule(above=0.0, unit="") if place == CORRELATION else Rule(above=0.0))
        for place, (text, pair) in enumerate(zip(STATEMENTS, pairs, strict=True))
    ]


def _higher(of_kinds: Mapping[str, ByLanguage]) -> ByLanguage:
    """Return the number of randomly initialised or of permuted weights, whichever is higher."""
    return {place: max(value, of_kinds[PERMUTED][place]) for place, value in of_kinds[RANDOM].items()}


def _measures(heads: Heads, transfer: Transfer, languages: list[str]) -> list[ClaimMeasure]:
    rows: dict[str, list[Row]] = {"heads": [], "projections": [], "agreement": []}
    for place, language in enumerate(languages):
        row = float(heads[TRAINED][0][language]["row"])
        for name in ("heads", "projections"):
            rows[name].append(Row(ROW, None, place, row))
        for kind in heads:
            for number, condition in ((own_head, OWN), (other_heads, OTHER)):
                value = _over(heads[kind], languages, number)[place]
                rows["heads"].append(Row(f"{kind}, head selected in {condition}", None, place, value))
            for number, condition in ((agreement, "two languages"), (reliability, "halves of one language")):
                value = _over(heads[kind], languages, number)[place]
                rows["agreement"].append(Row(f"{kind}, {condition}", None, place, value))
            for learned, condition in ((own_projection, OWN), (other_projections, OTHER), (joint_projection, TOGETHER)):
                if condition != TOGETHER or kind == TRAINED:
                    value = _over(transfer[kind], languages, learned)[place]
                    rows["projections"].append(Row(f"{kind}, learned in {condition}", None, place, value))
    titles = (
        ("heads", "arcs that the spanning tree of one head attaches", "%"),
        ("agreement", "rank correlation of heads, distant arcs", ""),
        ("projections", "arcs that projected states attach", "%"),
    )
    return [
        claim_measure(title, unit, sorted(rows[name], key=lambda one: one.condition), "language")
        for name, title, unit in titles
    ]


def _noticed(one: Mapping[str, Any], languages: list[str], heads: int) -> list[str]:
    """Return the selected head of every language by name; a layer has so many `heads`."""
    named = []
    for language in languages:
        layer, head = divmod(best(one[language]["select"]), heads)
        own, row = 100 * own_head(one, language), 100 * float(one[language]["row"])
        named.append(f"{language} {layer + 1}-{head + 1} ({own:.1f} % of arcs, words in a row {row:.1f})")
    return [f"Selected heads: {', '.join(named)}."]


CLAIM = Claim(
    name="language-trees",
    title="Do the same heads and the same subspace hold the trees of different languages?",
    sentence="Single heads of a multilingual encoder hold more of a tree than words in a row, the same heads in "
    "different languages; a projection in which distances are those of trees carries over to other languages.",
    source="Ravishankar et al. 2021, Attention Can Reflect Syntactic Structure (If You Let It); Chi, Hewitt and "
    "Manning 2020, Finding Universal Grammatical Relations in Multilingual BERT",
    about=(
        "The same sentences in every language, with gold trees. The tree of a head is the maximum spanning tree of its "
        "word-level attention, both directions added. It is compared with the arcs of the gold tree without direction "
        "(UUAS), punctuation aside. The head is selected on one half of the documents and evaluated on the other, "
        "which holds the translations of none of the first half. Words in a row are the chain of adjacent words.",
        "A projection of the states of one layer is learned so that squared distances are those in the tree (the "
        "structural probe of Hewitt and Manning 2019), on the selection half of one language, and evaluated on the "
        "report half of each; and, with trained weights, on the selection halves of all languages but the one in which "
        "it is evaluated.",
        "Randomly initialised and permuted weights go through all of it. Intervals are over languages.",
    ),
    limits=(
        "The seven languages are not a random sample, and their numbers are not independent: the intervals describe "
        "these languages alone.",
        "Both papers use multilingual BERT, of 104 languages; the treebanks are translated news and encyclopedia text.",
        "Ravishankar et al. decode directed trees from attention with the gold root; their shares are not comparable "
        "with these.",
        "Heads that attend by position could also explain why heads agree between languages: words in a row and "
        "untrained weights show how far that goes; positional heads are not excluded.",
        "Untrained heads attach little, so that noise limits their correlations: those between the halves of one "
        "language show the ceiling.",
        "A projection learned in all other languages has seen 1,500 sentences, one learned in the language itself "
        "250; the papers use thousands.",
    ),
    section=LanguageTreesSection,
    measure=measure,
    revised="After a first run arcs between neighbours were left out of the correlation, a ratio of gains was replaced "
    "by a difference, and projections learned in all other languages were added.",
)
