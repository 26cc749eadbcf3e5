"""Abnar and Zuidema 2020: raw attention misleads above the first layer, and rollout and flow do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from experiments.statements.estimates import mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import table
from experiments.statements.rule import Rule
from reports.statements.figure import Figure

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


def _rhos(evidence: Evidence, against: str) -> pd.DataFrame:
    """Return rho [text, (measure, layer from 1)] of the questions in which all have one."""
    flows = table(evidence, READING, "flows", "the run measured no attention flow", against=against)
    return flows.assign(layer=flows.layer + 1).pivot(index="text", columns=["measure", "layer"], values="rho").dropna()


def _raw(against: str, layer: int, evidence: Evidence) -> Measured:
    """Return raw attention of the first layer, or by how much it is lower in another."""
    rhos = _rhos(evidence, against)
    first, here = rhos["weights", 1], rhos["weights", layer]
    return Measured(mean_of(list(first if layer == 1 else first - here)), ours=mean_of(list(here)))


def _followed(against: str, measure: str, layer: int, evidence: Evidence) -> Measured:
    """Return by how much rollout or flow is above raw attention in a layer."""
    rhos = _rhos(evidence, against)
    here, raw = rhos[measure, layer], rhos["weights", layer]
    return Measured(mean_of(list(here - raw)), ours=mean_of(list(here)), baseline=float(raw.mean()))


def _drawn(against: str, evidence: Evidence) -> Figure:
    """Draw the correlation of each measure by layer."""
    rhos = _rhos(evidence, against)
    series = {
        spoken: [mean_of(list(rhos[measure, layer])).at(layer) for layer in LAYERS]
        for measure, spoken in SPOKEN.items()
    }
    title = f"Which maps tell what the answer rests on: {against}"
    return Figure("lines", title, "layer", "Spearman's rho, mean over sentences", series, level=0.0, level_name="none")


def _accuracy(evidence: Evidence) -> Measured:
    answers = table(evidence, READING, "answers", "the run asked for no answers")
    right = (answers.log_odds > 0).astype(float)
    often = float(answers.answer.value_counts(normalize=True).max())
    note = f"{len(answers)} held-out questions; the more frequent answer alone is right in {100 * often:.1f} %"
    return Measured(mean_of(list(right)), baseline=often, note=note)


finding = partial(
    Finding,
    model="an encoder of 6 layers, 8 heads and d_model 128, trained to tell the number of a verb",
    stands_in="An encoder of the same shape, trained here on questions of the embedded grammar: the words before a "
    "verb of present tense. Its answer, the word singular or plural, is predicted at a mask before these words, which "
    "stands in for [CLS]. 200 held-out questions of 4 to 20 words.",
    readings=(READING,),
)


def _of_table(against: str, what: str, importance: str) -> tuple[Finding, Finding]:
    """Return the two findings of a table of correlations."""
    printed = PRINTED[against]
    correlated = partial(
        finding,
        data="Linzen et al. 2016, 2,000 test sentences",
        metric="Spearman's rank correlation over the words of a sentence, mean over sentences, between what the place "
        "of the answer attends to in a layer (heads averaged), or what reaches it up to that layer, and the "
        f"importance of words. Importance here: {importance}",
        differs="A synthetic language in the place of sentences of Wikipedia. One training, so that intervals are over "
        "sentences and not over trainings. The answer's own place and special tokens are no words here, so that in the "
        "first layer, where only the residual tells them apart, raw attention, rollout and flow have the same ranks; "
        "in the paper they have not.",
        figure=partial(_drawn, against),
    )
    raw = correlated(
        id=f"abnar-raw-{against}",
        claim=f"Raw attention follows {what} in the first layer, and less in every later one.",
        where="table of correlations, raw attention",
        statements=[
            Statement(
                f"layer {layer}",
                f"Raw attention of layer {layer} follows {against} less than that of the first layer does."
                if layer > 1
                else f"Raw attention of the first layer follows {against}.",
                "rho of raw attention in layer 1"
                + (f" minus that in layer {layer}, paired by sentence" if layer > 1 else ""),
                Rule(above=0.0, unit="rho"),
                Published(rho, text="raw attention"),
                measure=partial(_raw, against, layer),
            )
            for layer, rho in enumerate(printed["weights"], start=1)
        ],
    )
    followed = correlated(
        id=f"abnar-flow-{against}",
        claim=f"Rollout and flow follow {what} better than raw attention does, in every layer above the first.",
        where="table of correlations, rollout and flow",
        statements=[
            Statement(
                f"{measure} {layer}",
                f"{measure.capitalize()} up to layer {layer} follows {against} more than that layer's attention does.",
                f"rho of {measure} minus rho of raw attention in layer {layer}, paired by sentence",
                Rule(above=0.0, unit="rho"),
                Published(printed[measure][layer - 1], printed["weights"][layer - 1], f"{measure}; raw attention"),
                measure=partial(_followed, against, measure, layer),
            )
            for measure in ("rollout", "flow")
            for layer in LAYERS[1:]
        ],
    )
    return raw, followed


FINDINGS = (
    finding(
        id="abnar-verb-number",
        claim="A small encoder learns to tell the number of a verb from the words before it.",
        where="experimental setup",
        data="Linzen et al. 2016",
        metric="Share of test sentences with the right answer.",
        differs="A synthetic language in the place of Wikipedia; questions are held out by a hash of each.",
        statements=[
            Statement(
                "accuracy",
                "It is right as often as the paper's encoder, in 96 % of held-out questions.",
                "share of held-out questions with the right answer",
                Rule(above=0.96, unit="%"),
                published=Published(0.96),
            )
        ],
        measure=_accuracy,
    ),
    *_of_table(
        "blank-out",
        "blanking out words",
        "by how much the log-odds of the answer change when a word is made unknown.",
    ),
    *_of_table(
        "gradients",
        "input gradients",
        "length of the gradient of the log-odds of the answer at the embedding of a word.",
    ),
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
