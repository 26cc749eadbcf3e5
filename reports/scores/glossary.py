"""What the numbers of a report mean, and what they do not mean."""

from __future__ import annotations

from typing import Final

from reports.tables.grades import STABLE
from reports.tables.marks import FEW_CLUSTERS
from reports.tables.scores import SCORES

COLUMNS: Final = ("accuracy", "mass", "coverage", "share", "margin", "stability", "precision", "lift", "near ties")
"Terms that are columns of scores.parquet: what the column means comes first."

_TERMS: Final = {
    "accuracy": "Ties between exactly equal candidates count as a random choice would on average. The words that are "
    "scored, and which words are candidates, are the probe’s definition; the direction names it.",
    "direction": "In which direction attention is read (column variant of the files). dependent->head reads the row of "
    "the dependent: correct if its most attended word is its head. head->dependent reads the row of the head: correct "
    "if its most attended word is any of its dependents with that label. head<-dependent reads the column of the "
    "dependent: correct if the word that attends most to it is its head. Other names with an arrow are read alike: "
    "preposition->object reads the row of the preposition (correct if its most attended word is the object), "
    "pronoun<-candidate the column of the pronoun (correct if, of the candidates, the antecedent attends most to it). "
    "A name without an arrow is that of the candidates.",
    "candidates": "The keys among which the most attended one is looked for. Under an arrow these are other words, or "
    "the few that the probe lists. Other words: every word of the text but the word itself. All words: the word itself "
    "too (in coreference, other words). All tokens: special tokens too. Areas of other words: other words, of which "
    "every one in the area of the label is correct. Preceding mention heads: the head words of the mentions before "
    "(all, following: of all other mentions, of those after; without singletons: only of mentions that corefer with "
    "another one). By column: the same, but correct if the candidate that attends most to the mention is one of its "
    "antecedents.",
    "mass": "Special tokens take their part of the query’s attention.",
    "coverage": "The rest goes to special tokens and others. For head<-dependent mass and coverage are what the word "
    "receives; columns need not sum to 1, so that coverage can pass 100 %.",
    "share": "A head that gives 95 % to [SEP] can still have an accuracy of 100 %; then its coverage is small.",
    "broad": "This position label has its own definition. Accuracy is the share of words, in windows of at least 20 "
    "keys, on whose row no key gets more than 10 % of the attention (after Clark et al. 2019, section 3.2); mass is "
    "the attention outside the most attended key. It has no baseline, for uniform rows are its ceiling, and so no "
    "margin and no grade.",
    "baseline": "What needs no trained attention: one fixed offset, the likeliest distance, the previous word, the "
    "nearest mention, the same head word, the nearest or the first of few candidates, uniform rows. Whatever a "
    "baseline learns, it learns on the selection split. The one shown is the strongest of all baselines and controls "
    "on the report split, so this choice never favours the head; on the selection split there are no controls.",
    "control": "A baseline made of heads: those of models with randomly initialised weights; of models with weights "
    "permuted within each matrix; of the model itself on shuffled word order, where the gold follows the words. "
    "Untrained models count by a level, the accuracy that the best heads of 95 % of a kind stay below: their mean and "
    "1.645 standard deviations, less what a sample of documents adds; word orders by their mean. It has an error of "
    "its own, for there are few models and they read part of the report split; leads over it allow for that.",
    "margin": "Both are of the same items; it is written in percentage points.",
    "interval": "95 %, from a regression of the documents’ means on the logarithm of their length (sentences where "
    "a corpus has no documents), so that long and short documents may differ. Errors leave one document out (CR3; "
    "Bell and McCaffrey 2002; Pustejovsky and Tipton 2018). A few made-up items keep intervals wide where little "
    "was seen: for accuracies two hits and two misses (Agresti and Coull 1998), for either end of the interval of a "
    "lead one more item (after Agresti and Min 2005). That of a margin over a control has the error of its level as "
    f"well. With an effective number of documents below {FEW_CLUSTERS} (⚠) they are rough all the same. Intervals "
    "are not corrected for the number of heads and labels on the page; the adjusted p is.",
    "effective number of documents": "(sum n)^2 / sum n^2 over the scored words n of each document. It equals the "
    "number of documents where all are of one length, and is smaller the more a few long ones outweigh the others.",
    "p": "One-sided t test from the regression of the intervals, with Hall’s (1992) correction for skewness. H0: the "
    "margin is at most the threshold ([verdict] margin). The largest p over all baselines of the grade counts. In "
    "scores.parquet; for one head in one label, so not corrected.",
    "adjusted p": "p corrected twice: for all heads of the label (Holm 1979; column p_label of scores.parquet), and "
    "once more for all labels of the run (Benjamini and Yekutieli 2001, for labels that depend on each other; heads "
    "held to the selected share, Benjamini and Bogomolov 2014). It is never below the chance that a sample of so many "
    "documents (effective number) has no document in which the head fails, if such documents were just frequent enough "
    "to bring the margin down to the threshold. There is one for each grade.",
    "stability": "Where it is low, other heads are about as good, and which of them is selected is chance, even where "
    "the head has a grade.",
    "grade": "How far a head’s lead in a label is shown on the report split: 1 beyond position and whatever controls "
    "the run has, 2 beyond words (the lexical table too), 3 beyond grammar rules (every rule of grammar too). "
    "Grades are tested in this order and stop at the first failure. Every head is graded, not only the "
    "selected one. Redraws of the controls (their models, drawn again from those that were read) show how far a "
    f"grade is luck: it is stable where it holds in {100 * STABLE:g} % of them, and borderline where it does not.",
    "specialised": "With a stable grade in a linguistic role: in any probe but position, and in no label that the "
    "answer defines (is right). Position heads and sinks are counted apart.",
    "sink": "A head whose words give special tokens at least half of their attention. It writes little if values of "
    "special tokens are at most half as long as those of words (Kobayashi et al. 2020), and otherwise spreads what "
    "they hold. A grade in [CLS] or [SEP] means only that more attention goes there than in controls. See sinks.csv.",
    "verdict on a label and direction": "Yes: some head has a grade. No: the upper 95 % bound of every head’s lead "
    "over all baselines and controls lies below the threshold ([verdict] margin; an equivalence test). Undecided: "
    "neither. The bound is shown: a lead of that much or more is excluded. Each no has an error rate of 5 % by itself: "
    "of many, some may be wrong. Pooled labels (all, or one that ends in :*) and slices of others (by distance, "
    "person, gender, place, number of attractors, or by which candidate is correct) are shown, but not counted.",
    "precision": "Accuracy is recall over the scored words; precision is over all words that the head attends to.",
    "lift": "Attention is weighed in units of uniform attention to the other words of its text, so that texts of "
    "different length can be pooled. Like precision it is measured, not tested.",
    "lexical table": "Lexical table (word form x offset, supervised), fitted on the selection split. It is reported "
    "apart from the baselines. A head that loses to it can still have grade 1, for the head got no supervision; but a "
    "head that only matches it may encode no more than words and distances.",
    "near ties": "Another batch size or machine can change at most that many.",
    "selection and report split": "The best of many heads is overestimated on the data that selected it. So heads are "
    "selected on the selection split and evaluated on the report split (held out).",
    "selectivity": "For trained classifiers: balanced accuracy (chance 50 %) minus that of the same classifier on a "
    "control task, whose labels are random by design (after Hewitt and Liang 2019).",
    "head names": "3-5 is the fifth head of the third layer: names count from 1, as in the papers. The integer columns "
    "layer and head of scores.parquet count from 0, so there it is layer 2, head 4.",
    "–": "Not measured, or as a verdict not tested: nothing was scored, or there is no baseline. Not the same as 0.",
}

MEANING: Final = {
    term: f"{SCORES.meaning(term.replace(' ', '_'))} {said}" if term in COLUMNS else said
    for term, said in _TERMS.items()
}
"Term -> definition, in the order in which a reader meets them."

MAPS: Final = {
    "weights": "attention weights",
    "norms": "norms: attention times the length of what it carries (Kobayashi et al. 2020)",
    "rollout": "rollout: attention to the input through the layers below (Abnar and Zuidema 2020)",
}
"Kind of maps -> what it is."

MAPS_TEXT: Final = {
    "norms": "This run did not read attention weights but norms: a query’s attention to a key times the length of "
    "the key’s value behind the head’s output projection, its bias left out, so that a key with much attention "
    "and a short value counts little. Most attended means the longest such vector. Rows do not sum to 1: mass and "
    "coverage are lengths of vectors, written times 100, to be compared within a layer only; share stays a "
    "fraction. Heads of controls are read in the same way. Baselines and the lexical table have no values; they "
    "give each candidate a weight, and accuracy and margin depend only on which candidate is first, so that their "
    "meaning is unchanged. In the drawn examples each row is divided by its sum. Attention statistics, where "
    "measured, are those of attention weights.",
    "rollout": "This run did not read attention weights but rollout: a head’s attention to its layer’s input, times "
    "what that input is made of if every layer below is half attention, averaged over its heads, and half "
    "residual. In the first layer these are the weights. Rows sum to 1, but what a head of a high layer seems to "
    "attend to is largely what all heads below it have mixed, so that heads of one layer are more alike. Heads of "
    "controls are read in the same way; baselines have no layers and are unchanged. Attention statistics, where "
    "measured, are those of attention weights.",
}
"Kind of maps -> how to read the numbers of a run on it; the other terms are about attention weights."

PRECISION_AND_LIFT: Final = {
    "Precision and lift": "Precision: of the words that the head attends to, the share that is correct, over all "
    "words. Lift: attention on pairs of the relation, divided by what their distances alone would get. Measured, not "
    "tested.",
}
"Both in one term, for pages without this glossary."

LIMITS: Final = (
    "A score measures what a head attends to, not whether the model uses it: attention is not explanation. Causal "
    "effects need an intervention.",
    "A head can be correct for a shallow reason. Read accuracy beside the baseline, the lexical table and the "
    "coverage.",
    "A head without a grade is no proof of absence: only the verdict no excludes leads, and only above its bound.",
    "Numbers hold for this model, these corpora and these word-level maps (attention summed over the pieces "
    "attended to, averaged over the pieces attended from, unless the configuration says otherwise).",
)
"What no number on the page can say."
