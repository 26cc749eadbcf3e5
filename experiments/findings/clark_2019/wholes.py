"""Whole trees, coreference, parsers on the attention of all heads, and relations between heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pandas as pd

from experiments.findings.clark_2019.relations import DATA, MODEL, SELECTION, STANDS_IN
from experiments.statements.estimates import exact
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Published, Statement
from experiments.statements.numbers import best_head, compared, estimate_of, margin, points, table
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

PRECEDING, OTHER_CANDIDATES = "preceding mention heads", ("all mention heads", "all words")

OWN = ("trained", "none")
"Weights of parsers that are not about a control."

MENTIONS: Mapping[str, Published] = {
    "all": Published(0.651, 0.52, "head 5-4; nearest mention 27, rules of four sieves 69, neural model 83"),
    "pronoun": Published(0.64, 0.47, "nearest mention 29, rules 70, neural model not said"),
    "proper": Published(0.73, 0.67, "nearest mention 29, rules 77, neural model not said"),
    "nominal": Published(0.58, 0.40, "nearest mention 19, rules 60, neural model not said"),
}


def _coreference(label: str, evidence: Evidence) -> Measured:
    """Return the margin with the heads of preceding mentions as candidates, beside other candidates in a note."""
    run = evidence["coreference"]
    found = margin(run, "coreference", label, PRECEDING)
    told = [found.note]
    for way in OTHER_CANDIDATES if label == "all" else ():
        with suppress(Missing):
            row = best_head(run, "coreference", "all", way)
            told.append(f"with {way} as candidates {row['name']} {100 * row['accuracy']:.1f} %")
    return replace(found, note="; ".join(told))


def _parser(evidence: Evidence, parser: str, weights: Sequence[str] = OWN) -> pd.Series:
    found = table(evidence, "classifiers", "parser", "no parser was trained")
    found = found[(found.parser == parser) & found.weights.isin(weights)]
    if not len(found):
        raise Missing("one of the two parsers was not trained")
    return found.iloc[0]


def _parsers(parser: str, other: str, weights: Sequence[str], evidence: Evidence) -> Measured:
    """Return a parser on attention against another one, or against itself with other weights."""
    one, against = _parser(evidence, parser), _parser(evidence, other, weights)
    ours, theirs = (estimate_of(row, "uas", "ci_low", "ci_high") for row in (one, against))
    note = f"against {other}" + (", randomly initialised weights" if against["weights"] == "random" else "")
    return compared(ours, theirs, note=note)


def _parser_bars(evidence: Evidence) -> Figure:
    found = table(evidence, "classifiers", "parser").reset_index()
    names = found.parser + found.weights.map({"random": ", randomly initialised weights"}).fillna("")
    series = {"ours": points(found.assign(place=found.index), "place", "uas", "ci_low", "ci_high")}
    return Figure("bars", "Parsers that see attention", "parser", "arcs found", series=series, names=list(names))


def _clusters(evidence: Evidence) -> Numbers:
    """Return the p of heads of one layer being nearer to each other: half of the two-sided one on that side."""
    why = "heads were not compared as a set"
    found = table(evidence, "trees", "contrasts", why, what="maps", weights="own").dropna(subset="p")
    if not len(found):
        raise Missing(why)
    within, between, p = (float(found.iloc[0][name]) for name in ("within", "between", "p"))
    nearer = p / 2 if within < between else 1 - p / 2
    told = f"mean distance {within:.3f} nats within layers, {between:.3f} between"
    apart = Measured(exact(1 - within / between), note=told)
    return {"within layers": Measured(exact(nearer), note=told), "how much": apart}


def _plane(evidence: Evidence) -> Figure:
    places = table(evidence, "trees", "places")
    by_layer = places.groupby("layer " + (places.layer + 1).astype(str), sort=False)
    series = {str(layer): points(part, "x", "y") for layer, part in by_layer}
    return Figure("dots", "Heads by the distance of their maps", "nats", "nats", series=series)


finding = partial(Finding, model=MODEL, readings=("trees",))

FINDINGS = (
    finding(
        id="clark-no-parse",
        claim="No head recovers whole trees: the best is above the best fixed offset, and by little.",
        where="section 4.2",
        data=DATA,
        metric="As for single relations, over all arcs (the paper's include punctuation).",
        stands_in=STANDS_IN,
        differs=f"{SELECTION} Our arcs are without punctuation.",
        statements=[
            Statement(
                name="all arcs",
                text="The head that finds most arcs is above the best fixed offset, by the paper's 8.2 points at most.",
                number="accuracy of the chosen head over all arcs minus that of the strongest baseline",
                rule=LearnedRule(above=0.0, below=0.082),
                published=Published(0.345, 0.263, erratum="The authors' notebook has 34.7 with a baseline of 26.7."),
            )
        ],
        measure=lambda evidence: margin(evidence["trees"], "dependency", "all", "dependent->head"),
        group="all arcs of EWT",
    ),
    finding(
        id="clark-coreference",
        claim="One head finds antecedents, better than the same head word and the nearest mention do.",
        where="section 4.3",
        data="CoNLL-2012, documents of up to 128 tokens",
        metric="The head word of a coreferent mention attends most to the head word of one of its antecedents. Which "
        "words are candidates is not said and the code was not released; ours are the heads of preceding mentions.",
        stands_in="UD English GUM in windows of 100 words; heads are selected on train and evaluated on dev.",
        differs="GUM annotates mentions that nothing corefers with and many repeated pronouns, so that the same head "
        "word finds far more antecedents than in CoNLL-2012.",
        statements=[
            Statement(
                name=label,
                text=f"One head finds the antecedents of {label} mentions more often than any baseline, the same head "
                "word and the nearest mention among them.",
                number="accuracy of the chosen head minus that of the strongest baseline",
                rule=LearnedRule(above=round((published.value or 0.0) - (published.baseline or 0.0), 3)),
                weaker=LearnedRule(above=0.0),
                published=published,
                measure=partial(_coreference, label),
            )
            for label, published in MENTIONS.items()
        ],
        readings=("coreference",),
        bars="One head and coreference",
    ),
    finding(
        id="clark-parser",
        claim="A parser can be read from the attention of all heads together, but not from randomly initialised "
        "weights.",
        where="the table of parsers on attention",
        data="Penn Treebank in Stanford Dependencies: 36,160 sentences to learn, dev to tell",
        metric="Unlabelled attachment without punctuation. The probability of a head is the softmax of a weighted sum "
        "of all maps, there and back; the weights are one a head, or linear in the embeddings of the two words.",
        stands_in="UD English GUM, 250 sentences of train to learn and 250 of dev to tell.",
        differs="Words are the model's own input embeddings, not GloVe. A structural probe is quoted at 80 in the "
        "paper, without directions, and so not to be compared.",
        statements=[
            Statement(
                name=name,
                text=text,
                number="difference of unlabelled attachment",
                rule=kind(above=round(value - baseline, 2)),
                weaker=kind(above=0.0),
                published=Published(value, baseline, said),
                measure=partial(_parsers, *parsers),
            )
            for kind, name, text, value, baseline, said, parsers in (
                (
                    LearnedRule,
                    "attention",
                    "Attention alone is above right-branching trees.",
                    0.61,
                    0.26,
                    "",
                    ("attention", "next word (right-branching)", OWN),
                ),
                (
                    LearnedRule,
                    "attention + words",
                    "With the words it is above distances with the words.",
                    0.77,
                    0.58,
                    "78.0 in the notebook, after one epoch",
                    ("attention + words", "distances + words", OWN),
                ),
                (
                    Rule,
                    "learned",
                    "It is above the same parser on the attention of randomly initialised weights.",
                    0.77,
                    0.30,
                    "",
                    ("attention + words", "attention + words", ("random",)),
                ),
            )
        ],
        readings=("classifiers",),
        figure=_parser_bars,
    ),
    finding(
        id="clark-clusters",
        claim="Heads of one layer are alike.",
        where="figure 6",
        data="Pairs of paragraphs of Wikipedia, up to 128 tokens",
        metric="Jensen-Shannon divergence between two heads' attention, summed over tokens. We: its mean over words, "
        "and a test in which heads are dealt out to layers anew.",
        stands_in="UD English EWT, 300 sentences of dev.",
        statements=[
            Statement(
                name="within layers",
                text="Heads of one layer are nearer to each other than heads of two layers.",
                number="one-sided p of the permutation test",
                rule=Rule(below=0.01, unit=""),
                published=Published(text="shown in a figure; no number"),
            ),
            Statement(
                name="how much",
                text="They are nearer than heads of two layers on average.",
                number="1 less the mean distance within layers over that between layers",
                rule=Rule(above=0.0, unit="%"),
                published=Published(text="shown in a figure; no number"),
            ),
        ],
        fact="heads of a layer read the same states: those of permuted weights (three seeds of three) are nearer to "
        "each other, too",
        measure=_clusters,
        figure=_plane,
    ),
)
