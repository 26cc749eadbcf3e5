import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from mha.encoder.encoder import EncoderConfig
from mha.training.arcs import ArcsError, ArcTerm, GoldArcs, Parsed, control_arcs
from mha.training.checkpoints import CheckpointError, Schedule, checkpoint_path
from mha.training.packed_rows import store_rows
from mha.training.packing import pack
from mha.training.settings import TrainingSettings
from mha.training.task import Task, TrainingError, step_batches
from mha.training.train import train
from mha.training.vocabulary import SPECIAL, Vocabulary

PIECES = [*SPECIAL, "mo", "ta", "li", "##na", "##ke", "ru"]
"Words of one, two and three pieces: mo, tana, linake."

SETTINGS = TrainingSettings(
    steps=12,
    rows=4,
    warmup=2,
    learning_rate=1e-2,
    log_every=1,
    schedule=Schedule(per_doubling=1, every=0, safety=0),
    precision="fp32",
)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    model = models.WordPiece({piece: number for number, piece in enumerate(PIECES)}, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([*SPECIAL])
    from tokenizers import processors

    ends = [(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return Vocabulary(tokenizer)


def rows_of(texts: list[str], vocabulary: Vocabulary, length: int) -> Any:
    return np.stack([*pack(vocabulary.encode(texts), vocabulary, length)])


def dense(gold: GoldArcs, rows: Any, vocabulary: Vocabulary) -> torch.Tensor:
    """Return what every cell [row, query, key] counts."""
    (batch,) = gold.batches(rows, vocabulary, [slice(None)])
    cells = torch.zeros(rows.shape[0] * rows.shape[1] ** 2)
    return cells.index_put_((batch.cells,), batch.share, accumulate=True).view(len(rows), rows.shape[1], -1)


def test_cells_are_those_of_the_pieces_of_both_words_in_both_directions(vocabulary: Vocabulary) -> None:
    gold = GoldArcs.of([(["mo", "tana", "linake"], [(0, 1), (2, 1)])], vocabulary, 12)
    rows = rows_of(["mo tana linake"], vocabulary, 12)
    # [CLS] mo ta ##na li ##na ##ke [SEP]: mo is piece 1, tana 2 and 3, linake 4 to 6; three words have an arc
    expected = torch.zeros(1, 12, 12)
    expected[0, 1, 2:4] = 1 / 3
    expected[0, 2:4, 1] = expected[0, 2:4, 4:7] = 1 / 2 / 3
    expected[0, 4:7, 2:4] = 1 / 3 / 3
    assert torch.allclose(dense(gold, rows, vocabulary), expected)


def test_words_without_an_arc_are_not_in_the_mean(vocabulary: Vocabulary) -> None:
    gold = GoldArcs.of([(["mo", "ru", "mo"], [(0, 1)])], vocabulary, 8)
    cells = dense(gold, rows_of(["mo ru mo"], vocabulary, 8), vocabulary)
    assert cells[0, 1, 2] == cells[0, 2, 1] == 0.5
    assert cells.sum() == 1


def test_texts_behind_each_other_in_a_row_have_their_own_arcs(vocabulary: Vocabulary) -> None:
    gold = GoldArcs.of([(["mo", "ru"], [(0, 1)]), (["ru", "mo", "mo"], [(0, 2)])], vocabulary, 12)
    rows = rows_of(["mo ru", "ru mo mo"], vocabulary, 12)
    assert rows[0, :9].tolist() == [2, 5, 10, 3, 2, 10, 5, 5, 3]
    assert {tuple(cell) for cell in dense(gold, rows, vocabulary).nonzero().tolist()} == {
        (0, 1, 2), (0, 2, 1), (0, 5, 7), (0, 7, 5)
    }  # fmt: skip


def test_a_text_that_packing_cuts_keeps_the_arcs_within_each_part(vocabulary: Vocabulary) -> None:
    words = ["mo", "ru", "tana", "mo"]
    gold = GoldArcs.of([(words, [(0, 1), (1, 2), (3, 2)])], vocabulary, 5)
    rows = rows_of([" ".join(words)], vocabulary, 5)
    assert [row[1:4].tolist() for row in rows] == [[6, 8, 5], [5, 10, 3]]
    assert {tuple(cell) for cell in dense(gold, rows, vocabulary).nonzero().tolist()} == {
        (1, 1, 2), (1, 2, 1), (0, 1, 3), (0, 2, 3), (0, 3, 1), (0, 3, 2)
    }  # fmt: skip


def test_control_arcs_have_the_distances_of_arcs_and_are_none_themselves() -> None:
    words = [f"w{i}" for i in range(9)]
    arcs = [(0, 1), (2, 1), (1, 4), (3, 4), (5, 4), (8, 0)]
    drawn = control_arcs(words, arcs)
    assert sorted(abs(i - j) for i, j in drawn) == [1, 1, 1, 1, 3], (
        "no other pair is as far apart as the first and last"
    )
    assert len({*drawn}) == 5
    assert not {frozenset(pair) for pair in drawn} & {frozenset(arc) for arc in arcs}
    assert drawn == control_arcs(words, arcs)
    assert len({tuple(control_arcs([f"{seed}", *words[1:]], arcs)) for seed in range(20)}) > 5
    assert control_arcs(words, []) == []


def test_shares_are_of_the_words_of_all_parts(vocabulary: Vocabulary) -> None:
    gold = GoldArcs.of([(["mo", "ru"], [(0, 1)]), (["ru", "mo", "mo"], [(0, 2), (1, 2)])], vocabulary, 5)
    rows = rows_of(["mo ru", "ru mo mo"], vocabulary, 5)
    parts = gold.batches(rows, vocabulary, [slice(0, 1), slice(1, 2)])
    assert sum(float(part.share.sum()) for part in parts) == pytest.approx((2 + 4) / 5)
    assert [len(part.cells) for part in parts] == [4, 2]
    assert {round(one, 6) for part in parts for one in part.share.tolist()} == {0.2}


def test_the_first_of_two_trees_is_taken_and_the_other_counted(vocabulary: Vocabulary) -> None:
    texts: list[Parsed] = [(["mo", "ru", "mo"], [(0, 1)]), (["mo", "ru", "mo"], [(0, 2)]), (["mo", "ru"], [(0, 1)])]
    gold = GoldArcs.of(texts, vocabulary, 8)
    assert gold.ambiguous == 1
    assert dense(gold, rows_of(["mo ru mo"], vocabulary, 8), vocabulary)[0, 1, 2] == 0.5


def test_a_text_without_a_tree_is_named(vocabulary: Vocabulary) -> None:
    gold = GoldArcs.of([(["mo", "ru"], [(0, 1)])], vocabulary, 8)
    with pytest.raises(ArcsError, match="no tree is known of the training text 'ru mo'"):
        gold.batches(rows_of(["ru mo"], vocabulary, 8), vocabulary, [slice(None)])


def test_a_fingerprint_changes_with_arcs_alone(vocabulary: Vocabulary) -> None:
    one, same, other = (GoldArcs.of([(["mo", "ru"], arcs)], vocabulary, 8) for arcs in ([(0, 1)], [(0, 1)], []))
    assert one.fingerprint == same.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    ("term", "steps"),
    [
        (ArcTerm(1.0), [1, 2, 3, 4, 5]),
        (ArcTerm(-1.0, first_step=3), [3, 4, 5]),
        (ArcTerm(1.0, last_step=2), [1, 2]),
        (ArcTerm(1.0, first_step=2, last_step=4), [2, 3, 4]),
        (ArcTerm(0.0), []),
    ],
)
def test_a_term_counts_from_its_first_step_to_its_last(term: ArcTerm, steps: list[int]) -> None:
    assert [step for step in range(1, 6) if term.counts(step)] == steps


@pytest.mark.parametrize(
    "wrong",
    [{"weight": float("nan")}, {"weight": 1.0, "first_step": 0}, {"weight": 1.0, "first_step": 3, "last_step": 2}],
)
def test_a_term_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="arcs: "):
        ArcTerm(**wrong)


# --- trainings


@pytest.fixture(scope="module")
def task(vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Return a task on invented sentences whose words all depend on the first."""
    draws = random.Random(0)
    sentences = [draws.choices(["mo", "ru", "tana", "linake"], k=draws.randint(2, 6)) for _ in range(120)]
    texts = [" ".join(words) for words in sentences]
    shape = EncoderConfig(vocab=vocabulary.size, layers=2, heads=2, model=16, feed_forward=16, positions=24)
    rows = store_rows(texts, vocabulary, 24, tmp_path_factory.mktemp("packed"))
    trees = [(words, [(word, 0) for word in range(1, len(words))]) for words in sentences]
    return Task(shape, vocabulary, rows, arcs=GoldArcs.of(trees, vocabulary, 24))


@pytest.fixture
def trained(task: Task, tmp_path: Path) -> Callable[..., Path]:
    def train_with(name: str, term: ArcTerm | None, **changes: Any) -> Path:
        given = task if term is not None else replace(task, arcs=None)
        train(tmp_path / name, given, replace(SETTINGS, arcs=term, **changes))
        return tmp_path / name

    return train_with


def weights(folder: Path, step: int = 12) -> dict[str, torch.Tensor]:
    return load_file(checkpoint_path(folder, step) / "model.safetensors")


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def steps_of(folder: Path) -> list[dict[str, Any]]:
    lines = map(json.loads, (folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["event"] == "step"]


def test_weight_zero_trains_bit_for_bit_as_no_term(trained: Callable[..., Path]) -> None:
    none, zero = trained("none", None), trained("zero", ArcTerm(0.0))
    assert same(weights(none), weights(zero))
    assert not any("attention_on_arcs" in line for line in steps_of(zero))


def test_the_log_says_how_many_texts_have_the_arcs_of_another(
    task: Task, trained: Callable[..., Path], tmp_path: Path
) -> None:
    assert task.arcs is not None
    train(tmp_path / "arcs", replace(task, arcs=replace(task.arcs, ambiguous=7)), replace(SETTINGS, steps=1))
    first = json.loads((tmp_path / "arcs" / "log.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (first["event"], first["ambiguous_arcs"]) == ("start", 7)
    none = trained("none", None, steps=1)
    assert "ambiguous_arcs" not in (none / "log.jsonl").read_text(encoding="utf-8")


def test_a_reward_raises_attention_on_arcs_and_a_punishment_lowers_it(trained: Callable[..., Path]) -> None:
    found = {}
    for weight in (10.0, 1e-9, -10.0):
        lines = steps_of(trained(f"weight{weight}", ArcTerm(weight)))
        found[weight] = [line["attention_on_arcs"] for line in lines]
    first = {round(values[0], 6) for values in found.values()}
    assert len(first) == 1  # before the first update all are alike
    assert found[10.0][-1] > found[1e-9][-1] + 0.05
    assert found[-10.0][-1] < found[1e-9][-1] - 0.05


def test_a_term_changes_no_step_before_its_first_one(trained: Callable[..., Path]) -> None:
    none, late = trained("none", None), trained("late", ArcTerm(5.0, first_step=9))
    assert same(weights(none, 8), weights(late, 8))
    assert not same(weights(none), weights(late))
    assert [line["step"] for line in steps_of(late) if "attention_on_arcs" in line] == [9, 10, 11, 12]


def test_a_term_counts_no_more_after_its_last_step(trained: Callable[..., Path]) -> None:
    always, early = trained("always", ArcTerm(5.0)), trained("early", ArcTerm(5.0, last_step=4))
    assert same(weights(always, 4), weights(early, 4))
    assert not same(weights(always, 8), weights(early, 8))


def test_parts_of_a_step_add_up_to_the_whole(trained: Callable[..., Path]) -> None:
    whole, parts = (trained(f"parts{n}", ArcTerm(3.0), accumulation=n, steps=1) for n in (1, 4))
    one, other = (steps_of(folder)[0]["attention_on_arcs"] for folder in (whole, parts))
    assert other == pytest.approx(one, rel=0.05)  # another dropout
    assert other > 0


def test_a_training_that_was_cut_off_goes_on_bit_for_bit(
    task: Task, trained: Callable[..., Path], tmp_path: Path
) -> None:
    term = ArcTerm(-5.0, first_step=3, last_step=10)
    settings, whole = replace(SETTINGS, arcs=term), trained("whole", term)

    class CutError(Exception):
        pass

    def stop(step: int, _: Path) -> None:
        if step == 8:
            raise CutError

    with pytest.raises(CutError):
        train(tmp_path / "cut", task, settings, on_checkpoint=stop)
    train(tmp_path / "cut", task, settings, resume=True)
    assert same(weights(whole), weights(tmp_path / "cut"))
    assert [line["loss"] for line in steps_of(whole)] == [line["loss"] for line in steps_of(tmp_path / "cut")]


@pytest.mark.parametrize("change", ["weight", "trees", "no term"])
def test_a_training_does_not_go_on_with_another_term_or_other_trees(
    change: str, task: Task, trained: Callable[..., Path]
) -> None:
    folder = trained("begun", ArcTerm(1.0))
    settings = replace(SETTINGS, arcs=None if change == "no term" else ArcTerm(2.0 if change == "weight" else 1.0))
    assert task.arcs is not None
    other = replace(task, arcs=replace(task.arcs, fingerprint="other")) if change == "trees" else task
    with pytest.raises(CheckpointError, match="arcs"):
        train(folder, other, settings, resume=True)


def test_a_term_without_arcs_is_refused(task: Task) -> None:
    with pytest.raises(TrainingError, match="the task has no arcs"):
        next(step_batches(replace(task, arcs=None), replace(SETTINGS, arcs=ArcTerm(1.0)), 0, 0, 1))


def test_a_record_says_which_term_there_is(task: Task) -> None:
    assert SETTINGS.recorded()["arcs"] is None
    assert replace(task, arcs=None).recorded()["texts"]["arcs"] is None
    assert replace(SETTINGS, arcs=ArcTerm(2.0, 3)).recorded()["arcs"] == {
        "weight": 2.0, "first_step": 3, "last_step": None
    }  # fmt: skip


def test_fixed_patterns_are_those_of_training_and_of_evaluation(task: Task, tmp_path: Path) -> None:
    held = replace(task, held_out=task.rows, arcs=None)
    for name, fixed in (("free", ()), ("fixed", ("previous", "start"))):
        train(tmp_path / name, held, replace(SETTINGS, fixed=fixed, steps=4, weight_decay=0.0))
    first = weights(tmp_path / "fixed", 0)
    last = weights(tmp_path / "fixed", 4)
    moved = {name for name in first if not torch.equal(first[name], last[name])}
    assert not any("attention.self.query.weight" in name for name in moved)  # both heads are fixed
    assert any("attention.self.value.weight" in name for name in moved)
    assert any("attention.self.query.weight" in name for name in weights(tmp_path / "free", 4))
    logs = {}
    for name in ("free", "fixed"):
        lines = map(json.loads, (tmp_path / name / "log.jsonl").read_text(encoding="utf-8").splitlines())
        logs[name] = [line["loss"] for line in lines if line["event"] == "evaluation"]
    assert logs["free"][0] != logs["fixed"][0]  # of the same weights
    with pytest.raises(CheckpointError, match="fixed"):
        train(tmp_path / "fixed", held, replace(SETTINGS, steps=4, weight_decay=0.0), resume=True)
