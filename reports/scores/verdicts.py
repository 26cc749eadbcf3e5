"""What was found by the verdicts of a run, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from reports.scores.best_heads import CLASSIFIER, probes
from reports.scores.thresholds import RunThresholds
from reports.tables.grades import ANSWERS, BY_ANSWER, POSITION, SINK_KINDS, SPECIAL, counted, grade_names


@dataclass(frozen=True)
class Finds:
    """What one probe found on the report split, over all heads and not only the chosen ones."""

    probe: str
    answers: Mapping[str, int]
    (
        "Verdict on a label and direction -> how many questions have it; pooled labels are not counted beside their "
        "parts."
    )
    grades: Mapping[str, int]
    "Head that has a grade in some label -> its highest."
    special: frozenset[str] = frozenset()
    "Heads that have a grade in a special token."

    @property
    def of_language(self) -> bool:
        """Whether the labels are roles of language."""
        return self.probe != POSITION


@dataclass(frozen=True)
class GradeCounts:
    """Heads by grade and questions by verdict, over probes."""

    by_grade: tuple[int, ...]
    "Heads whose highest grade in a role of language is 3, 2 and 1."
    position: int
    "Heads with a grade in position that are counted nowhere else."
    sinks: Mapping[str, int] | None
    "Kind of sink -> heads without a role of language; None where sinks were not measured."
    special: int
    "Heads with a grade in a special token that are no sinks and have no role of language."
    both: int
    "Heads with a grade in position and in a role of language."
    sinks_too: int
    "Sinks with a grade in a role of language."
    counted: int
    "Heads that any of these numbers counts, sinks without a grade among them."
    answers: Mapping[str, int]
    "Verdict -> questions about roles of language."
    tests_language: bool

    @classmethod
    def of(cls, finds: tuple[Finds, ...], kinds: Mapping[str, str]) -> GradeCounts:
        """Count what the probes found; `kinds` as in `Verdicts`."""
        language, placed = [one for one in finds if one.of_language], [one for one in finds if not one.of_language]
        highest: dict[str, int] = {}
        for one in language:
            for head, grade in one.grades.items():
                highest[head] = max(grade, highest.get(head, 0))
        position = {head for one in placed for head in one.grades}
        sinks = {head: kind for head, kind in kinds.items() if kind and head not in highest}
        special = {head for one in placed for head in one.special} - highest.keys() - sinks.keys()
        by_grade = tuple(sum(grade == wanted for grade in highest.values()) for wanted in (3, 2, 1))
        answers = {answer: sum(one.answers.get(answer, 0) for one in language) for answer in ANSWERS}
        alone, both = position - highest.keys() - sinks.keys() - special, position & highest.keys()
        by_kind = {kind: list(sinks.values()).count(kind) for kind in SINK_KINDS} if kinds else None
        too = sum(bool(kinds.get(head)) for head in highest)
        named = len(highest) + len(alone) + len(sinks) + len(special)
        return cls(by_grade, len(alone), by_kind, len(special), len(both), too, named, answers, bool(language))


@dataclass(frozen=True)
class Verdicts:
    """All that a page says about verdicts beside those of single rows."""

    rule: RunThresholds
    finds: tuple[Finds, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)
    'Name of a head -> one of SINK_KINDS, or "" where it is no sink; empty where that was not measured.'

    @property
    def tests_language(self) -> bool:
        """Whether any role of language was tested."""
        return any(one.of_language for one in self.finds)

    @property
    def specialised(self) -> frozenset[str]:
        """Heads that have a grade in a role of language."""
        return frozenset(head for one in self.finds if one.of_language for head in one.grades)

    @property
    def undecided(self) -> str:
        """That most questions are undecided, where they are; no head with a grade then shows little."""
        answers = GradeCounts.of(self.finds, self.kinds).answers
        most = answers.get("undecided", 0) > sum(answers.values()) / 2
        return "Most label–direction pairs are undecided: this does not show that there is none." if most else ""

    def counted(self, heads: int) -> tuple[str, ...]:
        """Return heads by grade and questions by verdict, in sentences; `heads` is how many the model has."""
        counts, said = GradeCounts.of(self.finds, self.kinds), []
        if counts.tests_language:
            names = grade_names(controlled=self.rule.controlled)
            grades = ", ".join(f"{n} {name}" for n, name in zip(counts.by_grade, names[:0:-1], strict=True))
            said.append(f"Heads by highest grade in a role of language: {grades}, of {heads}.")
        if any(not one.of_language for one in self.finds):
            said.append(_others(counts, heads))
        if counts.tests_language:
            answers = ", ".join(f"{n} {answer}" for answer, n in counts.answers.items())
            total = sum(counts.answers.values())
            said.append(
                f"Does any head have a grade? Of {total} label–direction pairs (pooled labels, subsets and position "
                f"not counted): {answers}."
            )
        return tuple(said)


def _others(counts: GradeCounts, heads: int) -> str:
    """Return what the heads without a role of language are, and how many with one are position heads or sinks too."""
    kinds = [f"{counts.position} with a grade in position only"]
    if counts.sinks is None:
        kinds.append(f"{counts.special} with a grade on a special token")
    else:
        little, spread = (counts.sinks[kind] for kind in SINK_KINDS)
        which = f" ({little} write little, {spread} spread what special tokens hold)" if little + spread else ""
        few = "with a grade on a special token but no sinks"
        kinds += [f"{little + spread} sink{'s' * (little + spread != 1)}{which}", f"{counts.special} {few}"]
    kinds.append(f"{heads - counts.counted} without any of these")
    also = [f"that also have a grade in position: {counts.both}"] if counts.both else []
    also += [f"that are also sinks: {counts.sinks_too}"] if counts.sinks_too else []
    both = f" Specialised heads {'; '.join(also)}." if also else ""
    return f"{'Other heads' if counts.tests_language else 'Heads'}: {'; '.join(kinds)}.{both}"


def find_all(scores: pd.DataFrame) -> tuple[Finds, ...]:
    """Count the verdicts of every probe that has any; trained classifiers have none."""
    tested = scores[(scores["split"] == "report") & scores["p_adjusted"].notna() & (scores["probe"] != CLASSIFIER)]
    return tuple(_finds(probe, tested[tested["probe"] == probe]) for probe in probes(tested))


def _finds(probe: str, tested: pd.DataFrame) -> Finds:
    questions = tested.drop_duplicates(["label", "variant"])
    asks = ~tested["label"].str.contains(BY_ANSWER)
    graded = tested[(tested["grade"] > 0) & asks].groupby("name")["grade"].max()
    special = tested[(tested["grade"] > 0) & tested["label"].isin(SPECIAL)]["name"]
    answers = questions.loc[counted(questions["label"]), "verdict"].value_counts().to_dict()
    return Finds(
        probe,
        {answer: int(answers.get(answer, 0)) for answer in ANSWERS},
        {str(name): int(grade) for name, grade in graded.items()},
        frozenset(map(str, special)),
    )
