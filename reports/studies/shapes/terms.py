"""What the numbers on the attention statistics mean."""

from __future__ import annotations

from typing import Final

SHAPES: Final = (
    (
        "token, word",
        "Entropy, confidence, attention to special tokens and punctuation, sieves and classes are about the "
        "model’s tokens, as in the papers: the pieces of words, [CLS] and [SEP]. Offsets and distances are about "
        "words. A text counts once, however long it is; what a text does not have (a tree, a word eight further "
        "on) it does not count for.",
    ),
    (
        "entropy",
        "Of a row, in nats: 0 if all attention goes to one token, log n if n tokens get the same. A ten-thousandth "
        "of the row is replaced by uniform attention first (Clark et al. 2019, section 3.3, and their code). Mean "
        "over all rows, and the row of [CLS].",
    ),
    (
        "confidence",
        "Mean over the pieces of words of the largest attention to one token, [SEP] aside (Voita et al. 2019, "
        "section 5.1, who leave out the end of the sentence).",
    ),
    (
        "attention to",
        "Mean over all tokens, special ones too, of the attention that goes to [CLS], to [SEP], to a period or a "
        "comma (Clark et al. 2019, section 3.2, figure 2), or to words that the corpus tags PUNCT.",
    ),
    (
        "offset",
        "Mean attention to the word so many words further on, over the words that have one there. −1 is the "
        "previous word; special tokens take their part.",
    ),
    (
        "distance",
        "Mean distance in words between a word and the words it attends to, weighted by attention; itself is 0 "
        "away, and attention to special tokens does not count (after Vig and Belinkov 2019).",
    ),
    (
        "sieve",
        "Mean attention to the tokens of a sieve, over that to all tokens; mean over tokens (Pande et al. 2021). 1 "
        "is uniform attention. Local: up to two tokens away. Delimiter: [CLS] and [SEP]. Syntactic: the head and the "
        "dependents of a word in the tree. Block: the words of the same sentence in windows of several, times the "
        "row’s entropy over log n, for a block is broad (the paper takes the entropy itself, which grows with the "
        "length of a text). A head is significantly above the threshold by a one-sided sign-flip test by cluster at 5 "
        "%, corrected for all heads (step-down maximum) and all sieves (Benjamini and Bogomolov 2014); the paper "
        "takes t tests and corrects for nothing.",
    ),
    (
        "class",
        "Type of a map (Kovaleva et al. 2019, section 4.1), by rules. Shares of a map are given as an excess over "
        "uniform attention, so that all there is makes 1. A column is a line if it gets 0.1 more than its uniform "
        "share of each row on average. If lines, and outside of them each token with its two neighbours, have an "
        "excess of 0.5 together, the map is vertical + diagonal where each has 0.1, else vertical or diagonal by the "
        "larger one. If not, it is a block where words keep an excess of 0.5 to their own sentence, in windows of "
        "several, and else heterogeneous. Maps of fewer than 8 tokens have no class.",
    ),
    (
        "near ties",
        "Maps with a number within 0.00001 of a threshold that their class hangs on. Another batch size or machine "
        "can change at most that many.",
    ),
)
"Term -> definition, for the section on the attention statistics; `probes.maps.classes.ClassRule` has its thresholds."
