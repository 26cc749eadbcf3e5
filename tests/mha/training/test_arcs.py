from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mha.encoder.encoder import Encoder
from mha.encoder.masked_lm import masked_lm_loss
from mha.hooks import record
from mha.training.arcs import ArcsError, ArcTerm, GoldArcs, control_arcs
from mha.training.objective import MaskedLMObjective
from mha.training.packing import pack
from mha.training.task import Task, step_batches
from mha.training.train import train
from mha.training.vocabulary import SPECIAL, Vocabulary
from tests import small_training as small
from tests.small_words import word_pieces

PIECES = [*SPECIAL, "mo", "ta", "li", "##na", "##ke", "ru"]
"Words of one, two and three pieces: mo, tana, linake."


def make_vocabulary() -> Vocabulary:
    tokenizer = word_pieces(PIECES)
    tokenizer.add_special_tokens([*SPECIAL])
    return Vocabulary(tokenizer)


VOCABULARY = make_vocabulary()


def gold_of(length: int, *texts: tuple[str, list[tuple[int, int]]]) -> tuple[GoldArcs, Any]:
    """Return the arcs of texts, and their packed rows."""
    rows = np.stack([*pack(VOCABULARY.encode([text for text, _ in texts]), VOCABULARY, length)])
    return GoldArcs.of([(text.split(), arcs) for text, arcs in texts], VOCABULARY, length), rows


@pytest.mark.parametrize(
    ("length", "texts", "expected"),
    [
        # [CLS] mo ta ##na li ##na ##ke [SEP]: mo is piece 1, tana 2 and 3, linake 4 to 6; three words have an arc
        (
            12,
            [("mo tana linake", [(0, 1), (2, 1)])],
            {(0, 1, key): 1 / 3 for key in (2, 3)}
            | {(0, query, key): 1 / 6 for query in (2, 3) for key in (1, 4, 5, 6)}
            | {(0, query, key): 1 / 9 for query in (4, 5, 6) for key in (2, 3)},
        ),
        # a row [CLS] mo ru [SEP] [CLS] ru mo mo [SEP], of whose words one has no arc
        (
            12,
            [("mo ru", [(0, 1)]), ("ru mo mo", [(0, 2)])],
            dict.fromkeys([(0, 1, 2), (0, 2, 1), (0, 5, 7), (0, 7, 5)], 1 / 4),
        ),
        # cut into [CLS] ta ##na mo [SEP] and [CLS] mo ru [SEP]; what joins the parts is lost
        (
            5,
            [("mo ru tana mo", [(0, 1), (1, 2), (3, 2)])],
            dict.fromkeys([(1, 1, 2), (1, 2, 1), (0, 3, 1), (0, 3, 2)], 1 / 4)
            | dict.fromkeys([(0, 1, 3), (0, 2, 3)], 1 / 8),
        ),
        # of two trees of the same pieces the first is taken
        (
            8,
            [("mo ru mo", [(0, 1)]), ("mo ru mo", [(0, 2)])],
            {(row, *cell): 1 / 4 for row in (0, 1) for cell in ((1, 2), (2, 1))},
        ),
    ],
)
def test_cells_are_those_of_the_pieces_of_both_words_in_both_directions(
    length: int, texts: Any, expected: dict[tuple[int, int, int], float]
) -> None:
    gold, rows = gold_of(length, *texts)
    (batch,) = gold.batches(rows, VOCABULARY, [slice(None)])
    cells = torch.zeros(len(rows) * length**2).index_put_((batch.cells,), batch.share, accumulate=True)
    cells = cells.view(len(rows), length, length)
    assert {tuple(cell): pytest.approx(float(cells[tuple(cell)])) for cell in cells.nonzero().tolist()} == expected
    assert gold.ambiguous == (length == 8)
    assert gold.fingerprint != gold_of(length, *((text, arcs[1:]) for text, arcs in texts))[0].fingerprint


def test_shares_are_of_the_words_of_all_parts_and_a_text_without_a_tree_is_named() -> None:
    gold, rows = gold_of(5, ("mo ru", [(0, 1)]), ("ru mo mo", [(0, 2), (1, 2)]))
    parts = gold.batches(rows, VOCABULARY, [slice(0, 1), slice(1, 2)])
    assert [len(part.cells) for part in parts] == [4, 2]
    assert {round(one, 6) for part in parts for one in part.share.tolist()} == {0.2}
    with pytest.raises(ArcsError, match="no tree is known of the training text 'ru mo'"):
        gold.batches(gold_of(5, ("ru mo", []))[1], VOCABULARY, [slice(None)])


def test_control_arcs_have_the_distances_of_arcs_and_are_none_themselves() -> None:
    words = [f"w{i}" for i in range(9)]
    arcs = [(0, 1), (2, 1), (1, 4), (3, 4), (5, 4), (8, 0)]
    drawn = control_arcs(words, arcs)
    assert sorted(abs(i - j) for i, j in drawn) == [1, 1, 1, 1, 3]  # no other pair is as far apart as first and last
    assert len({*drawn}) == 5
    assert not {frozenset(pair) for pair in drawn} & {frozenset(arc) for arc in arcs}
    assert drawn == control_arcs(words, arcs)
    assert len({tuple(control_arcs([f"{seed}", *words[1:]], arcs)) for seed in range(20)}) > 5


@pytest.mark.parametrize(
    ("term", "steps"),
    [
        (ArcTerm(-1.0, first_step=3), [3, 4, 5]),
        (ArcTerm(1.0, first_step=2, last_step=4), [2, 3, 4]),
        (ArcTerm(0.0), []),
    ],
)
def test_a_term_counts_from_its_first_step_to_its_last(term: ArcTerm, steps: list[int]) -> None:
    assert [step for step in range(1, 6) if term.counts(step)] == steps


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Return a task whose words all depend on the first of their text."""
    made = small.make_task(tmp_path_factory.mktemp("task"))
    texts = [text.split() for text in small.invented_texts(300)]
    trees = [(words, [(word, 0) for word in range(1, len(words))]) for words in texts]
    return replace(made, arcs=GoldArcs.of(trees, made.vocabulary, 24))


def test_attention_on_arcs_is_the_weighted_mean_over_heads_and_layers(task: Task) -> None:
    step = next(step_batches(task, replace(small.SETTINGS, arcs=ArcTerm(1.0), accumulation=1), 0, 0, 1))
    (batch,), (arcs,) = step.parts, step.arcs
    objective = MaskedLMObjective(Encoder(replace(task.encoder, layers=2), lm_head=True).eval())
    with record(objective.encoder) as maps:
        loss, found = objective(batch, arcs)
    cells = torch.zeros(maps["pattern"][0][:, 0].numel(), dtype=torch.float64)
    cells = cells.index_put_((arcs.cells,), arcs.share.double()).view_as(maps["pattern"][0][:, 0])
    expected = torch.einsum("lbhqk,bqk->", torch.stack(maps["pattern"]).double(), cells) / (2 * 2)
    assert found.item() == pytest.approx(float(expected), rel=1e-5)
    assert loss.item() == pytest.approx(masked_lm_loss(objective.encoder, batch).item(), rel=1e-6)


def test_a_reward_raises_attention_on_arcs_and_a_punishment_lowers_it(task: Task, tmp_path: Path) -> None:
    """From its first step on."""
    found = {}
    for weight in (10.0, 0.0, -10.0):
        folder = tmp_path / str(weight)
        train(folder, task, replace(small.SETTINGS, arcs=ArcTerm(weight, first_step=3)))
        found[weight] = [line.get("attention_on_arcs") for line in small.log(folder, "step")]
    assert found[0.0] == [None] * 12
    assert found[10.0][:3] == [None, None, pytest.approx(found[-10.0][2])]
    assert found[10.0][-1] > found[-10.0][-1] + 0.05
    assert small.same(small.weights(tmp_path / "10.0", 2), small.weights(tmp_path / "0.0", 2))


def test_fixed_patterns_are_those_of_training_and_of_evaluation(task: Task, tmp_path: Path) -> None:
    still = replace(small.SETTINGS, steps=4, weight_decay=0.0)
    for name, fixed in (("free", ()), ("fixed", ("previous", "start"))):
        train(tmp_path / name, task, replace(still, fixed=fixed))
    first, last = (small.weights(tmp_path / "fixed", step) for step in (0, 4))
    moved = {name for name in first if not torch.equal(first[name], last[name])}
    assert not any("attention.self.query.weight" in name for name in moved)  # both heads are fixed
    assert any("attention.self.value.weight" in name for name in moved)
    free, fixed = (small.log(tmp_path / name, "evaluation")[0]["loss"] for name in ("free", "fixed"))
    assert free != fixed  # of the same weights
