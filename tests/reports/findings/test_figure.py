"""Labels below the panels of a finding: as they are where there is room, else in lines or upright; none overlap."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from reports.findings.figure import Labels, save_finding_figure

LONG = ("next word (right-branching)", "attention", "attention + words", "attention, randomly initialised weights")
FIGURE: dict[str, Any] = {
    **{"kind": "bars", "title": "How many of the arcs of a tree parsers find that see attention alone, by model"},
    **{"across": "parser", "up": "arcs found", "level": None, "level_name": "", "names": [*LONG, "distances"]},
    "series": {"found": [[place, 0.5, 0.4, 0.6] for place in range(5)]},
}


def test_labels_stay_are_broken_or_stand_upright_as_room_allows() -> None:
    assert Labels.of([1, 2, 3]) == Labels(["1", "2", "3"])
    assert Labels.of(["a", "b"]).room == 0
    broken = Labels.of(["subject verb agreement", "overall", "anaphor agreement"])
    assert (broken.turned, broken.names[0]) == (False, "subject verb\nagreement")
    upright = Labels.of(LONG * 2)
    assert upright.turned
    assert upright.room > broken.room > 0
    assert Labels.of([]).room == 0


@pytest.mark.figures
def test_no_label_lies_over_another_and_nothing_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr("reports.findings.figure._save", lambda page, path: drawn.append(page))
    save_finding_figure([("minilm", FIGURE)], tmp_path / "parsers")
    (page,) = drawn
    page.draw_without_rendering()
    width, height = page.get_size_inches() * page.dpi
    places = [label.get_window_extent() for label in page.axes[0].get_xticklabels()]
    assert all(one.x1 < other.x0 for one, other in pairwise(places))
    below = page.axes[0].xaxis.label.get_window_extent()
    for place in (*places, below, page.texts[0].get_window_extent()):
        assert place.x0 >= 0
        assert place.y0 >= 0
        assert place.x1 <= width
        assert place.y1 <= height
    assert below.y1 <= min(place.y0 for place in places)
