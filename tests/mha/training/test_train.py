import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, BertForMaskedLM

from mha.encoder.encoder import Encoder
from mha.encoder.masked_lm import masked_logits
from mha.encoder.weights import load_encoder
from mha.models.model import load_model
from mha.training.checkpoints import CheckpointError, Schedule, checkpoint_path, list_checkpoints, read_record
from mha.training.settings import TrainingError
from mha.training.task import Task, evaluation_batches, step_batches
from mha.training.train import TrainingProgress, train
from mha.training.vocabulary import Vocabulary, VocabularySettings, train_tokenizer
from tests import small_training as small
from tests.small_training import SETTINGS, log, losses, same, weights

TESTS = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return small.make_task(tmp_path_factory.mktemp("task"))


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Return the task without dropout."""
    return small.make_task(tmp_path_factory.mktemp("task"), dropout=0.0)


@pytest.fixture(scope="module")
def trained(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    train(folder, task, SETTINGS)
    return folder


# --- what comes out


def test_checkpoints_of_the_schedule_are_there_from_step_zero_on(trained: Path, task: Task) -> None:
    assert [*list_checkpoints(trained)] == [0, 1, 2, 4, 8, 12]
    record = read_record(checkpoint_path(trained, 8))
    assert record["tokens"] == sum(b.tokens for b in [*step_batches(task, SETTINGS, 0, 0, 1)][:8])
    assert record["loss"] in [loss for _, _, loss, _ in losses(trained)]


def test_a_checkpoint_opens_in_transformers_with_the_same_logits(trained: Path, task: Task) -> None:
    path = checkpoint_path(trained, 12)
    theirs = BertForMaskedLM.from_pretrained(str(path)).eval()
    ours = load_encoder(path)
    batch = evaluation_batches(task, SETTINGS, 0, 1)[0]
    with torch.no_grad():
        logits = masked_logits(ours, batch)
        for number, place in enumerate(batch.masked.tolist()):
            row, at = divmod(place, batch.pieces.shape[1])
            document = batch.pieces[row][batch.blocks[row] == batch.blocks[row, at]]
            expected = theirs(document[None]).logits[0, batch.places[row, at]]
            assert (logits[number] - expected).abs().max() < 1e-5
    assert AutoTokenizer.from_pretrained(str(path))("mona")["input_ids"] == task.vocabulary.tokenizer.encode("mona").ids
    assert load_model(str(path)).layers == 1


def test_training_lowers_the_loss_on_held_out_rows(trained: Path, task: Task) -> None:
    found = [line["loss"] for line in log(trained, "evaluation")]
    assert found[0] == pytest.approx(math.log(task.vocabulary.size), abs=0.1)
    assert found[-1] < found[0] - 0.2


def test_the_log_tells_steps_evaluations_and_the_machine(trained: Path) -> None:
    (start,) = log(trained, "start")
    assert (start["device"], start["processes"], start["bf16"]) == ("cpu", 1, False)
    assert [line["step"] for line in log(trained, "step")] == list(range(1, 13))
    assert [line["step"] for line in log(trained, "evaluation")] == [0, 1, 2, 4, 5, 8, 10, 12]
    assert all(line["tokens_per_second"] > 0 for line in log(trained, "step"))


def test_the_evaluation_loss_is_that_of_the_checkpoint_on_the_fixed_masks(trained: Path, task: Task) -> None:
    batches = evaluation_batches(task, SETTINGS, 0, 1)
    encoder, total = load_encoder(checkpoint_path(trained, 8)), 0.0
    for batch in batches:
        with torch.no_grad():
            chance = masked_logits(encoder, batch).log_softmax(-1)[torch.arange(len(batch.gold)), batch.gold]
        total -= float(chance.sum())
    expected = total / sum(len(batch.gold) for batch in batches)
    assert read_record(checkpoint_path(trained, 8))["evaluation_loss"] == pytest.approx(expected, abs=1e-5)


def test_a_callback_has_results_of_progress(task: Task, tmp_path: Path) -> None:
    seen: list[TrainingProgress] = []
    settings = replace(SETTINGS, log_every=4, schedule=Schedule(1, 0, safety=3))
    train(tmp_path, task, settings, on_progress=seen.append)
    assert [now.step for now in seen] == [1, 2, 3, 4, 5, 6, 8, 9, 10, 12]
    assert seen[-1].steps == 12
    assert all(now.tokens_per_second > 0 for now in seen)
    assert [*list_checkpoints(tmp_path)] == [0, 1, 2, 4, 8, 12]


def test_nothing_of_the_process_is_changed(task: Task, tmp_path: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(tmp_path, task, replace(SETTINGS, steps=1))
    assert torch.equal(torch.rand(3), expected)
    assert float(torch.tensor(1e-40) * 1) > 0  # denormals are numbers again


# --- how it is trained


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"weight_decay": 1.0},
        {"beta1": 0.5},
        {"beta2": 0.5},
        {"epsilon": 0.1},
        {"clip": 0.01},
        {"floor": 0.5},
        {"decay": "cosine"},
        {"warmup": 0},
        {"precision": "bf16"},
    ],
    ids=str,
)
def test_a_setting_of_the_optimiser_changes_the_weights(
    change: dict[str, Any], trained: Path, task: Task, tmp_path: Path
) -> None:
    train(tmp_path, task, replace(SETTINGS, **change))
    assert not same(weights(tmp_path), weights(trained))
    assert same(weights(tmp_path, 0), weights(trained, 0))
    assert all(math.isfinite(loss) for _, _, loss, _ in losses(tmp_path))


@pytest.mark.slow
def test_rows_divided_into_parts_are_the_same_step(still: Task, tmp_path: Path) -> None:
    train(tmp_path / "whole", still, replace(SETTINGS, accumulation=1))
    train(tmp_path / "parts", still, replace(SETTINGS, accumulation=4))
    whole, parts = losses(tmp_path / "whole"), losses(tmp_path / "parts")
    assert [loss for _, _, loss, _ in whole] == pytest.approx([loss for _, _, loss, _ in parts], abs=2e-5)
    assert [line[3] for line in whole] == [line[3] for line in parts]


@pytest.mark.slow
def test_two_processes_have_the_losses_of_one(still: Task, tmp_path: Path) -> None:
    train(tmp_path / "one", still, SETTINGS)
    # --cpu starts one process only (more need mpirun); this way torch's own launcher starts two, which talk by gloo
    launch = ["accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1"]
    others = ["--main_process_port", "0", "--mixed_precision", "no", "--dynamo_backend", "no"]
    command = [sys.executable, "-m", *launch, *others, str(TESTS / "small_training.py"), str(tmp_path / "two")]
    accelerate = {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(TESTS.parent)}
    environment = {**os.environ, **accelerate}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert log(tmp_path / "two", "start")[0]["processes"] == 2
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert [line[:2] for line in one] == [line[:2] for line in two]
    assert [line[3] for line in one] == [line[3] for line in two]
    assert [line[2] for line in one] == pytest.approx([line[2] for line in two], abs=2e-5)


# --- going on


class CrashError(Exception):
    """What ends a training in a test."""


def crash_at(step: int) -> Callable[[TrainingProgress], None]:
    def progress(now: TrainingProgress) -> None:
        if now.step == step:
            raise CrashError

    return progress


def test_a_training_that_was_cut_off_goes_on_to_the_same_losses_and_weights(
    trained: Path, task: Task, tmp_path: Path
) -> None:
    with pytest.raises(CrashError):
        train(tmp_path, task, SETTINGS, on_progress=crash_at(7))
    assert losses(tmp_path)[-1][1] == 7
    train(tmp_path, task, SETTINGS, resume=True)
    assert losses(tmp_path) == losses(trained)
    assert same(weights(tmp_path), weights(trained))
    assert [line["step"] for line in log(tmp_path, "resume")] == [4]


def test_a_training_goes_on_with_other_threads_only_where_their_number_is_given(
    trained: Path, task: Task, tmp_path: Path
) -> None:
    with pytest.raises(CrashError):
        train(tmp_path, task, replace(SETTINGS, threads=1), on_progress=crash_at(7))
    assert read_record(checkpoint_path(tmp_path, 4))["threads"] == 1
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(
            CheckpointError, match=r"trained with 1 threads, and torch has 2 here, .* threads = 1 to go on"
        ):
            train(tmp_path, task, SETTINGS, resume=True)
        train(tmp_path, task, replace(SETTINGS, threads=1), resume=True)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert [where[:2] for where in losses(tmp_path)] == [where[:2] for where in losses(trained)]
    assert [loss for _, _, loss, _ in losses(tmp_path)] == pytest.approx([loss for _, _, loss, _ in losses(trained)])
    assert [line["threads"] for line in log(tmp_path, "resume")] == [1]


def test_a_finished_training_is_left_as_it_is_but_for_what_a_kill_left(trained: Path, task: Task) -> None:
    left, before = trained / "checkpoints" / ".step-00000005-removed", (trained / "log.jsonl").read_bytes()
    left.mkdir()
    assert train(trained, task, SETTINGS, resume=True) == checkpoint_path(trained, 12)
    assert not left.exists()
    assert [*list_checkpoints(trained)] == [0, 1, 2, 4, 8, 12]
    assert (trained / "log.jsonl").read_bytes() == before


def other_tokenizer(task: Task) -> Task:
    texts = small.invented_texts(200)
    return replace(task, vocabulary=Vocabulary(train_tokenizer(texts, VocabularySettings(task.vocabulary.size))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda task: (task, SETTINGS), "holds a training of 12 steps; --resume goes on"),
        (lambda task: (task, replace(SETTINGS, steps=13)), "the setting steps = 12, not 13"),
        (lambda task: (task, replace(SETTINGS, schedule=Schedule(2))), "the setting schedule = "),
        (lambda task: (other_tokenizer(task), SETTINGS), r"trained with another tokenizer \(sha256 \w{12}\)"),
        (
            lambda task: (replace(task, encoder=replace(task.encoder, heads=4)), SETTINGS),
            "the encoder's heads = 2, not 4",
        ),
        (lambda task: (replace(task, held_out=None), SETTINGS), "the texts' held_out"),
        (
            lambda task: (replace(task, start=Encoder(task.encoder)), SETTINGS),
            "the first weights' sha256 = None, not",
        ),
        (
            lambda task: (replace(task, encoder=replace(task.encoder, vocab=99)),),
            "the encoder has 99 pieces and pad",
        ),
        (lambda task: (replace(task, encoder=replace(task.encoder, positions=16)),), "rows of 24 pieces are too long"),
    ],
)
def test_another_training_is_refused_with_what_differs(
    change: Callable[[Task], tuple[Any, ...]], message: str, trained: Path, task: Task
) -> None:
    with pytest.raises(ValueError, match=message):
        train(trained, *change(task), resume="--resume" not in message)


# --- what stops it


@pytest.mark.parametrize("change", [{"log_every": 5}, {"evaluate_every": 3}, {"schedule": Schedule(0, 6, 0)}], ids=str)
def test_a_loss_that_is_no_number_stops_before_anything_is_kept_of_it(
    change: dict[str, Any], task: Task, tmp_path: Path
) -> None:
    still = {"log_every": 100, "schedule": Schedule(0, 0, 0)}
    with pytest.raises(TrainingError) as caught:
        train(tmp_path, task, replace(SETTINGS, learning_rate=1e38, warmup=0, **{**still, **change}))
    assert str(caught.value).startswith("step 2: the loss is nan")
    assert f"the last good checkpoint is {checkpoint_path(tmp_path, 0)}" in str(caught.value)
    assert [(line["event"], line["step"]) for line in log(tmp_path, "stopped", "evaluation")] == [
        ("evaluation", 0),
        ("stopped", 2),
    ]
    assert [*list_checkpoints(tmp_path)] == [0]


@pytest.mark.parametrize("lm_head", [True, False])
def test_training_begins_with_the_weights_that_it_is_given(lm_head: bool, task: Task, tmp_path: Path) -> None:
    """A masked-LM head that is not there is made, and a pooler left out."""
    start = Encoder(task.encoder, pooler=True, lm_head=lm_head)
    train(tmp_path, replace(task, start=start), replace(SETTINGS, steps=1))
    begun = load_encoder(checkpoint_path(tmp_path, 0)).state_dict()
    given = {name: tensor for name, tensor in start.state_dict().items() if not name.startswith("pooler.")}
    assert same({name: begun[name] for name in given}, given)
    assert float(begun["lm_head.transform.weight"].std()) == pytest.approx(0.02, rel=0.3)
    assert not same(load_encoder(checkpoint_path(tmp_path, 1)).state_dict(), begun)


def test_a_causal_encoder_is_trained_and_evaluated_on_next_pieces(task: Task, tmp_path: Path) -> None:
    causal = replace(task, encoder=replace(task.encoder, causal=True))
    special = causal.vocabulary.special
    for part in next(step_batches(causal, SETTINGS, 0, 0, 1)).parts:
        assert not (part.pieces == special["[MASK]"]).any()
        assert torch.equal(part.gold, part.pieces.flatten()[part.masked + 1])
        real = part.blocks >= 0
        ends = real & (part.pieces == special["[SEP]"])
        assert len(part.gold) == int(real.sum() - ends.sum())  # of all but the last piece of a document
    last = train(tmp_path, causal, SETTINGS)
    assert load_encoder(last).config.causal
    again = train(tmp_path, causal, SETTINGS, resume=True)
    assert again == last
    with pytest.raises(CheckpointError, match="the encoder's causal = True, not False"):
        train(tmp_path, task, SETTINGS, resume=True)


@pytest.mark.slow
def test_rows_with_padding_are_trained_on_in_bf16(task: Task, tmp_path: Path) -> None:
    first = next(step_batches(task, SETTINGS, 0, 0, 1))
    assert any((part.blocks == -1).any() for part in first.parts)
    train(tmp_path, task, replace(SETTINGS, precision="bf16", learning_rate=1e-6))
    assert log(tmp_path, "start")[0]["bf16"]
    norms = [line["gradient_norm"] for line in log(tmp_path, "step")]
    train(tmp_path / "fp32", task, replace(SETTINGS, learning_rate=1e-6))
    assert norms == pytest.approx([line["gradient_norm"] for line in log(tmp_path / "fp32", "step")], rel=0.1)


def test_a_seed_decides_the_first_weights(trained: Path, task: Task, tmp_path: Path) -> None:
    train(tmp_path, task, replace(SETTINGS, seed=1, steps=1))
    assert not same(weights(tmp_path, 0), weights(trained, 0))
