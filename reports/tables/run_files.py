"""The tables that every run folder can hold, as files: checked, written and read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from reports.tables.scores import AGREEMENT, EXAMPLES, METRICS, SCORES


def write_scores(frame: pd.DataFrame, folder: Path) -> Path:
    """Write scores.parquet, and the same rows as scores.csv, into `folder`; return the path of the first."""
    return SCORES.write(frame, folder, "scores")


def write_examples(frame: pd.DataFrame, folder: Path) -> Path:
    """Write examples.parquet into `folder`; a frame without rows is fine, one without columns is not."""
    return EXAMPLES.write(frame, folder, "examples")


def write_metrics(metrics: pd.DataFrame, agreement: pd.DataFrame, folder: Path) -> None:
    """Write metrics.parquet and agreement.parquet into `folder`; frames without rows are fine."""
    METRICS.write(metrics, folder, "metrics")
    AGREEMENT.write(agreement, folder, "agreement")


def read_scores(path: Path) -> pd.DataFrame:
    """Read scores.parquet, or scores.csv with the same result; ValueError says what is wrong with the file."""
    return SCORES.read(path)


def read_examples(path: Path) -> pd.DataFrame:
    """Read examples.parquet; ValueError says what is wrong with the file."""
    return EXAMPLES.read(path)
