"""Kovaleva et al. 2019: what fine-tuning does to the maps of BERT, and what pre-training is worth to it."""

from __future__ import annotations

import pandas as pd

from experiments.findings.kovaleva_2019 import PAPER as PAPER
from experiments.statements.estimates import mean_of
from experiments.statements.figure import Figure
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Published, Statement
from experiments.statements.rule import Rule

TUNED, RANDOM_START = "fine-tuned", "fine-tuned-fresh"

MODEL = "BERT base, uncased, fine-tuned on tasks of GLUE"

STANDS_IN = (
    "MiniLM (6 layers of 12 heads), trained further on verbs of UD English EWT: the number of each is to be told "
    "from the words before it. The answer is predicted at a mask before these words. 200 steps of 16 rows of 64 pieces."
)


def _cosines(evidence: Evidence) -> pd.DataFrame | Missing:
    """Return [text, layer from 1], the mean over heads of the cosine of maps before and after."""
    drift = evidence[TUNED].studies.get("drift")
    if drift is None:
        return Missing("the run compared no maps before and after")
    means: pd.DataFrame = drift.assign(layer=drift.layer + 1).groupby(["text", "layer"]).cosine.mean().unstack()
    return means


def _last_layers(evidence: Evidence) -> Numbers:
    """Return by how much the cosine of each of the last two layers is below the mean of the layers before them."""
    cosines = _cosines(evidence)
    if isinstance(cosines, Missing):
        return {"last layer": cosines, "last but one": cosines}
    before = cosines.iloc[:, :-2].mean(axis=1)
    found = {}
    for name, place in (("last layer", -1), ("last but one", -2)):
        here = cosines.iloc[:, place]
        found[name] = Measured(mean_of(list(before - here)), ours=mean_of(list(here)), baseline=float(before.mean()))
    return found


def _drawn(evidence: Evidence) -> Figure:
    """Draw the cosine of each head, layer by layer from the last, as the paper's matrices do."""
    drift = evidence[TUNED].studies["drift"]
    cells = drift.groupby(["layer", "head"]).cosine.mean().unstack().iloc[::-1]
    matrix, rows = [list(map(float, row)) for row in cells.to_numpy()], [str(layer + 1) for layer in cells.index]
    title = "Cosine of the maps of each head before and after fine-tuning"
    return Figure("matrix", title, "head", "layer", matrix=matrix, rows=rows)


def _right(evidence: Evidence, reading: str) -> pd.Series | None:
    answers = evidence[reading].studies.get("answers")
    return None if answers is None else (answers.set_index("text").log_odds > 0).astype(float)


def _worth(evidence: Evidence) -> Numbers:
    """Return by how much more often the model is right that began with learned weights, question by question."""
    tuned, fresh = (_right(evidence, reading) for reading in (TUNED, RANDOM_START))
    if tuned is None or fresh is None:
        return {"pre-trained": Missing("the runs asked for no answers")}
    answers = evidence[TUNED].studies["answers"].answer
    often = float(answers.value_counts(normalize=True).max())
    note = f"{len(tuned)} held-out questions; the more frequent answer alone is right in {100 * often:.1f} %"
    told = Measured(mean_of(list(tuned - fresh)), ours=mean_of(list(tuned)), baseline=float(fresh.mean()), note=note)
    return {"pre-trained": told}


FINDINGS = (
    Finding(
        id="kovaleva-fine-tuning-layers",
        claim="Fine-tuning changes the maps of the last two layers most.",
        where="cosine similarity of maps before and after fine-tuning",
        model=MODEL,
        data="tasks of GLUE",
        metric="Cosine of the flattened maps of a head before and after, mean over sentences and the heads of a layer.",
        stands_in=STANDS_IN + " Maps are compared on 200 sentences of EWT dev.",
        differs="Another and smaller model, which was made for sentence embeddings, and another task.",
        statements=[
            Statement(
                name,
                f"The maps of the {name} stay less alike than those of the layers before the last two.",
                f"mean cosine of the layers before the last two minus that of the {name}, paired by sentence",
                Rule(above=0.0),
                unit="cosine",
                published=Published(text="lowest in layers 11 and 12, in all tasks but QQP"),
                shown="cosine",
            )
            for name in ("last layer", "last but one")
        ],
        readings=(TUNED,),
        measure=_last_layers,
        weaker="one task and one training are measured, where the paper has six of seven tasks",
        figure=_drawn,
    ),
    Finding(
        id="kovaleva-fine-tuning-worth",
        claim="Fine-tuning from pre-trained weights does better than from randomly initialised ones.",
        where="table of fine-tuned models",
        model=MODEL,
        data="MRPC and MNLI",
        metric="Accuracy on held-out examples of the task.",
        stands_in=f"{STANDS_IN} Beside it the same training run from randomly initialised weights. Up to 1,000 "
        "held-out questions.",
        differs="Another model and task, and short trainings.",
        statements=[
            Statement(
                "pre-trained",
                "Accuracy from pre-trained weights is above that from randomly initialised weights, by 14 points.",
                "accuracy from pre-trained weights minus accuracy from fresh ones, paired by question",
                Rule(above=0.14),
                weaker=Rule(above=0.0),
                published=Published(
                    0.823,
                    0.683,
                    text="MRPC: accuracy 82.3 against 68.3, and 31.6 without fine-tuning; F1 87.9 against 81.2, and 0; "
                    "MNLI: accuracy 78.6 against 61.0, and 31.7",
                ),
            )
        ],
        readings=(TUNED, RANDOM_START),
        measure=_worth,
    ),
)
