"""What a GPU changes: the same numbers as on the CPU, and what reading, ablation and training cost: `make gpu`.

Every part is a few seconds to minutes; the record, docs/gpu-cost.json, is written after each, so that a machine that is
lent for a while leaves what it measured. Models are minilm and random weights of the shapes of BERT-base and
ModernBERT-base, which nothing has to fetch. Texts are sentences of EWT dev where that is at hand, else of the grammar.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from experiments.bench.passes import (
    BASE,
    MINILM,
    forward,
    of_sentences,
    plain_model,
    plain_pass,
    plain_texts,
    score,
    sentences,
    take_turns,
    timed,
    tokenizer,
)
from experiments.bench.records import end, exits_with_2, goal, goal_table, machine, new_record, paragraphs
from experiments.bench.train import LENGTH, initialised, random_batches, train_ours
from mha import EncoderConfig, Model, collate, load_model
from mha.causal.gates import GateSettings
from mha.device import find_device
from mha.models.maps import MAPS, stream_maps
from probes import Document, Settings, get_probe, score_corpus
from probes.causal.ablation import measure, single_heads
from probes.causal.behaviours import Embedding, sentence_embeddings
from probes.causal.gates import gate_heads
from probes.corpora.corpus import MemoryTexts
from probes.maps.relation_attention import RelationAttention
from probes.maps.shapes import Shapes
from probes.scoring.aligned import Aligned
from reports import Run
from reports.statements.statement import JudgedStatement

RECORD: Final = Path("docs") / "gpu-cost.json"
PAGES: Final = (Path("docs") / "cost.md",)
SECONDS: Final = 420
"In all; the textbook encoder takes what is left."

PARITY_TEXTS, GATED_TEXTS = 200, 20
CLOSE: Final = 1e-5
"How far numbers on a device may be from those on the CPU; hits are then the same."
COMPARED: Final = (
    *(f"maps, {maps}" for maps in MAPS),
    *("hits", "mass", "shapes", "relations", "ablation, cosine", "gates after 20 steps"),
)

SHAPES: Final = (MINILM, BASE, "ModernBERT-base")
TRAINED: Final = EncoderConfig(vocab=30_522, layers=12, heads=12, model=768, feed_forward=3072, positions=LENGTH)
TEXTBOOK: Final = EncoderConfig(vocab=8192, layers=6, heads=8, model=512, feed_forward=2048, positions=LENGTH)
ROWS: Final = 64
"A step of training."
FEW: Final = (
    "corpus.select.first=500",
    "corpus.report.first=500",
    "behaviour.first=50",
    "controls={random=0, permuted=0, orders=0}",
    "page.examples=0",
)
"What the textbook encoder's checkpoints are read on; its roles are those above the baselines."

SWEEP: Final = "every head ablated, over as many plain passes"
READ: Final = ("plain pass", "our pass", "three probes", "all probes and shapes", "the same in bf16")
TIMED: Final = (*READ, SWEEP)
PARTS: Final = ("parity", *SHAPES, "training", "textbook")
MISSING: Final = "not measured"


def main() -> None:
    """Measure part after part until the time is up; exit with 1 where numbers differ or a part is missing.

    Where there is no such device, or no minilm, it is 2. The page is written where the record is the committed one and
    the device a GPU.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="cuda", help="cuda; mps or cpu to try the benchmark (default cuda)")
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"in all (default {SECONDS})")
    parser.add_argument("--sentences", type=int, default=1000, help="sentences to read (default 1000)")
    parser.add_argument("--record", type=Path, default=RECORD, help=f"the record to write (default {RECORD})")
    options = parser.parse_args()
    ends = time.monotonic() + options.seconds
    with exits_with_2():
        device, model = find_device(options.device), load_model("minilm")
    corpus, texts = sentences(options.sentences)
    record = new_record("make gpu") | {"device": device_name(device), "torch": torch.__version__}
    record |= {"corpus": corpus, "sentences": len(texts)}
    parts: Sequence[Callable[[], dict[str, Any]]] = (
        lambda: parity(model, texts[:PARITY_TEXTS], device),
        *(partial(cost, shape, texts, device) for shape in SHAPES),
        lambda: training_speed(device),
        lambda: textbook(device, ends - time.monotonic()),
    )
    for name, part in zip(PARTS, parts, strict=True):
        if time.monotonic() > ends:
            print(f"{name}: not measured, the time is up", flush=True)
            continue
        try:
            record[name] = part()
        except Exception as error:  # what was measured before must not be lost
            traceback.print_exception(error)
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    measured = goal("parts that were measured", sum(name in record for name in PARTS), above=len(PARTS) - 1)
    kept = options.record == RECORD and device.type == "cuda"
    end(record, RECORD, PAGES, blocks(record), [*goals(record), measured], kept=kept)


def goals(record: Mapping[str, Any]) -> list[JudgedStatement]:
    """Return the goals of a record: on a device numbers are those of the CPU."""
    apart = record.get("parity", {})
    return [goal(f"{name}, largest difference from the CPU", apart.get(name), below=CLOSE) for name in COMPARED]


def device_name(device: torch.device) -> str:
    """Return what a device calls itself."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def parity(here: Model, texts: Sequence[Document], device: torch.device) -> dict[str, Any]:
    """Return how far maps, scores, ablations and gates of a model on a device are from those on the CPU: COMPARED."""
    there = replace(here, module=deepcopy(here.module).to(device))
    apart: dict[str, Any] = {f"maps, {maps}": maps_apart(here, there, texts, maps) for maps in MAPS}
    one, other = scored(here, texts), scored(there, texts)
    for name in one:
        apart[name] = float(np.abs(one[name] - other[name]).max())
    sets = [single.heads for single in single_heads(here.layers, here.heads)]
    effects = [measure(embedding(model, texts), sets) for model in (here, there)]
    apart["ablation, cosine"] = float((effects[0] - effects[1]).abs().max())
    gates = [gated(model, texts[:GATED_TEXTS]) for model in (here, there)]
    apart["gates after 20 steps"] = float(np.abs(gates[0] - gates[1]).max())
    return apart


def maps_apart(one: Model, other: Model, texts: Sequence[Document], maps: str) -> float:
    """Return the largest difference of the word-level maps of two models, of norms relative to the largest norm."""
    aligned = Aligned.of(one, MemoryTexts(texts))
    apart = 0.0
    for chosen in aligned.batches(Settings().batch_pieces):
        batch = collate([aligned.pieces[i] for i in chosen], padding=one.padding)
        seen: list[list[torch.Tensor]] = []
        for model in (one, other):
            layers: list[torch.Tensor] = []
            stream_maps(model, batch, partial(_keep, layers), maps=maps)
            seen.append(layers)
        unit = max(float(layer.max()) for layer in seen[0]) if maps == "norms" else 1.0
        apart = max(apart, *(float((a - b).abs().max()) / unit for a, b in zip(*seen, strict=True)))
    return apart


def _keep(layers: list[torch.Tensor], _: int, maps: torch.Tensor) -> None:
    layers.append(maps.cpu())


def scored(model: Model, texts: Sequence[Document]) -> dict[str, np.ndarray]:
    """Return all sums that scoring leaves of some texts, as means: hits, mass, shapes and attention on relations."""
    probes = [get_probe(name) for name in of_sentences()]
    corpus = MemoryTexts(texts)
    shapes, relations = Shapes(model, corpus.ids()), RelationAttention(model.layers, model.heads, probes)
    heads = score_corpus(model, corpus, probes, {}, Settings(), observers=[shapes, relations]).heads
    by_name = {probe.name: probe for probe in probes}
    sums = heads.pooled(lambda question: by_name[question[0]].pool(question[2])).values()
    return {
        "hits": np.stack([one.hits.sum(0) / one.n.sum() for one in sums]),
        "mass": np.stack([one.mass.sum(0) / one.n.sum() for one in sums]),
        "shapes": shapes.sums.sum(0) / np.maximum(shapes.n.sum(0), 1)[:, None],
        "relations": relations.between / relations.words,
    }


def embedding(model: Model, texts: Sequence[Document]) -> Embedding:
    """Return the sentence embeddings of a model as a behaviour."""
    return sentence_embeddings(model, Aligned.of(model, MemoryTexts(texts)))


def gated(model: Model, texts: Sequence[Document]) -> np.ndarray:
    """Return the gates of all heads after a few steps."""
    settings = GateSettings(steps=20)
    learned = gate_heads(embedding(model, texts), (model.layers, model.heads), 0.01, settings).learned
    found: np.ndarray = learned.gates.detach().cpu().numpy()
    return found


def cost(shape: str, texts: Sequence[Document], device: torch.device) -> dict[str, Any]:
    """Return seconds of reading with a model on a device, medians of three rounds, and those of ablating every head.

    Of the sweep it is the ratio to as many plain passes, on every tenth text.
    """
    theirs = plain_model(shape)
    ours = opened(theirs)
    ours = replace(ours, module=ours.module.to(device))
    run, ids = plain_pass(theirs.to(device)), plain_texts(texts)
    corpus, names = MemoryTexts(texts), of_sentences()
    rough = replace(ours, precision="bf16")
    works = (
        lambda _: run(ids),
        lambda _: forward(ours, texts),
        lambda _: score(ours, corpus),
        lambda _: score(ours, corpus, names, shapes=True),
        lambda _: score(rough, corpus, names, shapes=True),
    )
    work: dict[str, Callable[[int], object]] = dict(zip(READ, works, strict=True))
    seconds = take_turns(work, range(3), warm=0)
    medians = {one: round(statistics.median(times), 4) for one, times in seconds.items()}
    few = sorted(texts, key=len)[::10]
    sets = [single.heads for single in single_heads(ours.layers, ours.heads)]
    sweep = timed(lambda: measure(embedding(ours, few), sets))
    plain = timed(run, plain_texts(few))
    return {**medians, SWEEP: round(sweep / plain / len(sets), 3)}


def opened(theirs: Any) -> Model:
    """Return a model of `transformers`, with minilm's tokenizer, as headscope reads it from its folder."""
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        tokenizer().save_pretrained(folder)
        return load_model(folder)


def training_speed(device: torch.device) -> dict[str, Any]:
    """Return the tokens a second of our training of an encoder of BERT-base's shape, ROWS rows of LENGTH pieces."""
    encoder = initialised(TRAINED, 0).to(device)
    seconds = train_ours(encoder, random_batches(TRAINED, ROWS, 12, seed=0), seed=0)[2:]
    return {"tokens a second": round(ROWS * LENGTH / statistics.median(seconds))}


def textbook(device: torch.device, seconds: float) -> dict[str, Any]:
    """Train the encoder of Vaswani et al. (2017: 6 layers, 8 heads, d_model 512) on prose, and read its checkpoints.

    A few steps say how many tokens a third of the time is good for: with texts a step takes longer, and reading takes
    the rest. Returned are tokens and seconds, and the onsets of its roles in steps. Raises CalledProcessError where the
    run fails, TimeoutExpired where it takes longer.
    """
    began = time.monotonic()
    encoder = initialised(TEXTBOOK, 0).to(device)
    steps = train_ours(encoder, random_batches(TEXTBOOK, ROWS, 6, seed=0), seed=0)[2:]
    tokens = int(seconds / 3 / statistics.median(steps) * ROWS * LENGTH)
    shape = f"layers={TEXTBOOK.layers}, heads={TEXTBOOK.heads}, model={TEXTBOOK.model}"
    changes = [f"train.encoder={{{shape}, dropout=0.0, attention_dropout=0.0}}", f"train.tokens={tokens}", *FEW]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "headscope", "run", "prose", "--out", folder]
        for one in (*changes, f"train.rows={ROWS}"):
            command += ["--set", one]
        subprocess.run(command, check=True, timeout=seconds - (time.monotonic() - began))
        onsets = Run.open(Path(folder) / "prose").tables["biography_onsets"].query("role")
    told = onsets[["probe", "variant", "label", "onset"]].to_dict("records")
    return {"tokens": tokens, "seconds": round(time.monotonic() - began), "onsets": told}


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page says of a record, by the names of the marks; of what was not measured it says so."""
    where = "No GPU was at hand."
    if "device" in record:
        read = f"{record['sentences']:,} sentences of {record['corpus']}"
        where = f"On one {record['device']} with {machine(record)}, {read}."
    rows = [
        f"| {shape} | {' | '.join(str(record.get(shape, {}).get(name, MISSING)) for name in TIMED)} |"
        for shape in SHAPES
    ]
    speed = record.get("training", {}).get("tokens a second")
    of_training = MISSING if speed is None else f"{speed:,} tokens a second"
    return {
        "gpu cost": paragraphs(
            [where],
            goal_table(goals(record)),
            [f"| seconds | {' | '.join(TIMED)} |", f"| --- |{' ---: |' * len(TIMED)}", *rows],
            [f"Training an encoder of BERT-base's shape: {of_training}."],
        )
    }


if __name__ == "__main__":
    main()
