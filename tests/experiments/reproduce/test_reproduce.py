import json
from dataclasses import replace
from pathlib import Path

import pytest
import tomli_w

from experiments.config.config import ConfigError, resolved
from experiments.inputs.corpora import open_corpora
from experiments.record.provenance import Start, machine_record
from experiments.reproduce import readings, record, registry
from experiments.reproduce.registry import select_findings
from experiments.reproduce.reproduce import Invocation, before_the_run, leaving, rejudge, reproduce
from experiments.statements.finding import FindingError, Paper, PaperFindings
from experiments.statements.numbers import margin
from experiments.statements.rule import LearnedRule, Rule
from experiments.statements.subject import Subject
from mha import load_model
from reports import Run
from tests.experiments.reproduce.conftest import FINDINGS, OBJ, finding, results


@pytest.mark.slow
def test_every_finding_gets_its_verdict_with_number_and_run(small: Path, tiny: Path):
    page = reproduce(select_findings(()), [Subject.of(str(tiny))], small)
    found = results(small)
    one = found[f"{tiny} some-relations"]
    run = Run.open(small / Subject.of(str(tiny)).folder / "trees")
    row = run.scores[(run.scores.label == "obj") & run.scores.selected & (run.scores.split == "report")]
    row = row[row.variant == "dependent->head"].iloc[0]
    obj, _, vocative = one["statements"]
    assert (one["verdict"], one["why"]) == ("reproduced", "2 of 3 hold; without a number: vocative")
    assert obj["decides"]["value"] == pytest.approx(row.margin)
    assert obj["ours"]["value"] == pytest.approx(row.accuracy)
    assert obj["heads"] == row["name"]
    assert "no dependency 'vocative'" in vocative["missing"]
    folder = run.folder
    assert one["runs"] == {"trees": readings.fingerprint([folder / "config.toml", *sorted(folder.glob("*.parquet"))])}
    assert found[f"{tiny} some-training"]["why"] == "it is about a training: headscope reproduce --model scratch"
    assert "masked-LM head" in found[f"{tiny} some-pairs"]["why"]
    assert found[f"{tiny} some-missing"]["why"] == "the private data"
    (read,) = json.loads((small / "findings.json").read_text(encoding="utf-8"))["runs"]
    assert read["weights"] == run.record.model.sha256
    assert page == small / "index.html"
    assert "86.8" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_lies_there_is_taken_and_fresh_is_not(small: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch):
    calls = []
    for name, real in (("run", readings.run), ("resume_or_run", readings.resume_or_run)):

        def counted(config, *a, real=real, **k):
            calls.append(config.seed)
            return real(config, *a, **k)

        monkeypatch.setattr(readings, name, counted)
    asked, subject = select_findings(["some-relations"]), [Subject.of(str(tiny))]
    reproduce(asked, subject, small)
    before = results(small)
    reproduce(asked, subject, small)
    assert calls == [0]
    assert results(small) == before
    changes = ["trees.corpus.report.documents=4"]
    reproduce(asked, subject, small, changes, seed=3)
    assert calls == [0, 3]  # another config
    config = (small / Subject.of(str(tiny)).folder / "trees" / "config.toml").read_text(encoding="utf-8")
    assert "documents = 4" in config
    reproduce(asked, subject, small, changes, seed=3, fresh=True)
    assert calls == [0, 3, 3]


@pytest.mark.slow
def test_a_record_is_judged_anew_by_the_rules_of_today(small: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch):
    reproduce(select_findings(["some-relations"]), [Subject.of(str(tiny))], small)
    obj, det, vocative = FINDINGS[0].statements
    other = replace(det, number="another number")
    now = replace(FINDINGS[0], statements=(replace(obj, rule=Rule(above=2.0)), other))
    told = (PaperFindings(Paper("some-2020", "Somebody 2020", "A Title"), (now,)),)
    for module in (registry, record):
        monkeypatch.setattr(module, "papers", lambda: told)
    rejudge(small)
    found = results(small)[f"{tiny} some-relations"]
    assert [one["verdict"] for one in found["statements"]] == ["does not hold", "not measured"]
    assert found["verdict"] == "not measured", "det may hold, and may not"
    assert vocative.name not in {one["name"] for one in found["statements"]}


@pytest.mark.slow
def test_untrained_weights_are_read_with_three_seeds_and_keep_a_learned_finding_from_passing(small: Path, tiny: Path):
    reproduce(select_findings(["some-relations"]), [Subject.of(f"a={tiny}")], small, controls=True)
    found = results(small)
    assert list(found) == ["a, random some-relations", "a, permuted some-relations", "a some-relations"]
    untrained = found["a, random some-relations"]
    assert list(untrained["seeds"]) == ["0", "1", "2"]
    values = [seed[0]["decides"]["value"] for seed in untrained["seeds"].values()]
    assert untrained["statements"][0]["decides"]["value"] == pytest.approx(sum(values) / 3)
    assert set(untrained["runs"]) == {"trees", "trees, seed 1", "trees, seed 2"}
    minus = found["a some-relations"]["statements"][0]["minus"]
    trained = found["a some-relations"]["statements"][0]["decides"]["value"]
    assert minus["random"]["value"] == pytest.approx(trained - sum(values) / 3)
    assert minus["permuted"]["seeds"] == 3


@pytest.mark.slow
def test_the_papers_own_model_is_held_to_its_published_values(small: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch):
    own = replace(
        FINDINGS[0],
        original=(str(tiny),),
        statements=(
            replace(OBJ, tolerance=0.001, measure=lambda evidence: margin(evidence["trees"], "dependency", "obj")),
        ),
    )
    told = (PaperFindings(Paper("some-2020", "Somebody 2020", "A Title"), (own, FINDINGS[1])),)
    for module in (registry, record):
        monkeypatch.setattr(module, "papers", lambda: told)
    reproduce([own], [Subject.of(f"theirs={tiny}"), Subject.of(f"another={tiny}:random")], small)
    found = results(small)
    said = found["theirs some-relations"]["statements"][0]
    assert said["near"].endswith("points from the published value, 0.1 allowed")
    assert said["verdict"] == "does not hold"
    assert found["another some-relations"]["statements"][0]["near"] == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("documents=4", "expected READING.key=value"),
        ("forest.x=1", "no reading 'forest'"),
        ("trees.x", "expected READ"),
    ],
)
def test_a_change_of_nothing_is_refused(small: Path, tiny: Path, change: str, message: str):
    with pytest.raises(ConfigError, match=message):
        reproduce(select_findings(["some-relations"]), [Subject.of(str(tiny))], small, [change])


def test_a_finding_by_a_wrong_name_is_refused_with_the_one_meant(small: Path):
    with pytest.raises(FindingError, match="did you mean 'some-pairs'"):
        select_findings(["some-pair"])
    assert next(one.id for one in select_findings(["some-2020"])) == "some-relations"
    assert len(select_findings(["some-pairs", "some-2020"])) == 4


def test_a_run_is_done_where_its_config_is_the_same_and_its_scores_are_there(tmp_path: Path, tiny: Path):
    changes = [f"model.name={tiny}", 'corpus={select={name="grammar", documents=4}}']
    config = readings.load_config(readings.get_reading("trees").path, changes)
    written = resolved(config)
    kept = tmp_path / "config.toml"
    kept.write_text(tomli_w.dumps(written), encoding="utf-8")
    assert not readings.is_done(tmp_path, config)
    (tmp_path / "scores.parquet").touch()
    assert not readings.is_done(tmp_path, config), "it has no record"
    machine_record(config, load_model(str(tiny)), open_corpora(config), Start()).write(tmp_path / "run.json")
    assert readings.is_done(tmp_path, config)
    assert not readings.is_done(tmp_path, readings.load_config(kept, ["seed=99"]))
    kept.write_text(tomli_w.dumps(written | {"scoring": written["scoring"] | {"flips": 9999}}), encoding="utf-8")
    assert readings.load_config(kept) == config
    assert not readings.is_done(tmp_path, config), "it has p of another test"


LEARNED = finding("learned", "trees", replace(OBJ, rule=LearnedRule(above=0.0)))
PLAIN = finding("plain", "coreference", OBJ)


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Publish a record of runs; return where a call writes."""
    taken = (("trees", 60.0), ("trees", 120.0), ("coreference", 30.0), ("emergence", 999.0))
    runs = [{"reading": name, "wall_seconds": seconds} for name, seconds in taken]
    (tmp_path / "findings.json").write_text(json.dumps({"runs": runs}), encoding="utf-8")
    monkeypatch.setattr("experiments.reproduce.reproduce.PUBLISHED", tmp_path)
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


def test_results_of_findings_that_are_not_here_do_not_leave_a_record_without_a_word(out: Path):
    assert list(leaving(out)) == []
    out.mkdir()
    results = [{"finding": name, "model": "minilm"} for name in ("mine", "clark-relations", "mine")]
    (out / "findings.json").write_text(json.dumps({"results": results}), encoding="utf-8")
    (said,) = leaving(out)
    assert said.startswith(f"{out / 'findings.json'}: results of mine leave it")
    assert "--findings FILE" in said


@pytest.mark.parametrize("typed", ["minilm", "hub:owner/name", "ours=hub:owner/name", "scratch"])
def test_a_model_can_be_typed_again(typed: str):
    assert Subject.of(Subject.of(typed).typed) == Subject.of(typed)
