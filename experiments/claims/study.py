"""Claims at work: every one by name, its config, its experiment and record, and the page of all."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import ValidationError

from experiments.claims import averaging, compute, emergence, heads, loop, mixing, recurrence, scaling
from experiments.config.file import find_config, read_toml, validated
from experiments.config.section import ConfigError
from experiments.interventions import induction, patterns, subnetworks, syntax
from experiments.multilingual import trees
from experiments.record.job import Job, delete_parts
from experiments.record.provenance import Start, machine
from experiments.statements.claim import Claim, ClaimError, ClaimSection, Work
from mha.messages import nearest_name
from reports.progress import Progress, silent
from reports.run.lock import locked
from reports.run.replacing import replace_text
from reports.statements.claim_page import write_claims_page
from reports.statements.claim_record import RECORD, claim_frames

CLAIMS: Mapping[str, Claim] = {
    module.CLAIM.name: module.CLAIM
    for module in (
        *(heads, compute, loop, scaling, emergence, averaging, mixing, recurrence),
        *(syntax, patterns, subnetworks),
        *(induction, trees),
    )
}
"In the order of the page."


@dataclass(frozen=True)
class Loaded:
    """A claim and the config of its experiment."""

    claim: Claim
    section: ClaimSection
    file: str
    "Name of the config file."
    changes: tuple[str, ...] = ()
    "What was changed for this run, as of --set."


def load_claim(path: Path, changes: Sequence[str] = ()) -> Loaded:
    """Read the config of a claim; `changes` are "key=value" with dots between tables and TOML values.

    Raises ConfigError with one line that names the file, the key, and what was expected.
    """
    path = find_config(path)
    found = read_toml(path, changes)
    if "claim" not in found:
        known = ", ".join(CLAIMS)
        raise ConfigError(f"{path}: 'claim' is missing, so this is no config of a claim; the claims are {known}")
    name = str(found["claim"])
    if name not in CLAIMS:
        raise ConfigError(f"{path}: unknown claim {name!r}; {nearest_name(name, CLAIMS)}")
    claim = CLAIMS[name]
    return Loaded(claim, validated(claim.section, found, path), path.name, tuple(changes))


def run_claims(claims: Sequence[Loaded], out: Path, *, resume: bool = False, progress: Progress = silent) -> Path:
    """Do the experiments one after the other and write the page of all claims in `out`; return its path.

    The page is made anew after each, so that what is done can be read. With `resume` a claim whose record is there and
    has the same config is left as it is, and one that was cut off goes on with the parts and trainings that are done.
    """
    folders = [loaded.section.folder for loaded in claims]
    for folder in folders:
        if folders.count(folder) > 1:
            raise ClaimError(f"two of the configs have the folder {folder!r}: give one of them another name")
    page = out / "index.html"
    for loaded in claims:
        run_claim(loaded, out, resume=resume, progress=progress)
        page = write_claims_page(out, progress)
    return page


def run_claim(loaded: Loaded, out: Path, *, resume: bool = False, progress: Progress = silent) -> Path:
    """Do the experiment of one claim and write `out`/<name>/claim.json, whole or not at all; return its path."""
    section = loaded.section
    path = out / section.folder / RECORD
    config = tomli_w.dumps(section.model_dump(mode="json", exclude_none=True))
    if resume and _is_done(path, loaded):
        return path
    started = Start()
    with locked(path.parent):
        job = Job.open(path.parent, {"config": config}, resume=resume, refuse=False)
        found = loaded.claim.measure(section, Work(out, section.folder, job, progress, resume))
        record = _about(loaded, config) | found.recorded() | machine(started) | job.entry()
        record["wall_seconds"] = max(record["wall_seconds"], started.seconds())
        _write(record, path)
        delete_parts(path.parent)
    return path


def _is_done(path: Path, loaded: Loaded) -> bool:
    """Return whether the record of this claim lies there."""
    if not path.is_file():
        return False
    before = tomllib.loads(json.loads(path.read_text(encoding="utf-8")).get("config", ""))
    try:
        return loaded.claim.section.model_validate(before) == loaded.section
    except ValidationError:
        return False


def _about(loaded: Loaded, config: str) -> dict[str, Any]:
    claim = loaded.claim
    said = {name: getattr(claim, name) for name in ("title", "sentence", "source", "revised")}
    listed = {name: list(getattr(claim, name)) for name in ("about", "limits")}
    made = {"config_file": loaded.file, "changes": list(loaded.changes), "config": config}
    return {"claim": claim.name, "name": loaded.section.folder, **said, **listed, **made}


def _write(record: dict[str, Any], path: Path) -> None:
    """Write a record under another name, then give it its own; ValueError says which row of it is wrong."""
    claim_frames(record, str(path))
    replace_text(path, json.dumps(record, indent=1, allow_nan=False) + "\n")
