"""The config of a run with the tables of all measures, read from TOML."""

from __future__ import annotations

import copyreg
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from experiments.config.config import Config, ConfigError, TrainingConfig, resolved, with_tables
from experiments.config.file import Given, find_config, named, read_toml, resolve_tables, toml_of, validated
from experiments.config.section import LABELS
from experiments.config.sections import GENERATED
from experiments.run.measure import Measure
from experiments.run.measures import measure_types
from probes.causal.labelled_rows import has_labels
from probes.corpora.corpus import NAMED
from probes.plain.text_tables import Entry, is_pair
from probes.registry import registered_by
from probes.words.own import own_probe
from reports.measures.registry import OF_FILE, MeasureError, module_of, use


@cache
def _config_of(kinds: tuple[type[Measure], ...]) -> type[Config]:
    """Return the config with the tables of those measures that have keys."""
    made = with_tables("RunConfig", __name__, {one.name: one for one in kinds if one.model_fields})
    if any(one.__module__.startswith(OF_FILE) for one in kinds):  # another process has to load the files first
        copyreg.pickle(made, lambda config: (_again, (resolved(config),)))
    return made


def _again(values: dict[str, Any]) -> Config:
    """Return a config that was sent to another process, which loads the files that it names."""
    return checked(values, Path(), Path("config.toml"))


RunConfig: Final = _config_of(measure_types())
"A config with the tables of all measures that are installed, in their order."


def load_config(path: Path | None, changes: Sequence[str] = (), given: Given = MappingProxyType({})) -> Config:
    """Read a config file, or one that comes with headscope by its name; None for a config that is `given` alone.

    What is `given` in tables stands in place of what the file says there. `changes` are "key=value" with dots between
    tables and TOML values. Raises ConfigError with one line that names the file, the key, and what was expected.
    """
    if path is None:
        where = Path("headscope run")
        return checked(toml_of(f'name = "{_name(given)}"', where, changes, given), Path(), where)
    path = find_config(path)
    return checked(read_toml(path, changes, given), path.parent, path)


def _name(given: Given) -> str:
    """Return the name of a run without a config: that of its model and that of its corpus, as file names have them."""
    corpus = given["corpus"]["select"]
    named = [given["model"]["name"], corpus.get("path") or corpus["name"]]
    return "-".join(
        re.sub(r"\W+", "-", Path(one).name.partition(".")[0].rpartition(":")[2]).strip("-") for one in named
    )


def load_training(path: Path, changes: Sequence[str] = ()) -> TrainingConfig:
    """Read what `headscope train` needs of a config file: its name and [train]; other tables must be right as well."""
    path = find_config(path)
    values = read_toml(path, changes)
    if "corpus" not in values:
        return validated(TrainingConfig, values, path)
    config = checked(values, path.parent, path)
    if config.train is None:
        raise ConfigError(f"{path}: there is no table [train] that says what to train")
    return TrainingConfig(name=config.name, train=config.train)


def checked(values: dict[str, Any], folder: Path, where: Path) -> Config:
    """Return the values of a config, checked; files that tables name are in `folder`, and errors begin with `where`."""
    with named(where):
        resolve_tables(values, folder, Config)
        try:
            for file in _files(values, "measures"):
                use(file)
            kind = _config_of(measure_types())
        except MeasureError as error:
            raise ConfigError(f"measures: {error}") from None
        own = define_probes(_files(values.get("probes"), "files"))
        if own and isinstance(names := values["probes"].get("names", []), list):
            values["probes"]["names"] = [*names, *(name for name in own if name not in names)]
        resolve_tables(values, folder, kind)
    config = validated(kind, values, where)
    if config.behaviour.score and not any(has_labels(Path(name)) for name in behaviours_of(config)):
        raise ConfigError(f"{where}: behaviour.score: no measure names {LABELS} among its behaviours")
    return config


def behaviours_of(config: Config) -> list[str]:
    """Return the behaviours that any measure of a config names."""
    tables = [getattr(config, kind.name, None) for kind in measure_types()]
    return [name for table in tables for name in getattr(table, "behaviours", ())]


def _files(table: Any, key: str) -> list[Path]:
    """Return the files that a key of a table names; those that are no list are refused later."""
    named = table.get(key) if isinstance(table, dict) else None
    return [Path(str(file)) for file in named] if isinstance(named, list) else []


OF_PROBES: Final = "headscope_probe_"
"What the names of modules begin with in which files of probes are loaded."


def define_probes(files: Sequence[Path]) -> list[str]:
    """Define the probes of files, and return their names; raises ConfigError where that cannot be."""
    own: list[str] = []
    for file in files:
        load: Callable[[], object] = partial(own_probe, file.stem, file, f"{OF_PROBES}{file.stem}")
        if file.suffix == ".py":
            load = partial(module_of, file, OF_PROBES, "a probe")
        try:
            found = registered_by(load)
        except (ValueError, OSError) as error:
            raise ConfigError(f"probes.files: {error}") from None
        if not found or {*found} & {*own}:
            wrong = f"an earlier file has {' and '.join(found)} too" if found else "no @headscope.probe in it"
            raise ConfigError(f"probes.files: {file}: {wrong}; each file defines probes of other names")
        own += found
    return own


FAST: Final[Given] = {
    "controls": {"random": 0, "permuted": 0, "orders": 0},
    "shapes": {"enabled": False},
    "heads": {"texts": 0, "relations": 0},
}
"What a fast run leaves out: controls, attention statistics, and relations between heads. Heads and baselines stay."


def config_tables(
    corpus: str | Path | Mapping[str, Any] | Sequence[Entry] | None,
    report: str | Path | Mapping[str, Any] | Sequence[Entry] | None,
    annotate: str | None,
    probes: str | Sequence[str] | Mapping[str, Any],
) -> dict[str, dict[str, Any]]:
    """Return the tables [corpus] and [probes] of a config that say what `score` was asked."""
    parts = {split: corpus_part(one) for split, one in (("select", corpus), ("report", report)) if one is not None}
    texts = {**parts, **({"annotate": annotate} if annotate else {})}
    names = {"names": [probes] if isinstance(probes, str) else [*probes]}
    tables = {"corpus": texts, "probes": dict(probes) if isinstance(probes, Mapping) else names}
    return {table: values for table, values in tables.items() if any(values.values())}


def corpus_part(corpus: str | Path | Mapping[str, Any] | Sequence[Entry]) -> dict[str, Any]:
    """Return a corpus as a config has it: by name, unless there is a file or folder of that name and no such corpus."""
    if isinstance(corpus, Mapping):
        return dict(corpus)
    if isinstance(corpus, Path):
        return {"path": str(corpus)}
    if not isinstance(corpus, str):
        given: Any = corpus
        texts = [*given] if isinstance(given, Iterable) and not hasattr(given, "columns") else []
        fit = [isinstance(text, str) or is_pair(text) for text in texts]
        if not all(fit) or not texts:
            place = fit.index(False) if texts else 0
            got = f"{texts[place]!r:.40} as text {place + 1}" if texts else type(corpus).__name__
            expected = "a name, a file, a table of a config or a list of texts"
            raise ConfigError(
                f"corpus: expected {expected}, got {got} (a text is a string, a pair two strings or lists of words)"
            )
        return {"texts": texts}
    known = corpus in (*GENERATED, *NAMED)
    return {"path": corpus} if not known and os.path.exists(os.path.expanduser(corpus)) else {"name": corpus}
