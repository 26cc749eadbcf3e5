"""The stages that a run plans are those that it has."""

from pathlib import Path

import pytest

from experiments.run.config import load_config
from experiments.run.run import run
from reports.progress import Course

SMALL = (
    *("probes.names=['position', 'coreference']", "probes.trained=false", "scoring.metrics=false"),
    *("corpus.select.documents=3", "corpus.report.documents=3", "scoring.replicates=10"),
    *("page.examples=1", "heads={texts=0, relations=0}", "controls={random=2, permuted=2}"),
)


@pytest.mark.parametrize("first", [True, False])
def test_every_planned_stage_is_begun_and_none_besides(first: bool, tmp_path: Path) -> None:
    course = Course()
    config = load_config(Path("quickstart"), SMALL)
    planned: list[str] = []
    plan, begun, begin = course.plan, list[str](), course.begin

    def noted(stages: list[tuple[str, float]]) -> None:
        planned.extend(name for name, _ in stages)
        plan(stages)

    def also_noted(name: str) -> None:
        begun.append(name)
        begin(name)

    course.plan, course.begin = noted, also_noted  # type: ignore[method-assign,assignment]
    run(config, tmp_path, progress=course, first=(lambda page: None) if first else None)
    assert begun == ["open corpora", "load model", *planned]
    assert ("first page" in planned) == first
    assert begun[-2:] == ["tables", "page"]
    assert course.total == pytest.approx(course.clock() - course._start, rel=0.5)
