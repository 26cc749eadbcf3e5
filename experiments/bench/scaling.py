"""How scoring grows: with the length of texts, the number of workers, and the number of sentences."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import torch

from experiments.bench.passes import plain_pass, plain_texts, score, sentences, timed
from experiments.cluster.workers import open_cluster
from experiments.config.cluster_section import ClusterSection
from experiments.record.provenance import peak_memory_mb
from mha import Model, load_model
from probes import Corpus
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import MemoryTexts, Texts, corpus_path

LENGTHS: Final = (16, 32, 64, 128, 256, 512)
"Pieces of a text."
PIECES: Final = 8192
"Pieces that are read of each length."
COUNTS: Final = (1_000, 2_000, 10_000, 100_000)
"Sentences whose memory and time are measured."
SHARDS: Final = 4
"Equal parts that workers read; each is all sentences once."


def time_lengths(rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of plain pass and scoring, by round, for windows of the grammar of about so many pieces."""
    model, plain = load_model("minilm"), plain_pass()
    found: dict[str, dict[str, list[float]]] = {}
    for length in LENGTHS:
        windows = Corpus.generated(PIECES // 4, seed=0).windows(length - 2)
        texts = windows.take(range(min(PIECES // length, len(windows))))
        seconds: dict[str, list[float]] = {"plain": [], "scoring": []}
        for number in range(rounds + 1):
            times = (
                timed(plain, plain_texts(texts)),
                timed(score, model, MemoryTexts(texts), ["position", "coreference"]),
            )
            if number:
                for name, one in zip(seconds, times, strict=True):
                    seconds[name].append(one)
        found[str(length)] = seconds
    return found


def time_workers(count: int, rounds: int) -> dict[str, list[float]]:
    """Return the seconds, by round, that one worker and two take to score `count` sentences SHARDS times.

    Workers have one thread each, have started, and have loaded model and sentences.
    """
    found: dict[str, list[float]] = {}
    for number_of in (1, 2):
        with open_cluster(ClusterSection(address=f"local:{number_of}", threads=1)) as workers:
            for number in range(rounds + 1):
                start = time.perf_counter()
                shards = SHARDS if number else 2 * number_of
                for call in [workers.begin("bench", score_shard, count) for _ in range(shards)]:
                    call.result()
                if number:
                    found.setdefault(str(number_of), []).append(round(time.perf_counter() - start, 3))
    return found


_held: Final[dict[int, tuple[Model, Texts]]] = {}
"What a worker has loaded, by the number of sentences."


def score_shard(count: int) -> None:
    """Score sentences in a worker."""
    if count not in _held:
        torch.set_num_threads(1)
        _held[count] = load_model("minilm"), MemoryTexts(sentences(count)[1])
    score(*_held[count])


def measure_memory() -> dict[str, dict[str, float]]:
    """Return time and peak memory of scoring so many sentences, each in a process of its own; 0 for libraries alone."""
    found = {}
    for count in (0, *COUNTS):
        command = [sys.executable, "-m", "experiments.bench.scaling", str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, peak = done.stdout.split()[-2:]
        found[str(count)] = {"seconds": float(seconds), "peak MB": int(peak)}
    return found


def _memory(count: int) -> tuple[float, int]:
    """Return the seconds that scoring so many sentences takes, and the peak memory of this process in MB."""
    seconds = 0.0
    if count:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["HEADSCOPE_CACHE"] = folder
            corpus = _repeated(count, Path(folder) / "repeated.conllu")
            model = load_model("minilm")
            seconds = timed(score, model, corpus.sentences())
    return seconds, peak_memory_mb() or 0


def _repeated(count: int, path: Path) -> Corpus:
    """Return EWT dev repeated into so many sentences, with ids of their own; else so many of the grammar."""
    try:
        once = corpus_path("ewt-dev").read_bytes()
    except CorpusError:
        return Corpus.generated(count, seed=0)
    with path.open("wb") as file:
        for number in range(-(-count // 2_000)):
            file.write(re.sub(rb"^(# (?:sent_id|newdoc id) = )", rb"\g<1>%d-" % number, once, flags=re.MULTILINE))
    return Corpus.read(path, first=count)


if __name__ == "__main__":
    print(*_memory(int(sys.argv[1])))
