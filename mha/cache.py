"""Where headscope keeps what it has made once: parsed corpora, tokenizers, converted models, what checks found."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mha.messages import naming


def cache_folder() -> Path:
    """Return the folder of what can be made again: HEADSCOPE_CACHE, or a folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("HEADSCOPE_CACHE") or Path(base) / "headscope").expanduser()


def kept(kind: str, key: str, make: Callable[[], Any]) -> Any:
    """Return what `make` gives, as JSON holds it: made once a key, and kept in the cache where that can be written.

    A broken file is made anew.
    """
    path = cache_folder() / kind / f"{key}.json"
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        pass
    text = json.dumps(make(), ensure_ascii=False)
    with suppress(OSError), replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return json.loads(text)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a hidden file beside `path`, which takes its place when the block ends without an error.

    So nobody ever reads half a file. Where the disk is full, the error names `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        with naming(path):
            yield Path(name)
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)
