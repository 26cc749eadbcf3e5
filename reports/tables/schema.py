"""The tables of a run folder: how they are checked, written and read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from reports.tables.columns import (
    AGREEMENT_COLUMNS,
    BEHAVIOUR_COLUMNS,
    BEHAVIOUR_LEVELS,
    EXAMPLE_COLUMNS,
    METRIC_COLUMNS,
    ROW_KEY,
    SCORE_COLUMNS,
    SPLITS,
)

_FRACTIONS = (
    *("accuracy", "ci_low", "ci_high", "share", "baseline_accuracy", "lexical_accuracy"),
    *("p", "p_label", "p_adjusted", "stability"),
)
_RANGES = {"reciprocal_rank": (0, 1), "auc": (0, 1), "tau": (-1, 1), "overlap": (0, 1)}
_SLACK = 1e-6
_ABOUT_HEADS = ("probe", "label", "variant", "name", "split")
_ABOUT_PAIRS = ("corpus", "level", "phenomenon", "paradigm", "condition", "attractors", "number")
_BEHAVIOUR_KEY = ("model", "step", *_ABOUT_PAIRS, "field")


def validate(
    frame: pd.DataFrame, columns: Mapping[str, str] = SCORE_COLUMNS, where: str | Path = "scores"
) -> pd.DataFrame:
    """Return a copy of `frame` with `columns` first, in order and with their dtypes; further columns follow.

    Raises ValueError, one line that begins with `where`, as `typed` does, and for scores on unknown splits, fractions
    outside [0, 1], values where n = 0 and duplicate rows.
    """
    ordered = typed(frame, columns, where)
    for column, (low, high) in _RANGES.items():
        if column in columns:
            refuse(ordered, outside(ordered[column], low, high), where, f"`{column}` lies outside [{low}, {high}]")
    if "accuracy" in columns and "split" in columns:
        _check_scores(ordered, where)
    if "level" in columns:
        _check_behaviour(ordered, where)
    return ordered


def typed(frame: pd.DataFrame, columns: Mapping[str, str], where: str | Path) -> pd.DataFrame:
    """Return a copy of `frame` with `columns` first, in order and with their dtypes; further columns follow.

    Raises ValueError, one line that begins with `where`, on missing columns, wrong dtypes, and names that do not match
    layer and head.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{where}: column(s) {', '.join(missing)} missing; expected {', '.join(columns)}; "
            "a folder from an older headscope lacks some, so run again"
        )
    ordered = frame[[*columns, *(column for column in frame.columns if column not in columns)]].copy()
    for column, dtype in columns.items():
        ordered[column] = _cast(ordered[column], dtype, where)
    if "name" in columns and "layer" in columns:
        expected = (ordered["layer"] + 1).astype("str") + "-" + (ordered["head"] + 1).astype("str")
        single = ordered["layer"].notna() & ordered["head"].notna()  # else the name is that of several heads
        refuse(ordered, single & (ordered["name"] != expected), where, "`name` is not layer + 1, '-', head + 1")
    return ordered


def _cast(values: pd.Series, dtype: str, where: str | Path) -> pd.Series:
    """Return `values` with `dtype`, or say which column cannot have it."""
    if dtype == "object":
        return values
    if dtype == "str" and values.isna().any():
        gaps = int(values.isna().sum())
        raise ValueError(f"{where}: column {values.name!r} has {gaps} missing value(s); use '' for none")
    try:
        return values.astype(pd.api.types.pandas_dtype(dtype))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: column {values.name!r} is {values.dtype}, expected {dtype} ({error})") from error


def _check_scores(frame: pd.DataFrame, where: str | Path) -> None:
    """Refuse what no scorer can have measured."""
    refuse(frame, ~frame["split"].isin(SPLITS), where, f"`split` is not one of {', '.join(SPLITS)}")
    for column in _FRACTIONS:
        wrong = outside(frame[column], 0, 1)
        refuse(frame, wrong, where, f"`{column}` lies outside [0, 1] (fractions, not percent)")
    most = (frame["maps"] == "norms").map({True: float("inf"), False: 1.0})  # lengths of vectors are no fractions
    refuse(frame, outside(frame["mass"], 0, most), where, "`mass` lies outside [0, 1] (fractions, not percent)")
    refuse(frame, (frame["n"] == 0) & frame["accuracy"].notna(), where, "n = 0 but `accuracy` is a number, not NaN")
    refuse(frame, frame.duplicated(list(ROW_KEY)), where, f"two rows have the same {', '.join(ROW_KEY)}")


def _check_behaviour(frame: pd.DataFrame, where: str | Path) -> None:
    """Refuse what cannot be said about minimal pairs."""
    known = ", ".join(BEHAVIOUR_LEVELS)
    refuse(frame, ~frame["level"].isin(BEHAVIOUR_LEVELS), where, f"`level` is not one of {known}", _ABOUT_PAIRS)
    for column in ("accuracy", "ci_low", "ci_high"):
        wrong = outside(frame[column], 0, 1)
        refuse(frame, wrong, where, f"`{column}` lies outside [0, 1] (fractions, not percent)", _ABOUT_PAIRS)
    empty = (frame["n"] == 0) & frame["accuracy"].notna()
    refuse(frame, empty, where, "n = 0 but `accuracy` is a number, not NaN", _ABOUT_PAIRS)
    same = frame.duplicated(list(_BEHAVIOUR_KEY))
    refuse(frame, same, where, f"two rows have the same {', '.join(_BEHAVIOUR_KEY)}", _ABOUT_PAIRS)


def outside(values: pd.Series, low: float, high: float | pd.Series) -> pd.Series:
    """Mark the values that lie outside [low, high] by more than rounding can do; NaN does not."""
    return (values < low - _SLACK) | (values > high + _SLACK)


def refuse(
    frame: pd.DataFrame, wrong: pd.Series, where: str | Path, complaint: str, about: Sequence[str] = _ABOUT_HEADS
) -> None:
    """Raise ValueError that shows the first of the rows marked in `wrong`, if there is one, by its columns `about`."""
    if not wrong.any():
        return
    row = frame.loc[wrong].iloc[0]
    named = ", ".join(str(row[column]) for column in about if column in frame.columns)
    raise ValueError(f"{where}: {complaint}, in {int(wrong.sum())} row(s); the first is {named}")


def write_scores(frame: pd.DataFrame, folder: Path) -> Path:
    """Write scores.parquet, and the same rows as scores.csv, into `folder`; return the path of the first."""
    scores = validate(frame, SCORE_COLUMNS, folder / "scores.parquet")
    replace_file(scores, folder / "scores.csv")
    return replace_file(scores, folder / "scores.parquet")


def write_examples(frame: pd.DataFrame, folder: Path) -> Path:
    """Write examples.parquet into `folder`; a frame without rows is fine, one without columns is not."""
    return replace_file(validate(frame, EXAMPLE_COLUMNS, folder / "examples.parquet"), folder / "examples.parquet")


def write_metrics(metrics: pd.DataFrame, agreement: pd.DataFrame, folder: Path) -> None:
    """Write metrics.parquet and agreement.parquet into `folder`; frames without rows are fine."""
    for frame, columns, name in ((metrics, METRIC_COLUMNS, "metrics"), (agreement, AGREEMENT_COLUMNS, "agreement")):
        path = folder / f"{name}.parquet"
        replace_file(validate(frame, columns, path), path)


def write_behaviour(frame: pd.DataFrame, folder: Path) -> Path:
    """Write behaviour.parquet, and the same rows as behaviour.csv, into `folder`; return the path of the first."""
    behaviour = validate(frame, BEHAVIOUR_COLUMNS, folder / "behaviour.parquet")
    replace_file(behaviour, folder / "behaviour.csv")
    return replace_file(behaviour, folder / "behaviour.parquet")


def replace_file(frame: pd.DataFrame, path: Path) -> Path:
    """Write `frame` beside `path` and rename it, so that no reader ever sees half a file."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        if path.suffix == ".csv":
            frame.to_csv(unfinished, index=False)
        else:
            frame.to_parquet(unfinished, index=False)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def read_scores(path: Path) -> pd.DataFrame:
    """Read scores.parquet, or scores.csv with the same result; ValueError says what is wrong with the file."""
    frame = read_csv(path, SCORE_COLUMNS) if path.suffix == ".csv" else read_parquet(path)
    return validate(frame, SCORE_COLUMNS, path)


def read_examples(path: Path) -> pd.DataFrame:
    """Read examples.parquet; ValueError says what is wrong with the file."""
    return validate(read_parquet(path), EXAMPLE_COLUMNS, path)


def read_metrics(path: Path) -> pd.DataFrame:
    """Read metrics.parquet; ValueError says what is wrong with the file."""
    return validate(read_parquet(path), METRIC_COLUMNS, path)


def read_agreement(path: Path) -> pd.DataFrame:
    """Read agreement.parquet; ValueError says what is wrong with the file."""
    return validate(read_parquet(path), AGREEMENT_COLUMNS, path)


def read_behaviour(path: Path) -> pd.DataFrame:
    """Read behaviour.parquet; ValueError says what is wrong with the file."""
    return validate(read_parquet(path), BEHAVIOUR_COLUMNS, path)


def read_csv(path: Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read a CSV file as `replace_file` wrote it: words such as NA stay words."""
    text = {column: "str" for column, dtype in columns.items() if dtype == "str"}
    gaps = {column: [""] for column, dtype in columns.items() if dtype in {"float64", "Int64"}}
    try:
        return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=gaps)
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise ValueError(f"{path}: not a readable CSV file ({str(error).strip()}); run again") from error


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a parquet file, or say in one line that it is none."""
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise
    except Exception as error:  # pyarrow raises several unrelated classes for a damaged file
        raise ValueError(f"{path}: not a readable parquet file ({str(error).splitlines()[0]}); run again") from error
