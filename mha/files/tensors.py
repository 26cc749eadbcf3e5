"""The tensors of a model's folder, read from safetensors, and what stands before their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from mha.files.names import WEIGHTS, WeightsError, read_json, refuse_pointer, weights_path


def tensor_files(folder: Path) -> dict[str, Path]:
    """Return the file in which each tensor of a folder lies; only headers are read.

    Raises WeightsError for a file or shard that is missing, broken, or a pointer of git-lfs.
    """
    path = weights_path(folder)
    if path.name == WEIGHTS:
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
