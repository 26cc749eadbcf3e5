"""Models that come with packages: their files, checked by sha256, and converted once where of another format."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha.cache import cache_folder
from mha.messages import OneLineError

NOTE = "converted.json"
"File of a converted model: what it was made of, and the sha256 of every file that was made."


class ModelError(OneLineError):
    """A model that cannot be found or loaded."""


@dataclass(frozen=True)
class Package:
    """The package that a named model comes with."""

    name: str
    "Of the model."
    module: str
    distribution: str
    install: str
    "The command that brings it."
    folder: str
    "Of the model's files, below that of the module."
    sha256: Mapping[str, str]
    "Of each of the files that numbers depend on."

    def path(self) -> Path:
        """Return the folder of its files, none of whose code is run; raises ModelError where it is not installed."""
        spec = importlib.util.find_spec(self.module)
        if spec is None or spec.origin is None:
            raise ModelError(f"the model {self.name!r} comes with the package {self.distribution}: {self.install}")
        return Path(spec.origin).parent / self.folder

    def checked(self) -> Path:
        """Return the folder of its files; raises ModelError where one is missing or another than the pinned one."""
        folder = self.path()
        for name, expected in self.sha256.items():
            if not (folder / name).is_file():
                raise ModelError(f"{folder / name}: no such file in the package {self.distribution}: {self.install}")
            if (found := sha256([folder / name])) != expected:
                raise ModelError(f"{folder / name} is not that of {self.name} (sha256 {found}, expected {expected})")
        return folder


def converted(package: Package, convert: Callable[[Path, Path], None], version: int = 1) -> Path:
    """Return the folder of a model of safetensors that was made of a package's files, and make it if it is not there.

    `convert` is given the checked folder of the package and the folder to write to; another `version` is made anew.
    Raises ModelError where the package is missing or has other files, or where the cache cannot be written.
    """
    return made(f"{package.name}-{version}", package.sha256, lambda folder: convert(package.checked(), folder))


def made(name: str, of: Mapping[str, str], make: Callable[[Path], None]) -> Path:
    """Return the folder `name` of the cache, which `make` fills if it is not there, of files with the sha256 `of`.

    It lies there whole or not at all. A folder whose files are not those that were written is made anew. Raises
    ModelError where the cache cannot be written.
    """
    folder = cache_folder() / "models" / name
    if _is_whole(folder, of):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}.") as temporary:
            new = Path(temporary) / name
            new.mkdir()
            make(new)
            files = {path.name: sha256([path]) for path in sorted(new.iterdir())}
            note = {"of": dict(of), "files": files}
            (new / NOTE).write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
            if folder.exists():
                shutil.rmtree(folder)
            os.replace(new, folder)
    except OSError as error:
        raise ModelError(
            f"model {name!r} cannot be written into {folder} ({error.strerror or error}); set HEADSCOPE_CACHE to a "
            "folder that can be written"
        ) from error
    return folder


def _is_whole(folder: Path, of: Mapping[str, str]) -> bool:
    """Return whether a converted model was made of these files, and every file is as it was written."""
    try:
        note: Any = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        return note["of"] == dict(of) and all(
            sha256([folder / name]) == expected for name, expected in note["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def sha256(files: Iterable[Path]) -> str:
    """Return the sha256 of files, one after the other."""
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while chunk := file.read(1 << 22):
                digest.update(chunk)
    return digest.hexdigest()
