"""The studies of a run: adding one takes its class here, its tables and its section of the page in `reports`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pandas as pd

from experiments.studies.causal.ablation import AblationStudy
from experiments.studies.causal.gates import GateStudy
from experiments.studies.causal.importance import ImportanceStudy
from experiments.studies.causal.link import LinkStudy
from experiments.studies.causal.patching import PatchingStudy
from experiments.studies.causal.pruning import PruningStudy
from experiments.studies.causal.slopes import SlopeStudy
from experiments.studies.maps.circuits import CircuitStudy
from experiments.studies.maps.confusion import ConfusionStudy
from experiments.studies.maps.counts import HitCounts
from experiments.studies.maps.drift import DriftStudy
from experiments.studies.maps.ensembles import Ensembles
from experiments.studies.maps.headset import HeadSet
from experiments.studies.maps.relatedness import RelatednessStudy
from experiments.studies.maps.shapes import ShapeStudy
from experiments.studies.study import Study, Surroundings
from experiments.studies.trained.answers import AnswerStudy
from experiments.studies.trained.classifiers import ClassifierStudy
from experiments.studies.trained.parsers import ParserStudy
from reports import write_studies

STUDIES: Final[tuple[type[Study], ...]] = (
    ShapeStudy,
    ConfusionStudy,
    RelatednessStudy,
    CircuitStudy,
    ClassifierStudy,
    ParserStudy,
    PatchingStudy,
    HeadSet,
    Ensembles,
    AblationStudy,
    ImportanceStudy,
    SlopeStudy,
    PruningStudy,
    GateStudy,
    LinkStudy,
    AnswerStudy,
    DriftStudy,
    HitCounts,
)


def studies_of(run: Surroundings) -> list[Study]:
    """Return the studies that the config of a run asks for."""
    asked = (study.asked(run) for study in STUDIES)
    return [study for study in asked if study is not None]


def write_tables(studies: Iterable[Study], run: Surroundings, folder: Path) -> None:
    """Write the tables of all studies into the folder of their run."""
    before: dict[str, pd.DataFrame] = {}
    for study in studies:
        with run.journal.stage(study.name):
            study.beside(before)
            tables = study.tables()
        write_studies({name: run.complete(frame) for name, frame in tables.items()}, folder)
        before |= tables
