"""Kovaleva et al. 2019: what fine-tuning does to the maps of BERT, and what pre-training is worth to it."""

from __future__ import annotations

from functools import partial

from experiments.findings.kovaleva_2019 import PAPER as PAPER
from experiments.statements.estimates import mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Published, Statement
from experiments.statements.numbers import table
from experiments.statements.rule import Rule
from reports.statements.figure import Figure

TUNED, RANDOM_START = "fine-tuned", "fine-tuned-fresh"

STANDS_IN = (
    "MiniLM (6 layers of 12 heads), trained further on verbs of UD English EWT: the number of each is to be told "
    "from the words before it. The answer is predicted at a mask before these words. 200 steps of 16 rows of 64 pieces."
)


def _less_alike(place: int, evidence: Evidence) -> Measured:
    """Return how far the cosine of a layer, counted from the end, is below the mean of those before the last two."""
    drift = table(evidence, TUNED, "drift", "the run compared no maps before and after")
    cosines = drift.groupby(["text", "layer"]).cosine.mean().unstack()
    before, here = cosines.iloc[:, :-2].mean(axis=1), cosines.iloc[:, place]
    return Measured(mean_of(list(before - here)), ours=mean_of(list(here)), baseline=float(before.mean()))


def _drawn(evidence: Evidence) -> Figure:
    """Draw the cosine of each head, layer by layer from the last, as the paper's matrices do."""
    cells = table(evidence, TUNED, "drift").groupby(["layer", "head"]).cosine.mean().unstack().iloc[::-1]
    matrix, rows = [list(map(float, row)) for row in cells.to_numpy()], [str(layer + 1) for layer in cells.index]
    title = "Cosine of the maps of each head before and after fine-tuning"
    return Figure("matrix", title, "head", "layer", matrix=matrix, rows=rows)


def _worth(evidence: Evidence) -> Measured:
    """Return by how much more often the model is right that began with learned weights, question by question."""
    why = "the runs asked for no answers"
    answers = [table(evidence, reading, "answers", why).set_index("text") for reading in (TUNED, RANDOM_START)]
    tuned, fresh = ((one.log_odds > 0).astype(float) for one in answers)
    often = float(answers[0].answer.value_counts(normalize=True).max())
    note = f"{len(tuned)} held-out questions; the more frequent answer alone is right in {100 * often:.1f} %"
    return Measured(mean_of(list(tuned - fresh)), ours=mean_of(list(tuned)), baseline=float(fresh.mean()), note=note)


finding = partial(Finding, model="BERT base, uncased, fine-tuned on tasks of GLUE")

FINDINGS = (
    finding(
        id="kovaleva-fine-tuning-layers",
        claim="Fine-tuning changes the maps of the last two layers most.",
        where="cosine similarity of maps before and after fine-tuning",
        data="tasks of GLUE",
        metric="Cosine of the flattened maps of a head before and after, mean over sentences and the heads of a layer.",
        stands_in=STANDS_IN + " Maps are compared on 200 sentences of EWT dev.",
        differs="Another and smaller model, which was made for sentence embeddings, and another task.",
        statements=[
            Statement(
                name,
                f"The maps of the {name} stay less alike than those of the layers before the last two.",
                f"mean cosine of the layers before the last two minus that of the {name}, paired by sentence",
                Rule(above=0.0, unit="cosine"),
                published=Published(text="lowest in layers 11 and 12, in all tasks but QQP"),
                measure=partial(_less_alike, place),
            )
            for name, place in (("last layer", -1), ("last but one", -2))
        ],
        readings=(TUNED,),
        weaker="one task and one training are measured, where the paper has six of seven tasks",
        figure=_drawn,
    ),
    finding(
        id="kovaleva-fine-tuning-worth",
        claim="Fine-tuning from pre-trained weights does better than from randomly initialised ones.",
        where="table of fine-tuned models",
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
