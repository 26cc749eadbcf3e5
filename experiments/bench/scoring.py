"""What scoring every head costs, beside the forward pass that users know and beside other tools: `make bench`.

Times are the fastest of rounds in which all take turns, for other work on the machine only adds to them; whole runs and
each number of sentences are run once. Memory is the peak of a process of its own. All goes into a record under
docs/, from which docs/cost.md is made. A goal that is missed ends with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import torch

from experiments.bench.others import nnsight, output_attentions, score_as_published, score_with, transformer_lens
from experiments.bench.passes import (
    BASE,
    EWT,
    MINILM,
    PROBES,
    forward,
    of_sentences,
    plain_model,
    plain_pass,
    plain_texts,
    read_plainly,
    score,
    sentences,
    take_turns,
    timed,
    tokenizer,
)
from experiments.bench.records import (
    BenchError,
    end,
    exits_with_2,
    goal,
    goal_table,
    machine,
    new_record,
    paragraphs,
)
from experiments.bench.scaling import LENGTHS, measure_memory, time_lengths, time_workers
from experiments.inputs.corpora import open_corpora
from experiments.record.provenance import installed
from experiments.run.config import load_config
from mha import Model, align, load_model
from probes import Document
from probes.corpora.corpus import MemoryTexts
from reports.statements.statement import JudgedStatement

RECORD: Final = Path("docs") / "scoring-cost.json"
PAGES: Final = (Path("docs") / "cost.md",)
TOOLS: Final = ("nnsight", "transformer-lens")
"Packages of the extra `bench`, which has `distributed` too."

PLAIN: Final = "transformers, plain forward pass (SDPA, batches of 32)"
FORWARD: Final = "headscope, forward pass"
SCORED: Final = "headscope, three probes"
ALONE: Final = "headscope, the dependency probe alone"
ALL: Final = "headscope, all sentence probes and shapes"
ROUGH: Final = "headscope, all sentence probes and shapes, bf16"
ATTENTIONS: Final = "transformers, output_attentions, three probes by our scorer"
LENS: Final = "TransformerLens, three probes by our scorer"
NNSIGHT: Final = "nnsight, three probes by our scorer"
PUBLISHED: Final = "the scripts of Clark et al. 2019 restated, the dependency probe"
CUT: Final = "plain text, its pieces given to words"
BY_WORD: Final = "word by word"
SENTENCES: Final = 1000
ROUNDS: Final = 3
"How many are timed for the record, and at least how often."


def main() -> None:
    """Measure, print, and write record and page; exit with 1 where a goal is missed, 2 where something is not there.

    Record and page stay as they are where less was measured than they have, or another corpus than EWT.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sentences", type=int, default=SENTENCES, help=f"sentences to time (default {SENTENCES})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds of all (default {ROUNDS})")
    parser.add_argument("--only", action="append", choices=[*PARTS], help="measure that part anew, keep the others")
    options = parser.parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    with exits_with_2():
        name, texts = _ready(options.sentences)
        record = _begun(name, len(texts), options.rounds)
        for_the_record = (name, len(texts)) == (EWT, SENTENCES) and options.rounds >= ROUNDS
        others = _others(record, options.only) if options.only and for_the_record else {}
        for part in options.only or PARTS:
            print(f"{part} ...", file=sys.stderr)
            record[part] = PARTS[part](texts, options.rounds)
    if options.only:
        print({part: record[part] for part in options.only})
        if not for_the_record:
            return
    record |= others
    end(record, RECORD, PAGES, blocks(record), goals(record), kept=for_the_record)


def _ready(count: int) -> tuple[str, Sequence[Document]]:
    """Return so many sentences and the name of their corpus; raises BenchError where a tool is not installed."""
    if missing := [name for name in ("distributed", *TOOLS) if not find_spec(name.replace("-", "_"))]:
        raise BenchError(f"{', '.join(missing)} not installed: pip install 'headscope[bench]'")
    return sentences(count)


def _begun(corpus: str, count: int, rounds: int) -> dict[str, Any]:
    """Return a record without what is measured."""
    versions = installed()["versions"] | {tool: version(tool) for tool in TOOLS}
    record = new_record("make bench") | {"threads": torch.get_num_threads(), "versions": versions}
    return record | {"corpus": corpus, "sentences": count, "rounds": rounds}


def _others(record: Mapping[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    """Return what a record keeps of the committed one where only some parts are measured anew.

    Raises BenchError where the two are of another machine, other versions or other texts: parts could not be compared.
    """
    if not RECORD.is_file():
        raise BenchError(f"there is no {RECORD} yet whose other parts could be kept; leave out --only")
    kept: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    if other := [name for name in record if name != "commit" and record[name] != kept.get(name)]:
        raise BenchError(f"{RECORD} differs in {', '.join(other)}, so it stays as it is; leave out --only")
    commits = kept.get("commits of parts", {}) | dict.fromkeys(parts, record["commit"])
    return {name: of for name, of in kept.items() if name not in parts} | {"commits of parts": commits}


def time_all(texts: Sequence[Document], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of every round of the contestants, in turn; all are warmed up on some texts before."""
    return take_turns(_contestants(load_model("minilm")), [texts] * rounds, warm=texts[:50])


def _contestants(model: Model) -> dict[str, Callable[[Sequence[Document]], object]]:
    attentions, lens, traced = output_attentions(), transformer_lens(), nnsight()
    rough = replace(model, precision="bf16")
    return {
        PLAIN: read_plainly(),
        FORWARD: lambda texts: forward(model, texts),
        SCORED: lambda texts: score(model, MemoryTexts(texts)),
        ALONE: lambda texts: score(model, MemoryTexts(texts), ["dependency"]),
        ALL: lambda texts: score(model, MemoryTexts(texts), of_sentences(), shapes=True),
        ROUGH: lambda texts: score(rough, MemoryTexts(texts), of_sentences(), shapes=True),
        ATTENTIONS: lambda texts: score_with(attentions, model, MemoryTexts(texts), PROBES),
        LENS: lambda texts: score_with(lens, model, MemoryTexts(texts), PROBES),
        NNSIGHT: lambda texts: score_with(traced, model, MemoryTexts(texts), PROBES),
        PUBLISHED: lambda texts: score_as_published(model, texts),
    }


def time_cutting(texts: Sequence[Document], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of cutting plain text and giving pieces to words, of cutting word by word, and of scoring."""
    model, words = load_model("minilm"), [list(text.words) for text in texts]

    def word_by_word(_: object) -> None:
        for encoding in model.tokenizer.encode_batch(words, is_pretokenized=True):
            np.array(encoding.ids), np.array([-1 if word is None else word for word in encoding.word_ids])

    ways: dict[str, Callable[[Sequence[Document]], object]] = {
        CUT: lambda texts: align(model.tokenizer, [text.words for text in texts]),
        BY_WORD: word_by_word,
        SCORED: lambda texts: score(model, MemoryTexts(texts)),
    }
    return take_turns(ways, [texts] * rounds, warm=texts)


RUN: Final = """\
name = "bench"
model.name = "{model}"
{corpus}
probes.names = [{probes}]
"""
"A run with all controls; everything else is as it is by default."

SPLITS: Final = {
    EWT: 'corpus = { select = { name = "ewt-train", first = 1000 }, report = { name = "ewt-dev", first = 1000 } }',
    "": 'corpus = { select = { name = "grammar", seed = 1 }, report = { name = "grammar", seed = 2 } }',
}
"Of EWT 2,000 sentences; where it is not at hand of the grammar."


def time_run(shape: str, rounds: int) -> dict[str, Any]:
    """Return seconds, those of its stages and peak memory of a run with all sentence probes and controls.

    Beside them stand the seconds of plain passes.

    The run, its page included, is a process of its own, and is made once; of plain passes over its texts the fastest
    round counts. `shape` is minilm or random weights of BERT-base's shape.
    """
    theirs = plain_model(shape)
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(f"{folder}/model")
        tokenizer().save_pretrained(f"{folder}/model")
        probes = ", ".join(f'"{name}"' for name in of_sentences())
        config = Path(folder) / "bench.toml"
        splits = SPLITS[EWT if sentences(1)[0] == EWT else ""]
        config.write_text(RUN.format(model=f"{folder}/model", corpus=splits, probes=probes), encoding="utf-8")
        command = [sys.executable, "-m", "headscope", "--quiet", "run", str(config), "--out", folder]
        seconds = timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
        told = json.loads((Path(folder) / "bench" / "run.json").read_text(encoding="utf-8"))
        texts = [corpus.sentences() for corpus in open_corpora(load_config(config))]
        read = [plain_texts(split.take(range(len(split)))) for split in texts]
    run = plain_pass(theirs)
    passes = take_turns({"plain": lambda read: [run(texts) for texts in read]}, [read] * rounds, warm=[read[0][:64]])
    peak, stages = told["peak_memory_mb"], told["stages"]
    return {"run": seconds, "plain pass": min(passes["plain"]), "peak MB": peak, "stages": stages}


PARTS: Final[Mapping[str, Callable[[Sequence[Document], int], Any]]] = {
    "passes": time_all,
    "cutting": time_cutting,
    "lengths": lambda texts, rounds: time_lengths(rounds),
    "workers": lambda texts, rounds: time_workers(len(texts), rounds),
    f"run of {MINILM}": lambda texts, rounds: time_run(MINILM, rounds),
    f"run of {BASE}": lambda texts, rounds: time_run(BASE, rounds),
    "memory": lambda texts, rounds: measure_memory(),
}
"What is measured, by its name in the record."


def goals(record: Mapping[str, Any]) -> list[JudgedStatement]:
    """Return the goals of a record."""
    seconds, runs = _fastest(record["passes"]), [record.get(f"run of {shape}") for shape in (MINILM, BASE)]
    peak = {count: one["peak MB"] for count, one in record["memory"].items()}
    least, few, many = (peak[count] for count in ("0", "2000", "100000"))
    one, two = (min(record["workers"][count]) for count in "12")
    cutting, long = _fastest(record["cutting"]), _fastest(record["lengths"][str(LENGTHS[-1])])
    passes = [None if run is None else run["run"] / run["plain pass"] for run in runs]
    big = None if runs[1] is None else runs[1]["peak MB"]
    return [
        goal("three probes, over the plain pass", seconds[SCORED] / seconds[PLAIN], below=1.0),
        goal("all sentence probes and shapes, over the plain pass", seconds[ALL] / seconds[PLAIN], below=1.2),
        goal("the same in bf16, over the plain pass in fp32", seconds[ROUGH] / seconds[PLAIN], below=0.55),
        goal(
            "all sentence probes and shapes, over the dependency probe alone", seconds[ALL] / seconds[ALONE], below=1.5
        ),
        goal(
            f"two probes on texts of {LENGTHS[-1]} words, over the plain pass",
            long["scoring"] / long["plain"],
            below=1.5,
        ),
        goal(
            "cutting plain text, not word by word, over three probes",
            (cutting[CUT] - cutting[BY_WORD]) / cutting[SCORED],
            below=0.05,
        ),
        goal("a whole run of minilm with controls, over plain passes over its texts", passes[0], below=8),
        goal("the same of random weights of BERT-base's shape", passes[1], below=9),
        goal("its peak memory, GB", big / 1000 if big else None, below=3),
        goal("peak memory of 100,000 sentences, over that of 2,000", many / few if many else None, below=1.05),
        goal(
            "peak memory of 100,000 sentences beside the libraries' own, MB", many - least if many else None, below=800
        ),
        goal("throughput of two workers, over that of one", one / two, above=1.7),
        goal("TransformerLens, over headscope, three probes", seconds[LENS] / seconds[SCORED], above=4),
    ]


def _fastest(raw: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: min(times) for name, times in raw.items()}


def _count(number: int | None) -> str:
    return "not measured" if number is None else f"{number:,}"


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page says of a record, by the names of the marks."""
    seconds = _fastest(record["passes"])
    medians = {name: statistics.median(times) for name, times in record["passes"].items()}
    three, every = (f"{medians[name] / medians[PLAIN]:.2f}" for name in (SCORED, ALL))
    intro = (
        f"On {machine(record)}, {record['sentences']:,} sentences of {record['corpus']}, the fastest of "
        f"{record['rounds']} rounds, cutting into pieces among them. By medians of the rounds three probes take "
        f"{three} of the plain pass, all {every}."
    )
    if later := record.get("commits of parts"):
        intro += f" Measured in a later run: {', '.join(later)}."
    rows = [
        f"| {name} | {one:.2f} | {one / seconds[PLAIN]:.2f} |"
        for name, one in sorted(seconds.items(), key=lambda item: (item[0] != PLAIN, item[1]))
    ]
    passes = ["| | seconds | over the plain pass |", "| --- | ---: | ---: |", *rows]
    asked = goal_table(goals(record))
    lengths = ["| words of a text | position and coreference scored, over the plain pass |", "| ---: | ---: |"]
    for length, raw in record["lengths"].items():
        of = _fastest(raw)
        lengths.append(f"| {length} | {of['scoring'] / of['plain']:.2f} |")
    memory = ["| sentences, three probes | seconds for 1,000 | peak memory, MB |", "| ---: | ---: | ---: |"]
    memory += [
        f"| {int(count):,} | {1000 * one['seconds'] / int(count):.1f} | {_count(one['peak MB'])} |"
        for count, one in record["memory"].items()
        if int(count)
    ]
    return {"scoring cost": paragraphs([intro], passes, asked, lengths, memory, *_stages(record))}


LARGE: Final = 0.02
"A stage of a whole run that takes this share of it has a row of its own."


def _stages(record: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield a table of what stages of whole runs take in plain passes, the longest first, if both runs have stages."""
    runs = {shape: run for shape in (MINILM, BASE) if "stages" in (run := record.get(f"run of {shape}") or {})}
    if len(runs) < 2:
        return
    table = pd.DataFrame({shape: pd.Series(run["stages"]) / run["plain pass"] for shape, run in runs.items()}).fillna(0)
    table = table.groupby(lambda name: "controls" if name.startswith("control: ") else name).sum()
    whole = np.array([run["run"] / run["plain pass"] for run in runs.values()])
    table = table[(table >= LARGE * whole).any(axis=1)].sort_values(BASE, ascending=False)
    table.loc["everything else, the page among it"] = whole - table.sum()
    rows = [f"| {name} | {one:.1f} | {other:.1f} |" for name, one, other in table.itertuples()]
    yield [
        "| plain passes that a stage of a whole run takes | minilm | BERT-base's shape |",
        "| --- | ---: | ---: |",
        *rows,
    ]


if __name__ == "__main__":
    main()
