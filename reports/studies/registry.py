"""All studies that a page reports: adding one takes its folder, its name here, and its class in `experiments`."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from reports.sections.study_report import StudyReport

NAMES: Final = (
    "shapes",
    "deciles",
    "confusion",
    "chains",
    "relatedness",
    "ablation",
    "gating",
    "patching",
    "transfer",
    "link",
    "drift",
    "explained",
    "sinks",
    "counts",
)
"The folders of `reports.studies`, in the order of the page; each has STUDY in its study.py."


def _study(name: str) -> StudyReport:
    """Return the study of a folder."""
    study = import_module(f"reports.studies.{name}.study").STUDY
    assert isinstance(study, StudyReport)
    return study


STUDY_REPORTS: Final = tuple(map(_study, NAMES))
