"""All studies that a page reports: adding one takes its line here, and its class in `experiments.run.studies`."""

from __future__ import annotations

from typing import Final

from reports.sections.study_report import StudyReport
from reports.studies.ablation.study import ABLATION_STUDY
from reports.studies.answers.study import ANSWER_STUDY
from reports.studies.circuits.study import CIRCUIT_STUDY
from reports.studies.classifiers.study import CLASSIFIER_STUDY
from reports.studies.confusion.study import CONFUSION_STUDY
from reports.studies.counts.study import COUNT_STUDY
from reports.studies.drift.study import DRIFT_STUDY
from reports.studies.gating.study import GATE_STUDY
from reports.studies.headset.study import HEADSET_STUDY
from reports.studies.link.study import LINK_STUDY
from reports.studies.patching.study import PATCHING_STUDY
from reports.studies.relatedness.study import RELATEDNESS_STUDY
from reports.studies.shapes.study import SHAPE_STUDY
from reports.studies.slopes.study import SLOPE_STUDY

STUDY_REPORTS: Final[tuple[StudyReport, ...]] = (
    SHAPE_STUDY,
    CONFUSION_STUDY,
    RELATEDNESS_STUDY,
    CIRCUIT_STUDY,
    CLASSIFIER_STUDY,
    HEADSET_STUDY,
    ABLATION_STUDY,
    GATE_STUDY,
    SLOPE_STUDY,
    PATCHING_STUDY,
    LINK_STUDY,
    ANSWER_STUDY,
    DRIFT_STUDY,
    COUNT_STUDY,
)
"In the order of the page."
