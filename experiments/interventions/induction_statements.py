"""The statements of the claim about induction heads, from the courses of trainings and from ablations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.interventions.in_context import SINK_AT
from experiments.interventions.induction_measures import COPIED, HAS_ROLE, LEFT, SCORE, SINKS
from experiments.interventions.repeated_pieces import INDUCTION
from experiments.statements.estimates import Estimate, difference, mean_of
from experiments.statements.rule import Rule
from experiments.statements.trained import by_seed
from reports.statements.statement import JudgedStatement, judged

ONE, TWO = "one layer of the same size", "two layers"

NONE_AT_MOST = 0.1
"Share of queries at which a decoder of one layer is said to have no induction head."

Course = Mapping[str, Sequence[float]]
"Measure -> its values at the checkpoints; their steps are under the key steps."


def rise(course: Course, measured: str = INDUCTION) -> tuple[float, float]:
    """Return the steps at which a measure passes a quarter and three quarters of its way from its start to its extreme.

    The extreme is what is farthest from the start. Between checkpoints it goes in a straight line.
    """
    steps, values = np.asarray(course["steps"]), np.asarray(course[measured])
    way = np.abs(values - values[0])
    top = int(way.argmax())
    places = []
    for part in (0.25, 0.75):
        after = int(np.argmax(way[: top + 1] >= part * way[top]))
        if after == 0:
            places.append(float(steps[0]))
            continue
        share = (part * way[top] - way[after - 1]) / (way[after] - way[after - 1])
        places.append(float(steps[after - 1] + share * (steps[after] - steps[after - 1])))
    return places[0], places[1]


def abruptness(course: Course, measured: str = INDUCTION) -> float:
    """Return the steps from a quarter to three quarters of a measure's way, over those to a quarter; NaN without any.

    Whatever the length of training: 2 on a straight line from step 0, 3.8 where it saturates, ln 4 / ln (4 / 3) - 1.
    """
    start, end = rise(course, measured)
    return (end - start) / start if start > 0 else float("nan")


def fall(course: Course, start: float, end: float) -> float:
    """Return by how much the in-context learning score changes between two steps, in nats."""
    before, after = np.interp([start, end], course["steps"], course[SCORE])
    return float(after - before)


def statements(courses: Mapping[str, Mapping[int, Course]], effects: Mapping[int, Any]) -> list[JudgedStatement]:
    """Return the statements about courses (depth -> seed) and about ablations of two layers."""
    return [*_of_heads(courses), *_of_context(courses), *_of_ablations(effects), _of_sinks(courses[TWO])]


def _at_end(course: Mapping[int, Course], key: str) -> dict[int, float]:
    return by_seed({seed: {key: one[key][-1]} for seed, one in course.items()}, key)


def _of_heads(courses: Mapping[str, Mapping[int, Course]]) -> list[JudgedStatement]:
    found = "queries whose most attended piece is the one after the same piece before, selected head, at the end"
    return [
        judged(
            "With two layers a head attends to what followed the same piece before",
            f"{found}, {TWO}",
            mean_of([*_at_end(courses[TWO], INDUCTION).values()]),
            Rule(above=HAS_ROLE, unit="%"),
        ),
        judged(
            "With one layer of the same size no head does",
            f"{found}, {ONE}",
            mean_of([*_at_end(courses[ONE], INDUCTION).values()]),
            Rule(below=NONE_AT_MOST, unit="%"),
        ),
        judged(
            "The head arises within half of the steps that it took to begin",
            "steps from a quarter to three quarters of its rise, over the steps to a quarter",
            mean_of([abruptness(course) for course in courses[TWO].values()]),
            Rule(below=0.5, unit="times"),
        ),
    ]


def _of_context(courses: Mapping[str, Mapping[int, Course]]) -> list[JudgedStatement]:
    spans = {seed: rise(course) for seed, course in courses[TWO].items()}
    falls = {
        depth: {seed: fall(by[seed], *spans[seed]) for seed in spans if seed in by} for depth, by in courses.items()
    }
    return [
        judged(
            "While the head arises, the in-context learning score falls, further than with one layer of the same size",
            f"change of the score from a quarter to three quarters of the rise, {TWO} − {ONE}, paired by seed",
            difference(falls[TWO], falls[ONE]),
            Rule(below=-0.1, unit="nats"),
        ),
        judged(
            "Two layers have more in-context learning than one of the same size",
            f"in-context learning score at the end, {TWO} − {ONE}, paired by seed",
            difference(*(_at_end(courses[depth], SCORE) for depth in (TWO, ONE))),
            Rule(below=-0.1, unit="nats"),
        ),
    ]


def _of_ablations(effects: Mapping[int, Any]) -> list[JudgedStatement]:
    def less(key: str) -> Estimate:
        pairs = {seed: one[key] for seed, one in effects.items() if key in one}
        return difference(*({seed: pair[number] for seed, pair in pairs.items()} for number in range(2)))

    return [
        judged(
            "Without its induction head a decoder has less in-context learning than without another head",
            "in-context learning score, the head ablated − another of its layer ablated, paired by seed",
            less(SCORE),
            Rule(above=0.0, unit="nats"),
        ),
        judged(
            "Without its induction head it copies less of what comes a second time than without another head",
            "second time predicted, the head ablated − another of its layer ablated, paired by seed",
            less(COPIED),
            Rule(below=0.0),
        ),
        judged(
            "The induction head is built on a head that attends to the token before",
            "queries at which it attends to what followed before, that head ablated − another of its layer ablated, "
            "paired by seed",
            less(LEFT),
            Rule(below=-0.1),
        ),
    ]


def _of_sinks(courses: Mapping[int, Course]) -> JudgedStatement:
    return judged(
        "With so few texts there are no attention sinks",
        f"pairs of head and text whose mean attention to the first piece is above {SINK_AT:g}, at the end, {TWO}",
        mean_of([*_at_end(courses, SINKS).values()]),
        Rule(below=0.01, unit="%"),
    )
