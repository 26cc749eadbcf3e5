import importlib.util
import json
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
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from safetensors.torch import load_file
from transformers import AutoTokenizer, BertForMaskedLM

from mha.encoder.encoder import Encoder
from mha.encoder.masked_lm import masked_logits
from mha.encoder.weights import load_encoder
from mha.models.model import load_model
from mha.training.checkpoints import CheckpointError, Schedule, checkpoint_path, list_checkpoints, read_record
from mha.training.masking import mask_rows
from mha.training.packed_rows import store_rows
from mha.training.settings import TrainingSettings
from mha.training.task import Task, TrainingError, evaluation_batches, step_batches
from mha.training.train import TrainingProgress, train
from mha.training.vocabulary import Vocabulary, VocabularySettings, train_tokenizer

TESTS = Path(__file__).parents[2]


def _script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


small = _script("small_training")
SETTINGS: TrainingSettings = small.SETTINGS


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


def log(folder: Path, *events: str) -> list[dict[str, Any]]:
    lines = map(json.loads, (folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["event"] in events]


def losses(folder: Path) -> list[tuple[Any, ...]]:
    return [(line["event"], line["step"], line["loss"], line["tokens"]) for line in log(folder, "step", "evaluation")]


def weights(folder: Path, step: int = 12) -> dict[str, torch.Tensor]:
    return load_file(checkpoint_path(folder, step) / "model.safetensors")


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# --- what comes out


def test_checkpoints_of_the_schedule_are_there_from_step_zero_on(trained: Path, task: Task) -> None:
    assert [*list_checkpoints(trained)] == [0, 1, 2, 4, 8, 12]
    record = read_record(checkpoint_path(trained, 8))
    assert record["tokens"] == sum(b.tokens for b in [*step_batches(task, SETTINGS, 0, 0, 1)][:8])
    assert record["loss"] == losses(trained)[-6][2] or record["loss"] in [loss for _, _, loss, _ in losses(trained)]


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


def test_the_rate_of_the_log_is_that_of_warm_up_and_decay(trained: Path) -> None:
    rates = [line["learning_rate"] for line in log(trained, "step")]
    assert rates == pytest.approx([1e-2 * n / 4 for n in range(1, 5)] + [1e-2 * n / 8 for n in range(7, -1, -1)])


def test_the_evaluation_loss_is_that_of_the_checkpoint_on_the_fixed_masks(trained: Path, task: Task) -> None:
    batches = evaluation_batches(task, SETTINGS, 0, 1)
    encoder, total = load_encoder(checkpoint_path(trained, 8)), 0.0
    for batch in batches:
        with torch.no_grad():
            chance = masked_logits(encoder, batch).log_softmax(-1)[torch.arange(len(batch.gold)), batch.gold]
        total -= float(chance.sum())
    expected = total / sum(len(batch.gold) for batch in batches)
    assert read_record(checkpoint_path(trained, 8))["evaluation_loss"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_a_seed_decides_the_weights(trained: Path, task: Task, tmp_path: Path) -> None:
    train(tmp_path / "again", task, SETTINGS)
    assert losses(tmp_path / "again") == losses(trained)
    assert same(weights(tmp_path / "again"), weights(trained))
    train(tmp_path / "other", task, replace(SETTINGS, seed=1))
    assert not same(weights(tmp_path / "other", 0), weights(trained, 0))


def test_callbacks_are_told_of_checkpoints_and_progress(task: Task, tmp_path: Path) -> None:
    seen: list[TrainingProgress] = []
    written: list[tuple[int, bool]] = []
    train(
        tmp_path,
        task,
        replace(SETTINGS, log_every=4, schedule=Schedule(1, 0, safety=3)),
        on_checkpoint=lambda step, path: written.append((step, (path / "model.safetensors").is_file())),
        on_progress=seen.append,
    )
    assert written == [(step, True) for step in (0, 1, 2, 4, 8, 12)]  # none for those that are only for safety
    assert [now.step for now in seen] == [1, 2, 3, 4, 5, 6, 8, 9, 10, 12]
    assert seen[-1].steps == 12
    assert all(now.tokens_per_second > 0 for now in seen)
    assert [*list_checkpoints(tmp_path)] == [0, 1, 2, 4, 8, 12]


def test_steps_are_reported_before_an_evaluation_whose_time_is_not_theirs(
    trained: Path, task: Task, tmp_path: Path
) -> None:
    train(tmp_path, task, replace(SETTINGS, log_every=100, evaluate_every=5, schedule=Schedule(0, 0, 0)))
    lines = [(line["event"], line["step"]) for line in log(tmp_path, "step", "evaluation")]
    evaluations = [(event, step) for step in (5, 10, 12) for event in ("step", "evaluation")]
    assert lines == [("evaluation", 0), *evaluations]


@pytest.mark.slow
def test_rows_that_hold_only_unknown_words_are_trained_on_without_loss(task: Task, tmp_path: Path) -> None:
    texts = ["\u4e00 " * 60, *small.invented_texts(20)]
    rows = store_rows(texts, task.vocabulary, 24, tmp_path / "packed")
    assert any(not mask_rows(row[None], task.vocabulary, SETTINGS.masking, 0, 1).masked.any() for row in rows.rows)
    held_out = store_rows(texts[:1], task.vocabulary, 24, tmp_path / "packed")
    settings = replace(SETTINGS, rows=4, accumulation=4)
    train(tmp_path / "some", replace(task, rows=rows), settings)
    assert all(math.isfinite(line["loss"]) for line in log(tmp_path / "some", "step"))
    train(tmp_path / "none", replace(task, held_out=held_out), settings)
    assert [line["loss"] for line in log(tmp_path / "none", "evaluation")] == []


def test_tensorboard_gets_what_the_log_gets(task: Task, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(tmp_path, task, replace(SETTINGS, steps=4, trackers=("tensorboard",)))
    events = EventAccumulator(str(next(tmp_path.rglob("events.out.*")).parent)).Reload()
    told = [(event.step, event.value) for event in events.Scalars("loss")]
    assert told == [(line["step"], pytest.approx(line["loss"])) for line in log(tmp_path, "step")]
    assert [event.step for event in events.Scalars("evaluation_loss")] == [0, 1, 2, 4]


def test_nothing_of_the_process_is_changed(task: Task, tmp_path: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(tmp_path, task, replace(SETTINGS, steps=1))
    assert torch.equal(torch.rand(3), expected)
    assert float(torch.tensor(1e-40) * 1) > 0  # denormals are numbers again


# --- how it is trained


@pytest.mark.slow
def test_rows_with_padding_are_trained_on_in_bf16(task: Task, tmp_path: Path) -> None:
    first = next(step_batches(task, SETTINGS, 0, 0, 1))
    assert any((part.blocks == -1).any() for part in first.parts)
    train(tmp_path, task, replace(SETTINGS, precision="bf16", learning_rate=1e-6))
    assert log(tmp_path, "start")[0]["bf16"]
    norms = [line["gradient_norm"] for line in log(tmp_path, "step")]
    train(tmp_path / "fp32", task, replace(SETTINGS, learning_rate=1e-6))
    assert norms == pytest.approx([line["gradient_norm"] for line in log(tmp_path / "fp32", "step")], rel=0.1)


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


def test_rows_that_cannot_be_divided_are_refused(task: Task, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"8 rows a step cannot be divided between 1 process\(es\) x 3 parts"):
        train(tmp_path, task, replace(SETTINGS, accumulation=3))


# --- going on


class CrashError(Exception):
    """What ends a training in a test."""


def crash(step: int, path: Path) -> None:
    raise CrashError


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


def test_a_training_that_was_cut_off_at_once_goes_on_too(trained: Path, task: Task, tmp_path: Path) -> None:
    with pytest.raises(CrashError):
        train(tmp_path, task, SETTINGS, on_checkpoint=crash)
    assert [*list_checkpoints(tmp_path)] == [0]
    train(tmp_path, task, SETTINGS, resume=True)
    assert losses(tmp_path) == losses(trained)


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


def test_a_training_that_lost_its_last_checkpoint_goes_on_from_the_one_before(
    trained: Path, task: Task, tmp_path: Path
) -> None:
    settings = replace(SETTINGS, states=2)
    with pytest.raises(CrashError):
        train(tmp_path, task, settings, on_progress=crash_at(9))
    (checkpoint_path(tmp_path, 8) / "state.safetensors").write_bytes(b"lost")
    train(tmp_path, task, settings, resume=True)
    assert [line["step"] for line in log(tmp_path, "resume")] == [4]
    assert losses(tmp_path) == losses(trained)


def test_a_finished_training_is_left_as_it_is(trained: Path, task: Task) -> None:
    before = (trained / "log.jsonl").read_bytes()
    assert train(trained, task, SETTINGS, resume=True) == checkpoint_path(trained, 12)
    assert (trained / "log.jsonl").read_bytes() == before


def test_what_a_kill_after_the_last_checkpoint_left_goes_when_it_is_asked_again(trained: Path, task: Task) -> None:
    left = trained / "checkpoints" / ".step-00000005-removed"
    left.mkdir()
    before = [*list_checkpoints(trained)]
    train(trained, task, SETTINGS, resume=True)
    assert not left.exists()
    assert [*list_checkpoints(trained)] == before


def test_a_training_is_not_begun_over_another(trained: Path, task: Task) -> None:
    with pytest.raises(TrainingError, match="holds a training of 12 steps; --resume goes on"):
        train(trained, task, SETTINGS)


def test_without_any_state_there_is_no_going_on(trained: Path, task: Task, tmp_path: Path) -> None:
    with pytest.raises(CrashError):
        train(tmp_path, task, SETTINGS, on_progress=crash_at(3))
    for path in list_checkpoints(tmp_path).values():
        (path / "state.safetensors").unlink(missing_ok=True)
    with pytest.raises(CheckpointError, match=r"no checkpoint has the state.safetensors that going on needs"):
        train(tmp_path, task, SETTINGS, resume=True)


def test_another_tokenizer_is_refused(trained: Path, task: Task) -> None:
    texts = small.invented_texts(200)
    other = Vocabulary(train_tokenizer(texts, VocabularySettings(size=task.vocabulary.size)))
    assert other.size == task.vocabulary.size
    with pytest.raises(CheckpointError, match=r"was trained with another tokenizer \(sha256 \w{12}\)"):
        train(trained, replace(task, vocabulary=other), SETTINGS, resume=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 3}, "the setting seed = 0, not 3"),
        ({"learning_rate": 0.5}, "the setting learning_rate = 0.01, not 0.5"),
        ({"schedule": Schedule(2)}, "the setting schedule = "),
    ],
    ids=str,
)
def test_other_settings_are_refused_by_name(change: dict[str, Any], said: str, trained: Path, task: Task) -> None:
    with pytest.raises(CheckpointError, match=said):
        train(trained, task, replace(SETTINGS, **change), resume=True)


def test_another_encoder_or_other_texts_are_refused(trained: Path, task: Task) -> None:
    with pytest.raises(CheckpointError, match="the encoder's heads = 2, not 4"):
        train(trained, replace(task, encoder=replace(task.encoder, heads=4)), SETTINGS, resume=True)
    with pytest.raises(CheckpointError, match="the texts' held_out"):
        train(trained, replace(task, held_out=None), SETTINGS, resume=True)


def test_how_much_is_kept_may_change(task: Task, trained: Path, tmp_path: Path) -> None:
    with pytest.raises(CrashError):
        train(tmp_path, task, SETTINGS, on_progress=crash_at(5))
    train(tmp_path, task, replace(SETTINGS, keep=2), resume=True)
    assert [*list_checkpoints(tmp_path)] == [8, 12]
    assert same(weights(tmp_path), weights(trained))


# --- what stops it


def test_a_full_disk_stops_and_training_goes_on_when_there_is_room(task: Task, trained: Path, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="this system limits no file")
    size = (checkpoint_path(trained, 12) / "state.safetensors").stat().st_size

    def fill_up(now: TrainingProgress) -> None:
        if now.step == 7:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1, before[1]))

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(CheckpointError) as caught:
            train(tmp_path, task, SETTINGS, on_progress=fill_up)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    message = str(caught.value)
    assert message.startswith(f"{checkpoint_path(tmp_path, 8)}: the checkpoint cannot be written: File too large; ")
    assert message.endswith(f"the last good checkpoint is {checkpoint_path(tmp_path, 4)}; --resume goes on from there")
    train(tmp_path, task, SETTINGS, resume=True)
    assert losses(tmp_path) == losses(trained)
    assert same(weights(tmp_path), weights(trained))


def test_no_evaluation_is_logged_of_weights_that_are_no_numbers(task: Task, tmp_path: Path) -> None:
    bad = replace(SETTINGS, learning_rate=1e38, warmup=0, log_every=100, evaluate_every=3, schedule=Schedule(0, 0, 0))
    with pytest.raises(TrainingError, match="step 2"):
        train(tmp_path, task, bad)
    assert [line["step"] for line in log(tmp_path, "evaluation")] == [0]


def test_a_tracker_that_is_not_there_is_refused(task: Task, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"tracker 'wandbb' is not known or not installed; here are .*tensorboard"):
        train(tmp_path, task, replace(SETTINGS, trackers=("tensorboard", "wandbb")))
    assert [*tmp_path.iterdir()] == []


def test_a_loss_that_is_no_number_stops_and_names_step_and_last_good_checkpoint(task: Task, tmp_path: Path) -> None:
    bad = replace(SETTINGS, learning_rate=1e38, warmup=0, log_every=5, schedule=Schedule(0, 0, 0))
    with pytest.raises(TrainingError) as caught:
        train(tmp_path, task, bad)
    message = str(caught.value)
    assert message.startswith("step 2: the loss is nan")
    assert f"the last good checkpoint is {checkpoint_path(tmp_path, 0)}" in message
    (stopped,) = log(tmp_path, "stopped")
    assert stopped["step"] == 2
    assert [*list_checkpoints(tmp_path)] == [0]
    assert all(tensor.isfinite().all() for tensor in weights(tmp_path, 0).values())


def test_no_checkpoint_is_written_of_weights_that_are_no_numbers(task: Task, tmp_path: Path) -> None:
    bad = replace(SETTINGS, learning_rate=1e38, warmup=0, log_every=100, schedule=Schedule(0, every=6, safety=0))
    with pytest.raises(TrainingError, match="step 2"):
        train(tmp_path, task, bad)
    assert [*list_checkpoints(tmp_path)] == [0]


def test_an_encoder_that_does_not_fit_the_tokenizer_or_the_rows_is_refused(task: Task) -> None:
    with pytest.raises(TrainingError, match="the encoder has 99 pieces and padding 0, the tokenizer "):
        replace(task, encoder=replace(task.encoder, vocab=99))
    with pytest.raises(TrainingError, match="rows of 24 pieces are too long for 16 positions"):
        replace(task, encoder=replace(task.encoder, positions=16))


def test_an_accelerator_of_another_precision_in_the_process_changes_nothing(
    task: Task, trained: Path, tmp_path: Path
) -> None:
    AcceleratorState._reset_state()
    Accelerator(mixed_precision="bf16")
    train(tmp_path, task, SETTINGS)
    assert losses(tmp_path) == losses(trained)
    assert same(weights(tmp_path), weights(trained))


# --- from weights that are there


@pytest.fixture(scope="module")
def start(trained: Path) -> Any:
    return load_encoder(checkpoint_path(trained, 12))


def test_training_begins_with_the_weights_that_it_is_given(task: Task, start: Any, tmp_path: Path) -> None:
    train(tmp_path, replace(task, start=start), SETTINGS)
    begun = load_encoder(checkpoint_path(tmp_path, 0))
    assert same(begun.state_dict(), start.state_dict())
    assert not same(load_encoder(checkpoint_path(tmp_path, 12)).state_dict(), start.state_dict())


def test_a_masked_lm_head_that_is_not_there_is_fresh_and_a_pooler_is_left_out(task: Task, tmp_path: Path) -> None:
    bare = Encoder(task.encoder, pooler=True)
    train(tmp_path, replace(task, start=bare), replace(SETTINGS, steps=1))
    begun = load_encoder(checkpoint_path(tmp_path, 0))
    assert begun.pooler is None
    assert begun.lm_head is not None
    assert torch.equal(begun.pieces.weight, bare.pieces.weight)
    assert float(begun.lm_head.transform.weight.detach().std()) == pytest.approx(0.02, rel=0.3)


def test_a_training_does_not_go_on_from_other_first_weights(task: Task, start: Any, tmp_path: Path) -> None:
    train(tmp_path, replace(task, start=start), SETTINGS)
    assert train(tmp_path, replace(task, start=start), SETTINGS, resume=True).name == "step-00000012"
    for other in (None, Encoder(task.encoder, lm_head=True)):
        with pytest.raises(CheckpointError, match="the first weights' sha256"):
            train(tmp_path, replace(task, start=other), SETTINGS, resume=True)


def test_weights_of_another_shape_are_refused(task: Task, start: Any) -> None:
    with pytest.raises(TrainingError, match="another shape"):
        replace(task, encoder=replace(task.encoder, layers=2), start=start)


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
