"""The terms of the section on head biographies."""

from __future__ import annotations

from typing import Final

TERMS: Final = (
    (
        "best head",
        "At each checkpoint the head with the highest accuracy, which is selected on one half of the texts and "
        "evaluated on the other, both ways round: the best of many is overestimated on the texts that selected it. "
        "Margins are over the strongest baseline; controls are not among them. The control is the first checkpoint: "
        "at step 0 it has the random weights that training starts from. The band around a curve is its 95 % interval, "
        "or the range of seeds where there are several.",
    ),
    (
        "onset",
        "A piecewise linear curve in log(step + 1) (flat, rising, flat) is fitted to the best head’s margins up to "
        "their peak (least squares; both ends of the rise are checkpoints). The onset is the middle of its rise. There "
        "is one only if the curve rises by at least the margin of [verdict], and to at least that margin.",
    ),
    (
        "interval",
        "95 % of resamples of the texts’ clusters, and of seeds where there are several, widened to the checkpoints "
        "around the onset: between two checkpoints nothing is measured. Resamples of two or three seeds differ less "
        "than other seeds would: read each seed’s own onset beside it.",
    ),
    (
        "behaviour",
        "Accuracy on minimal pairs: those of the first corpus of [behaviour] that have attractors, or all its pairs "
        "where no pair has any.",
    ),
    (
        "role",
        "A label that stands for itself, with 50 items or more; its best direction is reported. A head has the role "
        "in which its margin is largest, over the strongest baseline and over itself at the first checkpoint, if that "
        "is at least the margin of [verdict]; it holds a role that it has at two checkpoints in a row.",
    ),
    (
        "effective roles",
        "How many roles a head has, weighted: exp of the entropy of its positive margins (those of five points or "
        "more) as shares. 1 is a specialist; a head with 3 or more is called a generalist, and narrows if it has a "
        "role and 1.5 or less at the end.",
    ),
    (
        "matched heads",
        "Heads of two models are paired so that their maps of the same sentences are nearest in sum (optimal "
        "assignment on the mean Jensen-Shannon divergence of rows, in nats; at most 0.69). Beside it: the same "
        "where the other model reads other sentences of the same lengths, so that heads can be alike only in what "
        "they do with positions; and random pairs. Maps of untrained models are nearly uniform, and so near to each "
        "other whoever is paired: only numbers of one row can be compared.",
    ),
)
"Term -> definition, for the section on head biographies."
