"""What was found by the verdicts of a run, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from reports.scores.best_heads import CLASSIFIER, probes
from reports.scores.thresholds import RunThresholds
from reports.tables.grades import ANSWERS, BY_ANSWER, POSITION, SINK_KINDS, SPECIAL, counted, has_stable_grade


@dataclass(frozen=True)
class Finds:
    """What one probe found on the report split, over all heads and not only the chosen ones."""

    probe: str
    answers: Mapping[str, int]
    "Verdict on a label and direction -> how many have it; pooled labels are not counted beside their parts."
    grades: Mapping[str, int]
    "Head that has a stable grade in some label -> its highest."
    special: frozenset[str] = frozenset()
    "Heads that have a stable grade in a special token."
    borderline: frozenset[str] = frozenset()
    "Heads that have a grade in some label, and none that is stable."

    @property
    def of_language(self) -> bool:
        """Whether the labels are linguistic roles."""
        return self.probe != POSITION


@dataclass(frozen=True)
class Verdicts:
    """All that a page says about verdicts beside those of single rows: heads and questions are counted once."""

    rule: RunThresholds
    finds: tuple[Finds, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)
    'Name of a head -> one of SINK_KINDS, or "" where it is no sink; empty where that was not measured.'

    @cached_property
    def grades(self) -> Mapping[str, int]:
        """Head that is specialised -> its highest grade in a linguistic role."""
        found = [grade for one in self.finds if one.of_language for grade in one.grades.items()]
        return {head: grade for head, grade in sorted(found, key=lambda one: one[1])}

    @property
    def specialised(self) -> frozenset[str]:
        """Heads that have a stable grade in a linguistic role."""
        return frozenset(self.grades)

    @property
    def borderline(self) -> frozenset[str]:
        """Heads that have a grade in a linguistic role, and none that is stable."""
        return frozenset(head for one in self.finds if one.of_language for head in one.borderline) - self.specialised

    @property
    def by_grade(self) -> tuple[int, int, int]:
        """Heads whose highest grade in a linguistic role is 3, 2 and 1."""
        three, two, one = (sum(grade == wanted for grade in self.grades.values()) for wanted in (3, 2, 1))
        return three, two, one

    @cached_property
    def placed(self) -> frozenset[str]:
        """Heads with a grade in position."""
        return frozenset(head for one in self.finds if not one.of_language for head in one.grades)

    @cached_property
    def sinks(self) -> Mapping[str, str]:
        """Sink without a linguistic role -> its kind."""
        return {head: kind for head, kind in self.kinds.items() if kind and head not in self.grades}

    @cached_property
    def special(self) -> frozenset[str]:
        """Heads with a grade in a special token that are no sinks and have no linguistic role."""
        return frozenset(head for one in self.finds for head in one.special if not one.of_language).difference(
            self.grades, self.sinks
        )

    @property
    def position(self) -> int:
        """Heads with a grade in position that are counted nowhere else."""
        return len(self.placed.difference(self.grades, self.sinks, self.special))

    @property
    def answers(self) -> Mapping[str, int]:
        """Verdict -> questions about linguistic roles."""
        return {answer: sum(one.answers.get(answer, 0) for one in self.finds if one.of_language) for answer in ANSWERS}

    @property
    def tests_language(self) -> bool:
        """Whether any linguistic role was tested."""
        return any(one.of_language for one in self.finds)

    @property
    def undecided(self) -> str:
        """That most questions are undecided, where they are; no head with a grade then shows little."""
        most = self.answers["undecided"] > sum(self.answers.values()) / 2
        return "Most labels are undecided: this does not show that there is none." if most else ""

    def counted(self, heads: int) -> Iterator[str]:
        """Yield what the other heads are, and labels by verdict, in sentences; `heads` is how many the model has."""
        if any(not one.of_language for one in self.finds):
            yield self._others(heads)
        if self.tests_language:
            yes, no, undecided = (self.answers[answer] for answer in ANSWERS)
            yield (
                f"Linguistic labels and directions, without pools and subsets: {yes + no + undecided}; a head is "
                f"significant in {yes}, no head in {no} (by a test), and {undecided} are undecided."
            )

    def _others(self, heads: int) -> str:
        """Return what the heads without a linguistic role are, and how many with one are position heads or sinks."""
        special, kinds = len(self.special), [f"{self.position} significant in a position only"]
        if self.kinds:
            number, (little, spread) = len(self.sinks), ([*self.sinks.values()].count(kind) for kind in SINK_KINDS)
            which = f" ({little} write little, {spread} spread what special tokens hold)" if number else ""
            kinds.append(f"{number} sink{'s' * (number != 1)}{which}")
        kinds.append(f"{special}{' more' * bool(self.kinds)} significant on a special token")
        kinds.append(f"{heads - len(self.grades) - self.position - len(self.sinks) - special} without any of these")
        both = {
            "also significant in a position": len(self.placed & self.grades.keys()),
            "also sinks": sum(bool(self.kinds.get(head)) for head in self.grades),
        }
        also = "; ".join(f"{said}: {number}" for said, number in both.items() if number)
        told = f"{'Other heads' if self.tests_language else 'Heads'}: {'; '.join(kinds)}."
        return f"{told} Specialised heads {also}." if also else told


def find_all(scores: pd.DataFrame) -> tuple[Finds, ...]:
    """Count the verdicts of every probe that has any; trained classifiers have none."""
    tested = scores[(scores["split"] == "report") & scores["p_adjusted"].notna() & (scores["probe"] != CLASSIFIER)]
    return tuple(_finds(probe, tested[tested["probe"] == probe]) for probe in probes(tested))


def _finds(probe: str, tested: pd.DataFrame) -> Finds:
    questions = tested.drop_duplicates(["label", "variant"])
    asks = ~tested["label"].str.contains(BY_ANSWER)
    graded, stable = (tested["grade"] > 0) & asks, has_stable_grade(tested)
    highest = tested[stable & asks].groupby("name")["grade"].max()
    special = tested[stable & tested["label"].isin(SPECIAL)]["name"]
    answers = (
        questions.loc[questions["label"].isin(counted(probe, questions["label"])), "verdict"].value_counts().to_dict()
    )
    return Finds(
        probe,
        {answer: int(answers.get(answer, 0)) for answer in ANSWERS},
        {str(name): int(grade) for name, grade in highest.items()},
        frozenset(map(str, special)),
        frozenset(map(str, tested[graded]["name"])).difference(map(str, highest.index)),
    )
