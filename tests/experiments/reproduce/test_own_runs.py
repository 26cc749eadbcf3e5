"""Findings judged on finished runs: what holds, what does not, and what a run lacks."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.reproduce import own_runs
from experiments.reproduce.own_runs import OwnRun, is_run, judge_runs, opened, reading_of
from experiments.reproduce.readings import FinishedReading, get_reading
from experiments.reproduce.registry import all_findings
from experiments.statements.finding import Finding, FindingError, Missing
from experiments.statements.rule import CONTROLS, SEEDS
from experiments.statements.subject import Subject
from reports import Run
from reports.run.record import ModelFacts, RunRecord
from tests.experiments.findings.planted import planted_run, scored, shaped
from tests.experiments.reproduce.conftest import results

OFFSETS = """
probes.baselines = ["offset"]
scoring = { maps = "weights", reduce = "mean", window_words = 50 }
shapes = { enabled = true, threshold = 3.0 }
controls = { random = 20, permuted = 20, orders = 5 }
"""


def own(run: Run, config: str = OFFSETS, source: str = "pretrained", title: str = "mine") -> OwnRun:
    record = RunRecord(name=title, model=ModelFacts(name="somebody/model", source=source), wall_seconds=60.0)
    run = replace(run, config=config, record=record, folder=Path(title))
    return OwnRun(FinishedReading(run, f"sha of {title}", record), Subject(title, title, source, own_run=True), 0)


def arcs(margin: float) -> Run:
    return planted_run([scored("dependency", "all", margin=margin)])


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that judges findings on planted runs."""

    def judge(runs: list[OwnRun], *ids: str) -> dict[str, dict[str, object]]:
        monkeypatch.setattr(own_runs, "opened", lambda names: runs)
        judge_runs([all_findings()[name] for name in ids], ["mine"], tmp_path)
        return results(tmp_path)

    return judge


def test_a_finding_holds_in_one_run_and_not_in_another(judged, tmp_path: Path):
    runs = [own(arcs(-0.2), title="below"), own(arcs(0.04), title="above")]
    untrained = [(kind, seed) for kind in CONTROLS for seed in range(SEEDS)]
    for kind, seed in untrained:
        subject = Subject(f"above, {kind}", f"{kind} {seed}", kind, "above", own_run=True)
        runs.insert(0, replace(own(arcs(-0.3), source=kind), subject=subject, seed=seed))
    found = judged(runs, "clark-no-parse")
    words = {name: one["statements"][0]["verdict"] for name, one in found.items() if "," not in name}
    assert "\n    headscope reproduce RUN clark-no-parse\n" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert words == {"below clark-no-parse": "does not hold", "above clark-no-parse": "holds"}
    assert found["below clark-no-parse"]["runs"] == {"trees": "sha of below"}
    numbers = [found[f"{name} clark-no-parse"]["statements"][0]["decides"]["value"] for name in ("below", "above")]
    assert numbers == pytest.approx([-0.2, 0.04]), "the numbers are those of the run"


def test_scores_beside_other_baselines_are_not_measured_and_attention_is(judged):
    run = planted_run(
        [scored("dependency", "all", margin=0.3)],
        shapes=[shaped("attention", "last", layer, 0, 0.1 + 0.2 * (layer > 2)) for layer in range(6)],
    )
    one = own(run, OFFSETS.replace('probes.baselines = ["offset"]\n', ""))
    found = judged([one], "clark-no-parse")["mine clark-no-parse"]
    assert found["verdict"] == "not measured"
    assert found["why"] == 'it needs a run with probes.baselines = ["offset"] (this run: its default)'
    evidence = reading_of(all_findings()["clark-no-parse"], get_reading("trees"), one)
    assert len(evidence.tables["shapes"]) == 6
    with pytest.raises(Missing, match=r"probes\.baselines"):
        len(evidence.scores[evidence.scores.label == "all"])


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (OFFSETS.replace('"weights"', '"norms"'), 'scoring.maps = "weights" (this run: "norms")'),
        (OFFSETS.replace('"mean"', '"first"'), 'scoring.reduce = "mean" (this run: "first")'),
    ],
)
def test_a_run_of_other_maps_stands_in_for_nothing(config: str, why: str):
    with pytest.raises(Missing) as raised:
        reading_of(all_findings()["clark-no-parse"], get_reading("trees"), own(arcs(0.3), config))
    assert why in raised.value.why


def test_a_table_that_was_measured_otherwise_is_withheld_and_one_of_more_texts_is_not():
    run = planted_run([scored("dependency", "all", margin=0.3)], ablations=[{"way": "zero"}], shapes=[{"kind": "x"}])
    ways = OFFSETS + 'ablation = { behaviours = ["grammar"], ways = ["zero"], items = 9, draws = 0 }\n'
    finding = all_findings()["clark-no-parse"]
    evidence = reading_of(finding, get_reading("disabling"), own(run, ways))
    with pytest.raises(Missing, match=r'ablation\.ways = \["uniform"\] \(this run: \["zero"\]\)'):
        evidence.tables.get("ablations")
    with pytest.raises(Missing, match=r"shapes\.enabled = false"):
        evidence.tables["shapes"]
    assert evidence.tables.get("nothing") is None


def test_findings_of_trainings_and_of_two_runs_are_not_of_one_run():
    one = own(arcs(0.3))
    for name in ("emergence", "claim-heads"):
        with pytest.raises(Missing, match="--model scratch"):
            reading_of(all_findings()["clark-no-parse"], get_reading(name), one)
    two = next(finding for finding in all_findings().values() if tuple(finding.readings) == ("trees", "norms"))
    with pytest.raises(Missing, match=r"compares two runs, trees and norms: headscope reproduce .* --model MODEL"):
        reading_of(two, get_reading("trees"), one)


def test_grades_hang_on_controls():
    graded: Finding = next(one for one in all_findings().values() if one.graded)
    evidence = reading_of(graded, get_reading("trees"), own(arcs(0.3)))
    with pytest.raises(Missing, match=r"controls\.random = 0 \(this run: 20\)"):
        len(evidence.scores["margin"])


def test_a_folder_is_a_run_unless_it_is_called_like_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("mine", "lr=0.1", "clark-2019"):
        Path(folder).mkdir()
    asked = ("mine", "title=mine", "lr=0.1", "clark-2019", "runs=clark-2019", "", "x=", "nothing")
    assert [is_run(name) for name in asked] == [True, True, True, False, True, False, False, False]


def test_runs_of_one_title_and_controls_without_their_model_are_refused(monkeypatch: pytest.MonkeyPatch):
    reads = {"a": own(arcs(0.1)).read, "b": own(arcs(0.2)).read, "r": own(arcs(0.2), source="random").read}
    monkeypatch.setattr(own_runs, "opened_run", lambda folder: reads[str(folder)])
    with pytest.raises(FindingError, match="two runs are called 'run mine': name them apart, TITLE=FOLDER"):
        opened(["a", "b"])
    assert [one.subject.spoken for one in opened(["one=a", "two=b"])] == ["one", "two"]
    with pytest.raises(FindingError, match="belongs to 0 of the runs named"):
        opened(["r"])
    control, model = opened(["one=a", "r"])
    assert (control.subject.spoken, control.subject.of_model, control.subject.control) == ("one, random", "one", True)
    assert model.subject.spoken == "one"
    reads["again"] = reads["r"]
    with pytest.raises(FindingError, match="two runs are of one, random with seed 0: expected other seeds"):
        opened(["one=a", "r", "again"])
    reads["r"] = own(arcs(0.2), OFFSETS.replace("50", "60"), source="random").read
    with pytest.raises(FindingError, match=r"r: scoring\.window_words is 60, but 50 in"):
        opened(["one=a", "r"])
