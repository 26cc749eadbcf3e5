"""Abnar and Zuidema 2020: raw attention misleads above the first layer, and rollout and flow do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from experiments.statements.estimates import Estimate, mean_of
from experiments.statements.figure import Figure
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.rule import Rule

PAPER = Paper("abnar-2020", "Abnar and Zuidema 2020", "Quantifying Attention Flow in Transformers")

READING = "verb-number"

LAYERS = range(1, 7)

PRINTED: Mapping[str, Mapping[str, Sequence[float]]] = {
    "blank-out": {
        "weights": (0.69, 0.10, -0.11, -0.09, 0.20, 0.29),
        "rollout": (0.32, 0.38, 0.51, 0.62, 0.70, 0.71),
        "flow": (0.32, 0.44, 0.70, 0.70, 0.71, 0.70),
    },
    "gradients": {
        "weights": (0.53, 0.16, -0.06, 0.00, 0.24, 0.46),
        "rollout": (0.22, 0.27, 0.39, 0.47, 0.53, 0.54),
        "flow": (0.22, 0.31, 0.54, 0.61, 0.60, 0.61),
    },
}
"What is held against what -> the printed correlation of each layer, from the first."

SPOKEN = {"weights": "raw attention", "rollout": "rollout", "flow": "flow"}

MODEL = "an encoder of 6 layers, 8 heads and d_model 128, trained to tell the number of a verb"

STANDS_IN = (
    "An encoder of the same shape, trained here on questions of the embedded grammar: the words before a verb of "
    "present tense. Its answer, the word singular or plural, is predicted at a mask before these words, which stands "
    "in for [CLS]. 200 held-out questions of 4 to 20 words."
)

METRIC = (
    "Spearman's rank correlation over the words of a sentence, mean over sentences, between what the place of the "
    "answer attends to in a layer (heads averaged), or what reaches it up to that layer, and the importance of words. "
)

IMPORTANCE = {
    "blank-out": "Importance here: by how much the log-odds of the answer change when a word is made unknown.",
    "gradients": "Importance here: length of the gradient of the log-odds of the answer at the embedding of a word.",
}

DIFFERS = (
    "A synthetic language in the place of sentences of Wikipedia. One training, so that intervals are over sentences "
    "and not over trainings. The answer's own place and special tokens are no words here, so that in the first layer, "
    "where only the residual tells them apart, raw attention, rollout and flow have the same ranks; in the paper they "
    "have not."
)


def _rhos(evidence: Evidence, against: str) -> pd.DataFrame | Missing:
    """Return rho [text, (measure, layer from 1)] of the questions in which all have one."""
    flows = evidence[READING].studies.get("flows")
    if flows is None:
        return Missing("the run measured no attention flow")
    asked = flows[flows.against == against].assign(layer=flows.layer + 1)
    rhos: pd.DataFrame = asked.pivot(index="text", columns=["measure", "layer"], values="rho").dropna()
    return rhos


def _told(value: Estimate, rho: pd.Series) -> Measured:
    return Measured(value, ours=mean_of(list(rho)))


def _raw(against: str, evidence: Evidence) -> Numbers:
    """Return raw attention of the first layer, and by how much it is lower in each of the others."""
    rhos = _rhos(evidence, against)
    if isinstance(rhos, Missing):
        return {f"layer {layer}": rhos for layer in LAYERS}
    first = rhos["weights", 1]
    found = {"layer 1": _told(mean_of(list(first)), first)}
    for layer in LAYERS[1:]:
        here = rhos["weights", layer]
        found[f"layer {layer}"] = _told(mean_of(list(first - here)), here)
    return found


def _followed(against: str, evidence: Evidence) -> Numbers:
    """Return by how much rollout and flow are above raw attention in every layer above the first."""
    rhos = _rhos(evidence, against)
    found: dict[str, Measured | Missing] = {}
    for measure in ("rollout", "flow"):
        for layer in LAYERS[1:]:
            name = f"{measure} {layer}"
            if isinstance(rhos, Missing):
                found[name] = rhos
                continue
            here, raw = rhos[measure, layer], rhos["weights", layer]
            found[name] = Measured(mean_of(list(here - raw)), ours=mean_of(list(here)), baseline=float(raw.mean()))
    return found


def _drawn(against: str, evidence: Evidence) -> Figure:
    """Draw the correlation of each measure by layer."""
    rhos = _rhos(evidence, against)
    assert not isinstance(rhos, Missing)
    series = {}
    for measure, spoken in SPOKEN.items():
        means = [mean_of(list(rhos[measure, layer])) for layer in LAYERS]
        series[spoken] = [(layer, one.value, one.low, one.high) for layer, one in zip(LAYERS, means, strict=True)]
    title = f"Which maps tell what the answer rests on: {against}"
    return Figure("lines", title, "layer", "Spearman's rho, mean over sentences", series, level=0.0, level_name="none")


def _raw_statement(against: str, layer: int) -> Statement:
    published = Published(PRINTED[against]["weights"][layer - 1], text="raw attention")
    if layer == 1:
        text, number = f"Raw attention of the first layer follows {against}.", "rho of raw attention in layer 1"
    else:
        text = f"Raw attention of layer {layer} follows {against} less than that of the first layer does."
        number = f"rho of raw attention in layer 1 minus that in layer {layer}, paired by sentence"
    return Statement(f"layer {layer}", text, number, Rule(above=0.0), "rho", published, shown="rho")


def _followed_statement(against: str, measure: str, layer: int) -> Statement:
    printed = PRINTED[against]
    published = Published(printed[measure][layer - 1], printed["weights"][layer - 1], text=f"{measure}; raw attention")
    text = f"{measure.capitalize()} up to layer {layer} follows {against} more than that layer's attention does."
    number = f"rho of {measure} minus rho of raw attention in layer {layer}, paired by sentence"
    return Statement(f"{measure} {layer}", text, number, Rule(above=0.0), "rho", published, shown="rho")


def _of_table(against: str) -> tuple[Finding, Finding]:
    """Return the two findings of a table of correlations."""
    what = "blanking out words" if against == "blank-out" else "input gradients"
    figure: Callable[[Evidence], Figure] = partial(_drawn, against)
    raw = Finding(
        id=f"abnar-raw-{against}",
        claim=f"Raw attention follows {what} in the first layer, and less in every later one.",
        where="table of correlations, raw attention",
        model=MODEL,
        data="Linzen et al. 2016, 2,000 test sentences",
        metric=METRIC + IMPORTANCE[against],
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[_raw_statement(against, layer) for layer in LAYERS],
        readings=(READING,),
        measure=partial(_raw, against),
        figure=figure,
    )
    followed = Finding(
        id=f"abnar-flow-{against}",
        claim=f"Rollout and flow follow {what} better than raw attention does, in every layer above the first.",
        where="table of correlations, rollout and flow",
        model=MODEL,
        data="Linzen et al. 2016, 2,000 test sentences",
        metric=METRIC + IMPORTANCE[against],
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[
            _followed_statement(against, measure, layer) for measure in ("rollout", "flow") for layer in LAYERS[1:]
        ],
        readings=(READING,),
        measure=partial(_followed, against),
        figure=figure,
    )
    return raw, followed


def _accuracy(evidence: Evidence) -> Numbers:
    answers = evidence[READING].studies.get("answers")
    if answers is None:
        return {"accuracy": Missing("the run asked for no answers")}
    right = (answers.log_odds > 0).astype(float)
    often = float(answers.answer.value_counts(normalize=True).max())
    note = f"{len(answers)} held-out questions; the more frequent answer alone is right in {100 * often:.1f} %"
    return {"accuracy": Measured(mean_of(list(right)), baseline=often, note=note)}


FINDINGS = (
    Finding(
        id="abnar-verb-number",
        claim="A small encoder learns to tell the number of a verb from the words before it.",
        where="experimental setup",
        model=MODEL,
        data="Linzen et al. 2016",
        metric="Share of test sentences with the right answer.",
        stands_in=STANDS_IN,
        differs="A synthetic language in the place of Wikipedia; questions are held out by a hash of each.",
        statements=[
            Statement(
                "accuracy",
                "It is right as often as the paper's encoder, in 96 % of held-out questions.",
                "share of held-out questions with the right answer",
                Rule(above=0.96),
                unit="%",
                published=Published(0.96),
            )
        ],
        readings=(READING,),
        measure=_accuracy,
    ),
    *_of_table("blank-out"),
    *_of_table("gradients"),
    Finding(
        id="abnar-distilbert",
        claim="In DistilBERT fine-tuned on sentiment all of these correlations are weak.",
        where="table of correlations, DistilBERT",
        model="DistilBERT fine-tuned on SST-2",
        data="SST-2, 100 examples",
        metric="As above; printed are correlations of .08 to .14.",
        missing="a DistilBERT that was fine-tuned on SST-2, and SST-2 itself",
    ),
)
