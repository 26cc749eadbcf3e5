"""Voita, Talbot, Moiseev, Sennrich and Titov 2019: positional, syntactic and rare-word heads; most others can go."""

from __future__ import annotations

import pandas as pd

from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import (
    bars,
    best_head,
    estimate_of,
    heads_above,
    margin,
    minus,
    rows,
    selected_head,
    shape,
)
from experiments.statements.rule import Rule

PAPER = Paper(
    "voita-2019",
    "Voita, Talbot, Moiseev, Sennrich and Titov 2019",
    "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned",
)

MODEL = "Encoder of a translation model (Transformer base, 6 layers x 8 heads), English to Russian"

DATA = "WMT, 2.5 million sentence pairs, and OpenSubtitles, 6 million"

SYNTACTIC = 0.1
"A head is syntactic for a relation if it is at least so far above the positional baseline (section 5.2)."

POSITIONAL = 0.9
"A head is positional if the word that it attends to most is at one place this often."

BACK, FORTH = "head->dependent", "dependent->head"

RELATIONS = {
    "verb to subject": ("nsubj", BACK, (0.45, 0.35), (0.77, 0.45)),
    "subject to verb": ("nsubj", FORTH, (0.52, 0.35), (0.70, 0.45)),
    "verb to object": ("obj", BACK, (0.78, 0.41), (0.61, 0.46)),
    "object to verb": ("obj", FORTH, (0.73, 0.41), (0.84, 0.46)),
    "noun to adjective": ("amod", BACK, (0.74, 0.72), (0.81, 0.80)),
    "adjective to noun": ("amod", FORTH, (0.82, 0.72), (0.81, 0.80)),
    "verb to adverb": ("advmod", BACK, (0.48, 0.46), (0.38, 0.33)),
    "adverb to verb": ("advmod", FORTH, (0.52, 0.46), (0.42, 0.33)),
}
"Direction -> label and variant here, and the best head and baseline of the paper, on WMT and on OpenSubtitles."


def _relation(name: str) -> Statement:
    label, _, wmt, subtitles = RELATIONS[name]
    argument = label in ("nsubj", "obj")
    return Statement(
        name=name,
        text=f"From {name} a head is {'more' if argument else 'less'} than ten points above the baseline.",
        number="accuracy of the chosen head minus that of the strongest baseline",
        rule=LearnedRule(above=SYNTACTIC) if argument else Rule(below=SYNTACTIC),
        published=Published(*wmt, text="OpenSubtitles {:.0%}, baseline {:.0%}".format(*subtitles)),
    )


SYNTAX = tuple(map(_relation, RELATIONS))


def _syntax(evidence: Evidence) -> Numbers:
    return {name: margin(evidence["trees"], "dependency", *asked[:2]) for name, asked in RELATIONS.items()}


def _drawn_syntax(evidence: Evidence) -> Figure:
    return bars("The best head of each relation and direction", "accuracy", SYNTAX, _syntax(evidence))


def _rarest(evidence: Evidence) -> Numbers:
    numbers: dict[str, Measured | Missing] = {}
    for label in ("rarest", "two rarest"):
        row = best_head(evidence["trees"], "rare", label)
        if isinstance(row, Missing):
            return dict.fromkeys(("rarest", "two rarest", "first layer"), row)
        numbers[label] = Measured(estimate_of(row, "accuracy", "ci_low", "ci_high"), heads=str(row["name"]))
    return numbers | {"first layer": _first_layer(evidence["trees"].scores)}


def _first_layer(scores: pd.DataFrame) -> Measured | Missing:
    """Return how far the best head of the first layer is above the best other; both are chosen on `select`."""
    asked = rows(scores, probe="rare", label="two rarest")
    first, other = (selected_head(asked[part]) for part in (asked.layer == 0, asked.layer > 0))
    if isinstance(first, Missing) or isinstance(other, Missing):
        return Missing("there is no second layer to compare with")
    ends = (estimate_of(row, "accuracy", "ci_low", "ci_high") for row in (first, other))
    return Measured(minus(*ends), heads=f"{first['name']} and {other['name']}")


def _neighbours(evidence: Evidence, split: str) -> pd.DataFrame:
    asked = rows(evidence["trees"].scores, probe="position", split=split)
    neighbours: pd.DataFrame = asked[asked.label.isin(["previous", "next"])]
    return neighbours


def _positional(evidence: Evidence) -> set[str]:
    """Return the names of the heads that are positional on the selection split."""
    asked = _neighbours(evidence, "select")
    return set(asked[asked.accuracy >= POSITIONAL].name)


def _confident(evidence: Evidence) -> Numbers:
    asked = _neighbours(evidence, "report")
    numbers: dict[str, Measured | Missing] = {}
    for label in ("previous", "next"):
        heads = asked[(asked.label == label) & (asked.n > 0)]
        found = " ".join(sorted(heads[heads.accuracy >= POSITIONAL].name))
        numbers[label] = Measured(heads_above(heads, POSITIONAL, "accuracy"), heads=found)
    confidence = shape(evidence["trees"], "confidence", "without [SEP]")
    known = confidence[confidence.name.isin(_positional(evidence))]
    if not len(known):
        return numbers | {"confidence": Missing("no head is positional", absent=True)}
    row = known.sort_values("value").iloc[0]
    least = estimate_of(row, "value", "ci_low", "ci_high")
    return numbers | {"confidence": Measured(least, heads=str(row["name"]), note=f"of {len(known)} positional heads")}


def _drawn_confidence(evidence: Evidence) -> Figure:
    heads, positional = shape(evidence["trees"], "confidence", "without [SEP]"), _positional(evidence)
    series: dict[str, list[Point]] = {"positional": [], "others": []}
    for _, row in heads.iterrows():
        name = "positional" if row["name"] in positional else "others"
        series[name].append((row["layer"] + 1, row["value"], row["ci_low"], row["ci_high"]))
    title = "Confidence of heads"
    return Figure("dots", title, "layer", "mean of the most attention", series, level=0.8, level_name="0.8")


ROLES = (
    Finding(
        id="voita-syntax",
        claim="Some heads follow subjects and objects far better than an offset, adjectives and adverbs hardly so.",
        where="section 5.2",
        model=MODEL,
        data=f"{DATA}; relations by CoreNLP on 50,000 sentences",
        metric="How often the most attended word of a row is the other word of the relation; the baseline is the most "
        "frequent relative position. A head is syntactic if it is at least ten points above that.",
        stands_in="UD English EWT; the head is selected on train and evaluated on dev.",
        differs="An encoder of sentences in the place of one that translates; UD trees; the paper's eight numbers of "
        "adjectives and adverbs are 0 to 10 points above the baseline, so that the rule asks for less than 10.",
        statements=SYNTAX,
        readings=("trees",),
        measure=_syntax,
        group="relations of EWT",
        repeats="clark-relations",
        figure=_drawn_syntax,
    ),
    Finding(
        id="voita-rare",
        claim="A head of the first layer attends to the rarest words of a sentence.",
        where="section 5.3",
        model=MODEL,
        data=DATA,
        metric="How often the most attended word is the rarest of the sentence, or one of the two rarest.",
        stands_in="UD English EWT, with counts of words in English subtitles.",
        differs="The paper counts tokens of its vocabulary. Here a word gets what all its pieces get, and rare words "
        "have more of them, so that uniform attention is often at the rarest: hence a half, and not the baseline.",
        statements=[
            Statement(
                name="rarest",
                text="A head attends most to the rarest word in two thirds of the cases, as in the paper.",
                number="accuracy of the chosen head",
                rule=LearnedRule(above=0.66),
                weaker=LearnedRule(above=0.5),
                unit="%",
                published=Published(0.66, text="OpenSubtitles"),
            ),
            Statement(
                name="two rarest",
                text="A head attends most to one of the two rarest words in more than half of the cases.",
                number="accuracy of the chosen head",
                rule=LearnedRule(above=0.5),
                unit="%",
                published=Published(0.83, text="OpenSubtitles; WMT: more than 50 %"),
            ),
            Statement(
                name="first layer",
                text="The best head of the first layer is better at this than the best of all other layers.",
                number="accuracy (two rarest) of the best head of layer 1 minus that of the best other",
                rule=LearnedRule(above=0.0),
                published=Published(text="the head is in the first layer"),
                shown="points",
            ),
        ],
        readings=("trees",),
        measure=_rarest,
    ),
    Finding(
        id="voita-positional",
        claim="Some heads attend to the previous or the next word, and all of these are confident.",
        where="section 5.1",
        model=MODEL,
        data=DATA,
        metric="Confidence: the mean over tokens of the most attention, the end of the sentence left out. Positional: "
        "in 90 % of the cases or more the most attended place is one fixed offset.",
        stands_in="UD English EWT",
        differs="A head is positional by its most attended other word, [CLS] and [SEP] left out; confidence leaves out "
        "[SEP] alone. Positional heads are selected on train, and their confidence is measured on dev.",
        statements=[
            *(
                Statement(
                    name=label,
                    text=f"At least one head attends most to the {label} word in 90 % of the cases.",
                    number="heads above 90 %",
                    rule=LearnedRule(above=0.5),
                    unit="heads",
                    published=Published(text="there are such heads"),
                    shown="heads",
                )
                for label in ("previous", "next")
            ),
            Statement(
                name="confidence",
                text="The least confident of the positional heads gives more than 0.8 to its favourite.",
                number="lowest confidence of a positional head",
                rule=LearnedRule(above=0.8),
                unit="%",
                published=Published(text="above 0.8 for every positional head"),
            ),
        ],
        readings=("trees",),
        measure=_confident,
        figure=_drawn_confidence,
    ),
)
"What heads do (section 5)."

FINDINGS = ROLES
