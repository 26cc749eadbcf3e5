"""Parts of work that was cut off are taken up, and only by the same work."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.record import job
from experiments.record.job import Job, KeptError, delete_parts, packed, unpacked
from probes.scoring.tally import Sums

STUDY = {"scale": {"documents": (25, 50)}, "seed": 0}


@pytest.fixture(autouse=True)
def commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every job that is opened a commit of its own."""
    made = itertools.count()
    monkeypatch.setattr(job, "git_commit", lambda: f"commit {next(made)}")


def made(kept: Job, name: str, result: Any, calls: list[str]) -> Any:
    """Return a part, and note that it was made."""
    return kept.part(name, lambda: (calls.append(name), result)[1])


def test_what_is_done_is_not_done_again_and_says_with_which_commit_it_was_made(tmp_path: Path) -> None:
    calls: list[str] = []
    first = Job.open(tmp_path / "out", STUDY, resume=False)
    assert made(first, "the power", {"rate": [1, 2]}, calls) == {"rate": [1, 2]}
    again = Job.open(tmp_path / "out", STUDY, resume=True)
    assert made(again, "the power", "other", calls) == {"rate": [1, 2]}
    assert made(again, "the whole", 3, calls) == 3
    assert (calls, again.taken) == (["the power", "the whole"], ["the power"])
    told = again.entry()
    assert told["commits"] == {"the power": "commit 0", "the whole": "commit 1"}
    assert told["wall_seconds"] == pytest.approx(sum(told["stages"].values()))
    assert set(told["stages"]) == {"the power", "the whole"}


@pytest.mark.parametrize("nothing", [0, [], {}, None])
def test_a_result_of_nothing_is_a_result(tmp_path: Path, nothing: Any) -> None:
    calls: list[str] = []
    for resume in (False, True):
        assert made(Job.open(tmp_path / "out", STUDY, resume=resume), "power", nothing, calls) == nothing
    assert calls == ["power"]


def test_parts_whose_names_differ_in_signs_alone_are_not_taken_for_each_other(tmp_path: Path) -> None:
    names = ("en_ewt", "en-ewt", "en/ewt", "en ewt")
    for resume in (False, True):
        job = Job.open(tmp_path / "out", STUDY, resume=resume)
        assert [job.part(name, lambda name=name: name) for name in names] == [*names]
    assert job.taken == [*names]


def test_parts_of_another_kind_of_work_are_never_deleted_unasked(tmp_path: Path) -> None:
    Job.open(tmp_path / "out", STUDY, resume=False).part("power", lambda: 1)
    with pytest.raises(KeptError, match="what was interrupted differs in"):
        Job.open(tmp_path / "out", {"config": {}}, resume=True, refuse=False)


@pytest.mark.parametrize("changed", [{"seed": 1}, {"scale": {"documents": (25,)}}])
def test_parts_of_another_study_are_refused_or_made_anew(tmp_path: Path, changed: dict[str, Any]) -> None:
    calls: list[str] = []
    made(Job.open(tmp_path / "out", STUDY, resume=False), "power", 1, calls)
    with pytest.raises(KeptError, match=rf"\.out-kept: what was interrupted differs in {next(iter(changed))}"):
        Job.open(tmp_path / "out", STUDY | changed, resume=True)
    assert made(Job.open(tmp_path / "out", STUDY | changed, resume=True, refuse=False), "power", 2, calls) == 2
    assert calls == ["power"] * 2


def test_without_resume_nothing_is_taken_and_at_the_end_nothing_is_left(tmp_path: Path) -> None:
    calls: list[str] = []
    made(Job.open(tmp_path / "out", STUDY, resume=False), "power", 1, calls)
    assert made(Job.open(tmp_path / "out", STUDY, resume=False), "power", 2, calls) == 2
    delete_parts(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hits", [[[0, 3], [255, 1]], [[0, 300], [65535, 1]], [[1 / 3, 3], [70000, 1]]])
def test_hits_come_back_bit_for_bit(hits: list[list[float]]) -> None:
    """Shared hits are fractions; those of many items need more than two bytes."""
    sums = Sums.of_hits((0, 7), np.array([5.0, 2.0]), np.array(hits, np.float64))
    ((question, found),) = unpacked(packed({("p", "v", "l"): sums})).items()
    assert (question, found.clusters, found.hits.dtype) == (("p", "v", "l"), (0, 7), np.float64)
    np.testing.assert_equal(vars(found), vars(sums))
