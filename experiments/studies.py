"""The studies of a run: adding one takes its class here, its tables and its section of the page in `reports`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pandas as pd

from experiments.ablation import AblationStudy
from experiments.answers import AnswerStudy
from experiments.circuits import CircuitStudy
from experiments.classifiers import ClassifierStudy
from experiments.confusion import ConfusionStudy
from experiments.counts import HitCounts
from experiments.drift import DriftStudy
from experiments.ensembles import Ensembles
from experiments.gates import GateStudy
from experiments.headset import HeadSet
from experiments.importance import ImportanceStudy
from experiments.link import LinkStudy
from experiments.parsers import ParserStudy
from experiments.patching import PatchingStudy
from experiments.pruning import PruningStudy
from experiments.relatedness import RelatednessStudy
from experiments.shapes import ShapeStudy
from experiments.slopes import SlopeStudy
from experiments.study import Study, Surroundings
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
