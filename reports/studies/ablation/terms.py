"""What the words and numbers of the section on ablation mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ABLATION: Final[Sequence[tuple[str, str]]] = (
    (
        "Ablated",
        "What stands in the place of a head's output, before W_O. zero: nothing (Michel et al. 2019). uniform: what "
        "it would write if it attended to all tokens alike (Kovaleva et al. 2019). mean: its mean over all tokens of "
        "the texts of the behaviour; mean by position: over those at the same position. resample: its output on "
        "another text of like length. The ways differ: an output far from all that the model has seen in training can "
        "do harm of its own.",
    ),
    (
        "Cost",
        "By how much the model does worse without the heads: value with all heads less value without them, item by "
        "item. Below 0 the model does better without them. The 95 % interval is of a bootstrap over documents or "
        "templates, paired.",
    ),
    (
        "Behaviours",
        "masked-LM loss: log-probability of masked word pieces, in nats a piece. Minimal pairs: by how many nats the "
        "correct sentence is preferred to the incorrect one, and the share of pairs in which it is. Sentence "
        "embedding: cosine of the mean of the last vectors with what it is with all heads. A head's name with a "
        "label: the accuracy of that head while heads below it are ablated.",
    ),
    (
        "Corrected p",
        "p of a sign-flip test of the costs of clusters, two-sided (heads can help and hurt), corrected for all "
        "heads of the behaviour. A sentence embedding can only move away from what it was, so there a head is tested "
        "against the median head of each text, and a small p means that it costs more than that one.",
    ),
    (
        "Selected against random",
        "Heads that a label of a probe selects are ablated together, and as many random heads of the same layers, "
        "repeatedly. With top = 0 in [ablation] heads are selected by their verdict, which is of the report split: "
        "masked-LM loss and embedding are measured on sentences of that split too, so there selection and test share "
        "texts; with top above 0 heads are selected on the other split. p is the share of these sets, the selected "
        "one among them, that cost at least as much: with 20 draws it cannot be below 1/21. Significantly more means "
        "that p is below 0.05 and the interval of the difference lies above 0; no p is corrected for the number of "
        "contrasts.",
    ),
)
