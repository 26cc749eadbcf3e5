"""Claim: decoders of two layers grow induction heads, all at once, and learn from the text at hand by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.claims.claim import Claim, Work
from experiments.claims.record import ClaimResult, ClaimStatement, Measure, Row
from experiments.claims.trained import by_seed, trainings
from experiments.decoders.induction_measures import (
    COPIED,
    HAS_ROLE,
    LEFT,
    LOSS,
    ROLES,
    SCORE,
    SINKS,
    InductionSection,
    Texts,
    course_of,
    taken_out,
)
from experiments.decoders.repeated_pieces import DUPLICATE, INDUCTION, PREVIOUS
from experiments.decoders.sinks import SINK
from experiments.statements.estimates import difference, mean_of
from experiments.statements.rule import Rule
from experiments.training.checkpoints import read_checkpoints

ONE, TWO = "one layer", "two layers"

COURSES = (
    (INDUCTION, "what followed before: strongest attention of the selected head", "%"),
    (PREVIOUS, "token before: strongest attention of the selected head", "%"),
    (DUPLICATE, "same token before: strongest attention of the selected head", "%"),
    (COPIED, "second time predicted from the first", "%"),
    (SCORE, "in-context learning score", "nats"),
    (SINKS, "heads and texts with a sink at the first piece", "%"),
    (LOSS, "evaluation loss", "nats"),
)
"Key, name on the page, and unit of what is measured at every checkpoint."

NONE_AT_MOST = 0.1
"Share at which a decoder of one layer is said to have no such head."

SHORT = 0.2
"Share of the training that counts as a short part of it."

Course = Mapping[str, Sequence[float]]
"Measure -> its values at the checkpoints; their steps are under the key steps."


def measure(section: InductionSection, work: Work) -> ClaimResult:
    """Train decoders of one and of two layers, follow each through its checkpoints, and take heads out at the end."""
    courses: dict[str, dict[int, Any]] = {}
    effects: dict[str, dict[int, Any]] = {}
    texts: Texts | None = None
    for depth, layers in ((ONE, 1), (TWO, 2)):
        folders = trainings(section, work, depth.replace(" ", "-"), layers=layers)
        courses[depth], effects[depth] = {}, {}
        for seed, folder in folders.items():
            checkpoints = read_checkpoints(folder)
            texts = texts or Texts.of(section, checkpoints[-1].folder)
            courses[depth][seed] = work.part(f"{depth} seed {seed}", partial(course_of, checkpoints, texts))
            last = partial(taken_out, checkpoints[-1], texts, section.draws, seed)
            effects[depth][seed] = work.part(f"{depth} seed {seed} without heads", last)
            work.progress(f"measure {depth}", len(courses[depth]), len(folders))
    return ClaimResult(_measures(courses, effects), statements(courses, effects[TWO]), _noticed(effects, texts))


def rise(course: Course) -> tuple[float, float]:
    """Return the steps at which INDUCTION passes a quarter and three quarters of its way from first to highest.

    Between checkpoints it goes in a straight line.
    """
    steps, values = np.asarray(course["steps"]), np.asarray(course[INDUCTION])
    top = int(values.argmax())
    places = []
    for part in (0.25, 0.75):
        level = values[0] + part * (values[top] - values[0])
        after = int(np.argmax(values[: top + 1] >= level))
        if after == 0:
            places.append(float(steps[0]))
            continue
        share = (level - values[after - 1]) / (values[after] - values[after - 1])
        places.append(float(steps[after - 1] + share * (steps[after] - steps[after - 1])))
    return places[0], places[1]


def fall(course: Course, start: float, end: float) -> float:
    """Return by how much the in-context learning score changes between two steps, in nats."""
    before, after = np.interp([start, end], course["steps"], course[SCORE])
    return float(after - before)


def _measures(courses: Mapping[str, Mapping[int, Course]], effects: Mapping[str, Mapping[int, Any]]) -> list[Measure]:
    told = [
        Measure(
            name,
            unit,
            tuple(
                Row(depth, step, seed, value)
                for depth, by in courses.items()
                for seed, course in by.items()
                for step, value in zip(course["steps"], course[key], strict=True)
            ),
            axis="step",
        )
        for key, name, unit in COURSES
    ]
    without = ("without induction heads", "without as many others")
    for key, name, unit in (one for one in COURSES if one[0] in (SCORE, COPIED)):
        rows = [
            Row(f"{TWO}, {way}", None, seed, one[key][number])
            for number, way in enumerate(without)
            for seed, one in effects[TWO].items()
            if key in one
        ]
        whole = [Row(f"{TWO}, all heads", None, seed, courses[TWO][seed][key][-1]) for seed in effects[TWO]]
        told.append(Measure(f"{name} at the end", unit, (*whole, *rows)))
    counts = [
        Row(f"{depth}: {role}", None, seed, float(len(one["heads"][role])))
        for depth, by in effects.items()
        for role in ROLES
        for seed, one in by.items()
    ]
    return [*told, Measure("heads of each role at the end", "heads", tuple(counts))]


def statements(courses: Mapping[str, Mapping[int, Course]], effects: Mapping[int, Any]) -> list[ClaimStatement]:
    """Return the statements about courses (depth -> seed) and about what is left of two layers without heads."""
    at_end = {
        (depth, key): by_seed({seed: {key: course[key][-1]} for seed, course in by.items()}, key)
        for depth, by in courses.items()
        for key in (INDUCTION, SCORE, SINKS)
    }
    spans = {seed: rise(course) for seed, course in courses[TWO].items()}
    shares = [(end - start) / courses[TWO][seed]["steps"][-1] for seed, (start, end) in spans.items()]
    falls = {
        depth: {seed: fall(courses[depth][seed], *spans[seed]) for seed in spans if seed in courses[depth]}
        for depth in courses
    }
    found = "share of queries whose most attended piece is the one after the same piece before, selected head"
    return [
        ClaimStatement(
            "With two layers a head attends to what followed the same piece before",
            f"{found}, at the end, {TWO}",
            "%",
            mean_of([*at_end[TWO, INDUCTION].values()]),
            Rule(above=HAS_ROLE),
        ),
        ClaimStatement(
            "With one layer no head does",
            f"{found}, at the end, {ONE}",
            "%",
            mean_of([*at_end[ONE, INDUCTION].values()]),
            Rule(below=NONE_AT_MOST),
        ),
        ClaimStatement(
            "The head arises in a short part of the training",
            "steps from a quarter to three quarters of its rise, share of all steps",
            "%",
            mean_of(shares),
            Rule(below=SHORT),
        ),
        ClaimStatement(
            "In these steps the in-context learning score falls, further than with one layer",
            f"change of the score in these steps, {TWO} − {ONE}, paired by seed",
            "nats",
            difference(falls[TWO], falls[ONE]),
            Rule(below=-0.1),
        ),
        ClaimStatement(
            "Two layers learn more from the text at hand than one",
            f"in-context learning score at the end, {TWO} − {ONE}, paired by seed",
            "nats",
            difference(at_end[TWO, SCORE], at_end[ONE, SCORE]),
            Rule(below=-0.1),
        ),
        *_without(effects),
        ClaimStatement(
            "With so few texts there are no attention sinks",
            f"heads and texts whose mean attention to the first piece is above {SINK:g}, at the end, {TWO}",
            "%",
            mean_of([*at_end[TWO, SINKS].values()]),
            Rule(below=0.01),
        ),
    ]


def _without(effects: Mapping[int, Any]) -> list[ClaimStatement]:
    def less(key: str) -> Any:
        pairs = {seed: one[key] for seed, one in effects.items() if key in one}
        own, other = ({seed: pair[number] for seed, pair in pairs.items()} for number in range(2))
        return difference(own, other)

    return [
        ClaimStatement(
            "Without its induction heads a decoder learns less from the text at hand than without other heads",
            "in-context learning score without them − without as many others of their layers, paired by seed",
            "nats",
            less(SCORE),
            Rule(above=0.0),
        ),
        ClaimStatement(
            "Without its induction heads it copies less of what comes a second time than without other heads",
            "second time predicted without them − without as many others of their layers, paired by seed",
            "points",
            less(COPIED),
            Rule(below=0.0),
        ),
        ClaimStatement(
            "Induction heads are built on heads that attend to the token before",
            "strongest attention of the best induction head without heads for the token before − without as many "
            "others of their layers, paired by seed",
            "points",
            less(LEFT),
            Rule(below=-0.1),
        ),
    ]


def _noticed(effects: Mapping[str, Mapping[int, Any]], texts: Texts | None) -> list[str]:
    """Return the heads by name, and what a rule by position finds."""
    told = []
    for depth, by in effects.items():
        for seed, one in by.items():
            for role, heads in one["heads"].items():
                if heads:
                    named = ", ".join(
                        f"{layer + 1}-{head + 1} ({100 * hits:.1f} %, mean attention {100 * mean:.1f} %)"
                        for layer, head, hits, mean in heads
                    )
                    told.append(f"{depth.capitalize()}, seed {seed}, {role}: {named}.")
    if texts is not None:
        rule = f"The commonest distance finds what followed before in {100 * texts.report.commonest_offset():.1f} %"
        told.append(f"{rule} of these queries.")
    return told


CLAIM = Claim(
    name="induction",
    title="Do induction heads arise, and does in-context learning rest on them?",
    sentence="Decoders of two layers, not of one, grow heads that attend to what followed the same piece before, in a "
    "short part of the training; what they learn from the text at hand rests on these heads.",
    source="Olsson et al. 2022, In-context Learning and Induction Heads; of sinks Gu et al. 2025, When Attention Sink "
    "Emerges in Language Models",
    about=(
        "Decoders of our own with one and with two layers, trained from scratch to predict the next piece of English "
        "prose. At every checkpoint they read rows of random pieces that come twice: how many, and how many others "
        "stand between, differs from row to row, so that no fixed distance finds the piece that is asked for. Of a "
        "query the most attended piece other than itself and [CLS] is taken; the head of each role is selected on some "
        "rows and evaluated on others.",
        "In-context learning score: mean loss in the last quarter of held-out rows minus that in their second eighth.",
        f"At the end heads that attend to what followed before at {100 * HAS_ROLE:.0f} % of queries, selected on "
        "other rows, are taken out (their output replaced by its mean), and as many other heads of their layers at "
        "random; then the same with heads for the token before. A sink is a first piece that a head attends to with "
        f"more than {SINK:g} on average, in held-out texts that fill a row.",
    ),
    limits=(
        "Some million pieces of prose and a vocabulary of 2,000: names and rare words are several pieces, whose "
        "repetition rewards induction. The paper's decoders saw billions of tokens, and its score compares single "
        "places of 512.",
        "Held-out texts are of another kind than those of the training (an encyclopedia).",
        "The order of two courses does not show that one causes the other; the heads that are taken out speak to that, "
        "in the trained decoder alone.",
    ),
    section=InductionSection,
    measure=measure,
)
