"""What ablating every head by itself costs, beside as many plain forward passes: `make bench-ablate`.

The sweep of all heads (set to zero, cosine with the intact sentence embedding), in fp32 and in bf16, and one plain pass
of `transformers` a head are done in pieces that take turns in one process, so that noise hits all alike. All goes into
a record under docs/, from which docs/cost.md is made. A goal that is missed ends with exit code 1.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import torch
from jaxtyping import Float
from scipy.stats import spearmanr
from torch import Tensor

from experiments.bench.passes import EWT, plain_pass, plain_texts, sentences, take_turns
from experiments.bench.records import end, exits_with_2, goal, goal_table, machine, new_record, paragraphs
from mha import load_model
from mha.models.model import Model
from probes import Document
from probes.causal.ablation import measure, single_heads
from probes.causal.behaviours import BATCH_PIECES, sentence_embeddings
from probes.corpora.corpus import MemoryTexts
from probes.scoring.aligned import Aligned
from reports.statements.statement import JudgedStatement

Part = tuple[int, Sequence[Document]]
"Of a round: how many plain passes there are, and the texts that heads are ablated in."

RECORD: Final = Path("docs") / "ablation-cost.json"
PAGES: Final = (Path("docs") / "cost.md",)
PLAIN: Final = "transformers, one forward pass a head (SDPA, batches of 32)"
SWEEP: Final = "headscope, every head ablated"
BF16: Final = "headscope, every head ablated, bf16"
PRECISIONS: Final = {SWEEP: "fp32", BF16: "bf16"}
SENTENCES: Final = 500
"How many are read for the record."


def main() -> None:
    """Measure, print, and write record and page; exit with 1 where a goal is missed, 2 where there is no model.

    Record and page stay as they are where another number of sentences was read, or another corpus than EWT.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sentences", type=int, default=SENTENCES, help=f"sentences to read (default {SENTENCES})")
    parser.add_argument("--parts", type=int, default=6, help="parts of the sweep, and groups of passes (default 6)")
    options = parser.parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    with exits_with_2():
        model = load_model("minilm")
    corpus, texts = sentences(options.sentences)
    record = new_record("make bench-ablate") | {"threads": torch.get_num_threads(), "torch": torch.__version__}
    record |= {"corpus": corpus, "sentences": len(texts), "heads": model.layers * model.heads}
    record |= time_all(model, texts, options.parts)
    kept = (corpus, len(texts)) == (EWT, SENTENCES)
    end(record, RECORD, PAGES, blocks(record), goals(record), kept=kept)


def goals(record: Mapping[str, Any]) -> list[JudgedStatement]:
    """Return the goals of a record."""
    seconds = {name: sum(times) for name, times in record["seconds"].items()}
    per_pass = {name: seconds[name] / seconds[PLAIN] for name in PRECISIONS}
    return [
        goal(f"every head ablated in {precision}, over as many plain passes in fp32", per_pass[name], below=0.33)
        for name, precision in PRECISIONS.items()
    ]


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page says of a record, by the names of the marks."""
    intro = (
        f"On {machine(record)}, {record['threads']} threads: every one of MiniLM's {record['heads']} heads ablated by "
        f"itself (set to zero, cosine with the intact sentence embedding), on {record['sentences']:,} sentences of "
        f"{record['corpus']}, beside {record['heads']} plain passes:"
    )
    effects = record["effects in bf16"]
    after = (
        f"The effect of a head, 1 minus that cosine, is {effects['mean in fp32']:.4f} on average. The largest "
        f"difference between a head's effect in bf16 and in fp32 is {effects['largest difference']:.1e}, and the rank "
        f"correlation of the two (Spearman) {effects['rank correlation']:.4f}."
    )
    rows = [f"| {name} | {sum(times):.1f} |" for name, times in record["seconds"].items()]
    times = ["| | seconds |", "| --- | ---: |", *rows]
    return {"ablation cost": paragraphs([intro], times, goal_table(goals(record)), [after])}


def time_all(model: Model, texts: Sequence[Document], parts: int) -> dict[str, Any]:
    """Return the seconds of every group of plain passes and of every part of both sweeps, and how their effects differ.

    There are as many plain passes over all texts as heads, in `parts` groups. Each part of a sweep has every head
    ablated, in its share of the texts, which are dealt out by length. Cutting texts into pieces is timed with the
    sweeps and not with the passes. All take turns, and are warmed up on a part before.
    """
    heads = model.layers * model.heads
    groups = [heads * (number + 1) // parts - heads * number // parts for number in range(parts)]
    by_length = sorted(texts, key=len)
    shares = [by_length[number::parts] for number in range(parts)]
    run, ids = plain_pass(), plain_texts(texts)
    sweeps = {name: replace(model, precision=precision) for name, precision in PRECISIONS.items()}
    cosines: dict[str, list[Tensor]] = {name: [] for name in sweeps}

    def sweep(name: str, part: Part) -> None:
        cosines[name].append(_sweep(sweeps[name], part[1], heads))

    work: dict[str, Callable[[Part], object]] = {
        PLAIN: lambda part: [run(ids) for _ in range(part[0])],
        **{name: partial(sweep, name) for name in sweeps},
    }
    seconds = take_turns(work, zip(groups, shares, strict=True), warm=(1, shares[0]))
    exact, bf16 = (1 - torch.cat(cosines[name][1:], 1).mean(1) for name in PRECISIONS)
    return {"seconds": seconds, "effects in bf16": differences(exact, bf16)}


def differences(exact: Float[Tensor, " head"], bf16: Float[Tensor, " head"]) -> dict[str, float]:
    """Return how far the heads' effects in bf16 are from those in fp32."""
    return {
        "mean in fp32": float(exact.mean()),
        "largest difference": float((exact - bf16).abs().max()),
        "rank correlation": float(spearmanr(exact, bf16).statistic),
    }


def _sweep(model: Model, texts: Sequence[Document], heads: int) -> Float[Tensor, "head text"]:
    """Ablate the first `heads` heads, one at a time; return the cosines with the intact embeddings of the texts."""
    behaviour = sentence_embeddings(model, Aligned.of(model, MemoryTexts(texts)))
    sets = [one.heads for one in single_heads(model.layers, model.heads)[:heads]]
    return measure(behaviour, sets, batch_pieces=BATCH_PIECES)


if __name__ == "__main__":
    main()
