"""What scoring every head costs, beside the forward pass that users know and beside one probe: `make bench`.

Times are medians of alternating runs in one process; raw times are kept in runs/bench_scoring.json. Memory is the peak
of a process of its own for 2,000 and for 20,000 sentences (the file repeated).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from experiments.record.provenance import git_commit, peak_memory_mb
from mha import Model, align, collate, load_model, plan
from mha.models.folders import ModelError
from mha.parallel import in_order
from probes import Corpus, Document, Settings, get_probe, learn_baselines, probe_names, score_corpus
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import MemoryTexts, Texts, corpus_path
from probes.maps.shapes import Shapes

PROBES = ("position", "dependency", "agreement")
GOAL, ROUGH_GOAL = 0.80, 0.55
"Of scoring in fp32 and in bf16, to the plain forward pass in fp32."
ALL_GOAL = 1.5
"Of all untrained probes and the shape of maps, to the dependency probe alone."
MEMORY_GOAL = 1.05


def main() -> None:
    """Print the times and the ratio of scoring to the forward pass of `transformers`.

    Exits with 1 where a goal is missed, and with 2, after one line that says so, where EWT or the model is not at hand.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sentences", type=int, default=1000, help="sentences of EWT dev to time (default 1000)")
    parser.add_argument("--rounds", type=int, default=5, help="alternating rounds (default 5)")
    parser.add_argument("--memory-of", type=int, help="only score that many sentences and print the peak memory")
    parser.add_argument("--out", type=Path, default=Path("runs/bench_scoring.json"), help="where raw times are kept")
    options = parser.parse_args()
    try:
        if options.memory_of:
            print(_memory(options.memory_of))
        elif not _bench(options):
            sys.exit(1)
    except (CorpusError, ModelError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)


def _bench(options: argparse.Namespace) -> bool:
    """Time, print and keep all; return whether every goal is met."""
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    raw = time_all(options.sentences, options.rounds)
    medians = {name: statistics.median(times) for name, times in raw.items()}
    memory = {count: measure_memory(count) for count in (2_000, 20_000)}
    for name, median in medians.items():
        print(f"{name:<46} {median:6.3f} s   ({median / medians[BASE]:.2f} of the first)")
    print(f"peak memory of 2,000 and 20,000 sentences: {memory[2_000]} and {memory[20_000]} MB")
    record: dict[str, Any] = {
        "commit": git_commit(),
        "machine": f"{platform.system()} {platform.machine()}",
        "threads": torch.get_num_threads(),
    }
    record |= {"seconds": raw, "memory_mb": memory, "sentences": options.sentences, "torch": torch.__version__}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"raw times: {options.out}")
    ratios = {
        "scoring ratio": (medians[SCORING] / medians[BASE], GOAL),
        "scoring ratio, bf16": (medians[ROUGH] / medians[BASE], ROUGH_GOAL),
        "all probes and shapes to dependency alone": (medians[ALL] / medians[ALONE], ALL_GOAL),
        "memory ratio": (memory[20_000] / memory[2_000], MEMORY_GOAL),
    }
    for name, (ratio, goal) in ratios.items():
        print(f"{name} {ratio:.2f} (goal {goal:.2f}{', missed' if ratio > goal else ''})")
    return all(ratio <= goal for ratio, goal in ratios.values())


BASE = "transformers, forward pass (SDPA, batches of 32)"
FORWARD = "headscope, forward pass"
SCORING = "headscope, every head scored"
ROUGH = "headscope, every head scored, bf16"
ALONE = "headscope, dependency probe alone"
ALL = "headscope, all untrained probes and shapes"


def time_all(sentences: int, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of every round of the contestants, in turn; a first round warms up and is not kept."""
    corpus = Corpus.read(corpus_path("ewt-dev"), first=sentences).sentences()
    texts = corpus.take(range(len(corpus)))
    model = load_model("minilm")
    contestants: dict[str, Callable[[], Any]] = {
        BASE: _transformers_pass(texts),
        FORWARD: lambda: _forward(model, texts),
        SCORING: lambda: _score(model, MemoryTexts(texts)),
        ROUGH: lambda: _score(replace(model, precision="bf16"), MemoryTexts(texts)),
        ALONE: lambda: _score(model, MemoryTexts(texts), ["dependency"]),
        ALL: lambda: _score(model, MemoryTexts(texts), of_sentences(), shapes=True),
    }
    raw: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, contestant in contestants.items():
            start = time.perf_counter()
            contestant()
            if number:
                raw[name].append(time.perf_counter() - start)
    return raw


def _transformers_pass(texts: Sequence[Document]) -> Callable[[], None]:
    """Return the plain forward pass of the same weights, tokenizer included."""
    run = plain_pass()
    return lambda: run(plain_texts(texts))


def plain_texts(texts: Sequence[Document]) -> list[list[int]]:
    """Return the pieces of texts as the fast tokenizer of `transformers` cuts them, sorted by length."""
    return sorted(_tokenizer()([list(text.words) for text in texts], is_split_into_words=True)["input_ids"], key=len)


def plain_pass() -> Callable[[Sequence[list[int]]], None]:
    """Return what runs the weights of minilm in `transformers` on sorted texts, in batches of 32."""
    from transformers import BertModel

    from mha.models.folders import NAMED

    model: Any = BertModel.from_pretrained(NAMED["minilm"](), attn_implementation="sdpa")
    model.train(False)
    tokenizer = _tokenizer()

    @torch.inference_mode()
    def run(ids: Sequence[list[int]]) -> None:
        for start in range(0, len(ids), 32):
            model(**tokenizer.pad({"input_ids": ids[start : start + 32]}, return_tensors="pt"))

    return run


@cache
def _tokenizer() -> Any:
    from transformers import AutoTokenizer

    from mha.models.folders import NAMED

    return AutoTokenizer.from_pretrained(NAMED["minilm"]())


def _forward(model: Model, texts: Sequence[Document]) -> None:
    """Run the model alone, on the batches that scoring takes and side by side as there."""
    pieces = align(model.tokenizer, [text.words for text in texts])

    @torch.inference_mode()
    def run(chosen: list[int]) -> None:
        batch = collate([pieces[i] for i in chosen], padding=model.padding)
        model.run(batch.ids, batch.mask)

    for _ in in_order(run, plan(pieces, [text.id for text in texts], Settings().batch_pieces)):
        pass


def of_sentences() -> list[str]:
    """Return the names of all probes that read sentences, as EWT is read here."""
    return [name for name in probe_names() if get_probe(name).scope == "sentence"]


def _score(model: Model, texts: Texts, names: Sequence[str] = PROBES, *, shapes: bool = False) -> None:
    """Learn the offsets and score every head and the offset baseline on all variants of some untrained probes.

    With `shapes` the shape of maps is measured in the same pass.
    """
    probes = [get_probe(name) for name in names]
    baselines = learn_baselines(texts, probes, ["offset"], lexical=False)
    observers = [Shapes(model, texts.ids())] if shapes else []
    score_corpus(model, texts, probes, baselines, Settings(), observers=observers)


def measure_memory(sentences: int) -> int:
    """Return the peak memory, in MB, of a process that scores `sentences` sentences."""
    command = [sys.executable, "-m", "experiments.bench.scoring", "--memory-of", str(sentences)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def _memory(sentences: int) -> int:
    once = corpus_path("ewt-dev").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEADSCOPE_CACHE"] = folder
        repeated = Path(folder) / "repeated.conllu"
        with repeated.open("wb") as file:
            for number in range(-(-sentences // 2_000)):  # with ids of its own, as a corpus has them
                file.write(re.sub(rb"^(# (?:sent_id|newdoc id) = )", rb"\g<1>%d-" % number, once, flags=re.MULTILINE))
        del once
        _score(load_model("minilm"), Corpus.read(repeated, first=sentences).sentences())
    return peak_memory_mb() or 0


if __name__ == "__main__":
    main()
