"""How scoring grows: with the length of texts, the number of workers, and the number of sentences."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

import torch

from experiments.bench.passes import read_plainly, score, sentences, take_turns, timed
from experiments.config.sections import ClusterSection
from experiments.record.provenance import peak_memory_mb
from experiments.run.cluster import DaskWorkers, one_call, open_cluster
from mha import Model, load_model
from probes import Corpus, Document, get_probe
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import MemoryTexts, Texts, corpus_path
from probes.corpora.windows import windows
from probes.scoring.score import Outcome
from probes.scoring.tally import Pooled

LENGTHS: Final = (14, 30, 62, 126, 254, 480)
"Words of a text, which has two pieces more at the least."
WORDS: Final = 8192
"Words that are read of each length."
COUNTS: Final = (1_000, 2_000, 10_000, 100_000)
"Sentences whose memory and time are measured."
SHARDS: Final = 2
"Equal parts that workers read; each is all sentences once."


def time_lengths(rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of plain pass and scoring, by round, on texts of so many words; a word is mostly one piece."""
    model, plain = load_model("minilm"), read_plainly()
    ways: dict[str, Callable[[list[Document]], object]] = {
        "plain": plain,
        "scoring": lambda texts: score(model, MemoryTexts(texts), ["position", "coreference"]),
    }
    found = {}
    for length in LENGTHS:
        texts = texts_of(length, max(WORDS // length, 1))
        found[str(length)] = take_turns(ways, [texts] * rounds, warm=texts)
    return found


def texts_of(words: int, count: int) -> list[Document]:
    """Return so many texts of exactly so many words: stories of the grammar, one after the other, and cut."""
    stories = Corpus.generated(words * count // 30 + 20, seed=0).stream()
    long = Document("long", tuple(sentence for story in stories for sentence in story.sentences))
    return [replace(text, id=str(number)) for number, text in enumerate(islice(windows(long, words), count))]


def time_workers(count: int, rounds: int) -> dict[str, list[float]]:
    """Return the seconds, by round, that one worker and two take to score `count` sentences SHARDS times, in turn.

    Workers have one thread each, and have loaded model and sentences before.
    """
    with ExitStack() as stack:
        clusters = {
            name: stack.enter_context(open_cluster(ClusterSection(address=f"local:{name}", threads=1))) for name in "12"
        }
        for name, workers in clusters.items():
            ready: set[int] = set()
            while len(ready) < int(name):
                ready |= {*_score_shards(workers, count, 2 * int(name))}
        ways = {name: partial(_score_shards, workers, count) for name, workers in clusters.items()}
        return take_turns(ways, [SHARDS] * rounds)


def _score_shards(workers: DaskWorkers, count: int, shards: int) -> list[int]:
    """Score sentences so many times; return the processes that did it."""
    return [call.result() for call in [workers.begin("bench", score_shard, count) for _ in range(shards)]]


_held: Final[dict[int, tuple[Model, Texts]]] = {}
"What a worker has loaded, by the number of sentences."


def score_shard(count: int) -> int:
    """Score sentences in a worker; return its process."""
    with one_call():
        if count not in _held:
            torch.set_num_threads(1)
            _held[count] = load_model("minilm"), MemoryTexts(sentences(count)[1])
        score(*_held[count])
    return os.getpid()


def measure_memory() -> dict[str, dict[str, float | None]]:
    """Return time and peak memory of scoring so many sentences, each in a process of its own; 0 for libraries alone.

    The memory is None where the system does not say it.
    """
    found: dict[str, dict[str, float | None]] = {}
    for count in (0, *COUNTS):
        command = [sys.executable, "-m", "experiments.bench.scaling", str(count)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        seconds, peak = done.stdout.split()[-2:]
        found[str(count)] = {"seconds": float(seconds), "peak MB": None if peak == "None" else int(peak)}
    return found


def _memory(count: int) -> tuple[float, int | None]:
    """Return the seconds that scoring so many sentences takes, and the peak memory of this process in MB."""
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    seconds = 0.0
    if count:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["HEADSCOPE_CACHE"] = folder
            corpus = _repeated(count, Path(folder) / "repeated.conllu")
            model = load_model("minilm")
            seconds = timed(lambda: _kept(score(model, corpus.sentences())))
    return seconds, peak_memory_mb()


def _kept(outcome: Outcome) -> Pooled:
    """Return the sums of all questions, as a run keeps them."""
    return outcome.heads.pooled(lambda question: get_probe(question[0]).pool(question[2]))


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
