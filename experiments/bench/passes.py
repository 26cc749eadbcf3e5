"""What a pass costs: the plain pass of `transformers`, ours, and ours with every head scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import torch

from mha import Model, align, collate, plan
from mha.models.folders import NAMED
from mha.parallel import in_order
from probes import Corpus, Document, Probe, Settings, get_probe, learn_baselines, probe_names, score_corpus
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import Texts, corpus_path
from probes.maps.shapes import Shapes
from probes.scoring.score import Outcome

Given = TypeVar("Given")

PROBES: Final = ("position", "dependency", "agreement")
EWT: Final = "EWT dev"
MINILM, BASE = "minilm", "BERT-base"
BATCH: Final = 32
"Texts that the plain pass reads at a time."


def plain_texts(texts: Sequence[Document]) -> list[list[int]]:
    """Return the pieces of texts as the fast tokenizer of `transformers` cuts them, sorted by length."""
    return sorted(tokenizer()([list(text.words) for text in texts], is_split_into_words=True)["input_ids"], key=len)


def read_plainly() -> Callable[[Sequence[Document]], None]:
    """Return what cuts texts and runs the weights of minilm in `transformers` on them."""
    run = plain_pass()
    return lambda texts: run(plain_texts(texts))


def plain_pass(model: Any = None) -> Callable[[Sequence[list[int]]], None]:
    """Return what runs a model of `transformers`, minilm's weights by default, on sorted texts, in batches of 32."""
    reader = bert("sdpa") if model is None else model

    @torch.inference_mode()
    def run(ids: Sequence[list[int]]) -> None:
        for start in range(0, len(ids), BATCH):
            padded = tokenizer().pad({"input_ids": ids[start : start + BATCH]}, return_tensors="pt")
            reader(**padded.to(reader.device))

    return run


def bert(attention: str) -> Any:
    """Return minilm in `transformers`, with that implementation of attention."""
    from transformers import BertModel

    model: Any = BertModel.from_pretrained(NAMED["minilm"](), attn_implementation=attention)
    return model.train(False)


def plain_model(shape: str) -> Any:
    """Return a model of `transformers`: minilm, or random weights of a shape, of minilm's vocabulary."""
    if shape == MINILM:
        return bert("sdpa")
    from transformers import BertConfig, BertModel, ModernBertConfig, ModernBertModel

    torch.manual_seed(0)
    if shape == BASE:
        return BertModel(BertConfig()).train(False)
    special: dict[str, Any] = {
        "pad_token_id": 0,
        "cls_token_id": 101,
        "bos_token_id": 101,
        "sep_token_id": 102,
        "eos_token_id": 102,
    }
    return ModernBertModel(ModernBertConfig(vocab_size=30_522, **special)).train(False)


@cache
def tokenizer() -> Any:
    """Return the tokenizer of minilm in `transformers`."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(NAMED["minilm"]())


def forward(model: Model, texts: Sequence[Document]) -> None:
    """Run the model alone, on the batches that scoring takes and side by side as there."""
    pieces = align(model.tokenizer, [text.words for text in texts])

    @torch.inference_mode()
    def run(chosen: list[int]) -> None:
        batch = collate([pieces[i] for i in chosen], padding=model.padding).to(model.device)
        model.run(batch.ids, batch.mask)

    for _ in in_order(run, plan(pieces, [text.id for text in texts], Settings().batch_pieces)):
        pass


def of_sentences() -> list[str]:
    """Return the names of all probes that read sentences, as treebanks are read."""
    return [name for name in probe_names() if get_probe(name).scope == "sentence"]


def score(model: Model, texts: Texts, names: Sequence[str] = PROBES, *, shapes: bool = False) -> Outcome:
    """Learn the offsets and score every head and the offset baseline on all variants of some untrained probes.

    With `shapes` attention statistics (`Shapes`) are measured in the same pass.
    """
    probes: list[Probe] = [get_probe(name) for name in names]
    baselines = learn_baselines(texts, probes, ["offset"], lexical=False)
    observers = [Shapes(model, texts.ids())] if shapes else []
    return score_corpus(model, texts, probes, baselines, Settings(), observers=observers)


def timed(work: Callable[..., object], *arguments: object) -> float:
    """Return the seconds that a call takes, until a GPU has done its part."""
    start = time.perf_counter()
    work(*arguments)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return round(time.perf_counter() - start, 3)


def take_turns(
    work: Mapping[str, Callable[[Given], object]], rounds: Iterable[Given], *, warm: Given | None = None
) -> dict[str, list[float]]:
    """Return the seconds, by name, that each work takes on what every round gives; on `warm` all are warmed up before.

    They take turns, so that other work on the machine hits all alike.
    """
    if warm is not None:
        for one in work.values():
            one(warm)
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for given in rounds:
        for name, one in work.items():
            seconds[name].append(timed(one, given))
    return seconds


def sentences(count: int) -> tuple[str, Sequence[Document]]:
    """Return the first sentences of EWT dev where it is at hand, else as many of the embedded grammar; and which."""
    try:
        path = corpus_path("ewt-dev")
    except CorpusError:
        corpus, name = Corpus.generated(count, seed=0), "the embedded grammar (EWT is not at hand)"
    else:
        corpus, name = Corpus.read(path, first=count), EWT
    return name, corpus.sentences().take(range(min(count, len(corpus.sentences()))))
