"""How many grades and verdicts differ from seed to seed: the record docs/redraws.json, `make bench-redraws`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import open_model
from experiments.record.run_record import Journal
from experiments.run.config import load_config
from experiments.run.context import RunContext
from experiments.run.scope import Part, Scored
from probes.evidence.results import score_table
from probes.records import IntArray
from probes.registry import PERMUTED, RANDOM, WORDS
from probes.scoring.tally import Pooled
from reports.progress import silent
from reports.tables.grades import has_stable_grade, is_of_language

CONFIGS: Final = ("minilm-ewt", "minilm-gum", "minilm-gap", "minilm-grammar")
SEEDS: Final = 20
POOL: Final = {RANDOM: 60, PERMUTED: 60, WORDS: 15}
"Models of each kind of control that are read; a seed draws as many of them as a run has, with replacement."
ITEMS, DOCUMENTS = 200, 20
"Scored words and documents that a label has at least for its verdict to count."
KEY: Final = ["probe", "variant", "label"]


def redraws(name: str) -> dict[str, Any]:
    """Return how far runs of one config with other seeds differ; the texts are read once."""
    config = load_config(Path(name))
    most = {"random": POOL[RANDOM], "permuted": POOL[PERMUTED], "orders": POOL[WORDS]}
    wide = config.model_copy(update={"controls": config.controls.model_copy(update=most)})
    run = RunContext(wide, open_model(wide, Path(), silent), open_corpora(wide), Journal(""), silent)
    parts = [Part(run, scope).score() for scope in run.scopes]
    counts = {RANDOM: config.controls.random, PERMUTED: config.controls.permuted, WORDS: config.controls.orders}
    return compare([_seed(run, parts, counts, seed) for seed in range(SEEDS)])


def _seed(run: RunContext, parts: Sequence[Scored], counts: Mapping[str, int], seed: int) -> pd.DataFrame:
    """Return the scores of the report split as the run of another seed has them."""
    random = np.random.default_rng(seed)
    drawn = {kind: random.integers(POOL[kind], size=count) for kind, count in counts.items()}
    shape, rule = (run.model.layers, run.model.heads), run.config.verdict
    frames = []
    for part in parts:
        select, report = part.splits
        controls: dict[str, Pooled] = {
            kind: {question: sums.columns(drawn[kind]) for question, sums in pooled.items()}
            for kind, pooled in report.controls.items()
        }
        split = replace(report, controls=controls)
        frames.append(score_table(select, split, shape=shape, effort=run.effort, margin=rule.margin))
    scores = run.verdicts(frames)
    return scores[scores.split == "report"].reset_index(drop=True)


def compare(seeds: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """Return what differs between any two seeds: the share of grades, of those that are stable in one, and verdicts."""
    first = seeds[0]
    scopes = {"all": np.ones(len(first), bool), "linguistic roles": is_of_language(first).to_numpy()}
    grades = [one.grade.to_numpy() for one in seeds]
    stable = [has_stable_grade(one).to_numpy() for one in seeds]
    known = (first.n >= ITEMS) & (first.clusters >= DOCUMENTS) & (first.verdict != "")
    labels = first[known].drop_duplicates(KEY).index
    verdicts = [one.verdict.loc[labels].to_numpy() for one in seeds]
    return {
        "seeds": len(seeds),
        "grades": {of: _differing(grades, [rows & (one > 0) for one in grades]) for of, rows in scopes.items()},
        "stable grades": {of: _differing(grades, [rows & one for one in stable]) for of, rows in scopes.items()},
        "verdicts": {
            **{"words": ITEMS, "documents": DOCUMENTS, "labels": len(labels)},
            **_pairs([int((one != other).sum()) for one, other in combinations(verdicts, 2)]),
        },
    }


def _differing(grades: Sequence[IntArray], asked: Sequence[npt.NDArray[np.bool_]]) -> dict[str, Any]:
    """Return how many grades are asked for in a seed (median), and the percentage of those of two seeds that differ.

    A grade, of a head in a label and direction, counts that either of the two asks for.
    """
    shares = []
    for one, other in combinations(range(len(grades)), 2):
        either = asked[one] | asked[other]
        shares.append(round(float(100 * (grades[one] != grades[other])[either].sum() / max(either.sum(), 1)), 2))
    return {"grades": median(int(one.sum()) for one in asked), **_pairs(shares)}


def _pairs(values: Sequence[float]) -> dict[str, float]:
    return {"median of pairs": round(float(median(values)), 2), "worst pair": max(values)}


def main() -> None:
    """Write the record of the configs that are asked for, beside those that it has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("configs", nargs="*", default=CONFIGS)
    parser.add_argument("--out", type=Path, default=Path("docs/redraws.json"))
    asked = parser.parse_args()
    record = (
        json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.exists() else {"made by": "make bench-redraws"}
    )
    for name in asked.configs:
        record[name] = redraws(f"experiments/configs/{name}.toml")
        print(name, json.dumps(record[name], indent=1))
        asked.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
