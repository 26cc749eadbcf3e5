"""Of every scored word the strongest candidate is named, whichever end of the arc the word is."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reports import Run
from reports.heads.card_parts import CardSource
from reports.heads.card_parts import examples as examples_of
from reports.heads.examples import example_blocks, strongest_candidates
from reports.scores.best_heads import best_heads

CLS, SEP = -1, -2


@pytest.mark.parametrize(
    ("variant", "arcs", "said"),
    [
        (
            "dependent->head",
            [
                (1, 0, 0.7, True, True),
                (1, SEP, 0.2, True, False),
                (1, 2, 0.9, False, False),
                (CLS, 2, 0.1, True, False),
            ],
            ("[CLS] → used: 10 % of its attention, incorrect", "coat → had: 70 % of its attention, correct"),
        ),
        (
            "head<-dependent",
            [(0, 1, 0.28, True, False), (2, 1, 0.71, True, True), (3, 1, 0.02, True, False)],
            ("used → coat: 71 % of its attention, correct",),
        ),
    ],
)
def test_the_strongest_candidate_of_a_word_is_named(
    variant: str, arcs: list[tuple[int, int, float, bool, bool]], said: tuple[str, ...]
) -> None:
    rows = pd.DataFrame(arcs, columns=["query", "key", "weight", "scored", "gold"])
    words = ["had", "coat", "used", "."]
    assert strongest_candidates(rows.assign(variant=variant, words=[words] * len(rows))) == said


def test_examples_follow_the_order_of_the_best_heads(scores: pd.DataFrame, examples: pd.DataFrame) -> None:
    best = {"dependency": best_heads(scores, "dependency")}
    _, heading, shown = example_blocks(examples, best)
    assert heading.markdown == "### Examples of dependency"
    names = [row.name for row in best["dependency"][:6] for _ in range(2)]
    assert [line.split(" | ")[1] for line in shown.markdown.splitlines()[2:]] == names


def test_the_two_texts_of_a_pair_are_parted_on_page_and_card(
    written_run: Path, scores: pd.DataFrame, examples: pd.DataFrame
) -> None:
    run, name = Run.open(written_run), examples["name"].iloc[0]
    pairs = replace(run, examples=examples.assign(second=2.0))
    (*_, shown) = example_blocks(pairs.examples, {"dependency": best_heads(scores, "dependency")})
    lines = shown.markdown.splitlines()[2:] + [cell[1] for cell in examples_of(CardSource(pairs), name).rows]
    texts = [text for text in lines if "‖" in text]
    assert texts == lines
    words = [*examples["words"].iloc[0]]
    assert " ".join([*words[:2], "‖", *words[2:]]) in lines
    apart = replace(run, examples=examples.assign(second=float("nan")))
    assert examples_of(CardSource(apart), name) == examples_of(CardSource(run), name)
