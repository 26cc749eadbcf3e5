"""The tables that every run folder can hold: scores, examples and behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pandas as pd

from reports.formats import decimal, percent, plain, signed
from reports.tables.column import outside
from reports.tables.grades import ANSWERS, GRADES, STABLE
from reports.tables.marks import FEW_CLUSTERS
from reports.tables.shared_columns import (
    BASELINE,
    BASELINE_ACCURACY,
    CLUSTERS,
    FRACTIONS,
    NEAR_TIES,
    NOT_NEGATIVE,
    ONE_HEAD,
    P_ADJUSTED,
    P_LABEL,
    QUESTION,
    SPLIT,
    N,
    P,
    difference,
    ends,
    flag,
    fraction,
    items,
    number,
    optional,
    p_column,
    place,
    run_table,
    text,
    whole,
)
from reports.tables.table import Refuse, Table

BEHAVIOUR_LEVELS: Final = (
    *("corpus", "field", "phenomenon", "paradigm", "condition", "attractors", "number"),
    "condition and attractors",
)
"What pairs are grouped by; a row of the first is a whole corpus."


_NAMED_GRADES: Final = ", ".join(f"{grade} {name}" for grade, name in enumerate(GRADES) if grade)


def one_decimal(value: float) -> str:
    """Write a number with one digit behind the point."""
    return decimal(value, 1)


def no_number_of_nothing(frame: pd.DataFrame, refuse: Refuse, column: str = "accuracy") -> None:
    """Refuse a number where nothing was scored."""
    refuse((frame["n"] == 0) & frame[column].notna(), f"n = 0 but `{column}` is a number, not NaN")


def _check_scores(frame: pd.DataFrame, refuse: Refuse) -> None:
    most = (frame["maps"] == "norms").map({True: float("inf"), False: 1.0})  # lengths of vectors are no fractions
    refuse(outside(frame["mass"], 0, most), "`mass` lies outside [0, 1] (fractions, not percent)")
    no_number_of_nothing(frame, refuse)


WHOLE_ATTENTION: Final = (
    fraction(
        "precision",
        "Share of the words that the head attends to, with a tenth of a word's attention or more, that are "
        "correct, over all words; missing on the selection split.",
    ),
    number(
        "lift",
        "Attention on pairs of the relation, divided by what their distances alone would get; 1 is no lift, "
        "missing on the selection split.",
        NOT_NEGATIVE,
        write=decimal,
    ),
)
"What is measured over all words."

SCORES: Final = run_table(
    "One row for each label, direction, head and split. Of maps of norms, mass and coverage are lengths of vectors.",
    ("corpus", "maps", "probe", "label", "variant", "layer", "head", "split"),
    (
        text("maps", "What was read of the heads: attention weights, norms of what they carry, or rollout."),
        *QUESTION,
        *ONE_HEAD,
        SPLIT,
        replace(N, meaning="Number of scored words; 0 without any."),
        replace(CLUSTERS, meaning="Documents, or sentences without any."),
        number(
            "effective_clusters",
            "Effective number of documents, (sum n)^2 / sum n^2 over their scored words; intervals and tests are rough "
            f"below {FEW_CLUSTERS}.",
            NOT_NEGATIVE,
            write=one_decimal,
        ),
        fraction(
            "accuracy",
            "Share of scored words whose most attended candidate is correct; higher is better, missing where n = 0.",
            "ci",
        ),
        *ends("ci", "accuracy", percent, FRACTIONS),
        number("mass", "Mean attention to correct words; missing where n = 0.", None, "mass", percent),
        *ends("mass", "mass", percent),
        number(
            "coverage",
            "Mean attention to all candidates, correct or not; above 1 only where columns or norms are read.",
            NOT_NEGATIVE,
            write=percent,
        ),
        fraction("share", "mass / coverage: part of the attention to candidates that goes to correct ones."),
        *WHOLE_ATTENTION,
        BASELINE,
        BASELINE_ACCURACY,
        difference(
            "margin", "Accuracy minus that of the strongest baseline or control; missing without one.", "margin"
        ),
        *ends("margin", "the margin", signed),
        fraction(
            "lexical_accuracy", "Accuracy of the lexical table (word form x offset, supervised); missing without one."
        ),
        *ends("lexical_margin", "accuracy minus that of the lexical table", signed),
        text("rule", "Strongest rule of grammar, such as the nearest word of a tag set; empty without one."),
        fraction("rule_accuracy", "Accuracy of that rule, which knows tags and trees; missing without one."),
        *ends("rule_margin", "accuracy minus that of the rule", signed),
        replace(NEAR_TIES, meaning="Scored words whose two most attended candidates differ by less than 0.00001."),
        replace(
            P,
            meaning="One-sided p-value that the head outperforms every baseline and control, uncorrected; missing "
            "where nothing was tested.",
        ),
        replace(P_LABEL, meaning="p of grade 1, corrected for all heads of the label (Holm)."),
        replace(P_ADJUSTED, meaning="p of grade 1, corrected for all heads and labels of the run; missing untested."),
        p_column("p_words", "Adjusted p of grade 2, the lexical table among the baselines; missing without one."),
        p_column("p_rules", "Adjusted p of grade 3, rules of grammar among the baselines; missing without one."),
        fraction("stability", "Share of resamples of the selection split in which this head is the best of all."),
        flag("selected", "Whether it is the best head of its label and direction on the selection split."),
        replace(
            whole("grade", f"Highest grade on the report split: {_NAMED_GRADES}; 0 without a grade.", write=plain),
            bounds=(0, len(GRADES) - 1),
        ),
        fraction(
            "holds",
            "Share of redraws of the controls in which the head has that grade, grade 1 where it is 0. A grade is "
            f"stable that holds in {100 * STABLE:g} % of them. Missing where nothing was tested.",
        ),
        flag(
            "specialised",
            "Whether it has a stable grade in a linguistic role: in any probe but position, and in no label that the "
            "answer defines (is right).",
        ),
        text(
            "verdict",
            "Of the label and direction: yes (some head has a grade), no (every head's lead lies below the margin), "
            "undecided; empty where nothing was tested.",
            ("", *ANSWERS),
        ),
        number(
            "excluded",
            "Upper 95 % bound of the lead of every head in the label and direction: a lead of this much or more "
            "is excluded.",
            write=signed,
        ),
        replace(
            text(
                "layer_attention",
                "Attention of the layer: global, or local with its window, the most word pieces that one attends to.",
            ),
            title="layer’s attention",
        ),
    ),
    _check_scores,
)

EXAMPLES: Final = Table(
    "One row for each arc of the example sentences: the strongest of every word, and the strongest candidates of the "
    "words that are scored.",
    ("example", "query", "key"),
    (
        place("example", "Number of the example, a sentence read by one head."),
        *QUESTION,
        *ONE_HEAD,
        SPLIT,
        text("source", "Where the sentence stands in the corpus."),
        items("words", "The words of the sentence; a column `second` says where the second text of a pair begins."),
        place("query", "The word that attends, counted from 0; -1 is [CLS], -2 is [SEP].", -2),
        place("key", "The word that is attended to, counted as queries are.", -2),
        fraction("weight", "Attention from query to key."),
        flag("gold", "Whether the arc is a correct answer."),
        flag(
            "scored",
            "Whether the arc joins a scored word and one of its candidates; by column the scored word is the key.",
        ),
    ),
    csv=False,
)

BEHAVIOUR: Final = run_table(
    "One row for each group of minimal pairs; what differs within a group is empty or missing.",
    ("corpus", "level", "phenomenon", "paradigm", "condition", "attractors", "number", "field"),
    (
        text("level", "What the pairs of the group have in common.", BEHAVIOUR_LEVELS),
        text("field", "Field of linguistics that the phenomenon belongs to, such as syntax."),
        text("phenomenon", "Grammatical phenomenon that the pairs test."),
        text("paradigm", "Kind of sentences with which they test it."),
        text("condition", "Construction between the two words that must agree."),
        optional("attractors", "Nouns of the other number between the two words that must agree."),
        text("number", "Number of the subject, singular or plural."),
        text("method", "How the two sentences are scored, such as by the probability of one masked word."),
        replace(N, meaning="Number of scored pairs; 0 without any."),
        CLUSTERS,
        fraction(
            "accuracy",
            "Share of pairs whose correct sentence gets the higher probability; chance is 0.5, missing where n = 0.",
            "ci",
        ),
        *ends("ci", "accuracy", percent, FRACTIONS),
        replace(NEAR_TIES, meaning="Scored pairs whose two sentences are so close that rounding could turn them over."),
        whole("left_out", "Pairs that could not be scored, such as those with words of several subwords."),
    ),
    no_number_of_nothing,
)

TABLES: Final[Mapping[str, Table]] = {
    "scores": SCORES,
    "examples": EXAMPLES,
    "behaviour": BEHAVIOUR,
}
"Name of the file -> what it must hold."


def write_scores(frame: pd.DataFrame, folder: Path) -> Path:
    """Write scores.parquet, and the same rows as scores.csv, into `folder`; return the path of the first."""
    return SCORES.write(frame, folder, "scores")


def write_examples(frame: pd.DataFrame, folder: Path) -> Path:
    """Write examples.parquet into `folder`; a frame without rows is fine, one without columns is not."""
    return EXAMPLES.write(frame, folder, "examples")


def read_scores(path: Path) -> pd.DataFrame:
    """Read scores.parquet, or scores.csv with the same result; ValueError says what is wrong with the file."""
    return SCORES.read(path)


def read_examples(path: Path) -> pd.DataFrame:
    """Read examples.parquet; ValueError says what is wrong with the file."""
    return EXAMPLES.read(path)
