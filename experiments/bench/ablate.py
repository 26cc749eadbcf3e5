"""What ablating every head by itself costs, beside as many plain forward passes: `make bench-ablate`.

The sweep of all heads (set to zero, distance of the sentence embedding) and one plain pass of `transformers` a head are
done in pieces that take turns in one process, so that noise hits both alike. Raw times are kept in a JSON file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from experiments.bench.passes import plain_pass, plain_texts
from experiments.record.provenance import git_commit
from mha import load_model
from mha.models.folders import ModelError
from mha.models.model import Model
from probes import Corpus, Document
from probes.causal.ablation import BATCH_PIECES, measure
from probes.causal.behaviours import sentence_embeddings
from probes.causal.head_sets import single_heads
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import MemoryTexts, corpus_path
from probes.scoring.aligned import Aligned

GOAL = 0.4
PLAIN, SWEEP = "transformers, one forward pass a head (SDPA, batches of 32)", "headscope, every head ablated"


def main() -> None:
    """Print the times and the ratio; where EWT or the model is not at hand, say so in one line and exit with 2."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sentences", type=int, default=1000, help="sentences of EWT dev to read (default 1000)")
    parser.add_argument("--parts", type=int, default=6, help="parts of the sweep, and groups of passes (default 6)")
    parser.add_argument("--out", type=Path, default=Path("runs/bench_ablate.json"), help="where raw times are kept")
    options = parser.parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    try:
        corpus = Corpus.read(corpus_path("ewt-dev"), first=options.sentences).sentences()
        model = load_model("minilm")
    except (CorpusError, ModelError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
    texts = corpus.take(range(len(corpus)))
    seconds = time_all(model, texts, options.parts)
    totals = {name: sum(times) for name, times in seconds.items()}
    record: dict[str, Any] = {"commit": git_commit(), "machine": f"{platform.system()} {platform.machine()}"}
    record |= {"threads": torch.get_num_threads(), "torch": torch.__version__, "sentences": len(texts)}
    record |= {"heads": model.layers * model.heads, "seconds": seconds}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    for name, total in totals.items():
        print(f"{name:<62} {total:8.2f} s")
    print(f"raw times: {options.out}")
    print(f"ablation ratio {totals[SWEEP] / totals[PLAIN]:.2f} (goal {GOAL:.2f})")


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
