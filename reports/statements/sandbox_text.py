"""What the page of the sandbox says: texts on the study, its null hypotheses and its rates."""

from __future__ import annotations

from reports.statements.sandbox_record import ANY, RIGHT_NO, WRONG_NO

ABOUT = (
    "The sandbox tests the statistics of headscope where the truth is known, which no real model allows. Heads of "
    "known roles are planted in a model of random weights. In a share of cases such a head attends to the correct "
    "word, and to a random other word in the rest. The share differs between documents; over all of them it decides "
    "by how many points the head is above the strongest of its baselines, its true lead: baselines and controls for "
    "the first grade, the lexical table too for the second, rules of grammar too for the third.",
    "The model reads a large corpus of the embedded grammar once. A simulated run draws documents of that pass, with "
    "replacement, for a selection and a report split, and tests their counts with the same statistics as real runs. "
    "So a run costs little, thousands can be simulated, and the true value of every head is known exactly: it is that "
    "of the whole pass.",
    "Whether this shortcut is sound is checked by whole runs: new texts, read again, with learned baselines and "
    "controls. Heads are also built by weights, and models without any knowledge are put through complete runs.",
)

CRITERION = (
    "Heads of known roles are planted in a model of random weights, and simulated runs test them as real runs are "
    "tested. A statement holds where nothing speaks against it by more than the Monte-Carlo error; intervals in "
    "brackets are 95 % Monte-Carlo intervals."
)

RULE = (
    "The rule: a head has a grade in a label where it leads all baselines up to that grade by more than {margin} "
    "points on the report split, with an adjusted p below {level} %. A label and direction has the verdict no where "
    "the upper 95 % bound of every head’s lead lies below that margin. All intervals in brackets are 95 % Monte-Carlo "
    "intervals: they show the error of a rate due to the number of simulated runs. All rates are percent."
)

POWER_TEXT = (
    "Share of simulated runs in which the planted head has the grade, in percent, by the number of documents in "
    "either split. One line a planted head; its true lead over all baselines up to the grade is in the key, in "
    "points. Bands are Monte-Carlo intervals. Heads whose lead was set no higher than the {margin} points that are "
    "tested have dashed lines: they are found in no more than {level} % of runs, whatever n."
)

NEEDED_TEXT = (
    "Read off the curves above by the planted lead (true leads are a little off it), between sizes along the "
    "logarithm of scored words, for the role that needs most. A role that has the power already at its smallest size "
    "is uninformative and left out, unless all have."
)

FALSE_TEXT = (
    "How often a grade is given to a head whose true lead is no more than the margin, and a label and direction gets "
    "the verdict no. The line is the nominal level, {level} %; with a Monte-Carlo error {goal} % are allowed. "
    "Bars of a rate are sizes, in documents of either split."
)

BESIDE_TEXT = (
    "The same rates in the runs of the power curves, where null heads stand beside planted ones. There any false find "
    "in a run may be more frequent, because the correction over labels controls the share of false labels, not "
    "whether there is any."
)

COVERAGE_TEXT = (
    "Share of intervals that hold the true value of the planted head. The goal is {low} to {high} %. Beside the mean "
    "over all roles and margins there are the lowest and the highest of them. Heads of one run read the same documents "
    "and are not independent, so the interval of the mean is Wilson’s for as many observations as there are runs, each "
    "counted once for all of its roles: too wide rather than too narrow. True values of 0 or 1 and below have no cell."
)

TESTED_TEXT = "How much was tested under each null hypothesis."

NULL_COVERAGE_TEXT = "The same for the margins of all heads under each null hypothesis."

SHORTCUT_TEXT = (
    "Whole runs, with new texts, learned baselines and controls of their own, beside simulated ones of the same "
    "planted heads and size. Shares are compared by Fisher’s exact test, standard deviations by an F test. Means are "
    "compared by Student’s t, with the variation of simulated runs; the large pass is itself a sample of the grammar, "
    "around whose mean simulated runs gather, and that is part of the interval of the difference."
)

WEIGHTS_TEXT = (
    "A small model whose weights were set by hand so that a head attends to a place; the head that a run then selects "
    "for that place."
)

NULL_RUNS_TEXT = (
    "Complete runs, all probes and all controls on, of MiniLM’s architecture with random weights, or with its own "
    "weights permuted. No head should have a grade."
)

_BORDER = {
    1: "Heads moved so that their true lead over the strongest baseline or control is exactly the margin that is "
    "tested: the border of the null hypothesis, where a rate far below the nominal level would mean a needlessly "
    "conservative test.",
    2: "The same with the lead over the strongest of baselines, controls and the lexical table, of the labels that "
    "have a table: where the table is stronger, heads have the first grade correctly and only the second is at its "
    "border.",
    3: "The same with the lead over the strongest of all baselines, rules of grammar among them, of the labels that "
    "have rules.",
}

NULLS = {
    "random weights": "Heads of a model of random weights against all baselines and controls: among them the level of "
    "other random models, so that most heads are well below what they would have to lead.",
    "permuted gold": "Gold labels are permuted: the gold of every item is drawn at random among its "
    "candidates, so that no head can know it, whatever it attends to.",
    "offset decoys": "Heads that follow the label’s best offset, always or with noise: they know a distance and no "
    "grammar, and the offset is one of the baselines.",
    "one head at the margin": "For every label and direction one head, a planted one, is moved so that its true lead "
    "is exactly the margin that is tested; the heads of random weights beside it stay. The hardest case for the "
    "verdict no.",
    "one head, permuted gold": "The same where gold is random, so that baselines and controls are nearly "
    "equal: which of them is the strongest is chance.",
    **{f"grade {grade}, all at the margin": meaning for grade, meaning in _BORDER.items()},
    **{
        f"grade {grade}, unequal lengths": "The same, with documents joined to others: the "
        "logarithm of how many are joined is normal with standard deviation 1."
        for grade in _BORDER
    },
    **{
        f"grade {grade}, better in short documents": "The same, with heads that get 10 points "
        "more for each halving of a document’s length, and so much less in long ones that their accuracies stay. A run "
        "that happens to draw more short documents finds leads above the margin."
        for grade in _BORDER
    },
    "heads and controls alike": "Heads of the run and of a control are correct equally often, but for one head that "
    "leads by exactly the margin. The models of the control differ in nothing but the documents that they read.",
    "rarely correct": "One item a document. Every head is correct in as many of them as the margin is wide, and its "
    "baseline never: in a small corpus a head may happen to be never correct.",
    **{
        f"{corpus}, all at the margin": "Heads of MiniLM on a real corpus, with all labels of single sentences that 20 "
        "documents ask: in every label all heads are moved so that their true lead is exactly the margin. Labels share "
        "documents, heads and words as those of a real run do."
        for corpus in ("ewt", "gum")
    },
    "wrong in whole documents": "Heads are correct in every word of 98 documents of 100 and in none of the other "
    "two, and lead by exactly the margin: a small corpus may have none of these two.",
}
"Null hypothesis -> what it is. One that is not here is shown without."

RATES = {
    "per head, uncorrected": "share of null heads whose own p is below the level, for the first grade",
    "family-wise within a label": "share of labels in which any null head is found, corrected for the heads of the "
    "label only",
    ANY: "share of runs in which any null head has the grade, after all corrections",
    "labels with a false find, of labels with a find": "false discovery rate over the labels of a run, after all "
    "corrections",
    WRONG_NO: "share of labels and directions with the verdict no although some head’s true lead reaches the margin",
    RIGHT_NO: "share of labels and directions with the verdict no, of those in which no head’s true lead reaches the "
    "margin: the power of that verdict",
}
"Rate, whatever its grade -> what is counted. One that is not here is shown without."

DIFFERENT = (
    "Runs of the sandbox draw fewer resamples than a real run does; the numbers are above.",
    "Offsets, the lexical table and tag sets of rules are learned once, on the whole population; a real run learns "
    "them on its selection split. Whole runs, which are compared with the simulated ones, learn them as real runs do.",
    "Permuted weights and shuffled word order are not among the sandbox’s controls, for its models have random weights "
    "anyway; the complete runs on models without knowledge have all controls.",
    "Texts are those of the embedded grammar. Where real documents differ more from each other, the same number of "
    "scored words is worth less than here.",
)
"How the sandbox differs from a real run."
