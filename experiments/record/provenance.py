"""What a run says about itself: versions, commit, machine, model and corpora."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from experiments.config.config import Config, flat_keys, resolved
from mha import Encoder, Model
from mha.device import name_of_precision
from mha.models.packages import sha256
from probes import Corpus, get_probe
from probes.corpora.corpus import data_folder
from probes.corpora.named import NAMED_RATINGS
from probes.evidence.results import SPLITS
from probes.pairs.corpora import NAMED_PAIRS
from probes.words.rare import LIST
from reports.run.record import CorpusFacts, ListFacts, ModelFacts, RunRecord

PACKAGES = ("torch", "transformers", "tokenizers", "datasets", "scikit-learn", "numpy", "scipy", "pandas", "matplotlib")

PACKAGES_OF_OURS = ("experiments", "mha", "probes", "reports")

STATUS = Path("/proc/self/status")
"What Linux says of this process."


@dataclass(frozen=True)
class Start:
    """When work began: the time of day, and a count of seconds that goes on evenly where the clock is changed."""

    at: float = field(default_factory=time.time)
    count: float = field(default_factory=time.monotonic)

    def seconds(self) -> float:
        """Return the seconds since then."""
        return round(time.monotonic() - self.count, 1)


def machine_record(config: Config, model: Model, corpora: Sequence[Corpus], started: Start) -> RunRecord:
    """Return the parts of the record that do not depend on what was scored."""
    return RunRecord(
        name=config.name,
        **machine(started),
        wall_seconds=started.seconds(),
        seed=config.seed,
        device=model.device.type,
        precision={
            of: name_of_precision(precision, model.device)
            for of, precision in (("model", model.precision), ("controls", config.controls.precision))
        },
        model=ModelFacts(
            name=model.name,
            source=model.source,
            architecture=model.architecture,
            layers=model.layers,
            heads=model.heads,
            masked_lm=_predicts_masked(model),
            layers_of_weights=model.layers_of_weights,
            max_pieces=model.max_pieces,
            sha256=model.sha256,
            tokenizer_sha256=model.tokenizer_sha256,
            settings_sha256=model.settings_sha256,
            revision=model.revision,
        ),
        corpora={
            split: CorpusFacts(corpus.name, corpus.fingerprint, **corpus.size())
            for split, corpus in zip(SPLITS, corpora, strict=True)
        },
        frequencies=_frequencies(config),
        files=own_files(config),
    )


def own_files(config: Config) -> dict[str, str] | None:
    """Return the sha256 of what a config names beside its corpora: a file, all files of a folder, a set by its name.

    None where it names none. Files of its corpora and of its model are left out.
    """
    sets, found = {**NAMED_PAIRS, **NAMED_RATINGS}, dict[str, str]()
    values = flat_keys({table: keys for table, keys in resolved(config).items() if table not in ("corpus", "model")})
    for name in (str(one) for _, value in values for one in (value if isinstance(value, list) else [value])):
        path = data_folder() / sets[name].path if name in sets else Path(name)
        if path.is_absolute() and path.exists():
            gold = [path.with_suffix(".gold")] if path.suffix == ".text" else []  # of minimal pairs
            files = path.rglob("*") if path.is_dir() else (path, *gold)
            found[name] = sha256(sorted(file for file in files if file.is_file()))
    return found or None


def _predicts_masked(model: Model) -> bool | None:
    """Return whether an encoder of ours has a masked-LM head; None where its folder alone says so."""
    module = model.module
    return module.predicts_masked if isinstance(module, Encoder) and not module.untied_head else None


def finished(record: RunRecord, started: Start) -> RunRecord:
    """Return the record of a run that began with `record` and ends now."""
    return replace(record, wall_seconds=started.seconds(), peak_memory_mb=peak_memory_mb())


def _frequencies(config: Config) -> ListFacts | None:
    """Return the list of word frequencies, where a probe of the run has read one."""
    path = data_folder() / LIST
    if not any(get_probe(name).needs == "frequencies" for name in config.probes.names) or not path.is_file():
        return None
    return ListFacts(LIST, sha256([path]))


def machine(started: Start) -> dict[str, Any]:
    """Return which headscope ran with which packages, on what machine and when."""
    return {
        **installed(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started.at)),
        "peak_memory_mb": peak_memory_mb(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
    }


def installed() -> dict[str, Any]:
    """Return which headscope there is, of which commit, with which packages."""
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"headscope": version(), "git_commit": git_commit(), "versions": versions}


def typed() -> str:
    """Return the command line as a shell takes it: the words that were typed, with headscope in front of them."""
    return shlex.join(["headscope", *sys.argv[1:]])


def version() -> str:
    """Return the version of headscope."""
    return importlib.metadata.version("headscope")


def peak_memory_mb() -> int | None:
    """Return the most memory that this process has held, in MB of 10**6 bytes; None where the system does not say.

    On Linux that is VmHWM: what getrusage says of a process begins with the peak of the one that started it.
    """
    if STATUS.is_file() and (found := re.search(rb"^VmHWM:\s+(\d+) kB", STATUS.read_bytes(), re.MULTILINE)):
        return round(int(found[1]) * 1024 / 1e6)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6)


def git_commit() -> str | None:
    """Return the commit of headscope's own checkout, with "+" where it has changes or further code.

    None where headscope is installed.
    """
    try:
        _git("ls-files", "--error-unmatch", Path(__file__).name)  # else the repository is somebody else's
        commit = _git("rev-parse", "HEAD").decode().strip()
        return commit + "+" * bool(_git("status", "--porcelain", "--untracked-files=no") or _untracked_code())
    except (OSError, subprocess.CalledProcessError):
        return None


def uncommitted_changes() -> str | None:
    """Return a hash of what headscope's own checkout has beside its commit; None where that is nothing."""
    if not (commit := git_commit()) or not commit.endswith("+"):
        return None
    found = hashlib.sha256(_git("diff", "HEAD"))
    top = Path(os.fsdecode(_git("rev-parse", "--show-toplevel")).rstrip("\n"))
    for name in _untracked_code():
        found.update(name + b"\0" + (top / os.fsdecode(name)).read_bytes())
    return found.hexdigest()


def _untracked_code() -> list[bytes]:
    """Return the paths of modules of our packages that git neither tracks nor ignores."""
    ours = [f":/{package}/*.py" for package in PACKAGES_OF_OURS]
    return [*filter(None, _git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", *ours).split(b"\0"))]


def device_name(device: str | None) -> str | None:
    """Return what the device of a run calls itself where machines have several kinds of it: a CUDA GPU."""
    return torch.cuda.get_device_name() if device == "cuda" else None


def processor_name(info: Path = Path("/proc/cpuinfo")) -> str:
    """Return what the processor calls itself, or its architecture where the system does not say."""
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _git(*words: str) -> bytes:
    """Return what git prints, in bytes, for sources may be in any encoding."""
    folder = str(Path(__file__).parent)
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True).stdout
