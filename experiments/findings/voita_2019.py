"""Voita, Talbot, Moiseev, Sennrich and Titov 2019: positional, syntactic and rare-word heads; most others can go."""

from __future__ import annotations

from functools import partial

import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import (
    best_head,
    estimate_of,
    heads_above,
    margin,
    minus,
    points,
    rows,
    selected_head,
    shape,
)
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

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
    label, variant, wmt, subtitles = RELATIONS[name]
    argument = label in ("nsubj", "obj")
    return Statement(
        name=name,
        text=f"From {name} a head is {'more' if argument else 'less'} than ten points above the baseline.",
        number="accuracy of the chosen head minus that of the strongest baseline",
        rule=LearnedRule(above=SYNTACTIC) if argument else Rule(below=SYNTACTIC),
        published=Published(*wmt, text="OpenSubtitles {:.0%}, baseline {:.0%}".format(*subtitles)),
        measure=lambda evidence: margin(evidence["trees"], "dependency", label, variant),
    )


def _rarest(label: str, evidence: Evidence) -> Measured:
    row = best_head(evidence["trees"], "rare", label)
    return Measured(estimate_of(row, "accuracy", "ci_low", "ci_high"), heads=str(row["name"]))


def _first_layer(evidence: Evidence) -> Measured:
    """Return how far the best head of the first layer is above the best other; both are chosen on `select`."""
    asked = rows(evidence["trees"].scores, probe="rare", label="two rarest")
    first, other = (selected_head(asked[part]) for part in (asked.layer == 0, asked.layer > 0))
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


def _some(label: str, evidence: Evidence) -> Measured:
    """Return how many heads are positional."""
    heads = rows(_neighbours(evidence, "report"), label=label)
    heads = heads[heads.n > 0]
    found = " ".join(sorted(heads[heads.accuracy >= POSITIONAL].name))
    return Measured(heads_above(heads, POSITIONAL, "accuracy"), heads=found)


def _confident(evidence: Evidence) -> Measured:
    confidence = shape(evidence["trees"], "confidence", "without [SEP]")
    known = confidence[confidence.name.isin(_positional(evidence))].sort_values("value")
    if not len(known):
        raise Missing("no head is positional", absent=True)
    row, note = known.iloc[0], f"of {len(known)} positional heads"
    return Measured(estimate_of(row, "value", "ci_low", "ci_high"), heads=str(row["name"]), note=note)


def _drawn_confidence(evidence: Evidence) -> Figure:
    heads = shape(evidence["trees"], "confidence", "without [SEP]")
    positional = heads.name.isin(_positional(evidence))
    series = {
        name: points(some, "layer", "value", "ci_low", "ci_high", first=1)
        for name, some in (("positional", heads[positional]), ("others", heads[~positional]))
    }
    title = "Confidence of heads"
    return Figure("dots", title, "layer", "mean of the most attention", series, level=0.8, level_name="0.8")


finding = partial(Finding, model=MODEL, data=DATA, readings=("trees",))

FINDINGS = (
    finding(
        id="voita-syntax",
        claim="Some heads follow subjects and objects far better than an offset, adjectives and adverbs hardly so.",
        where="section 5.2",
        data=f"{DATA}; relations by CoreNLP on 50,000 sentences",
        metric="How often the most attended word of a row is the other word of the relation; the baseline is the most "
        "frequent relative position. A head is syntactic if it is at least ten points above that.",
        stands_in="UD English EWT; the head is selected on train and evaluated on dev.",
        differs="An encoder of sentences in the place of one that translates; UD trees; the paper's eight numbers of "
        "adjectives and adverbs are 0 to 10 points above the baseline, so that the rule asks for less than 10.",
        statements=tuple(map(_relation, RELATIONS)),
        group="relations of EWT",
        repeats="clark-relations",
        bars="The best head of each relation and direction",
    ),
    finding(
        id="voita-rare",
        claim="A head of the first layer attends to the rarest words of a sentence.",
        where="section 5.3",
        metric="How often the most attended word is the rarest of the sentence, or one of the two rarest.",
        stands_in="UD English EWT, with counts of words in English subtitles.",
        differs="The paper counts tokens of its vocabulary. Here a word gets what all its pieces get, and rare words "
        "have more of them, so that uniform attention is often at the rarest: hence a half, and not the baseline.",
        statements=[
            Statement(
                name="rarest",
                text="A head attends most to the rarest word in two thirds of the cases, as in the paper.",
                number="accuracy of the chosen head",
                rule=LearnedRule(above=0.66, unit="%"),
                weaker=LearnedRule(above=0.5),
                published=Published(0.66, text="OpenSubtitles"),
                measure=partial(_rarest, "rarest"),
            ),
            Statement(
                name="two rarest",
                text="A head attends most to one of the two rarest words in more than half of the cases.",
                number="accuracy of the chosen head",
                rule=LearnedRule(above=0.5, unit="%"),
                published=Published(0.83, text="OpenSubtitles; WMT: more than 50 %"),
                measure=partial(_rarest, "two rarest"),
            ),
            Statement(
                name="first layer",
                text="The best head of the first layer is better at this than the best of all other layers.",
                number="accuracy (two rarest) of the best head of layer 1 minus that of the best other",
                rule=LearnedRule(above=0.0),
                published=Published(text="the head is in the first layer"),
                shown="points",
                measure=_first_layer,
            ),
        ],
    ),
    finding(
        id="voita-positional",
        claim="Some heads attend to the previous or the next word, and all of these are confident.",
        where="section 5.1",
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
                    rule=LearnedRule(above=0.5, unit="heads"),
                    published=Published(text="there are such heads"),
                    measure=partial(_some, label),
                )
                for label in ("previous", "next")
            ),
            Statement(
                name="confidence",
                text="The least confident of the positional heads gives more than 0.8 to its favourite.",
                number="lowest confidence of a positional head",
                rule=LearnedRule(above=0.8, unit="%"),
                published=Published(text="above 0.8 for every positional head"),
                measure=_confident,
            ),
        ],
        figure=_drawn_confidence,
    ),
)
