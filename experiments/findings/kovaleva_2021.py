"""Kovaleva, Kulshreshtha, Rogers and Rumshisky 2021: a few outlier dimensions carry much of what encoders do."""

from __future__ import annotations

from functools import partial

from experiments.statements.estimates import exact
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, rows
from experiments.statements.rule import Rule

PAPER = Paper(
    "kovaleva-2021",
    "Kovaleva, Kulshreshtha, Rogers and Rumshisky 2021",
    "BERT Busters: Outlier Dimensions that Disrupt Transformers",
)

TOLERATED = 0.05
"Loss of accuracy beyond random dimensions that counts as harm; the limit is ours."

FEW = Statement(
    name="few",
    text="There are such dimensions, and they are fewer than one in a hundred.",
    number="share of outlier dimensions",
    rule=Rule(above=0.0, below=0.01, unit="%"),
    weaker=Rule(above=0.0, below=0.03),
    published=Published(2 / 768, text="BERT base: dimensions 308 and 381", provenance="memory"),
)

NO_OUTLIER = "no dimension is an outlier in half of the layers"


def _few(evidence: Evidence) -> Measured:
    tables = evidence["states"].tables
    found = tables.get("outlier_dimensions", ())
    if not len(found) and "states" in tables:
        return Measured(exact(0.0))
    if not len(found):
        raise Missing(NO_OUTLIER, absent=True)
    size = int(found["size"].iloc[0])
    told = ", ".join(map(str, found["dimension"]))
    same = int((found["state_layers"] > 0).sum())
    note = f"{len(found)} of {size}: {told}; {same} of them in the states of words too"
    return Measured(exact(len(found) / size), note=note)


def _lost(measure: str, evidence: Evidence) -> Measured:
    """Return how much more accuracy the outliers cost than random dimensions."""
    ablated = evidence["states"].tables.get("ablated_dimensions", ())
    found = rows(ablated, measure=measure) if len(ablated) else ablated
    if not len(found):
        no_head = measure == "masked word" and len(ablated)
        raise Missing("the model has no masked-LM head" if no_head else NO_OUTLIER, absent=not no_head)
    by_kind = {row["kind"]: estimate_of(row, "value", "low", "high") for _, row in found.iterrows()}
    without, intact, random = (by_kind[kind] for kind in ("outliers", "intact", "random"))
    note = (
        f"intact {intact.value:.1%}, without random dimensions {random.value:.1%}, without outliers {without.value:.1%}"
    )
    return Measured(by_kind["outliers beyond random"], without, random.value, note=note)


finding = partial(Finding, model="BERT base, and encoders of other sizes and families", readings=("states",))

FINDINGS = (
    finding(
        id="kovaleva-few-outliers",
        claim="A few dimensions have LayerNorm weights far from all others, at the same place in many layers.",
        where="the section on outliers",
        data="none: weights alone",
        metric="Weights of the LayerNorm at the end of a layer more than three standard deviations from the mean over "
        "dimensions, in half of the layers at least.",
        differs="Scaling factor or bias is far from the others; the paper may ask for both.",
        statements=[FEW],
        unclaimed="permuted weights keep the LayerNorms, whose weights are vectors: no control tells it from training",
        measure=_few,
    ),
    finding(
        id="kovaleva-outlier-dimensions",
        claim="Without the few dimensions whose LayerNorm weights are far from all others a model loses far more than "
        "without as many others.",
        where="the section on disabling outliers",
        data="Wikipedia for the masked-LM loss; GLUE",
        metric="Outliers: weights of the LayerNorm at the end of a layer more than three standard deviations from the "
        "mean over dimensions, in half of the layers at least. Harm: what is lost where scaling factor and bias are "
        "zero in all layers, minus what is lost for as many random dimensions.",
        stands_in="UD English EWT, dev; a linear classifier of parts of speech on the states of the last layer.",
        differs="The harm is that of a classifier that learned from the intact states, and of the masked-LM head, "
        "where the model has one, at one masked piece a sentence; nothing is fine-tuned. A dimension of a "
        "large mean that is set to zero in the last layer shifts what the classifier reads; the interval is over "
        "documents, for the five random sets drawn.",
        statements=[
            Statement(
                name="tags",
                text="Without them a classifier loses far more than without random ones, 5 points at least.",
                number="accuracy without random dimensions minus that without outliers",
                rule=Rule(above=TOLERATED),
                weaker=Rule(above=0.0),
                published=Published(text="tens of points on GLUE", provenance="memory"),
                measure=partial(_lost, "part of speech"),
            ),
            Statement(
                name="masked words",
                text="So does the masked-LM head.",
                number="accuracy without random dimensions minus that without outliers",
                rule=Rule(above=TOLERATED),
                weaker=Rule(above=0.0),
                published=Published(text="the masked-LM loss grows several times", provenance="memory"),
                measure=partial(_lost, "masked word"),
            ),
        ],
        fact="permuted weights, which keep the vectors of LayerNorms and so the same outliers, lose as much without "
        "them (two seeds of three pass the bar, the third its sign)",
    ),
)
