"""What the words and numbers of the section on ablation mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ABLATION: Final[Sequence[tuple[str, str]]] = (
    (
        "Switched off",
        "What stands in the place of a head's output, before W_O. zero: nothing (Michel et al. 2019). uniform: what it "
        "would write if it attended to all tokens alike (Kovaleva et al. 2019). mean: its mean over all tokens of the "
        "texts of the behaviour; mean by position: over those at the same position. resample: its output on another "
        "text of like length. The ways differ: what is far from everything that the model has seen can do harm of its "
        "own.",
    ),
    (
        "Cost",
        "By how much the model does worse without the heads: value with all heads less value without them, item by "
        "item. Below 0 the model does better without them. The 95 % interval is of a bootstrap over documents or "
        "templates, paired.",
    ),
    (
        "Behaviours",
        "masked-LM loss: log-probability of masked pieces, in nats a piece. Minimal pairs: by how many nats the right "
        "sentence is preferred to the wrong one, and the share of pairs in which it is. Sentence embedding: cosine of "
        "the mean of the last vectors with what it is with all heads. A head's name with a label: the accuracy of that "
        "head while heads below it are switched off.",
    ),
    (
        "Corrected p",
        "Of random signs for the costs of clusters, two-sided (heads can help and hurt), corrected for all heads of "
        "the behaviour. A sentence embedding can only move away from what it was, so there a head is tested against "
        "the median head of each text, and a small p says that it costs more than that one.",
    ),
    (
        "Chosen against random",
        "Heads that a label of a probe selects are switched off together, and as many random heads of the same layers, "
        "again and again. With top = 0 in [ablation] heads are selected by their verdict, which is of the report "
        "split: masked-LM loss and embedding are measured on sentences of that split too, so there selection and test "
        "share texts; with top above 0 heads are selected on the other split. p is the share of these sets, the chosen "
        "one among them, that cost at least as much: with 20 draws it cannot be below 1/21. Significantly more is said "
        "where p is below 0.05 and the interval of the difference lies above 0; no p is corrected for the number of "
        "contrasts.",
    ),
)
