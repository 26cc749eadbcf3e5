from pathlib import Path
from typing import Any

import pytest

from experiments.claims import emergence
from experiments.claims.emergence import START, EmergenceSection
from experiments.statements.claim import Work

SECTION = EmergenceSection.model_validate(
    {
        "claim": "emergence",
        "train": {"data": {"name": "grammar"}, "steps": 1, "seeds": (0, 1, 2)},
        "corpus": {"select": {"name": "grammar", "documents": 6}},
        "heads": 4,
    }
)


@pytest.mark.parametrize(
    ("before", "after", "verdicts"),
    [((0, 0, 0), (7, 9, 8), ["holds", "holds"]), ((5, 5, 6), (2, 2, 2), ["does not hold", "does not hold"])],
)
def test_the_verdict_follows_the_counts(
    before: tuple[int, ...], after: tuple[int, ...], verdicts: list[str], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def train(section: EmergenceSection, work: Work, label: str, heads: int) -> dict[int, Path]:
        asked.append((label, heads))
        return {seed: Path(str(seed)) for seed in section.train.seeds}

    def examine(section: EmergenceSection, training: Path, when: str) -> dict[str, Any]:
        pairs = (before if when == START else after)[int(training.name)]
        labels = ["position: next", f"position: {training.name}"] if pairs else []
        return {"pairs": pairs, "heads": pairs // 2, "labels": labels}

    monkeypatch.setattr(emergence, "trainings", train)
    monkeypatch.setattr(emergence, "examine", examine)
    found = emergence.measure(SECTION, work)
    assert asked == [("heads-4", 4)]
    assert [one.verdict for one in found.statements] == verdicts
    assert found.statements[0].estimate.value == pytest.approx(sum(after) / 3 - sum(before) / 3)
    assert found.noticed == ["Labels with a specialised head in the trained models of all seeds: position: next."]
