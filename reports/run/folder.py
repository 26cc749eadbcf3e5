"""A run folder, opened for reading: what was scored, on what, and with which configuration."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pandas as pd

from reports.head_names import head_hint
from reports.heads.card import HeadCard, head_card
from reports.run.biography_tables import read_biographies
from reports.run.sentence_attention import SentenceAttention
from reports.scores.best_table import best_table
from reports.studies.tables import read_studies
from reports.tables.schema import read_agreement, read_behaviour, read_examples, read_metrics, read_scores
from reports.tables.text_table import ShownTable

FILES = ("run.json", "config.toml", "scores.parquet", "examples.parquet")
"What a folder must hold to be a run folder."

SHOWN = 12
"Rows of the best heads that a notebook shows of a run."


@dataclass(frozen=True, repr=False)
class Run:
    """The numbers of one finished run; `print` says which, and a notebook shows its best heads.

    `run.best()` is the table of best heads, `run.plot("obj")` a chart of all heads on one label, `run.head("3-5")` the
    card of one head, by the name that papers use, and `run.scores` holds the numbers of every head.
    """

    folder: Path
    scores: pd.DataFrame
    "One row a model x step x corpus x maps x probe x label x variant x layer x head x split (`SCORE_COLUMNS`)."
    examples: pd.DataFrame
    "One row an arc of the sentences that the page shows (`EXAMPLE_COLUMNS`)."
    record: dict[str, Any]
    "run.json: versions, fingerprints, counts of what was dropped, wall time, peak memory."
    config: str
    "config.toml as written: everything that was decided, defaults included."
    metrics: pd.DataFrame | None = None
    "One row a question and head, by several metrics (`METRIC_COLUMNS`); None where the run did not compare them."
    agreement: pd.DataFrame | None = None
    "One row a question and pair of metrics (`AGREEMENT_COLUMNS`); None as above."
    biographies: Mapping[str, pd.DataFrame] | None = None
    "Tables of head biographies by name (`reports.run.biography_tables`); None where no training was followed."

    behaviour: pd.DataFrame | None = None
    "One row a group of minimal pairs (`BEHAVIOUR_COLUMNS`); None where the run asked about none."

    attention: SentenceAttention | None = None
    "What every head does on the sentences that the page shows; None where the run kept none."

    studies: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    "What was measured of heads beside their scores: tables by name, see `reports.studies.tables`."

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the run folder at `path`.

        Raises FileNotFoundError where there is no such folder or a file of it is missing, ValueError where one of its
        files cannot be understood.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: no such folder; expected a run folder, made by 'headscope run CONFIG'")
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise FileNotFoundError(
                f"{folder}: not a finished run folder, {', '.join(missing)} missing; "
                "make one with 'headscope run CONFIG'"
            )
        compared = all((folder / name).is_file() for name in ("metrics.parquet", "agreement.parquet"))
        pairs = folder / "behaviour.parquet"
        return cls(
            folder=folder,
            scores=read_scores(folder / "scores.parquet"),
            examples=read_examples(folder / "examples.parquet"),
            record=_read_record(folder / "run.json"),
            config=(folder / "config.toml").read_text(encoding="utf-8"),
            metrics=read_metrics(folder / "metrics.parquet") if compared else None,
            agreement=read_agreement(folder / "agreement.parquet") if compared else None,
            behaviour=read_behaviour(pairs) if pairs.is_file() else None,
            biographies=read_biographies(folder),
            attention=SentenceAttention.read(folder),
            studies=read_studies(folder),
        )

    @property
    def name(self) -> str:
        """Name of the run; the folder's where run.json gives none."""
        return str(self.record.get("name") or self.folder.name)

    @property
    def layers(self) -> int:
        """Number of layers of the model."""
        return int(self.scores["layer"].max()) + 1 if len(self.scores) else 0

    @property
    def heads(self) -> int:
        """Number of heads of the widest layer."""
        return int(self.scores["head"].max()) + 1 if len(self.scores) else 0

    def best(self, probe: str | None = None) -> ShownTable:
        """Return the chosen head of every label, of one probe or of all, the largest sure margins first.

        Raises ValueError for a probe that the run did not ask.
        """
        return best_table(self, probe)

    def plot(self, label: str | None = None, probe: str | None = None, variant: str | None = None) -> Any:
        """Return an Altair chart: all heads on one label, or without a label the best heads beside their baselines.

        Where a label was asked in several ways it is the one with the largest sure margin, unless `probe` or `variant`
        say which. Raises ValueError where the run scored no such thing.
        """
        from reports.notebook.run_charts import best_chart, head_chart  # draws only where asked

        return best_chart(self, probe) if label is None else head_chart(self, label, probe, variant)

    def __repr__(self) -> str:
        """Which run it is, in one line."""
        asked = self.scores["probe"].nunique()
        return (
            f"Run {self.name!r}: {', '.join(self.scores['model'].drop_duplicates())}, {self.layers} layers x "
            f"{self.heads} heads, {asked} {'probe' if asked == 1 else 'probes'}, {len(self.scores):,} scores"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.best()[:SHOWN]._repr_html_()}"

    def head(self, name: str) -> HeadCard:
        """Return the card of the head called `name`, layer and head counted from 1: "3-5" is layer 2, head 4.

        Its `scores` are the head's rows. Raises ValueError that says which names there are.
        """
        if not (self.scores["name"] == name).any():
            raise ValueError(f"{self.folder}: no head {name!r}; {self._hint(name)}")
        return head_card(self, name)

    def _hint(self, name: str) -> str:
        """Say which heads there are, and which one `name` probably meant."""
        known = list(dict.fromkeys(self.scores["name"]))
        return head_hint(name, known) if known else "this run scored no heads"


def _read_record(path: Path) -> dict[str, Any]:
    """Read run.json, which must hold one JSON object."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise ValueError(f"{path}:{line}: not valid JSON ({error}); run again to make a new one") from error
    if not isinstance(record, dict):
        raise ValueError(f"{path}: expected a JSON object, got {type(record).__name__}; run again to make a new one")
    return record
