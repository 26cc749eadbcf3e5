"""What a study of many checkpoints costs on a cluster: measured shards, a cost model, and a plan, `make bench-plan`.

Shards of three sizes of model and three lengths of text are timed on one thread, loading of the model among it, and the
cost model is fitted to them. Studies are planned by it, and each plan's time is compared with a simulated cluster. All
of that is kept in a record under docs/, from which the tables of docs/planning.md are made.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from experiments.bench.records import keep, new_record
from experiments.cluster.cost import Cluster, CostModel, Plan, Shard, left_out_errors, plan, simulate, sums_bytes
from mha import Encoder, EncoderConfig, align, export_encoder, load_model
from mha.training.vocabulary import save_tokenizer
from probes import Corpus, Settings, get_probe, score_corpus
from probes.corpora.corpus import MemoryTexts

RECORD: Final = Path("docs") / "planning.json"
PAGES: Final = (Path("docs") / "planning.md",)

SIZES: Final = ((2, 2, 128), (6, 12, 384), (12, 12, 768))
"Layers, heads of each, and size of vectors: BERT tiny, MiniLM and BERT base."
LENGTHS: Final = (0, 40, 160)
"Words of a window; 0 for sentences."
COUNTS: Final = {2: (400, 2000), 6: (100, 500), 12: (40, 200)}
"Number of layers -> sentences that are read; of longer texts as many as have that many words."

PROBES: Final = ("position", "dependency", "agreement")
CLUSTER: Final = Cluster(workers=1000, life=24 * 3600, restart=300)
EACH: Final = 600
"Seconds that shards are made for."
SIMULATED: Final = 200_000
"Shards that are simulated; of a larger study the plan of that many is compared."


def main() -> None:
    """Measure, write the record and the page, and print what the page says."""
    torch.set_num_threads(1)
    timed = [*measure()]
    shards, seconds = zip(*timed, strict=True)
    record = new_record("make bench-plan")
    record["shards"] = [asdict(shard) | {"seconds": round(took, 3)} for shard, took in timed]
    record["seconds"] = {what: round(part, 4) for what, part in CostModel.fit(shards, seconds).seconds.items()}
    record["left out"] = [round(error, 3) for error in left_out_errors(shards, seconds)]
    record["plans"] = [*planned(CostModel(record["seconds"]))]
    keep(record, RECORD, PAGES, blocks(record))
    print("\n\n".join(blocks(record).values()))


def measure() -> Iterator[tuple[Shard, float]]:
    """Yield shards with their seconds on one thread, the faster of two readings."""
    pieces_of = load_model("minilm").tokenizer
    corpus = Corpus.generated(400, 1)
    with tempfile.TemporaryDirectory() as temporary:
        for layers, heads, width in SIZES:
            folder = Path(temporary) / str(layers)
            shape = EncoderConfig(layers=layers, heads=heads, model=width, feed_forward=4 * width)
            torch.manual_seed(0)
            export_encoder(Encoder(shape), folder)
            save_tokenizer(pieces_of, folder, 512)
            for length in LENGTHS:
                texts = corpus.windows(length) if length else corpus.sentences()
                probes = [get_probe(name) for name in (("coreference",) if length else PROBES)]
                for sentences in COUNTS[layers]:
                    count = -(-sentences * 10 // length) if length else sentences
                    read = texts.take(range(count))
                    sizes = np.array([len(one) for one in align(pieces_of, [text.words for text in read])])
                    took = []
                    for _ in range(2):
                        start = time.perf_counter()
                        score_corpus(
                            load_model(str(folder)), MemoryTexts(read), probes, {}, Settings(), hits_alone=True
                        )
                        took.append(time.perf_counter() - start)
                    text = (float(count), float(sizes.sum()), float((sizes**2).sum()))
                    yield Shard(layers, heads, width, shape.vocab, *text), min(took)


STUDIES: Final = (
    ("all of it: 100 models x 10,000 checkpoints, 10 million sentences", 1_000_000, 1e7),
    ("all checkpoints, a sample of 2,000 sentences", 1_000_000, 2e3),
    ("100 checkpoints of each model, 20,000 sentences", 10_000, 2e4),
    ("last checkpoints alone, 10 million sentences", 100, 1e7),
)
"In words; checkpoints of all models; sentences."

QUESTIONS: Final = 100
"Labels with their directions, of three probes."


PIECES, SPREAD = 20, 1.5
"""Pieces of a sentence, and mean square over squared mean: MiniLM's tokenizer makes 17.0 and 1.53 of EWT dev, 21.4 and
1.49 of GUM dev."""


def sentences_of(layers: int, heads: int, width: int, count: float) -> Shard:
    """Return the shard of so many sentences, as long as those of treebanks."""
    return Shard(layers, heads, width, 30_522, count, PIECES * count, SPREAD * PIECES**2 * count)


def planned(model: CostModel) -> Iterator[dict[str, Any]]:
    """Yield the plans of all studies with MiniLM and with BERT base, each beside a simulation."""
    for title, models, sentences in STUDIES:
        for name, size in zip(("MiniLM", "BERT base"), SIZES[1:], strict=True):
            whole = sentences_of(*size, sentences)
            found = plan(models, whole, model, CLUSTER, EACH)
            yield {
                "study": title,
                "model": name,
                "shards": found.shards,
                "seconds of a shard": round(found.each, 1),
                "core years": found.core_years,
                "days": found.seconds / 86400,
                "given up": found.given_up,
                "GB of weights read": found.shards * whole.weights * 4 / 1e9,
                "GB of sums": models * sums_bytes(whole, QUESTIONS) / 1e9,
                "simulated over planned": _checked(found),
            }


def _checked(found: Plan) -> float:
    """Return the simulated time of a plan, or of as many of its shards as are simulated, over the planned one."""
    shards = min(found.shards, SIMULATED)
    cluster = replace(CLUSTER, retries=100)  # all are done in the end, as the plan has it
    expected = found.seconds if shards == found.shards else found.seconds * shards / found.shards
    return round(simulate(np.full(shards, found.each), cluster, 0).seconds / expected, 3)


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables of the page, by the names of the marks."""
    errors = [abs(error) for error in record["left out"]]
    costs = ["| what | seconds |", "| --- | ---: |"]
    costs += [f"| {what} | {part:.3g} |" for what, part in record["seconds"].items()]
    said = (
        f"On one core of {record['processor']}, fitted to {len(errors)} measured shards. Predicted from all others, a "
        f"shard is {100 * statistics.median(errors):.0f} % off in the median and {100 * max(errors):.0f} % at most."
    )
    columns = ("study", "model", "core years", "days", "shards", "weights, TB", "sums, TB", "check")
    rows = [f"| {' | '.join(columns)} |", f"| --- | --- |{' ---: |' * 6}"]
    for one in record["plans"]:
        terabytes = (one["GB of weights read"] / 1e3, one["GB of sums"] / 1e3)
        numbers = map(_rough, (one["core years"], one["days"], one["shards"], *terabytes))
        rows.append(f"| {' | '.join((one['study'], one['model'], *numbers))} | {one['simulated over planned']:.2f} |")
    return {"costs": "\n".join([said, "", *costs]), "plans": "\n".join(rows)}


def _rough(number: float) -> str:
    """Return a number with two digits that count.

    >>> _rough(0.0843), _rough(29_400), _rough(222_000_000), _rough(1_550_000_000)
    ('0.084', '29,000', '220 million', '1,600 million')
    """
    return f"{_rough(number / 1e6)} million" if number >= 1e6 else f"{float(f'{number:.2g}'):,g}"


if __name__ == "__main__":
    main()
