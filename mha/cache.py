"""Where headscope keeps what it has made once: parsed corpora, tokenizers, converted models, what checks found."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any


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
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    return json.loads(text)
