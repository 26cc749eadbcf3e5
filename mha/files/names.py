"""The files of a model's folder by their names, and what to do where its weights are no safetensors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mha.messages import OneLineError

CONFIG = "config.json"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"

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
    """Return the file of a folder's weights, or the index of their shards; raises WeightsError where there is none."""
    for path in (folder / WEIGHTS, folder / INDEX):
        if path.is_file():
            return path
    raise WeightsError(f"{folder / WEIGHTS} does not exist{_instead(folder)}")


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
