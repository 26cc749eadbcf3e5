"""What the numbers of classifiers and parsers mean."""

from __future__ import annotations

from typing import Final

CLASSIFIERS: Final = (
    (
        "accuracy",
        "Share of the examples of the report split that a classifier predicts correctly: a logistic regression, "
        "fitted on the selection split, on the output of one head at a word (the mean over its word pieces, before "
        "W_O), or to each of two words and their product. The head shown is that with the shortest code.",
    ),
    (
        "control, selectivity",
        "The same with labels drawn at random, one for each word form, as often as the labels occur: only "
        "memorisation can solve it. Selectivity is accuracy minus control (Hewitt and Liang 2019). For pairs of words "
        "it is the first word’s form that decides; for arcs each word form has a random distance at which its answer "
        "lies. A label drawn for a frequent word is frequent, so the majority of the control can be above that of the "
        "task, and selectivity below 0.",
    ),
    (
        "compression",
        "How many times shorter the labels of the selection split become when they are sent block by block, each coded "
        "with what a classifier learned from the blocks before (online code, Voita and Titov 2020); 1 is no gain. "
        "Blocks end between documents.",
    ),
    (
        "majority, embedding, random weights",
        "Not from heads: the most frequent label, and that of the control task; a classifier on the word’s own "
        "embedding, without context. Random weights: the head of a model with randomly initialised weights that is "
        "best on the report split, which favours it. Brackets hold their selectivity.",
    ),
    (
        "lead over the embedding, p",
        "Accuracy of the selected head minus that of a classifier on the embeddings, on the same examples of the "
        "report split: a paired test by documents, with p corrected for all heads (Holm 1979).",
    ),
    (
        "related words",
        "Whether a noun is the subject of a verb (agreement), an earlier mention is of the same entity (antecedent), "
        "a word is the next one. For the first two there are as many incorrect pairs as correct ones at every signed "
        "distance, so that distance is uninformative; the next word is distance alone. The control task is as "
        "balanced as the task. Features of a head: its attention from the first word to the second and back, or its "
        "outputs before W_O of both words and their product. Its baselines: a classifier on both embeddings and their "
        "product, and one on the same head with randomly initialised weights; heads above a baseline have an adjusted "
        "p below 0.05 in the paired test. All heads: a classifier on these features of all heads at once.",
    ),
    (
        "UAS",
        "Unlabelled attachment score: share of words, punctuation aside, for which a parser picks the correct head "
        "among all other words and the root. The parser weighs the attention of all heads, there and back (Clark et "
        "al. 2019, section 4.2); “+ words” lets the weights depend on the two words’ embeddings. The best head is "
        "taken for each word by itself. The control task of a parser gives every word form one distance to its head, "
        "drawn from those that occur, or the root.",
    ),
    (
        "expected layer",
        "At which layer a task is solved, on average: classifiers are given layers 0 (the embedding) to l, and the "
        "gains by l are averaged with l as their place (Tenney et al. 2019). A layer that loses counts against it, so "
        "where gains are small the number is uncertain; no interval where not every resample gains anything.",
    ),
)
"Term -> definition, in the order in which a reader meets them."
