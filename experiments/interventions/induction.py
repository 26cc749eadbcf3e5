"""Claim: decoders of two layers, not of one, have induction heads, and in-context learning rests on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.interventions.induction_measures import (
    COPIED,
    DUPLICATE,
    EARLY,
    HAS_ROLE,
    INDUCTION,
    LEFT,
    LOSS,
    MATCHING,
    PREVIOUS,
    ROLES,
    SCORE,
    SINK_AT,
    SINKS,
    DecoderTexts,
    InductionSection,
    ablations,
    examine,
)
from experiments.interventions.syntax import at_end, course_measures, follow
from experiments.statements.claim import Claim, Work, claim_measure
from experiments.statements.estimates import Estimate, difference, mean_of
from experiments.statements.rule import Rule
from experiments.statements.trained import trainings
from experiments.training.checkpoints import read_checkpoints
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, Row
from reports.statements.statement import JudgedStatement, judged

ONE, TWO = "one layer of the same size", "two layers"

NONE_AT_MOST = 0.1
"Share of queries at which a decoder of one layer is said to have no induction head."

Trajectory = Mapping[str, Sequence[float]]
"Measure -> its values at the checkpoints; their steps are under the key steps."


def rise(course: Trajectory, measured: str = INDUCTION) -> tuple[float, float]:
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


def abruptness(course: Trajectory, measured: str = INDUCTION) -> float:
    """Return the steps from a quarter to three quarters of a measure's way, over those to a quarter; NaN without any.

    Whatever the length of training: 2 on a straight line from step 0, 3.8 where it saturates, ln 4 / ln (4 / 3) - 1.
    """
    start, end = rise(course, measured)
    return (end - start) / start if start > 0 else float("nan")


def fall(course: Trajectory, start: float, end: float) -> float:
    """Return by how much the in-context learning score changes between two steps, in nats."""
    before, after = np.interp([start, end], course["steps"], course[SCORE])
    return float(after - before)


def statements(courses: Mapping[str, Mapping[int, Trajectory]], effects: Mapping[int, Any]) -> list[JudgedStatement]:
    """Return the statements about courses (depth -> seed) and about ablations of two layers."""
    return [*_of_heads(courses), *_of_context(courses), *_of_ablations(effects), _of_sinks(courses[TWO])]


def _of_heads(courses: Mapping[str, Mapping[int, Trajectory]]) -> list[JudgedStatement]:
    found = "queries whose most attended piece is the one after the same piece before, selected head, at the end"
    return [
        judged(
            "With two layers a head attends to what followed the same piece before",
            f"{found}, {TWO}",
            mean_of([*at_end(courses[TWO], INDUCTION).values()]),
            Rule(above=HAS_ROLE, unit="%"),
        ),
        judged(
            "With one layer of the same size no head does",
            f"{found}, {ONE}",
            mean_of([*at_end(courses[ONE], INDUCTION).values()]),
            Rule(below=NONE_AT_MOST, unit="%"),
        ),
        judged(
            "The head arises within half of the steps that it took to begin",
            "steps from a quarter to three quarters of its rise, over the steps to a quarter",
            mean_of([abruptness(course) for course in courses[TWO].values()]),
            Rule(below=0.5, unit="times"),
        ),
    ]


def _of_context(courses: Mapping[str, Mapping[int, Trajectory]]) -> list[JudgedStatement]:
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
            difference(*(at_end(courses[depth], SCORE) for depth in (TWO, ONE))),
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


def _of_sinks(courses: Mapping[int, Trajectory]) -> JudgedStatement:
    return judged(
        "With so few texts there are no attention sinks",
        f"pairs of head and text whose mean attention to the first piece is above {SINK_AT:g}, at the end, {TWO}",
        mean_of([*at_end(courses, SINKS).values()]),
        Rule(below=0.01, unit="%"),
    )


COURSES = (
    (INDUCTION, "induction head: accuracy", "%"),
    (MATCHING, "induction head: attention", "%"),
    (PREVIOUS, "previous-token head: accuracy", "%"),
    (DUPLICATE, "duplicate-token head: accuracy", "%"),
    (COPIED, "second time predicted correctly", "%"),
    (SCORE, "in-context learning score", "nats"),
    (EARLY, "loss early in held-out texts", "nats"),
    (SINKS, "head-text pairs with a sink", "%"),
    (LOSS, "evaluation loss", "nats"),
)
"Key, name on the page, and unit of what is measured at every checkpoint."


def measure(section: InductionSection, work: Work) -> ClaimRecord:
    """Train decoders of one and of two layers, follow each through its checkpoints, and ablate heads at the end."""
    courses: dict[str, dict[int, Any]] = {}
    effects: dict[str, dict[int, Any]] = {}
    texts: DecoderTexts | None = None
    shapes: dict[str, dict[str, Any]] = {ONE: one_layer(section), TWO: {"layers": 2}}
    for depth, shape in shapes.items():
        folders = trainings(section, work, FOLDERS[depth], **shape)
        courses[depth], effects[depth] = {}, {}
        for seed, folder in folders.items():
            checkpoints = read_checkpoints(folder)
            texts = texts or DecoderTexts.of(section, checkpoints[-1].folder)
            courses[depth][seed] = work.part(f"{depth} seed {seed}", partial(follow, partial(examine, texts), folder))
            last = partial(ablations, checkpoints[-1], texts)
            effects[depth][seed] = work.part(f"{depth} seed {seed} ablations", last)
            work.progress(f"measure {depth}", len(courses[depth]), len(folders))
    return ClaimRecord(_measures(courses, effects), statements(courses, effects[TWO]), _noticed(effects, texts))


FOLDERS = {ONE: "one-layer", TWO: "two-layers"}
"Names of the folders of trainings."


def one_layer(section: InductionSection) -> dict[str, Any]:
    """Return the shape of one layer with as many weights as two: what attention lacks is given to the feed-forward net.

    Weights of a layer are 4 model^2 of attention and 2 model feed_forward, biases aside.
    """
    shape = section.train.encoder
    return {"layers": 1, "feed_forward": 2 * ((shape.feed_forward or 4 * shape.model) + shape.model)}


def _measures(
    courses: Mapping[str, Mapping[int, Trajectory]], effects: Mapping[str, Mapping[int, Any]]
) -> list[ClaimMeasure]:
    told = course_measures(courses, COURSES)
    told += [
        claim_measure(
            f"{name} at the end",
            unit,
            tuple(
                Row(f"{TWO}, {way}", None, seed, one)
                for way, number in (("all heads", None), ("without the induction head", 0), ("without another head", 1))
                for seed, effect in effects[TWO].items()
                for one in [courses[TWO][seed][key][-1] if number is None else effect[key][number]]
            ),
        )
        for key, name, unit in COURSES
        if key in (SCORE, EARLY, COPIED)
    ]
    told.append(
        claim_measure(
            "abruptness (steps of the rise over steps before it)",
            "times",
            tuple(
                Row(f"{TWO}, {key}", None, seed, abruptness(course, key))
                for key in (INDUCTION, PREVIOUS, LOSS)
                for seed, course in courses[TWO].items()
            ),
        )
    )
    counts = [
        Row(f"{depth}: {role}", None, seed, float(one["heads"][role]))
        for depth, by in effects.items()
        for role in ROLES
        for seed, one in by.items()
    ]
    return [*told, claim_measure(f"heads with a role ({100 * HAS_ROLE:.0f} % of queries)", "heads", counts)]


def _noticed(effects: Mapping[str, Mapping[int, Any]], texts: DecoderTexts | None) -> list[str]:
    told = []
    for depth, by in effects.items():
        for seed, one in by.items():
            named = [
                f"{role} {layer + 1}-{head + 1} ({100 * hits:.1f} % of queries, mean attention {100 * mean:.1f} %)"
                for role, (layer, head, hits, mean) in one["selected"].items()
            ]
            told.append(f"{depth.capitalize()}, seed {seed}, selected heads: {', '.join(named)}.")
    if texts is not None:
        rule = f"The commonest distance finds what followed before in {100 * texts.report.commonest_offset():.1f} %"
        told.append(f"{rule} of these queries.")
    return told


CLAIM = Claim(
    name="induction",
    title="Do induction heads arise, and does in-context learning rest on them?",
    sentence="Decoders of two layers, not of one, have heads that attend to what followed the same piece before. These "
    "arise abruptly in training, and in-context learning rests on them.",
    source="Olsson et al. 2022, In-context Learning and Induction Heads; of sinks Gu et al. 2025, When Attention Sink "
    "Emerges in Language Models",
    about=(
        "Decoders of our own with two layers, and with one layer of as many weights, trained from scratch to predict "
        "the next piece of English prose. At every checkpoint (the first has randomly initialised weights) they read "
        "rows of random pieces that come twice: how many, and how many others stand between, differs from row to row, "
        "so that no fixed distance finds the piece that is asked for. Of a query the most attended piece other than "
        "itself and [CLS] is taken. Of an induction head it is to be the one after the same piece before, of a "
        "previous-token head the one before, of a duplicate-token head the same piece before; accuracy is the share of "
        "queries at which it is. The head of each role is selected on some rows and evaluated on others.",
        "Abruptness: the steps from a quarter to three quarters of the way of a measure, over those to a quarter. On a "
        "straight line it is 2, where a measure saturates exponentially 3.8.",
        "In-context learning score: mean loss in the last quarter of rows of held-out text minus that in their second "
        "eighth, without predictions of [SEP], which ends every row.",
        "At the end the selected induction head is ablated (its output replaced by its mean), and each other head of "
        "its layer; then the selected head for the token before, of the layer below, and each other head there.",
        f"A sink is a first piece that a head attends to with more than {SINK_AT:g} on average, in texts that fill a "
        "row.",
    ),
    limits=(
        "21 million pieces of prose and a vocabulary of 2,000: names and rare words are several pieces, whose "
        "repetition rewards induction. The paper's decoders saw billions of tokens, and its score compares single "
        "places of 512.",
        "Intervals are over three seeds, which read the same held-out texts: they hold for these texts.",
        "Two layers have eight heads, one layer has four.",
        "A head that matters more everywhere would change the score, too: the loss early in texts shows how far the "
        "ablated head does, beside other heads of its layer. Heads of the other layer were not compared.",
        "That two courses change together does not show that one causes the other; ablation tests that, in the trained "
        "decoder alone.",
        "There are no sinks before training either, and little text goes with few steps here.",
    ),
    section=InductionSection,
    measure=measure,
    revised="The rules about abruptness and ablation were made stricter after a part of one training had been seen.",
)
