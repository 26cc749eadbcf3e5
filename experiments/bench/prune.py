"""How much faster an encoder is without some of its heads: `make bench-prune`.

Texts a second at several batch sizes with all heads and with a part of them, drawn at random from all layers, as in the
table of Michel et al. 2019 on speed. Contestants take turns in one process; the gain is the median over rounds of the
full encoder's time to the smaller one's. Raw times are kept in a JSON file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.record.provenance import git_commit
from mha import Encoder, load_encoder
from mha.causal.pruning import smaller
from mha.encoder.weights import WeightsError
from mha.models.folders import ModelError, find_model

SHARES = (100, 75, 50, 25)
"Heads left, in per cent; the first has all of them."
BATCHES = (1, 4, 16, 64)
"Texts a batch."

Seconds = Mapping[int, Mapping[int, Sequence[float]]]
"Batch size -> share of heads left -> seconds of every round."


def main() -> None:
    """Print a table of texts a second; where the model is not at hand, say so in one line and exit with 2."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="minilm", help="a model of BERT's family: a name, or a folder")
    parser.add_argument("--texts", type=int, default=64, help="texts a round at every batch size (default 64, or more)")
    parser.add_argument("--pieces", type=int, default=32, help="pieces a text, all real (default 32)")
    parser.add_argument("--rounds", type=int, default=5, help="alternating rounds (default 5)")
    parser.add_argument("--seed", type=int, default=0, help="decides which heads go, and the pieces (default 0)")
    parser.add_argument("--out", type=Path, default=Path("runs/bench_prune.json"), help="where raw times are kept")
    options = parser.parse_args()
    try:
        encoder = load_encoder(find_model(options.model))
    except (ModelError, WeightsError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    encoders = pruned_encoders(encoder, options.seed)
    generator = torch.Generator().manual_seed(options.seed)
    size = (max(options.texts, *BATCHES), options.pieces)
    pieces = torch.randint(encoder.config.vocab, size, generator=generator)
    seconds = time_all(encoders, pieces, options.rounds)
    record: dict[str, Any] = {"commit": git_commit(), "machine": f"{platform.system()} {platform.machine()}"}
    record |= {"threads": torch.get_num_threads(), "torch": torch.__version__, "model": options.model}
    record |= {"texts": size[0], "pieces": options.pieces, "seed": options.seed, "seconds": seconds}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    for line in summary(encoders, seconds, size[0]):
        print(line)
    print(f"raw times: {options.out}")


def pruned_encoders(encoder: Encoder, seed: int) -> dict[int, Encoder]:
    """Return the encoder with each share of its heads; a larger share holds all heads of a smaller one."""
    shape = (encoder.config.layers, encoder.config.heads)
    order = torch.randperm(shape[0] * shape[1], generator=torch.Generator().manual_seed(seed))
    rank = order.argsort().view(shape)
    return {share: smaller(encoder, (rank < round(share / 100 * len(order))).float()) for share in SHARES}


def time_all(encoders: Mapping[int, Encoder], pieces: Tensor, rounds: int) -> dict[int, dict[int, list[float]]]:
    """Return the seconds that every encoder took for all texts, [text, piece], in each round at each batch size.

    A first round warms up and is not kept.
    """
    seconds: dict[int, dict[int, list[float]]] = {size: {share: [] for share in encoders} for size in BATCHES}
    with torch.inference_mode():
        for number in range(rounds + 1):
            for size in BATCHES:
                for share, encoder in encoders.items():
                    start = time.perf_counter()
                    for first in range(0, len(pieces), size):
                        encoder(pieces[first : first + size])
                    if number:
                        seconds[size][share].append(time.perf_counter() - start)
    return seconds


def summary(encoders: Mapping[int, Encoder], seconds: Seconds, texts: int) -> list[str]:
    """Return the table: texts a second, and by how much that is more than with all heads."""
    lines = [f"{'heads left':<13}{'parameters':>12}" + "".join(f"{f'batch of {size}':>18}" for size in BATCHES)]
    for share, encoder in encoders.items():
        heads = encoder.config.layers * encoder.config.heads - len(encoder.config.pruned)
        cells = (_cell(seconds[size][SHARES[0]], seconds[size][share], texts) for size in BATCHES)
        parameters = sum(parameter.numel() for parameter in encoder.parameters())
        lines.append(
            f"{heads:>4} ({share:>3} %) {parameters / 1e6:>10.1f} M" + "".join(f"{cell:>18}" for cell in cells)
        )
    return [*lines, "texts a second, and the gain over all heads"]


def _cell(full: Sequence[float], some: Sequence[float], texts: int) -> str:
    gain = statistics.median(before / after for before, after in zip(full, some, strict=True)) - 1
    return f"{texts / statistics.median(some):,.1f} ({gain:+.1%})"


if __name__ == "__main__":
    main()
