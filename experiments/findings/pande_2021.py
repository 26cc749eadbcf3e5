"""Pande, Budhraja, Nema, Kumar and Khapra 2021: heads have several roles at once."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import over_units, shape, share_above
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

PAPER = Paper(
    "pande-2021",
    "Pande, Budhraja, Nema, Kumar and Khapra 2021",
    "The Heads Hypothesis: A Unifying Statistical Approach Towards Understanding Multi-Headed Attention in BERT",
)

METRIC = (
    "Sieve bias score: mean attention in a sieve over mean attention to all tokens, mean over tokens and texts. Local: "
    "two tokens to either side; syntactic: pairs of words of an arc. A head has the role if a one-sided test says that "
    "the score is above a threshold; the paper takes a t test over sentences, we test by document."
)

DIFFERS = "The model is not fine-tuned, and the windows are longer than the sentences of GLUE."

SIEVES = ("local", "delimiter", "block", "syntactic")

ALPHA = 0.05


def _sieves(evidence: Evidence, column: str = "p") -> pd.DataFrame:
    """Return a row a head and a column a sieve."""
    by_sieve = {name: shape(evidence["coreference"], "sieve", name, "window") for name in SIEVES}
    return pd.DataFrame({name: heads.set_index("name")[column] for name, heads in by_sieve.items()})


def _several(evidence: Evidence) -> Measured:
    """Return the share of heads that are local and syntactic, as in the paper without correction."""
    both, corrected = (_both(_sieves(evidence, column)) for column in ("p", "p_adjusted"))
    share = over_units(lambda part: float(part.both.mean()), pd.DataFrame({"both": both}))
    note = f"{int(corrected.sum())} where p is corrected for all heads and sieves"
    return Measured(share, heads=f"{int(both.sum())} of {len(both)}", note=note)


def _decided(evidence: Evidence) -> Measured:
    p = _sieves(evidence)
    near = ((p < ALPHA) | (p > 1 - ALPHA)).where(p.notna())
    return Measured(over_units(lambda part: float(np.nanmean(part.to_numpy(np.float64))), near))


def _both(p: pd.DataFrame) -> pd.Series:
    both: pd.Series = (p.local < ALPHA) & (p.syntactic < ALPHA)
    return both


def _roles(evidence: Evidence) -> Figure:
    """Return how many heads have each two roles."""
    has = (_sieves(evidence) < ALPHA).to_numpy(np.float64)
    both = (has.T @ has).tolist()
    return Figure("matrix", "Heads with two roles", "sieve", "sieve", names=SIEVES, matrix=both, rows=SIEVES)


finding = partial(
    Finding,
    model="BERT base, fine-tuned on four tasks of GLUE",
    data="GLUE: QNLI, QQP, MRPC and SST-2; 20 sentences in the notebooks that were released",
    metric=METRIC,
    stands_in="UD English GUM, in windows of up to 100 words, 30 documents of dev; the model as it is.",
    differs=DIFFERS,
    readings=("coreference",),
)

FINDINGS = (
    finding(
        id="pande-several-roles",
        claim="Many heads are local and syntactic at once.",
        where="the table of heads with several roles",
        statements=[
            Statement(
                name="as in the paper",
                text="The share of heads that are local and syntactic is above that of the paper's lowest task.",
                number="share of the heads with a score above 3 in both sieves",
                rule=LearnedRule(above=0.42, unit="%"),
                published=Published(text="42 % to 88 %, by task; without correction"),
            )
        ],
        measure=_several,
        figure=_roles,
    ),
    finding(
        id="pande-p-values",
        claim="Hardly a test hangs on where the line of significance is drawn: p is near 0 or near 1.",
        where="on the tests",
        metric=f"{METRIC} Near: within 0.05.",
        statements=[
            Statement(
                name="near 0 or 1",
                text="More than 90 % of all p are within 0.05 of 0 or of 1.",
                number="share of the tests of all heads and sieves",
                rule=Rule(above=0.9, unit="%"),
                published=Published(0.98, text="about 98 %"),
            )
        ],
        measure=_decided,
        fact="heads without any role are as far below the threshold as the best are above it",
    ),
    finding(
        id="pande-local",
        claim="With a threshold of 1 most heads are local.",
        where="the notebooks that the authors released",
        differs=f"{DIFFERS} A head counts if the 95 % interval of its score lies above 1.",
        statements=[
            Statement(
                name="local",
                text="The share of heads with a local score above 1 is higher than in the paper's lowest task.",
                number="share of the heads",
                rule=LearnedRule(above=0.76, unit="%"),
                published=Published(text="91 % QNLI, 76 % QQP, 90 % MRPC, 82 % SST-2"),
            )
        ],
        measure=lambda evidence: Measured(share_above(shape(evidence["coreference"], "sieve", "local", "window"), 1.0)),
    ),
)
