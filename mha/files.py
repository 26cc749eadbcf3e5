"""The files of a model's folder: what they are called, the tensors in them, and what to do where there are none."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from mha.messages import OneLineError

if TYPE_CHECKING:
    from torch import Tensor

CONFIG = "config.json"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
STATE = "state.safetensors"
"Of a training, beside the weights of its last checkpoints."

PICKLE = "pytorch_model*.bin"
OTHERS = {
    "tf_model.h5": "are TensorFlow's, which only transformers 4 converts (from_pretrained(..., from_tf=True))",
    "*.msgpack": "are Flax's, which only transformers 4 converts (from_pretrained(..., from_flax=True))",
    "*.gguf": "are made for llama.cpp; take the model that they were made from",
    **dict.fromkeys(("*.onnx", "openvino_model.*"), "are a graph without layers; take the model that it was made from"),
    "*.ot": "are rust-bert's; take the model that they were made from",
    "*.ckpt.index": "are TensorFlow 1's, which only transformers 4 converts (from_pretrained(..., from_tf=True))",
    **dict.fromkeys(
        ("*.bin", "*.pt", "*.pth", "*.ckpt"),
        "are a pickle, which can run code and is not read; load them where they were made and call save_pretrained",
    ),
}
"Files of weights that are no safetensors -> what they are."

OF_TRAINING = ("optimizer", "scheduler", "scaler", "rng_state", "training_args")
"How files of a training begin that hold no weights of the model."


LFS_POINTER = b"version https://git-lfs"
"How a file begins that git has not fetched."


class WeightsError(OneLineError):
    """Weights or a config that cannot be read exactly, or that no family can represent."""


def refuse_pointer(path: Path) -> None:
    """Raise WeightsError for a file of which git has fetched only where it lies."""
    if path.is_file():
        with path.open("rb") as begun:
            if begun.read(len(LFS_POINTER)) == LFS_POINTER:
                raise WeightsError(f"{path}: a pointer of git-lfs, not the file: run `git lfs pull`")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; raises WeightsError."""
    refuse_pointer(path)
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise WeightsError(f"{path} does not exist") from None
    except (ValueError, RecursionError) as error:
        raise WeightsError(f"{path}: not a JSON file: {error}") from None
    if not isinstance(found, dict):
        raise WeightsError(f"{path}: expected a JSON object, got a {type(found).__name__}")
    return found


def weights_path(folder: Path) -> Path:
    """Return the file of a folder's weights, or the index of their shards; raises WeightsError where there is none.

    It is the one that config.json names as transformers_weights, as in `transformers`.
    """
    named = (read_json(folder / CONFIG) if (folder / CONFIG).is_file() else {}).get("transformers_weights")
    if named and (not isinstance(named, str) or Path(named).name != named):
        raise WeightsError(f"{folder / CONFIG}: transformers_weights is {named!r}, expected a file of this folder")
    for name in [named] if named else [WEIGHTS, INDEX]:
        if (folder / name).is_file():
            return folder / name
    instead = f"; {CONFIG} names it as transformers_weights" if named else _instead(folder)
    raise WeightsError(f"{folder / (named or WEIGHTS)} does not exist{instead}")


def _instead(folder: Path) -> str:
    """Return what a folder has in the place of model.safetensors, and what to do."""
    if (folder / ADAPTER_WEIGHTS).is_file():
        return f"; {ADAPTER_WEIGHTS} is an adapter's, which {ADAPTER} would describe"
    if found := sorted(path.name for path in folder.glob("*.safetensors")):
        parts = [name for name in found if "-of-" in name]
        return f"; {INDEX} is missing beside {parts[0]}" if parts else f"; if it is {found[0]!r}, rename it"
    if found := sorted(path.name for path in folder.glob(PICKLE)):
        return f"; {found[0]} is a pickle, which can run code and is not read. To convert it: {conversion(folder)}"
    for pattern, what in OTHERS.items():
        paths = [path for path in folder.rglob(pattern) if not path.name.startswith(OF_TRAINING)]
        if found := sorted(path.relative_to(folder).as_posix() for path in paths):
            return f"; the weights in {found[0]} {what}"
    return "; fetch the folder again"


def conversion(folder: Path, source: str = "", target: str = "") -> str:
    """Return the command that saves a folder's model as safetensors: in it, or a `source` of the hub in `target`."""
    import transformers

    try:
        named = str(json.loads((folder / CONFIG).read_text("utf-8"))["architectures"][0])
    except (OSError, ValueError, LookupError, TypeError):
        named = ""
    model = named if named and hasattr(transformers, named) else "AutoModel"
    steps = [
        f"t.{kind}.from_pretrained({source or str(folder)!r}).save_pretrained({target or str(folder)!r})"
        for kind in (model, *(["AutoTokenizer"] if source else []))
    ]
    return f'python -c "import transformers as t; {"; ".join(steps)}"'


def tensor_files(folder: Path) -> dict[str, Path]:
    """Return the file in which each tensor of a folder lies; only headers are read.

    Raises WeightsError for a file or shard that is missing, broken, or a pointer of git-lfs.
    """
    path = weights_path(folder)
    if path.suffix != ".json":
        return dict.fromkeys(_names(path), path)
    shards = read_json(path).get("weight_map")
    if not isinstance(shards, dict) or not all(isinstance(file, str) for file in shards.values()):
        raise WeightsError(f"{path}: weight_map is missing or not a table of key and file")
    held = {file: _names(folder / Path(file).name) for file in sorted(set(shards.values()))}
    for key, file in shards.items():
        if key not in held[file]:
            raise WeightsError(f"{path}: {key!r} is not in {file}")
    return {key: folder / Path(file).name for key, file in shards.items()}


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder by their names in the file; raises WeightsError as `tensor_files` does."""
    found: dict[str, Tensor] = {}
    files = tensor_files(folder)
    for path in dict.fromkeys(files.values()):
        found |= {key: tensor for key, tensor in read_file(path).items() if files.get(key) == path}
    return found


def read_file(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file; raises WeightsError as `tensor_files` does."""
    names = _names(path)
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in names}


def _names(path: Path) -> list[str]:
    if not path.is_file():
        raise WeightsError(f"{path} does not exist; fetch the folder again")
    try:
        with safe_open(path, framework="pt") as file:
            return [*file.keys()]
    except SafetensorError as error:
        refuse_pointer(path)
        raise WeightsError(f"{path}: not a whole safetensors file ({error}); fetch it again") from None


def refuse_integers(files: Mapping[str, Path]) -> None:
    """Raise WeightsError for weights that are whole numbers: those of a quantised model, without what they stand for.

    `files` is what `tensor_files` returns.
    """
    for path in dict.fromkeys(files.values()):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118  # it is no dict
                kind = file.get_slice(name).get_dtype()
                if name.endswith(".weight") and kind.startswith(("I", "U", "BOOL")):
                    raise WeightsError(
                        f"{path}: {name!r} holds {kind}, expected floating-point numbers: take the model before it was "
                        "quantised"
                    )


def find_prefix(wanted: Collection[str], names: Iterable[str]) -> list[str]:
    """Return what stands before the wanted names where at least half of them lie: mostly one text, none, or several.

    A wrapper of a model (torch.compile, DataParallel, a class of one's own) gives all names the same beginning.

    >>> find_prefix(["embed.weight", "layer.bias"], ["m.bert.embed.weight", "m.bert.layer.bias", "m.head.bias"])
    ['m.bert.']
    """
    looked, held = set(wanted), Counter[str]()
    for name in names:
        starts = [0, *(at + 1 for at, letter in enumerate(name) if letter == ".")]
        held.update(name[:start] for start in starts if name[start:] in looked)
    most = max(held.values(), default=0)
    return sorted(prefix for prefix, count in held.items() if count == most and 2 * most >= len(looked))


def refuse_several(where: Path, prefixes: list[str]) -> None:
    """Raise WeightsError for weights that hold a model more than once."""
    if len(prefixes) > 1:
        raise WeightsError(
            f"{where}: holds the model {len(prefixes)} times, before whose names stand "
            f"{' and '.join(map(repr, prefixes))}; save one of them alone"
        )


def summary(names: Iterable[str]) -> str:
    """Return the modules that tensors belong to, three of them by name."""
    modules = sorted({name.rpartition(".")[0] or name for name in names})
    return ", ".join(modules[:3]) + (f" and {len(modules) - 3} more" if len(modules) > 3 else "")


def without(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose names begin so, without that beginning."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
