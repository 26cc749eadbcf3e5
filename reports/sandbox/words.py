"""What the sandbox is, what its null hypotheses and rates are, and how it differs from a real run: fixed texts."""

from __future__ import annotations

from collections.abc import Sequence

from reports.formats import percent
from reports.sandbox.record import FalseFinds, Rate

ABOUT = (
    "The sandbox asks of the toolkit’s statistics what cannot be asked on a real model: are they right? Heads of known "
    "roles are planted in a model of random weights. In a share of cases such a head attends to the right word, and to "
    "a random other word in the rest; the share differs between documents, and over all of them it decides by how many "
    "points the head is above the strongest baseline or control, its true margin.",
    "The model reads a large corpus of the embedded grammar once. A simulated run draws documents of that pass, with "
    "replacement, for a selection and a report split, and judges their counts with the very statistics that judge real "
    "runs. So a run costs little, thousands can be done, and what is true of every head is known exactly: it is what "
    "the whole pass says.",
    "Whether this shortcut is sound is checked by whole runs: new texts, read again, with learned baselines and "
    "controls. Heads are also built by weights, and models without any knowledge are put through complete runs.",
)

NULLS = {
    "random weights": "Heads of a model of random weights against all baselines and controls: among them the best "
    "head of another random model, so that most heads are well below what they would have to beat.",
    "random right answers": "Labels are permuted: the right answer of every item is drawn anew among its candidates, "
    "so that there is nothing to know, whatever a head attends to.",
    "offset decoys": "Heads that follow the label’s best offset, always or with noise: they know a distance and no "
    "grammar, and the offset is one of the baselines.",
    "level with the strongest baseline": "Heads moved so that their true accuracy equals that of the strongest "
    "baseline exactly: the border of the null hypothesis, where a rate far below the nominal level would mean a "
    "needlessly conservative test.",
    "level, documents of unequal length": "The same, with documents joined to others: the logarithm of how many are "
    "joined is normal with standard deviation 1.",
    "level, unequal, better in short documents": "The same, with heads that get 10 points more for each halving of a "
    "document’s length, and so much less in long ones that their accuracies stay level. Differences are then skewed, "
    "which the sign-flip test does not allow for: a known weakness, told here but not promised.",
}
"Null hypothesis -> what it is. One that is not here is shown without."

RATES = {
    "per head, uncorrected": "share of null heads whose own p is below the level",
    "family-wise within a label": "share of labels in which any null head is found, corrected for the heads of the "
    "label only",
    "any false find in a run": "share of runs in which any null head is found after all corrections",
    "labels with a false find, of labels with a find": "false discovery rate over labels, after all corrections",
    "false heads, of heads found": "mean share of null heads among the heads found, after all corrections",
    "any head falsely called specialised in a run": "share of runs in which the whole rule is wrong of any head: it is "
    "found, and by the margin of the rule",
}
"Rate -> what is counted. One that is not here is shown without."

DIFFERENT = (
    "Runs of the sandbox draw fewer resamples and random signs than a real run does; the numbers are above.",
    "Offsets and the lexical table are learned once, on the whole population; a real run learns them on its selection "
    "split. Whole runs, which are held beside the simulated ones, learn them as real runs do.",
    "Shuffled weights and shuffled words are not among the sandbox’s controls, for its models have random weights "
    "anyway; the complete runs on models without knowledge have all controls.",
    "Texts are those of the embedded grammar. Where real documents differ more from each other, the same "
    "number of scored words says less than here.",
)
"How the sandbox differs from a real run."


def conservative(rows: Sequence[FalseFinds], level: float) -> str:
    """Say how much of the nominal level a test uses up under one null hypothesis, over all sizes."""
    parts = []
    for key, name in (("per head, uncorrected", "a single head"), ("family-wise within a label", "a whole label")):
        rates = [row.rates[key] for row in rows if row.rates.get(key, Rate()).known]
        if rates:
            low, high = (percent(end(rate.value for rate in rates)) for end in (min, max))
            spread = f"{low} %" if low == high else f"{low} to {high} %"
            parts.append(f"{spread} for {name} ({_word(max(rate.value for rate in rates), level)})")
    return f"Of {percent(level)} % allowed, the tests use {' and '.join(parts)}." if parts else ""


def _word(most: float, level: float) -> str:
    """Say where a rate lies beside the nominal level."""
    if most > level + 0.01:
        return "more than allowed"
    if most >= level - 0.01:
        return "nearly exact"
    return "somewhat conservative" if most >= level / 2 else "very conservative"
