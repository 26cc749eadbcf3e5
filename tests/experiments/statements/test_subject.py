from pathlib import Path

import pytest

from experiments.statements.subject import Subject


@pytest.mark.parametrize(
    ("spoken", "name", "source", "folder"),
    [
        ("minilm", "minilm", "pretrained", "minilm"),
        ("random", "minilm", "random", "random"),
        ("minilm:random", "minilm", "random", "minilm-random"),
        ("bert-base-uncased:permuted", "bert-base-uncased", "permuted", "bert-base-uncased-permuted"),
        (
            "google-bert/bert-base-uncased",
            "google-bert/bert-base-uncased",
            "pretrained",
            "google-bert-bert-base-uncased",
        ),
        ("C:/models/bert", "C:/models/bert", "pretrained", "C-models-bert"),
    ],
)
def test_a_model_is_understood_as_it_is_typed(spoken, name, source, folder):
    found = Subject.of(spoken)
    assert (found.name, found.source, found.folder) == (name, source, folder)
    assert found.changes == [f'model.name="{name}"', f'model.source="{source}"']


def test_a_folder_of_a_training_is_read_at_its_checkpoints(tmp_path: Path):
    (tmp_path / "seed-1" / "checkpoints").mkdir(parents=True)
    found = Subject.of(str(tmp_path / "seed-1"))
    assert found.source == "checkpoint"
    assert found.changes[0] == f'model.name="{(tmp_path / "seed-1").resolve()}"'
    assert found.load() is None


def test_untrained_weights_are_those_of_a_model_and_are_called_after_it():
    minilm = Subject.of("minilm")
    assert minilm.untrained("random") == Subject.of("random")
    permuted = minilm.untrained("permuted")
    assert (permuted.spoken, permuted.source, permuted.of_model, permuted.control) == (
        "permuted",
        "permuted",
        "minilm",
        True,
    )
    ours = Subject.of("ours=some/folder").untrained("random")
    assert (ours.spoken, ours.name, ours.source, ours.of_model) == ("ours, random", "some/folder", "random", "ours")


def test_untrained_weights_of_a_training_have_the_shape_of_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "seed-1" / "checkpoints").mkdir(parents=True)
    last = tmp_path / "seed-1" / "checkpoints" / "step-9"
    monkeypatch.setattr(
        "mha.training.checkpoints.find_checkpoint", lambda training: {tmp_path / "seed-1": last}[training]
    )
    found = Subject.of(f"prose encoder={tmp_path / 'seed-1'}").untrained("permuted")
    assert (found.spoken, found.name, found.source) == ("prose encoder, permuted", str(last), "permuted")
