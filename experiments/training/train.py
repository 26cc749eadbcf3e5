"""What a [train] table says, done: one training a seed, each with its checkpoints; and checkpoints as models."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from experiments.config.config import Config, TrainingConfig
from experiments.config.section import ConfigError
from experiments.config.train_config import StartSection, TrainSection
from experiments.training.model_card import write_model_card
from experiments.training.texts import open_arcs, open_material, open_rows, open_vocabulary
from mha import Encoder, EncoderConfig, Model, load_model
from mha.training.arcs import ArcTerm
from mha.training.checkpoints import FOLDER, Schedule, find_checkpoint, read_record
from mha.training.masking import Masking
from mha.training.packed_rows import Rows, StoredRows
from mha.training.settings import TrainingSettings
from mha.training.task import Task
from mha.training.train import TrainingProgress, train
from mha.training.vocabulary import Vocabulary, tokenizer_fingerprint
from reports.run.lock import locked

OnTraining = Callable[[int, TrainingProgress], None]
"Called with the seed and how far its training is."


def train_seeds(
    config: TrainingConfig | Config,
    out: Path,
    *,
    resume: bool = False,
    needed: Collection[int] = (),
    on_progress: OnTraining | None = None,
) -> dict[int, Path]:
    """Train as `config.train` says and return the folder of every seed's training, `out`/<name>/seed-<seed>.

    With `resume` trainings that were cut off go on, and finished ones are left as they are. Each folder holds
    checkpoints/, the last of them with a card, and log.jsonl. Raises ConfigError before anything is trained where no
    checkpoint would stay at a step that is `needed` afterwards, and LockedError where another process trains there.
    """
    section = config.train
    assert section is not None
    material = open_material(section)
    vocabulary = open_vocabulary(section, material)
    rows, held_out = open_rows(section, material, vocabulary)
    start = None if section.start is None else opened_start(section.start)
    shape = encoder_config(section, vocabulary) if start is None else start.config
    fresh = section.start is None or section.start.fresh
    task = Task(shape, vocabulary, rows, held_out, None if fresh else start, open_arcs(section, vocabulary))
    from accelerate.state import PartialState

    folders = {}
    for seed in section.seeds:
        folders[seed] = out / config.name / f"seed-{seed}"
        settings = training_settings(section, rows, seed)
        _check_stay(needed, settings)

        def show(progress: TrainingProgress, seed: int = seed) -> None:
            if on_progress is not None:
                on_progress(seed, progress)

        main = PartialState().is_main_process
        with locked(folders[seed]) if main else nullcontext():
            last = train(folders[seed], task, settings, resume=resume, on_progress=show)
            if main:
                write_model_card(last, f"{config.name}-seed-{seed}", section.data)
    return folders


def noted(show: Callable[[str, int, int, str], None]) -> OnTraining:
    """Return what tells `show` of each seed's training: step, number of steps, loss and tokens a second."""

    def tell(seed: int, now: TrainingProgress) -> None:
        show(f"train seed {seed}", now.step, now.steps, f"loss {now.loss:.3f}, {now.tokens_per_second:,.0f} tokens/s")

    return tell


def opened_start(start: StartSection) -> Encoder:
    """Return the encoder that a training goes on with; raises ConfigError for another architecture."""
    module = load_model(start.name).module
    if not isinstance(module, Encoder) or module.config.causal:
        raise ConfigError(f"train.start: {start.name} is no encoder of the BERT family, which alone is trained further")
    return module


def encoder_config(section: TrainSection, vocabulary: Vocabulary) -> EncoderConfig:
    """Return the encoder that a [train] table describes; pre-norm takes the layout of RobertaPreLayerNorm."""
    shape, padding = section.encoder, vocabulary.special["[PAD]"]
    given: dict[str, Any] = shape.model_dump() | {"vocab": vocabulary.size, "padding": padding}
    given["feed_forward"] = shape.feed_forward or 4 * shape.model
    given["positions"] = shape.positions or section.length
    if shape.norm == "pre":
        given |= {"family": "roberta-prelayernorm", "position_offset": padding + 1}
    try:
        return EncoderConfig(**given)
    except ValueError as error:
        raise ConfigError(f"train.encoder: {error}") from None


def training_settings(section: TrainSection, rows: Rows, seed: int) -> TrainingSettings:
    """Return how one seed is trained; a number of tokens becomes one of steps by how full the rows are.

    Raises ConfigError for what no training can have.
    """
    checkpoints = section.checkpoints.model_dump()
    keep, states = checkpoints.pop("keep"), checkpoints.pop("states")
    steps = section.steps
    if steps is None:
        assert section.tokens is not None
        full = rows.pieces() / len(rows) if isinstance(rows, StoredRows) else rows.length
        steps = math.ceil(section.tokens / (full * section.rows))
    alike = TrainingSettings.__dataclass_fields__.keys() & TrainSection.model_fields.keys() - {
        "steps",
        "masking",
        "arcs",
    }
    try:
        return TrainingSettings(
            steps=steps,
            masking=Masking(**section.masking.model_dump()),
            arcs=None if section.arcs is None else ArcTerm(**section.arcs.model_dump(exclude={"relations", "control"})),
            schedule=Schedule(**checkpoints),
            keep=keep,
            states=states,
            seed=seed,
            **{name: getattr(section, name) for name in alike},
        )
    except ValueError as error:
        raise ConfigError(f"train: {error}") from None


def _check_stay(needed: Collection[int], settings: TrainingSettings) -> None:
    stay = sorted(settings.schedule.kept(settings.steps))[-settings.keep :]
    if missing := sorted(set(needed) - set(stay)):
        raise ConfigError(
            f"train.checkpoints: step {missing[0]} is asked for, but no checkpoint will stay there; they will at "
            + ", ".join(map(str, stay))
        )


def refuse_fixed(where: str, fixed: Sequence[str]) -> None:
    """Raise ConfigError for a training with fixed patterns: its weights alone are another model than was trained."""
    if fixed:
        raise ConfigError(
            f"{where}: {len(fixed)} heads of every layer have fixed patterns in training, which no run gives them; "
            "look at it with mha.causal.fixed_patterns.fixed_heads"
        )


def find_training(folder: Path) -> Path | None:
    """Return the folder of a training: `folder` itself, or that of the only seed in it; None where there is none.

    Raises ConfigError where there are several.
    """
    if (folder / FOLDER).is_dir():
        return folder
    seeds = sorted(path for path in folder.glob("seed-*") if (path / FOLDER).is_dir())
    if len(seeds) > 1:
        raise ConfigError(f"{folder} holds {len(seeds)} trainings; name one, such as {seeds[0]}")
    return seeds[0] if seeds else None


def checkpoint_of(model: str) -> str:
    """Return the folder of the last checkpoint where `model` is that of a training, else `model` itself."""
    folder = find_training(Path(model).expanduser())
    return model if folder is None else str(find_checkpoint(folder))


def open_checkpoint(training: Path, step: int | None = None, *, device: str = "cpu") -> tuple[Model, Path, int]:
    """Return the model of a checkpoint of a training, its folder and its step; of the last one where none is named.

    A folder that holds the training of one seed stands for that. Raises CheckpointError or ConfigError where there is
    none, where the tokenizer is not the one that the checkpoint was trained with, and where heads had fixed patterns.
    """
    training = find_training(training) or training
    checkpoint = find_checkpoint(training, step)
    record = read_record(checkpoint)
    refuse_fixed(str(checkpoint), record.get("settings", {}).get("fixed", ()))
    model = load_model(str(checkpoint), device=device)
    if tokenizer_fingerprint(Tokenizer.from_file(str(checkpoint / "tokenizer.json"))) != record["tokenizer"]:
        raise ConfigError(f"{checkpoint}: tokenizer.json is not the tokenizer that the checkpoint was trained with")
    parts = training.resolve().parts[-2 if training.name.startswith("seed-") else -1 :]
    return replace(model, name="/".join(parts), source="checkpoint"), checkpoint, int(record["step"])
