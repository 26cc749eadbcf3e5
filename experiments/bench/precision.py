"""What bfloat16 changes in the scores of MiniLM on EWT: `make bench-precision`.

One config is run three times: with all products in float32, with those of controls in bfloat16 (the default where the
processor has instructions for it), and with all in bfloat16. A goal that is missed ends with exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pandas as pd
import torch
from jaxtyping import Int
from torch import Tensor

from experiments.bench.passes import EWT, sentences
from experiments.bench.records import Goal, goal_table, keep, machine, new_record
from experiments.record.progress import silent
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Model, align, collate, load_model, plan
from mha.batches import Batch
from mha.models.maps import stream_maps
from mha.parallel import in_order
from probes import Document, Settings
from probes.corpora.conllu import CorpusError
from reports.tables.run_files import read_scores

RECORD: Final = Path("docs") / "precision.json"
PAGES: Final = (Path("docs") / "cost.md",)
CONFIG: Final = Path("minilm-ewt")
WITHOUT: Final = (
    *("relatedness.ratings=[]", "circuits.enabled=false", "shapes.enabled=false", "sinks.texts=0", "heads.texts=0"),
    *("heads.relations=0", "page.examples=0", "page.sentences=0"),
)
"What the config measures beside scores."

EXACT: Final = "all in fp32"
CONTROLS: Final = "controls in bf16"
ALL: Final = "all in bf16"
PRECISIONS: Final = {EXACT: ("fp32", "fp32"), CONTROLS: ("fp32", "bf16"), ALL: ("bf16", "bf16")}
"What is run -> precision of the model, and of the models of controls."

WORDS: Final = 200
"Of a label whose accuracies are compared; with fewer, one word makes more than the half point of the goal."

SENTENCES: Final = 1000
"In which the strongest keys are compared."

LARGEST: Final = "largest change of an accuracy, points"

HEAD: Final = ["probe", "label", "variant", "layer", "head", "split"]


def main() -> None:
    """Run, compare, print, and write record and page; exit with 1 where a goal is missed, 2 where EWT is not there."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None).parse_args()
    record = new_record("make bench-precision") | {"config": str(CONFIG), "torch": torch.__version__}
    try:
        record |= measure(WITHOUT)
    except CorpusError as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
    corpus, texts = sentences(SENTENCES)
    other = other_keys(load_model("minilm"), texts)
    record["strongest keys"] = {"corpus": corpus, "sentences": len(texts), "other": other}
    print(blocks(record)["precision cost"])
    if corpus == EWT:
        keep(record, RECORD, PAGES, blocks(record))
    sys.exit(not all(goal.met for goal in goals(record)))


def measure(changes: Sequence[str]) -> dict[str, Any]:
    """Return how the scores of the config with these changes differ by precision.

    Raises CorpusError where a corpus of the config is not there.
    """
    scores = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (model, controls) in PRECISIONS.items():
            print(f"{name} ...", file=sys.stderr)
            precision = [f'model.precision="{model}"', f'controls.precision="{controls}"']
            config = load_config(CONFIG, [*changes, *precision])
            found = run(config, Path(folder) / model / controls, progress=silent, page=False)
            scores[name] = read_scores(found / "scores.parquet")
    exact = scores.pop(EXACT)
    return {"changes": {name: change(exact, other) for name, other in scores.items()}}


def change(exact: pd.DataFrame, other: pd.DataFrame) -> dict[str, Any]:
    """Return how the scores of the report split differ between two runs that have the same heads and labels."""
    both = exact.merge(other, on=HEAD, suffixes=("", "_other"), validate="one_to_one")
    if len(both) != len(exact) or len(both) != len(other):
        raise ValueError(f"{len(exact)} and {len(other)} scores, of which {len(both)} are of the same head and label")
    both = both[both["split"] == "report"]
    often = both[both["n"] >= WORDS]
    points = 100 * (often["accuracy_other"] - often["accuracy"]).abs()
    labels = both.drop_duplicates(["probe", "label", "variant"])
    return {
        "heads x labels": len(often),
        LARGEST: round(float(points.max()), 3),
        "mean change of an accuracy, points": round(float(points.mean()), 4),
        "accuracies that change by more than 0.5 points": int((points > 0.5).sum()),
        "largest change of an accuracy of a selected head, points": round(float(points[often["selected"]].max()), 3),
        "grades": int((both["grade"] > 0).sum()),
        "other grades": int((both["grade"] != both["grade_other"]).sum()),
        "labels": len(labels),
        "other verdicts": int((labels["verdict"] != labels["verdict_other"]).sum()),
        "other selected heads": int((both["selected"] & ~both["selected_other"]).sum()),
    }


def other_keys(model: Model, texts: Sequence[Document]) -> float:
    """Return in which share of words, over all heads, the most attended key in bf16 is not the one in fp32."""
    pieces = align(model.tokenizer, [text.words for text in texts])
    both = replace(model, precision="fp32"), replace(model, precision="bf16")

    def count(chosen: list[int]) -> tuple[int, int]:
        batch = collate([pieces[i] for i in chosen], padding=model.padding)
        words = torch.arange(int(batch.words.max())) < batch.words[:, None]
        exact, rough = (strongest_keys(one, batch)[:, words] for one in both)
        return int((exact != rough).sum()), exact.numel()

    counts = [*in_order(count, plan(pieces, [text.id for text in texts], Settings().batch_pieces))]
    return sum(other for other, _ in counts) / sum(of for _, of in counts)


def strongest_keys(model: Model, batch: Batch) -> Int[Tensor, "head batch word"]:
    """Return the key that each word attends to most, in every head of all layers."""
    layers: list[Tensor] = []
    stream_maps(model, batch, lambda _, maps: layers.append(maps.argmax(-1).transpose(0, 1)))
    return torch.cat(layers)


def goals(record: Mapping[str, Any]) -> list[Goal]:
    """Return the goals of a record."""
    changes = record["changes"]
    return [
        Goal("all in bf16: largest change of an accuracy, points", changes[ALL][LARGEST], 0.5),
        *(Goal(f"{name}: other grades", changes[name]["other grades"], 0) for name in (ALL, CONTROLS)),
    ]


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page says of a record, by the names of the marks."""
    changes, keys = record["changes"], record["strongest keys"]
    one = next(iter(changes.values()))
    intro = (
        f"On {machine(record)}, the probes and controls of {record['config']}: {one['heads x labels']:,} accuracies, "
        f"one for each head and each label with at least {WORDS} words, {one['grades']} grades and {one['labels']} "
        "verdicts, beside those with all products in fp32. In bf16 the most attended key is another for "
        f"{keys['other']:.2%} of the words of {keys['sentences']:,} sentences of {keys['corpus']}, over all heads."
    )
    rows = [
        f"| {what} | {' | '.join(f'{changes[name][what]:g}' for name in changes)} |"
        for what in one
        if what not in ("heads x labels", "grades", "labels")
    ]
    table = [f"| | {' | '.join(changes)} |", f"| --- |{' ---: |' * len(changes)}", *rows]
    return {"precision cost": "\n\n".join("\n".join(part) for part in ([intro], table, goal_table(goals(record))))}


if __name__ == "__main__":
    main()
