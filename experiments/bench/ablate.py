"""What ablating every head by itself costs, beside as many plain forward passes: `make bench-ablate`.

The sweep of all heads (set to zero, distance of the sentence embedding) and one plain pass of `transformers` a head are
done in pieces that take turns in one process, so that noise hits both alike. All goes into a record under docs/, from
which docs/cost.md is made. A goal that is missed ends with exit code 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from experiments.bench.passes import EWT, plain_pass, plain_texts, sentences
from experiments.bench.records import Goal, goal_table, keep, machine, new_record
from mha import load_model
from mha.models.folders import ModelError
from mha.models.model import Model
from probes import Document
from probes.causal.ablation import BATCH_PIECES, measure
from probes.causal.behaviours import sentence_embeddings
from probes.causal.head_sets import single_heads
from probes.corpora.corpus import MemoryTexts
from probes.scoring.aligned import Aligned

RECORD: Final = Path("docs") / "ablation-cost.json"
PAGES: Final = (Path("docs") / "cost.md",)
PLAIN: Final = "transformers, one forward pass a head (SDPA, batches of 32)"
SWEEP: Final = "headscope, every head ablated"
SENTENCES: Final = 500
"How many are read for the record."


def main() -> None:
    """Measure, print, and write record and page; exit with 1 where the goal is missed, 2 where there is no model.

    Record and page stay as they are where another number of sentences was read, or another corpus than EWT.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sentences", type=int, default=SENTENCES, help=f"sentences to read (default {SENTENCES})")
    parser.add_argument("--parts", type=int, default=6, help="parts of the sweep, and groups of passes (default 6)")
    options = parser.parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    try:
        model = load_model("minilm")
    except ModelError as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
    corpus, texts = sentences(options.sentences)
    record = new_record("make bench-ablate") | {"threads": torch.get_num_threads(), "torch": torch.__version__}
    record |= {"corpus": corpus, "sentences": len(texts), "heads": model.layers * model.heads}
    record["seconds"] = time_all(model, texts, options.parts)
    print(blocks(record)["ablation cost"])
    if (corpus, len(texts)) == (EWT, SENTENCES):
        keep(record, RECORD, PAGES, blocks(record))
    sys.exit(not goal(record).met)


def goal(record: Mapping[str, Any]) -> Goal:
    """Return the goal of a record."""
    seconds = record["seconds"]
    return Goal("every head ablated, over as many plain passes", sum(seconds[SWEEP]) / sum(seconds[PLAIN]), 0.33)


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page says of a record, by the names of the marks."""
    intro = (
        f"On {machine(record)}, {record['threads']} threads: every one of MiniLM's {record['heads']} heads ablated by "
        f"itself, on {record['sentences']:,} sentences of {record['corpus']}, beside {record['heads']} plain passes:"
    )
    rows = [f"| {name} | {sum(times):.1f} |" for name, times in record["seconds"].items()]
    times = ["| | seconds |", "| --- | ---: |", *rows]
    return {"ablation cost": "\n\n".join("\n".join(part) for part in ([intro], times, goal_table([goal(record)])))}


def time_all(model: Model, texts: Sequence[Document], parts: int) -> dict[str, list[float]]:
    """Return the seconds of every group of plain passes, and of every part of the sweep, which take turns.

    There are as many plain passes over all texts as heads, in `parts` groups. Each part of the sweep has every head
    ablated, in its share of the texts, which are dealt out by length. Cutting texts into pieces is timed with the
    sweep and not with the passes. Both are warmed up on a part before.
    """
    heads = model.layers * model.heads
    groups = [heads * (number + 1) // parts - heads * number // parts for number in range(parts)]
    by_length = sorted(texts, key=len)
    shares = [by_length[number::parts] for number in range(parts)]
    run, ids = plain_pass(), plain_texts(texts)
    run(plain_texts(shares[0]))
    _sweep(model, shares[0], 1)
    seconds: dict[str, list[float]] = {PLAIN: [], SWEEP: []}
    for passes, share in zip(groups, shares, strict=True):
        start = time.perf_counter()
        for _ in range(passes):
            run(ids)
        between = time.perf_counter()
        _sweep(model, share, heads)
        seconds[PLAIN].append(between - start)
        seconds[SWEEP].append(time.perf_counter() - between)
    return seconds


def _sweep(model: Model, texts: Sequence[Document], heads: int) -> None:
    """Switch the first `heads` heads off, one at a time, and measure how far each moves the embeddings of the texts."""
    behaviour = sentence_embeddings(model, Aligned.of(model, MemoryTexts(texts)))
    sets = [one.heads for one in single_heads(model.layers, model.heads)[:heads]]
    measure(behaviour, sets, batch_pieces=BATCH_PIECES)


if __name__ == "__main__":
    main()
