"""The table of coreference chains: heads and baselines by MUC, B-cubed, CEAF and their average."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import percent, signed
from reports.tables.shared_columns import (
    CLUSTERS,
    NAME,
    RUN,
    SPLIT,
    difference,
    ends,
    flag,
    fraction,
    number,
    optional,
    text,
    whole,
)
from reports.tables.table import Table

SCORES: Final = ("MUC", "B3", "CEAF-m", "CEAF-e", "CoNLL")
"In the order of columns for people; CoNLL is the mean of the F1 of MUC, B3 and CEAF-e."

CHAINS: Final = Table(
    "One row for each split, head or baseline, and score of coreference: how well the chains that its links join "
    "meet the gold chains. Mentions are given, one a head word, and chains are cut to windows.",
    ("model", "step", "split", "name", "measure"),
    (
        *RUN,
        SPLIT,
        text("method", "head, or baseline: a rule, no choice at all, or random weights.", ("head", "baseline")),
        replace(NAME, meaning="Head as layer-head, both counted from 1, or name of the baseline."),
        optional("layer", "Layer, counted from 0; missing for a baseline."),
        optional("head", "Head in its layer, counted from 0; missing for a baseline."),
        flag("selected", "Whether it is the head with the highest CoNLL average on the selection split."),
        text(
            "measure",
            "MUC (Vilain et al. 1995), B3 (Bagga and Baldwin 1998), CEAF-m or CEAF-e (Luo 2005), or CoNLL, the mean of "
            "the F1 of MUC, B3 and CEAF-e (Pradhan et al. 2012).",
            SCORES,
        ),
        whole("n", "Number of mentions, one a head word."),
        whole("chains", "Number of gold chains, those of a single mention included."),
        CLUSTERS,
        number(
            "least",
            "How strong a link must be, as learned on the selection split: of a head its attention to the antecedent; "
            "of a rule 1 divided by the distance in words, less 1 for each group of mentions that it prefers.",
        ),
        fraction("precision", "Precision; missing for CoNLL."),
        fraction("recall", "Recall; missing for CoNLL."),
        fraction("f1", "F1, of CoNLL the mean of three; 0 where there are no links.", ""),
        *ends("", "F1", percent),
        text("baseline", "Strongest baseline by this score on this split; empty for baselines."),
        difference("lead", "F1 of the head minus that of the strongest baseline; missing for baselines.", "lead"),
        *ends("lead", "the lead", signed),
    ),
)

CHAIN_TABLES: Final[Mapping[str, Table]] = {"chains": CHAINS}
