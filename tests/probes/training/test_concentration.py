import math

import numpy as np
import pytest

from probes import get_probe
from probes.scoring.tally import Question
from probes.training.biography import GROUPS, Biography, Trajectory
from probes.training.concentration import LifeRule, Profiles, is_role, life_of

NAN = math.nan


def course(accuracy: list[list[float]], baseline: float, n: int = 100) -> Trajectory:
    """Return the course of a question with `n` items in one group: accuracy [step, head]."""
    items, hits = np.zeros(GROUPS), np.zeros((len(accuracy), GROUPS, len(accuracy[0])), np.float32)
    items[3] = n
    hits[:, 3] = np.array(accuracy) * n
    beaten = np.zeros(GROUPS)
    beaten[3] = baseline * n
    return Trajectory(
        items, hits, np.zeros((len(accuracy), len(accuracy[0]))), "" if baseline != baseline else "o", beaten
    )


def profiles(courses: dict[Question, Trajectory]) -> Profiles:
    steps = len(next(iter(courses.values())).hits)
    probes = [get_probe(name) for name in dict.fromkeys(question[0] for question in courses)]
    biography = Biography(0, tuple(range(steps)), tuple(range(steps)), "c", 1, 2, courses)
    return Profiles.of(biography, probes)


def margins(*rows: list[float]) -> Profiles:
    """Return profiles with one head: margins [step, role]."""
    return Profiles(tuple(("p", str(i)) for i in range(len(rows[0]))), np.array(rows)[:, None])


def test_effective_roles_by_hand() -> None:
    found = margins([0.3, 0.0, -0.2], [0.2, 0.2, 0.0], [0.3, 0.3, 0.3], [0.3, 0.1, 0.0]).effective(LifeRule())[:, 0]
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert found.tolist() == pytest.approx([1, 2, 3, math.exp(entropy)])


def test_the_main_role_is_the_one_with_the_largest_margin_if_it_is_large_enough() -> None:
    rows = margins([0.2, 0.3], [0.3, 0.3], [0.09, 0.05])
    assert rows.main(LifeRule())[:, 0].tolist() == [1, 0, -1]
    assert rows.main(LifeRule(margin=0.25))[:, 0].tolist() == [1, 0, -1]
    assert rows.main(LifeRule(margin=0.35))[:, 0].tolist() == [-1, -1, -1]


def test_margins_are_over_the_baseline_and_over_the_head_at_the_first_checkpoint() -> None:
    found = profiles({("position", "all tokens", "[CLS]"): course([[0.5, 0.1], [0.6, 0.6]], baseline=0.2)})
    np.testing.assert_allclose(found.margins[:, :, 0], [[0.0, -0.1], [0.1, 0.4]], atol=1e-6)


def test_a_role_has_results_by_its_best_variant() -> None:
    rows, columns = ("dependency", "dependent->head", "det"), ("dependency", "head<-dependent", "det")
    found = profiles({rows: course([[0, 0], [0.5, 0.2]], 0.1), columns: course([[0, 0], [0.3, 0.7]], 0.2)})
    assert found.roles == (("dependency", "det"),)
    np.testing.assert_allclose(found.margins[1, :, 0], [0.4, 0.5], atol=1e-6)


@pytest.mark.parametrize(
    ("question", "n", "said"),
    [
        (("dependency", "dependent->head", "nsubj"), 50, True),
        (("dependency", "dependent->head", "nsubj"), 49, False),
        (("dependency", "dependent->head", "nsubj:*"), 99, False),
        (("antecedent", "pronoun->candidate", "nearer is right"), 99, False),
        (("antecedent", "pronoun->candidate", "all"), 99, True),
    ],
)
def test_a_role_stands_for_itself_and_has_items(question: Question, n: int, said: bool) -> None:
    assert is_role(question, n) == said


@pytest.mark.parametrize(
    ("main", "life", "first", "last", "since"),
    [
        ([-1, -1, -1, -1], "never", -1, -1, -1),
        ([-1, 2, -1, -1], "never", -1, -1, -1),
        ([-1, 2, 2, 2], "commits", 2, 2, 1),
        ([2, 2, -1, 2, 2], "commits", 2, 2, 3),
        ([1, 1, 2, 2], "changes", 1, 2, 2),
        ([1, 2, 2, 2], "commits", 2, 2, 1),
        ([1, 1, -1, -1], "loses", 1, -1, -1),
        ([1, 1, 1, 2], "wavers", 1, 2, 3),
        ([-1, -1, -1, 2], "wavers", -1, 2, 3),
    ],
)
def test_lives_by_hand(main: list[int], life: str, first: int, last: int, since: int) -> None:
    found = life_of(main, [1.0] * len(main), LifeRule())
    assert (found.life, found.first, found.last, found.since) == (life, first, last, since)


def test_a_generalist_that_becomes_a_specialist_narrows() -> None:
    rule = LifeRule()
    assert life_of([0, 0, 0], [NAN, 3.2, 1.2], rule).narrows
    assert not life_of([0, 0, 0], [NAN, 2.9, 1.2], rule).narrows
    assert not life_of([0, 0, 0], [NAN, 3.2, 1.6], rule).narrows
    assert not life_of([0, 0, -1], [NAN, 3.2, 1.2], rule).narrows
    assert life_of([0, 0, 0], [NAN, 2.9, 1.6], LifeRule(wide=2.5, narrow=2.0)).narrows
