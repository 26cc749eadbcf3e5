"""What the numbers on gates, importance and pruning mean."""

from __future__ import annotations

from typing import Final

GATING: Final = (
    (
        "gate",
        "A factor on the output of a head, before W_O: 1 leaves the head as it is, 0 ablates it (Michel et al. 2019, "
        "section 2.2).",
    ),
    (
        "importance",
        "The mean over items of |d value / d gate| at gates of 1 (Michel et al. 2019, equation 2): every item has "
        "gates, and so a gradient, of its own; the absolute value is taken item by item, nothing adds up from batch "
        "to batch, and no gradient is taken of a weight. The value is that of the behaviour: log-probability of "
        "masked word pieces, or by how much the correct sentence is preferred (the margin itself, not a loss of it, "
        "so that importance and cost have one unit). A sentence embedding is as near to itself as it can be, so its "
        "distance has no slope: there importance is the length of the derivative of the embedding of length 1, from "
        "random directions. Intervals are of resampled clusters.",
    ),
    (
        "scaled by layer",
        "Divided by the length (L2) of the numbers of the layer, as Michel et al. 2019 do before they compare layers.",
    ),
    (
        "predicted cost",
        "What Taylor’s series predicts that the behaviour loses without the head: its slope (first order), or of an "
        "embedding half the squared length of the derivative (second order). Cost is what it loses when the output of "
        "the head is replaced by zero.",
    ),
    (
        "order",
        "Heads go by importance (the least first), by their own cost (each ablated alone, once, with all others "
        "there), or at random. Orders are decided on one half of the documents, curves are of the other half; a "
        "curve has every head of the order before it off as well, by zero.",
    ),
    (
        "area",
        "Under the curve of the value against the share of heads left: the mean value over all sizes. Gain: less the "
        "mean area of the random orders, with an interval of resampled clusters.",
    ),
    (
        "learned gates",
        "Hard-Concrete gates (Louizos et al. 2018; Voita et al. 2019, section 6: temperature 0.33, stretched to "
        "(−0.1, 1.1)), learned on one half of the documents and evaluated on the other. An open head costs the price, "
        "in the unit of the behaviour, so a head stays about where it is worth more than its price together with the "
        "others. A gate between 0 and 1 weakens its head.",
    ),
    (
        "roles after pruning",
        "Heads are scored once more by the probes with the least important ones ablated. Best before, best before of "
        "those that stay, and best of these after: each is selected on the selection split and evaluated on the "
        "report split.",
    ),
)
