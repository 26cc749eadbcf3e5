"""What the numbers on relations between heads mean."""

from __future__ import annotations

from typing import Final

HEADSET: Final = (
    (
        "distance",
        "Mean Jensen-Shannon divergence of the rows of two heads at the same words, in nats: 0 for heads with the "
        "same maps, 0.69 for heads that never attend to the same place. Rows are smoothed by a thousandth (Clark et "
        "al. 2019, section 6, where it is a sum over words); where a run reads norms they are shares of their sums.",
    ),
    (
        "plane, groups",
        "The plane is the metric multidimensional scaling of the distances, the best of five random starts; it has "
        "no axes, and what lies near on it need not be near. Groups come from Ward’s linkage of the roots of the "
        "distances, which are Euclidean; unless the config states their number it is the one with the highest "
        "mean silhouette, and where that is small there are no clear groups.",
    ),
    (
        "within and between layers",
        "Means over pairs of heads of one layer, and of two. p is two-sided, of a permutation test in which heads are "
        "dealt out to layers at random.",
    ),
    (
        "overlap",
        "Mean squared cosine of the principal angles between two subspaces: 1 where one holds the other, 0 where they "
        "are orthogonal. A head reads from the span of its W_V and writes to that of its W_O. Random subspaces share "
        "what chance gives, the size of a head over that of the model; “different representation subspaces” (Vaswani "
        "et al. 2017, section 3.2.2) would share less, or no more.",
    ),
    (
        "linear CKA",
        "How alike the output vectors of two heads are at the same words, whatever their rotation, scale and shift: "
        "1 for the same, near 0 for unrelated ones (Kornblith et al. 2019).",
    ),
    (
        "randomly initialised weights",
        "The same architecture with new random weights, on the same texts. Its maps are nearly uniform, so that its "
        "heads are near to each other and its outputs similar.",
    ),
    (
        "ensemble",
        "The map that is the mean of the maps of two or more heads. To the head selected on the selection split "
        "others are added one by one, each the one that helps most there; all sizes are evaluated on the report "
        "split, and the size that was best on the selection split is in bold. The gain is over the first head alone, "
        "in percentage points. Selecting several of many heads uses the gold of the selection split more than "
        "selecting one does; no weight is trained. Each interval is of its relation alone: of many, about one in "
        "forty lies above 0 by chance.",
    ),
)
"Term -> definition."
