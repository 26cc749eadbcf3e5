"""Every claim from its own config, at a tiny scale, through the command line; and configs that are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.claims import loop
from experiments.claims.study import CLAIMS, load_claim, run_claim
from experiments.config.config import ConfigError
from experiments.reproduce.readings import CLAIM_FOLDERS
from experiments.statements.trained import TrainedSection
from reports.statements.claim_page import ORDER

CONFIGS = Path(__file__).parents[3] / "experiments" / "configs" / "claims"
SHIPPED = [path for folder in CLAIM_FOLDERS for path in sorted((CONFIGS.parent / folder).glob("*.toml"))]

TIMED = ("model=8", "heads=2", "lengths=[4, 8]", "tokens=8", "rounds=3")
TRAIN = (
    "train.encoder={layers=2, model=16}", "train.steps=3", "train.data.documents=20", "train.length=32",
    "train.rows=4", "train.warmup=1", "train.seeds=[0, 1]", "train.tokenizer.size=300", "train.held_out_share=0.1",
)  # fmt: skip
SCORED = (
    "corpus.select.documents=4", "corpus.report.documents=4", "scoring.replicates=10",
    'probes.names=["dependency"]', "controls={random=2, permuted=0}",
)  # fmt: skip
TINY = {
    "heads": (*TRAIN, *SCORED, "heads=[1, 2]", "compare=[1, 2]", "pairs=150"),
    "compute": (*TIMED, "more_heads=[]"),
    "loop": (*TIMED, "threads=[1]"),
    "scaling": (*TRAIN, "heads=2", "draws=3", "batches=1"),
    "emergence": (*TRAIN, *SCORED, "heads=2"),
    "averaging": ("value=2", "widths=[4]", "sets=[1]", "steps=2", "batch=4", "examples=9", "seeds=[0, 1]"),
    "mixing": (*TRAIN, "heads=2", "documents=2"),
    "recurrence": TIMED,
}


def words(name: str, out: Path, *more: object) -> list[object]:
    changes = [word for change in TINY[name] for word in ("--set", change)]
    return ["claim", CONFIGS / f"{name}.toml", *changes, "--out", out, *more]


def check(name: str, out: Path) -> None:
    """Check what the command left of a claim."""
    record = json.loads((out / name / "claim.json").read_text())
    assert {one["verdict"] for one in record["statements"]} <= {"holds", "does not hold", "not decided"}
    assert record["measures"]
    assert all(measure["cells"] for measure in record["measures"])
    assert {"git_commit", "started", "wall_seconds", "threads", "platform"} <= set(record)
    assert (record["config_file"], record["changes"]) == (f"{name}.toml", list(TINY[name]))
    assert CLAIMS[name].sentence in (out / "index.html").read_text()
    assert not [path for path in out.iterdir() if path.name.startswith(".")]  # nothing unfinished stays


@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("compute", "loop", "recurrence")), "averaging"]
)
def test_a_claim_is_measured_and_told(name: str, tmp_path: Path, headscope: Callable[..., Any]) -> None:
    said = headscope(*words(name, tmp_path))
    assert (said.code, said.out) == (0, f"page: {tmp_path / 'index.html'}\n"), said.err
    check(name, tmp_path)


@pytest.mark.slow
def test_claims_about_trained_encoders_share_trainings_and_train_nothing_twice(
    tmp_path: Path, headscope: Callable[..., Any]
) -> None:
    for name in ("emergence", "mixing", "scaling"):
        assert headscope(*words(name, tmp_path)).code == 0
        check(name, tmp_path)
    assert [path.parent.name for path in tmp_path.glob("*/trainings")] == ["heads"]
    before = {one: one.stat().st_mtime_ns for one in (tmp_path / "heads").rglob("training.json")}
    refused = headscope(*words("heads", tmp_path, "--set", "heads=[2, 1]"))  # those with 2 heads are there
    assert refused.code == 2
    assert "--resume goes on, or choose another name" in refused.err
    assert headscope(*words("heads", tmp_path, "--resume")).code == 0
    check("heads", tmp_path)
    after = {one: one.stat().st_mtime_ns for one in (tmp_path / "heads").rglob("training.json")}
    assert before.items() < after.items()
    names = sorted(path.name for path in (tmp_path / "heads" / "trainings").iterdir())
    assert names == ["heads-1", "heads-2", "heads-2-unscaled"]
    record = (tmp_path / "heads" / "claim.json").read_text()
    assert headscope(*words("heads", tmp_path, "--resume")).code == 0
    assert (tmp_path / "heads" / "claim.json").read_text() == record


def test_a_claim_that_is_cut_off_goes_on_with_the_parts_that_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_claim(CONFIGS / "loop.toml", TINY["loop"])
    timed: list[int] = []

    def once(section: loop.LoopSection, length: int, count: int) -> dict[str, list[float]]:
        timed.append(length)
        if timed == [4, 8]:
            raise KeyboardInterrupt
        return {loop.AT_ONCE: [1.0, 1.0, 1.0], loop.LOOPED: [2.0, 2.0, 2.0]}

    monkeypatch.setattr(loop, "_time", once)
    with pytest.raises(KeyboardInterrupt):
        run_claim(loaded, tmp_path)
    assert not (tmp_path / "loop" / "claim.json").exists()
    path = run_claim(loaded, tmp_path, resume=True)
    assert timed == [4, 8, 8]
    assert json.loads(path.read_text())["statements"][0]["value"] == pytest.approx(2.0)
    run_claim(loaded, tmp_path)  # without resume everything is measured anew
    assert timed == [4, 8, 8, 4, 8]


def test_every_claim_has_one_config_of_its_name_and_a_place_on_the_page() -> None:
    assert {path.stem: load_claim(path).claim.name for path in SHIPPED} == {name: name for name in CLAIMS}
    assert tuple(CLAIMS) == ORDER


def test_claims_that_share_trainings_say_the_same_of_them() -> None:
    sections = [load_claim(path).section for path in sorted(CONFIGS.glob("*.toml"))]
    trained = [section for section in sections if isinstance(section, TrainedSection)]
    assert len(trained) == 4
    assert len({section.train.model_dump_json() for section in trained}) == 1
    assert {section.trainings for section in trained if section.claim != "heads"} == {"heads"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rounds = 3", r"mine.toml: 'claim' is missing, .* the claims are heads, compute"),
        ('claim = "lop"', r"mine.toml: unknown claim 'lop'; did you mean 'loop'\?"),
        ('claim = "loop"\nrouns = 3', r"unknown key 'rouns'; did you mean 'rounds'\?"),
        ('claim = "loop"\nname = "../up"', r"mine.toml: name: String should match pattern"),
        ('claim = "mixing"', r"mine.toml: 'train' is missing"),
        (
            'claim = "compute"\nsimilar = [2, 3]',
            r"similar: expected a number below 1 and one above it, got \[2.0, 3.0\]",
        ),
        ('claim = "averaging"\nwidths = [7]', "expected even sizes"),
        ('claim = "averaging"\nsets = [40]', "two of 40 do not fit into 16 items"),
    ],
)
def test_a_config_that_is_none_is_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_claim(tmp_path / "mine.toml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("heads", "compare=[1, 3]", "compare: 3 heads are not among"),
        ("heads", "train.encoder.model=30", "heads do not divide a model of size 30"),
        ("heads", "train.seeds=[0]", "an interval takes two seeds or more"),
        ("mixing", "train.encoder.norm='pre'", "measured on post-norm encoders"),
    ],
)
def test_a_change_with_which_nothing_could_be_compared_is_refused(name: str, change: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_claim(CONFIGS / f"{name}.toml", [change])
