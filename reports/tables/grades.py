"""The grades of a head in a label, the verdicts on a question, and how both are written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pandas as pd

from reports.formats import percent, points

GRADES: Final = ("none", "beyond position and controls", "beyond words", "beyond grammar rules")
"Grade of a head in a label -> its name; each grade has passed those before it."

STABLE: Final = 0.95
"Share of the redraws of the controls in which a stable grade, or the lack of one, holds; others are borderline."

ROUNDED: Final = 1e-6
"By how much such a share can differ from itself where it is published, in 32 bits."

REDRAWS: Final = 20
"How often the models of controls are drawn anew, from those of the run and with replacement."

ANSWERS: Final = ("yes", "no", "undecided")
"Verdicts on a question: some head has a grade, every head's lead lies below the margin, or neither is shown."

POSITION: Final = "position"
"The probe whose labels are no linguistic roles: previous and next word, other places, and special tokens."

SPECIAL: Final = ("[CLS]", "[SEP]")
"Its labels that are special tokens."

WRITES_LITTLE, SPREADS = SINK_KINDS = ("writes little", "spreads")
'Kinds of sinks; a head that is none has the kind "".'

BY_ANSWER: Final = r" is (?:right|meant)$"
"""What labels end in that are defined by the answer: a head that always prefers one kind of candidate is right in all
of their items, so a grade in one of them makes no head specialised."""

COUNTED: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("agreement", "antecedent", "same-atom", "sense"), ("all",)),
    "coordination": ("noun", "verb", "other"),
    "coreference": ("pronoun", "proper", "nominal"),
    "distractors": ("verb", "reflexive"),
    "negation": ("verb", "predicate", "phrase", "negated", "plain"),
}
"""Probe whose labels overlap -> those that count. All others slice them: by a count, distance, word, person, gender,
the answer, the kind of sentence or of reaction."""

POOLED: Final = re.compile(r"all|.*:\*|within=.*|.* half")
"Labels of other probes that hold the words of several: pools of relations, areas of positions."


ROLE_ITEMS: Final = 50
"Items that a label has at least to be a role of a head: with fewer, chance alone would put some head far above."


def grade_names(probe: str = "", *, controlled: bool) -> tuple[str, ...]:
    """Return the names of the grades; a run without controls has none to be beyond, nor `POSITION` positions.

    >>> grade_names(controlled=False)[1], grade_names("position", controlled=True)[1]
    ('beyond position', 'beyond baselines and controls')
    """
    first = f"beyond {'baselines' if probe == POSITION else 'position'}{' and controls' * controlled}"
    return (GRADES[0], first, *GRADES[2:])


def grade_name(grade: int, probe: str = "", *, controlled: bool) -> str:
    """Return a grade in words, as `grade_names` has them.

    >>> grade_name(2, controlled=True), grade_name(0, controlled=True), grade_name(1, "position", controlled=False)
    ('grade 2: beyond words', 'no grade', 'grade 1: beyond baselines')
    """
    return f"grade {grade}: {grade_names(probe, controlled=controlled)[grade]}" if grade else "no grade"


def result(row: Mapping[Any, Any]) -> str:
    """Return what was shown of a head in a label and direction, a row of scores, in a word or two.

    >>> common = {"p_adjusted": 0.01, "grade": 1, "specialised": False}
    >>> result(common | {"holds": 1.0}), result(common | {"holds": 0.9})
    ('significant', 'borderline')
    """
    if math.isnan(row["p_adjusted"]):
        return "not tested"
    if is_borderline(row["grade"], row["holds"]):
        return "borderline"
    return ("specialised" if row["specialised"] else "significant") if row["grade"] else "not significant"


def shown(row: Mapping[Any, Any], other: str, what: str = "significant") -> str:
    """Return the same of the best head of a label and direction; `other` has a stable grade there, where any has.

    >>> row = {"p_adjusted": 0.01, "grade": 0, "specialised": False, "holds": 0.0, "verdict": "no"}
    >>> shown(row, ""), shown(row, "head 2-1"), shown(row | {"holds": 0.5}, "")
    ('no head is significant', 'not significant; head 2-1 is', 'borderline')
    """
    found = result(row)
    if found in ("not tested", "specialised", "significant"):
        return found
    if other:
        return f"not {what}; {other} is"
    if found == "borderline" or row["verdict"] == "yes":  # of another head, which is not stable
        return "borderline"
    return "undecided" if row["verdict"] == "undecided" else f"no head is {what}"


def is_borderline(grade: int, holds: float) -> bool:
    """Return whether other draws of the controls would often say otherwise; `holds` is that of the first grade for 0.

    >>> [is_borderline(grade, holds) for grade, holds in ((1, 0.95), (1, 0.9), (0, 0.1), (0, 0.05), (0, math.nan))]
    [False, True, True, False, False]
    """
    return holds < STABLE - ROUNDED if grade else holds > 1 - STABLE + ROUNDED


def borderline_text(row: Mapping[Any, Any]) -> str:
    """Return what a row of scores says behind its grade where that, or the lack of one, is borderline; else "".

    >>> borderline_text({"grade": 1, "holds": 0.9}), borderline_text({"grade": 1, "holds": 1.0})
    (', borderline (significant in 90.0 % of redraws of the controls)', '')
    """
    if not is_borderline(int(row["grade"]), row["holds"]):
        return ""
    return f", borderline (significant in {percent(row['holds'])} % of redraws of the controls)"


def has_stable_grade(rows: pd.DataFrame) -> pd.Series:
    """Return of each row of scores whether the head has a grade there that holds in STABLE of the redraws.

    >>> has_stable_grade(pd.DataFrame({"grade": [1, 1, 0], "holds": [0.95 - 1e-8, 0.9, 1.0]})).tolist()
    [True, False, False]
    """
    return (rows["grade"] > 0) & (rows["holds"] >= STABLE - ROUNDED)


def is_of_language(rows: pd.DataFrame) -> pd.Series:
    """Return of each row of scores whether a grade there makes the head specialised: in a linguistic role.

    >>> labels = ["next", "all", "nearer is right"]
    >>> is_of_language(pd.DataFrame({"probe": ["position", "antecedent", "antecedent"], "label": labels})).tolist()
    [False, True, False]
    """
    return (rows["probe"] != POSITION) & ~rows["label"].str.contains(BY_ANSWER)


def excluded_leads(excluded: float) -> str:
    """Return which leads are excluded (upper 95 % bound of every head's lead, a fraction); "" where nothing was tested.

    >>> excluded_leads(0.073), excluded_leads(1.0)
    ('a lead of 7.3 points or more is excluded', 'no lead is excluded')
    """
    if math.isnan(excluded):
        return ""
    tenth = math.ceil(1000 * excluded - 1e-9) / 1000
    if tenth >= 1:
        return "no lead is excluded"
    return f"a lead of {points(tenth)} points or more is excluded" if tenth > 0 else "every lead is excluded"


def answered(verdict: str, excluded: float) -> str:
    """Return the verdict on a question, with the leads that are excluded where no head has a grade; "" if untested.

    >>> answered("undecided", 0.073), answered("yes", 0.2)
    ('undecided: a lead of 7.3 points or more is excluded', 'yes')
    """
    bound = excluded_leads(excluded) if verdict in ("no", "undecided") else ""
    return f"{verdict}: {bound}" if bound else verdict


def own_labels(questions: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the (probe, label) that are no pools and no slices of other labels of their probe, see `counted`.

    >>> sorted(own_labels([("dependency", "nsubj"), ("dependency", "nsubj:*"), ("agreement", "all")]))
    [('agreement', 'all'), ('dependency', 'nsubj')]
    """
    labels: dict[str, set[str]] = {}
    for probe, label in questions:
        labels.setdefault(probe, set()).add(label)
    return {(probe, label) for probe, of_probe in labels.items() for label in counted(probe, of_probe)}


def stands_alone(probe: str, label: str) -> bool:
    """Return whether a label is none that pools or slices others of its probe.

    >>> [stands_alone("dependency", label) for label in ("nsubj", "nsubj:*")], stands_alone("agreement", "all")
    ([True, False], True)
    """
    return label in COUNTED[probe] if probe in COUNTED else not POOLED.fullmatch(label)


def counted(probe: str, labels: Iterable[str]) -> set[str]:
    """Return which of the labels of a probe are counted: none whose words another one has as well.

    They are those that stand alone; where there are none it is "all", and without that all of them.

    >>> counted("dependency", ["all", "nsubj", "nsubj:*"]), counted("agreement", ["all", "person=1"])
    ({'nsubj'}, {'all'})
    """
    labels = {*labels}
    return {label for label in labels if stands_alone(probe, label)} or labels & {"all"} or labels
