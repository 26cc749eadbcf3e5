"""What bfloat16 changes in the scores of MiniLM on EWT: `make bench-precision`.

One config is run four times: with products in float32 (the default), with those of controls in bfloat16, with those of
all models in bfloat16, and in float32 with another seed, which says what chance alone changes. These are products of
weight matrices; all else is float32. A goal that is missed ends with exit code 1.
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

from experiments.bench.passes import sentences
from experiments.bench.records import Goal, goal_table, keep, machine, new_record, paragraphs
from experiments.record.progress import silent
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Model, align, collate, load_model, plan
from mha.batches import Batch
from mha.models.maps import stream_maps
from mha.parallel import in_order
from probes import Document, Settings
from probes.corpora.conllu import CorpusError
from reports.tables.grades import POSITION, counted
from reports.tables.run_files import read_scores

RECORD: Final = Path("docs") / "precision.json"
PAGES: Final = (Path("docs") / "cost.md",)
CONFIG: Final = Path("minilm-ewt")
WITHOUT: Final = (
    *("relatedness.ratings=[]", "circuits.enabled=false", "shapes.enabled=false", "sinks.texts=0", "heads.texts=0"),
    *("heads.relations=0", "page.examples=0", "page.sentences=0"),
)
"Changes of the config that switch off what it measures beside scores."

EXACT: Final = "all in fp32"
CONTROLS: Final = "controls in bf16"
ALL: Final = "all in bf16"
SEED: Final = "another seed, in fp32"


def _precision(model: str, controls: str) -> tuple[str, str]:
    return f'model.precision="{model}"', f'controls.precision="{controls}"'


RUNS: Final = {
    EXACT: _precision("fp32", "fp32"),
    CONTROLS: _precision("fp32", "bf16"),
    ALL: _precision("bf16", "bf16"),
    SEED: (*_precision("fp32", "fp32"), "seed=100"),
}
"What is run -> changes of the config. Models with the seeds from 100 on are other controls than those from 0 on."

WORDS: Final = 200
"The fewest scored words of a label whose accuracies are compared: with fewer, one word is more than half a point."

SENTENCES: Final = 1000
"In which the strongest keys are compared."

LARGEST: Final = "largest change of an accuracy, points"
DIFFER: Final = "grades that differ"
ROLES_DIFFER: Final = "grades in roles of language that differ"

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
    share = other_keys(load_model("minilm"), texts)
    record["strongest keys"] = {"corpus": corpus, "sentences": len(texts), "share that differs": share}
    print(blocks(record)["precision cost"])
    keep(record, RECORD, PAGES, blocks(record))
    sys.exit(not all(goal.met for goal in goals(record)))


def measure(changes: Sequence[str]) -> dict[str, Any]:
    """Return how the scores of the config with these changes differ by precision and by seed.

    Raises CorpusError where a corpus of the config is not there.
    """
    scores = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, change in RUNS.items():
            print(f"{name} ...", file=sys.stderr)
            config = load_config(CONFIG, [*changes, *change])
            run_folder = run(config, Path(folder) / name, progress=silent, page=False)
            scores[name] = read_scores(run_folder / "scores.parquet")
    exact = scores.pop(EXACT)
    return {"differences": {name: differences(exact, other) for name, other in scores.items()}}


def differences(exact: pd.DataFrame, other: pd.DataFrame) -> dict[str, Any]:
    """Return how the scores of the report split differ between two runs that have the same heads and labels.

    Accuracies are those of labels with at least WORDS words, and "label" means a label in one direction. Verdicts are
    those of labels that are counted (`reports.tables.grades.counted`) and tested.
    """
    both = exact.merge(other, on=HEAD, suffixes=("", "_other"), validate="one_to_one")
    if len(both) != len(exact) or len(both) != len(other):
        raise ValueError(f"{len(exact)} and {len(other)} scores, of which {len(both)} are of the same head and label")
    both = both[both["split"] == "report"]
    accuracies = both[both["n"] >= WORDS]
    points = (100 * (accuracies["accuracy_other"] - accuracies["accuracy"]).abs()).round(3)
    other_grade = both["grade"] != both["grade_other"]
    labels = both.drop_duplicates(["probe", "label", "variant"])
    labels = labels[labels.groupby("probe")["label"].transform(counted) & (labels["verdict"] != "")]
    return {
        "accuracies": len(accuracies),
        LARGEST: float(points.max()),
        "largest change of an accuracy of a selected head, points": float(points[accuracies["selected"]].max()),
        "mean change of an accuracy, points": round(float(points.mean()), 4),
        "accuracies that change by more than 0.5 points": int((points > 0.5).sum()),
        "grades": int((both["grade"] > 0).sum()),
        DIFFER: int(other_grade.sum()),
        ROLES_DIFFER: int((other_grade & (both["probe"] != POSITION)).sum()),
        "verdicts": len(labels),
        "verdicts that differ": int((labels["verdict"] != labels["verdict_other"]).sum()),
        "selected heads": int(both["selected"].sum()),
        "selected heads that differ": int((both["selected"] & ~both["selected_other"]).sum()),
    }


def other_keys(model: Model, texts: Sequence[Document]) -> float:
    """Return for which share of all words in all heads the most attended key differs between bf16 and fp32.

    Keys are all words of the sentence, [CLS] and [SEP].
    """
    pieces = align(model.tokenizer, [text.words for text in texts])
    both = replace(model, precision="fp32"), replace(model, precision="bf16")

    def count(chosen: list[int]) -> tuple[int, int]:
        batch = collate([pieces[i] for i in chosen], padding=model.padding)
        words = torch.arange(int(batch.words.max())) < batch.words[:, None]
        exact, bf16 = (strongest_keys(read, batch)[:, words] for read in both)
        return int((exact != bf16).sum()), exact.numel()

    counts = [*in_order(count, plan(pieces, [text.id for text in texts], Settings().batch_pieces))]
    return sum(other for other, _ in counts) / sum(of for _, of in counts)


def strongest_keys(model: Model, batch: Batch) -> Int[Tensor, "head batch word"]:
    """Return the key that each word attends to most, in every head of all layers."""
    layers: list[Tensor] = []
    stream_maps(model, batch, lambda _, maps: layers.append(maps.argmax(-1).transpose(0, 1)))
    return torch.cat(layers)


def goals(record: Mapping[str, Any]) -> list[Goal]:
    """Return the goals of a record."""
    changes = record["differences"]
    largest = Goal(f"{ALL}: {LARGEST}", changes[ALL][LARGEST], 0.5)
    return [largest, *(Goal(f"{name}: {DIFFER}", changes[name][DIFFER], 0) for name in (ALL, CONTROLS))]


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page says of a record, by the names of the marks."""
    changes, keys = record["differences"], record["strongest keys"]
    sizes = {what: changes[ALL][what] for what in ("accuracies", "grades", "verdicts", "selected heads")}
    intro = (
        f"On {machine(record)}, the probes and controls of `{record['config']}`, each compared with the run in fp32. "
        f"Compared are {sizes['accuracies']:,} accuracies (of every head on every label with at least {WORDS} words), "
        f"{sizes['grades']} grades, {sizes['verdicts']} verdicts and {sizes['selected heads']} selected heads. "
        "With bf16 for controls alone, and with another seed, the model is read as before: accuracies and selected "
        "heads stay the same. By the seed resamples, control arcs, shuffled word orders, random weights and "
        "permutations are drawn anew: what differs then is what chance alone changes."
    )
    rows = [
        f"| {what} | {' | '.join(f'{changes[name][what]:g}' for name in changes)} |"
        for what in changes[ALL]
        if what not in sizes
    ]
    table = [f"| | {' | '.join(changes)} |", f"| --- |{' ---: |' * len(changes)}", *rows]
    after = (
        f"The most attended key, [CLS] and [SEP] among them, differs between bf16 and fp32 for "
        f"{keys['share that differs']:.2%} of all words in all heads, on {keys['sentences']:,} sentences of "
        f"{keys['corpus']}."
    )
    return {"precision cost": paragraphs([intro], table, goal_table(goals(record)), [after])}


if __name__ == "__main__":
    main()
