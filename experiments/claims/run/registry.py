"""Every claim by name, and configs of claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.claims import averaging, compute, emergence, heads, loop, mixing, recurrence, scaling
from experiments.claims.claim import Claim, ClaimSection
from experiments.config.file import find_config, read_toml, validated
from experiments.config.section import ConfigError
from experiments.interventions import induction, patterns, subnetworks, syntax
from experiments.multilingual import trees
from mha.messages import nearest_name

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
