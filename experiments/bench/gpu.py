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
    bert,
    forward,
    of_sentences,
    plain_pass,
    plain_texts,
    score,
    sentences,
    take_turns,
    timed,
    tokenizer,
)
from experiments.bench.records import exits_with_2, machine, new_record, paragraphs, with_blocks
from experiments.bench.train import LENGTH, initialised, random_batches, train_ours
from mha import EncoderConfig, Model, collate, load_model
from mha.causal.gates import GateSettings
from mha.device import find_device
from mha.models.folders import keep
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

RECORD: Final = Path("docs") / "gpu-cost.json"
PAGES: Final = (Path("docs") / "cost.md",)
SECONDS: Final = 420
"In all; training takes what is left."

PARITY_TEXTS, GATED_TEXTS = 200, 20
CLOSE: Final = 1e-5
"How far attention on a device may be from that on the CPU."

MINILM: Final = "minilm"
SHAPES: Final = (MINILM, "BERT-base", "ModernBERT-base")
TRAINED: Final = EncoderConfig(vocab=30_522, layers=12, heads=12, model=768, feed_forward=3072, positions=LENGTH)
TEXTBOOK: Final = EncoderConfig(vocab=8192, layers=6, heads=8, model=512, feed_forward=2048, positions=LENGTH)
SHAPE: Final = "train.encoder={layers=6, heads=8, model=512, dropout=0.0, attention_dropout=0.0}"
ROWS: Final = 64
"A step of training."

SWEEP: Final = "every head ablated, over as many plain passes"
TIMED: Final = ("plain pass", "our pass", "three probes", "all probes and shapes", "the same in bf16", SWEEP)
MISSING: Final = "not measured"


def main() -> None:
    """Measure part after part until the time is up; exit with 1 where a part failed, 2 where there is no such device.

    The page is written where the record is the committed one and the device a GPU.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="cuda", help="one of cuda, mps and cpu, to try it (default cuda)")
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
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "parity": lambda: parity(model, texts[:PARITY_TEXTS], device),
        **{shape: partial(cost, shape, texts, device) for shape in SHAPES},
        "training": partial(training_speed, device),
        "textbook": lambda: textbook(device, ends - time.monotonic(), options.record.parent / "textbook"),
    }
    failed = False
    for name, part in parts.items():
        if time.monotonic() > ends:
            print(f"{name}: not measured, the time is up", flush=True)
            continue
        try:
            record[name] = part()
        except Exception as error:  # what was measured before must not be lost
            failed = True
            traceback.print_exception(error)
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(blocks(record)["gpu cost"])
    if options.record == RECORD and device.type == "cuda":
        for page in PAGES:
            page.write_text(with_blocks(page.read_text("utf-8"), blocks(record)), encoding="utf-8")
    sys.exit(failed)


def device_name(device: torch.device) -> str:
    """Return what a device calls itself."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def parity(here: Model, texts: Sequence[Document], device: torch.device) -> dict[str, Any]:
    """Return how far maps, scores, ablations and gates of a model on a device are from those on the CPU."""
    there = replace(here, module=deepcopy(here.module).to(device))
    apart: dict[str, Any] = {f"maps, {maps}": maps_apart(here, there, texts, maps) for maps in MAPS}
    one, other = scored(here, texts), scored(there, texts)
    for name in one:
        apart[name] = float(np.abs(one[name] - other[name]).max())
    apart["share of other hits"] = float((np.abs(one["hits"] - other["hits"]) > CLOSE).mean())
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
    sums = [one for _, one in heads.pooled(lambda question: by_name[question[0]].pool(question[2]))]
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
    ours = load_model("minilm") if shape == MINILM else load_model(str(keep(theirs, tokenizer())))
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
    work: dict[str, Callable[[int], object]] = dict(zip(TIMED, works, strict=False))
    seconds = take_turns(work, range(3), warm=0)
    medians = {one: round(statistics.median(times), 4) for one, times in seconds.items()}
    few = sorted(texts, key=len)[::10]
    sets = [single.heads for single in single_heads(ours.layers, ours.heads)]
    sweep = timed(lambda: measure(embedding(ours, few), sets))
    plain = timed(run, plain_texts(few))
    return {**medians, SWEEP: round(sweep / plain / len(sets), 3)}


def plain_model(shape: str) -> Any:
    """Return a model of `transformers`: minilm, or random weights of a shape, of minilm's vocabulary."""
    if shape == MINILM:
        return bert("sdpa")
    from transformers import BertConfig, BertModel, ModernBertConfig, ModernBertModel

    torch.manual_seed(0)
    if shape == "BERT-base":
        return BertModel(BertConfig()).train(False)
    special: dict[str, Any] = {
        "pad_token_id": 0,
        "cls_token_id": 101,
        "bos_token_id": 101,
        "sep_token_id": 102,
        "eos_token_id": 102,
    }
    return ModernBertModel(ModernBertConfig(vocab_size=30_522, **special)).train(False)


def training_speed(device: torch.device) -> dict[str, Any]:
    """Return the tokens a second of our training of an encoder of BERT-base's shape, ROWS rows of LENGTH pieces."""
    encoder = initialised(TRAINED, 0).to(device)
    seconds = train_ours(encoder, random_batches(TRAINED, ROWS, 12, seed=0), seed=0)[2:]
    return {"tokens a second": round(ROWS * LENGTH / statistics.median(seconds))}


def textbook(device: torch.device, seconds: float, folder: Path) -> dict[str, Any]:
    """Train the encoder of Vaswani et al. (2017: 6 layers, 8 heads, d_model 512) on prose, and read its checkpoints.

    A few steps say how many tokens half of the time is good for; reading takes the rest. Returned are tokens and
    seconds, and the onsets of its roles in steps. Raises CalledProcessError where the run fails.
    """
    encoder = initialised(TEXTBOOK, 0).to(device)
    steps = train_ours(encoder, random_batches(TEXTBOOK, ROWS, 6, seed=0), seed=0)[2:]
    tokens = int(seconds / 2 / statistics.median(steps) * ROWS * LENGTH)
    changes = (SHAPE, f"train.tokens={tokens}", f"train.rows={ROWS}", "page.examples=0")
    command = [sys.executable, "-m", "headscope", "run", "prose", "--out", str(folder), "--overwrite"]
    start = time.monotonic()
    subprocess.run([*command, *(part for one in changes for part in ("--set", one))], check=True)
    onsets = Run.open(folder / "prose").tables["biography_onsets"].query("role")
    told = onsets[["probe", "variant", "label", "onset"]].to_dict("records")
    return {"tokens": tokens, "seconds": round(time.monotonic() - start), "onsets": told}


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page says of a record, by the names of the marks; of what was not measured it says so."""
    where = "No GPU was at hand."
    if "device" in record:
        read = f"{record['sentences']:,} sentences of {record['corpus']}"
        where = f"On one {record['device']} with {machine(record)}, {read}."
    apart = record.get("parity", {})
    parity_rows = [f"| {name} | {apart[name]:.1e} |" for name in apart] or [f"| | {MISSING} |"]
    rows = [
        f"| {shape} | {' | '.join(str(record.get(shape, {}).get(name, MISSING)) for name in TIMED)} |"
        for shape in SHAPES
    ]
    speed = record.get("training", {}).get("tokens a second")
    of_training = MISSING if speed is None else f"{speed:,} tokens a second"
    return {
        "gpu cost": paragraphs(
            [where],
            ["| difference from the CPU, at most | |", "| --- | ---: |", *parity_rows],
            [f"| seconds | {' | '.join(TIMED)} |", f"| --- |{' ---: |' * len(TIMED)}", *rows],
            [f"Training an encoder of BERT-base's shape: {of_training}."],
        )
    }


if __name__ == "__main__":
    main()
