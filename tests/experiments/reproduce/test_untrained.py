import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.reproduce import untrained
from experiments.reproduce.untrained import Invocation, before_the_run
from experiments.statements.rule import LearnedRule
from experiments.statements.subject import Subject
from tests.experiments.reproduce.conftest import OBJ, finding

LEARNED = finding("learned", "trees", replace(OBJ, rule=LearnedRule(above=0.0)))
PLAIN = finding("plain", "coreference", OBJ)


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Publish a record of runs; return where a call writes."""
    taken = (("trees", 60.0), ("trees", 120.0), ("coreference", 30.0), ("emergence", 999.0))
    runs = [{"reading": name, "wall_seconds": seconds} for name, seconds in taken]
    (tmp_path / "findings.json").write_text(json.dumps({"runs": runs}), encoding="utf-8")
    monkeypatch.setattr(untrained, "PUBLISHED", tmp_path)
    return tmp_path / "out"


def test_the_command_and_its_cost_are_told_for_trained_models_alone(out: Path):
    subjects = [Subject.of(name) for name in ("our encoder=minilm", "random", "scratch")]
    call = Invocation(out, ["trees.corpus.report.first=9"], seed=2)
    assert list(before_the_run([LEARNED, PLAIN], subjects, call, ["some-2020"])) == [
        "our encoder: without untrained weights learned may be 'not measured'. To measure: headscope reproduce "
        f"some-2020 --model 'our encoder=minilm' --controls --out {out} --set trees.corpus.report.first=9 --seed 2 "
        "(about 12 minutes more for a model of the size of MiniLM on two cores)"  # 6 * (90 + 30) seconds
    ]
    assert list(before_the_run([PLAIN], subjects, call, [])) == []


def test_untrained_weights_count_with_three_seeds_of_both_kinds(out: Path):
    out.mkdir()
    models = [{"model": kind, "control": True, "of": "minilm"} for kind in ("random", "permuted")]
    for last, silent in ((2, False), (3, True)):
        read = [
            {"finding": "learned", "model": kind, "seeds": dict.fromkeys("012"[:seeds])}
            for kind, seeds in (("random", 3), ("permuted", last))
        ]
        (out / "findings.json").write_text(json.dumps({"models": models, "results": read}), encoding="utf-8")
        assert (list(before_the_run([LEARNED], [Subject.of("minilm")], Invocation(out), [])) == []) is silent


@pytest.mark.parametrize("typed", ["minilm", "hub:owner/name", "ours=hub:owner/name", "scratch"])
def test_a_model_can_be_typed_again(typed: str):
    assert Subject.of(Subject.of(typed).typed) == Subject.of(typed)
