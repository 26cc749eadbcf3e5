"""Whole trees, coreference, parsers on the attention of all heads, and relations between heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from experiments.findings.clark_2019.relations import DATA, MODEL, SELECTION, STANDS_IN
from experiments.statements.estimates import exact
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import best_head, estimate_of, margin, minus
from experiments.statements.rule import Rule

PRECEDING, OTHER_CANDIDATES = "preceding mention heads", ("all mention heads", "all words")

MENTIONS: Mapping[str, Published] = {
    "all": Published(0.651, 0.52, "head 5-4; nearest mention 27, rules of four sieves 69, neural model 83"),
    "pronoun": Published(0.64, 0.47, "nearest mention 29, rules 70, neural model not said"),
    "proper": Published(0.73, 0.67, "nearest mention 29, rules 77, neural model not said"),
    "nominal": Published(0.58, 0.40, "nearest mention 19, rules 60, neural model not said"),
}

PARSERS = ("next word (right-branching)", "distances + words", "attention", "attention + words")


def _whole_trees(evidence: Evidence) -> Numbers:
    return {"all arcs": margin(evidence["trees"], "dependency", "all", "dependent->head")}


def _coreference(evidence: Evidence) -> Numbers:
    """Return the margins with the heads of preceding mentions as candidates, beside other candidates in a note."""
    run = evidence["coreference"]
    found = {label: margin(run, "coreference", label, PRECEDING) for label in MENTIONS}
    others = {way: best_head(run, "coreference", "all", way) for way in OTHER_CANDIDATES}
    told = [
        f"with {way} as candidates {row['name']} {100 * row['accuracy']:.1f} %"
        for way, row in others.items()
        if not isinstance(row, Missing)
    ]
    whole = found["all"]
    if isinstance(whole, Measured):
        found["all"] = Measured(whole.decides, whole.ours, whole.baseline, whole.heads, "; ".join([whole.note, *told]))
    return found


def _mention_bars(evidence: Evidence) -> Figure:
    found = _coreference(evidence)
    series: dict[str, list[Point]] = {"head": [], "baseline": [], "head, paper": [], "same head word, paper": []}
    for place, (label, published) in enumerate(MENTIONS.items()):
        one = found[label]
        if isinstance(one, Measured) and one.ours is not None and one.baseline is not None:
            series["head"].append((place, one.ours.value, one.ours.low, one.ours.high))
            series["baseline"].append((place, one.baseline))
        series["head, paper"].append((place, published.value or 0.0))
        series["same head word, paper"].append((place, published.baseline or 0.0))
    return Figure("bars", "One head and coreference", "mention", "accuracy", series=series, names=list(MENTIONS))


def _parser_row(rows: pd.DataFrame, parser: str, weights: Sequence[str] = ("trained", "none")) -> pd.Series | None:
    found = rows[(rows.parser == parser) & rows.weights.isin(weights)]
    return found.iloc[0] if len(found) else None


def _parsers(evidence: Evidence) -> Numbers:
    """Return the parsers on attention against the next word, against distances, and against fresh weights."""
    rows = evidence["classifiers"].studies.get("parser")
    if rows is None:
        return {name: Missing("no parser was trained") for name in ("attention", "attention + words", "learned")}
    asked = (("attention", PARSERS[2], PARSERS[0]), ("attention + words", PARSERS[3], PARSERS[1]))
    pairs = {name: (_parser_row(rows, one), _parser_row(rows, other)) for name, one, other in asked}
    pairs["learned"] = (_parser_row(rows, PARSERS[3]), _parser_row(rows, PARSERS[3], ["random"]))
    found: dict[str, Measured | Missing] = {}
    for name, (one, other) in pairs.items():
        if one is None or other is None:
            found[name] = Missing("one of the two parsers was not trained")
            continue
        ours, theirs = (estimate_of(row, "uas", "ci_low", "ci_high") for row in (one, other))
        told = f"against {other['parser']}" + (", randomly initialised weights" if other["weights"] == "random" else "")
        found[name] = Measured(minus(ours, theirs), ours, theirs.value, note=told)
    return found


def _parser_bars(evidence: Evidence) -> Figure:
    rows = evidence["classifiers"].studies["parser"]
    ours = [
        (place, float(row.uas), float(row.ci_low), float(row.ci_high)) for place, row in enumerate(rows.itertuples())
    ]
    names = [
        row.parser + (", randomly initialised weights" if row.weights == "random" else "") for row in rows.itertuples()
    ]
    return Figure("bars", "Parsers that see attention", "parser", "arcs found", series={"ours": ours}, names=names)


def _clusters(evidence: Evidence) -> Numbers:
    """Return the p of heads of one layer being nearer to each other: half of the two-sided one on that side."""
    rows = evidence["trees"].studies.get("contrasts")
    found = None if rows is None else rows[(rows.what == "maps") & (rows.weights == "own") & rows.p.notna()]
    if found is None or not len(found):
        return dict.fromkeys(("within layers", "how much"), Missing("heads were not compared as a set"))
    row = found.iloc[0]
    within, between, p = (float(row[name]) for name in ("within", "between", "p"))
    nearer = p / 2 if within < between else 1 - p / 2
    told = f"mean distance {within:.3f} nats within layers, {between:.3f} between"
    apart = Measured(exact(1 - within / between), note=told)
    return {"within layers": Measured(exact(nearer), note=told), "how much": apart}


def _plane(evidence: Evidence) -> Figure:
    places = evidence["trees"].studies["places"]
    series = {
        f"layer {layer + 1}": list(zip(part.x.tolist(), part.y.tolist(), strict=True))
        for layer, part in places.groupby("layer")
    }
    return Figure("dots", "Heads by the distance of their maps", "nats", "nats", series=series)


FINDINGS = (
    Finding(
        id="clark-no-parse",
        claim="No head recovers whole trees: the best is above the best fixed offset, and by little.",
        where="section 4.2",
        model=MODEL,
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
        readings=("trees",),
        measure=_whole_trees,
        group="all arcs of EWT",
    ),
    Finding(
        id="clark-coreference",
        claim="One head finds antecedents, better than the same head word and the nearest mention do.",
        where="section 4.3",
        model=MODEL,
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
            )
            for label, published in MENTIONS.items()
        ],
        readings=("coreference",),
        measure=_coreference,
        figure=_mention_bars,
    ),
    Finding(
        id="clark-parser",
        claim="A parser can be read from the attention of all heads together, but not from randomly initialised "
        "weights.",
        where="the table of parsers on attention",
        model=MODEL,
        data="Penn Treebank in Stanford Dependencies: 36,160 sentences to learn, dev to tell",
        metric="Unlabelled attachment without punctuation. The probability of a head is the softmax of a weighted sum "
        "of all maps, there and back; the weights are one a head, or linear in the embeddings of the two words.",
        stands_in="UD English GUM, 400 sentences of train to learn and 400 of dev to tell.",
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
            )
            for kind, name, text, value, baseline, said in (
                (LearnedRule, "attention", "Attention alone is above right-branching trees.", 0.61, 0.26, ""),
                (
                    LearnedRule,
                    "attention + words",
                    "With the words it is above distances with the words.",
                    0.77,
                    0.58,
                    "78.0 in the notebook, after one epoch",
                ),
                (
                    Rule,
                    "learned",
                    "It is above the same parser on the attention of randomly initialised weights.",
                    0.77,
                    0.30,
                    "",
                ),
            )
        ],
        readings=("classifiers",),
        measure=_parsers,
        figure=_parser_bars,
    ),
    Finding(
        id="clark-clusters",
        claim="Heads of one layer are alike.",
        where="figure 6",
        model=MODEL,
        data="Pairs of paragraphs of Wikipedia, up to 128 tokens",
        metric="Jensen-Shannon divergence between two heads' attention, summed over tokens. We: its mean over words, "
        "and a test in which heads are dealt out to layers anew.",
        stands_in="UD English EWT, 300 sentences of dev.",
        statements=[
            Statement(
                name="within layers",
                text="Heads of one layer are nearer to each other than heads of two layers.",
                number="one-sided p of the permutation test",
                rule=Rule(below=0.01),
                unit="",
                published=Published(text="shown in a figure; no number"),
                shown="",
            ),
            Statement(
                name="how much",
                text="They are nearer than heads of two layers on average.",
                number="1 less the mean distance within layers over that between layers",
                rule=Rule(above=0.0),
                unit="%",
                published=Published(text="shown in a figure; no number"),
            ),
        ],
        fact="heads of a layer read the same states: those of permuted weights (three seeds of three) are nearer to "
        "each other, too",
        readings=("trees",),
        measure=_clusters,
        figure=_plane,
    ),
)
