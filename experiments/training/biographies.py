"""Head biographies: the heads of trainings, followed through their checkpoints, and matched between trainings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.config.config import Config, ConfigError
from experiments.config.sections import BiographiesSection
from experiments.record.job import NOTHING, AsArrays, Job
from experiments.training.checkpoint_reader import Behaviour, CheckpointAnswers, CheckpointReader
from experiments.training.checkpoints import Checkpoint, read_checkpoints
from probes import Corpus, Probe
from probes.evidence.results import named_heads
from probes.maps.matching import Match, Matched, SeenMaps, match_models, same_roles
from probes.scoring.aligned import Dropped
from probes.scoring.tally import Pooled
from probes.training.biography import Biography, courses
from probes.training.concentration import LifeRule, Profiles, life_of
from probes.training.onset import OnsetRule, head_onsets, timeline
from reports.progress import Step, silent
from reports.tables.biographies import TABLES

MATCHES, PARTNERS = ([*TABLES[name].names] for name in ("biography_matches", "biography_partners"))

Roles = Mapping[int, Mapping[int, Sequence[str]]]
"Seed -> step -> main role of every head, empty for none."


class Kinship:
    """Keeps the maps of a few models over the same sentences, and compares them."""

    def __init__(self, *, within_layers: bool) -> None:
        """Match heads within layers or over all."""
        self.within_layers = within_layers
        self._ends: dict[int, list[tuple[int, SeenMaps]]] = {}
        "Seed -> step and maps of the first and of the newest checkpoint."
        self._steps: list[tuple[int, int, int, Matched]] = []

    def see(self, seed: int, step: int, seen: SeenMaps | None) -> None:
        """Take the maps of the next checkpoint of a training, and match its heads with those of the one before.

        Nothing is matched where there are none.
        """
        if seen is None:
            return
        ends = self._ends.setdefault(seed, [])
        if ends:
            before, maps = ends[-1]
            self._steps.append((seed, before, step, match_models(maps, seen, within_layers=self.within_layers)))
        del ends[1:]
        ends.append((step, seen))

    def tables(self, roles: Roles, heads: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the tables of matches and of partners; `heads` is the number of heads of a layer."""
        matches = [_row("steps", found, (seed, one), (seed, other), roles) for seed, one, other, found in self._steps]
        partners: list[dict[str, object]] = []
        for seed, other in combinations(sorted(self._ends), 2):
            for what, place in (("start", 0), ("seeds", -1)):
                (step, one), (other_step, two) = self._ends[seed][place], self._ends[other][place]
                if one.kept != two.kept:
                    continue  # other tokenizers lose other sentences: their maps cannot be laid side by side
                found = match_models(one, two, within_layers=self.within_layers)
                matches.append(_row(what, found, (seed, step), (other, other_step), roles))
                if what == "seeds":
                    partners += _partners(found.match, (seed, step), (other, other_step), roles, heads)
        return pd.DataFrame(matches, columns=MATCHES), pd.DataFrame(partners, columns=PARTNERS)


def _row(what: str, found: Matched, one: tuple[int, int], other: tuple[int, int], roles: Roles) -> dict[str, object]:
    match = found.match
    seen, chance = same_roles(match.partner, roles[one[0]][one[1]], roles[other[0]][other[1]])
    return {
        **{"what": what, "seed": one[0], "step": one[1], "other_seed": other[0], "other_step": other[1]},
        **{"heads": len(match.partner), "distance": match.distance.mean(), "null": found.null},
        **{"chance": match.chance, "itself": (match.partner == np.arange(len(match.partner))).mean()},
        **{"same_role": seen, "same_role_chance": chance},
    }


def _partners(
    match: Match, one: tuple[int, int], other: tuple[int, int], roles: Roles, heads: int
) -> list[dict[str, object]]:
    mine, theirs = roles[one[0]][one[1]], roles[other[0]][other[1]]
    return [
        {
            **{"seed": one[0], "other_seed": other[0], "layer": head // heads, "head": head % heads},
            **{"name": f"{head // heads + 1}-{head % heads + 1}", "partner": f"{who // heads + 1}-{who % heads + 1}"},
            **{"distance": match.distance[head], "role": mine[head], "partner_role": theirs[who]},
        }
        for head, who in enumerate(match.partner.tolist())
    ]


ReadAll = Callable[[Sequence[Checkpoint]], Iterable[CheckpointAnswers]]
"Has checkpoints read, and gives their answers in order."


@dataclass(frozen=True)
class Biographies:
    """The tables of a run's biographies, by the name of their file (`reports.tables.biographies`)."""

    tables: Mapping[str, pd.DataFrame]
    dropped: Mapping[str, Dropped]
    "What the prepared targets leave out, by scope."


def biographies(
    config: Config,
    trainings: Mapping[int, Path],
    corpora: tuple[Corpus, Corpus],
    *,
    behaviour: Behaviour | None = None,
    progress: Step = silent,
    read_all: ReadAll | None = None,
    job: Job = NOTHING,
) -> Biographies:
    """Score every checkpoint of `trainings` (seed -> folder) on the report corpus, and tell when heads got which role.

    Checkpoints are read here, one after the other, `behaviour` being asked of each, or by `read_all`, which does what
    `CheckpointReader.read` does of each; those that `job` has are not read again. Raises ConfigError where there is no
    [biographies] in `config`, or nothing to ask, KeptError for one that is kept and cannot be read, and whatever
    `read_all` raises.
    """
    section = config.biographies
    if section is None:
        raise ConfigError("the config has no table [biographies]")
    steps = None if section.steps == "all" else section.steps
    chosen = {seed: read_checkpoints(folder, steps) for seed, folder in sorted(trainings.items())}
    reader = CheckpointReader(config, section, corpora, behaviour)
    new = [one for seed, found in chosen.items() for one in found if not job.has(_part_name(seed, one))]
    read = iter(map(reader.read, new) if read_all is None else read_all(new))
    form = AsArrays(CheckpointAnswers.saved, CheckpointAnswers.from_saved)
    kinship, lives = Kinship(within_layers=section.within_layers), list[Followed]()
    dropped = dict[str, Dropped]()
    for seed, checkpoints in chosen.items():
        answers, baselines = list[CheckpointAnswers](), dict[str, Pooled]()
        for number, checkpoint in enumerate(checkpoints, start=1):
            answer = job.part(_part_name(seed, checkpoint), partial(next, read), form)
            kinship.see(seed, checkpoint.step, answer.maps)
            answers.append(replace(answer, maps=None, baselines={}))
            baselines, dropped = {**answer.baselines}, dropped | {**answer.dropped}
            progress(f"biographies, seed {seed}", number, len(checkpoints))
        lives.append(_followed(seed, checkpoints, answers, baselines, corpora[1].name, reader.probes))
    if not any(life.biography.courses for life in lives):
        raise ConfigError(f"[biographies]: {corpora[1].name} has no items with the labels {section.labels!r}")
    return Biographies(_tables(config, section, lives, kinship), dropped)


def _part_name(seed: int, checkpoint: Checkpoint) -> str:
    return f"biographies, seed {seed}, step {checkpoint.step}"


def _followed(
    seed: int,
    checkpoints: list[Checkpoint],
    answers: Sequence[CheckpointAnswers],
    baselines: Mapping[str, Pooled],
    corpus: str,
    probes: Sequence[Probe],
) -> Followed:
    """Return a training whose checkpoints have answered what `baselines` have too."""
    biography = Biography(
        seed=seed,
        steps=tuple(one.step for one in checkpoints),
        tokens=tuple(one.tokens for one in checkpoints),
        corpus=corpus,
        layers=answers[-1].layers,
        heads=answers[-1].heads,
        courses=courses([one.marks for one in answers], baselines),
    )
    return Followed(biography, Profiles.of(biography, probes), checkpoints, [one.behaviour for one in answers])


def _tables(
    config: Config, section: BiographiesSection, lives: Sequence[Followed], kinship: Kinship
) -> dict[str, pd.DataFrame]:
    """Return everything that is told, by the name of its file."""
    margin, seed, replicates = config.verdict.margin, config.seed, section.replicates
    rule, life_rule = OnsetRule(rise=margin, level=margin), LifeRule(margin=margin)
    told = [life.biography for life in lives]
    when = timeline(told, rule, replicates=replicates, seed=seed)
    tables = {
        "biographies": pd.concat([one.table(replicates, seed) for one in told], ignore_index=True),
        "biography_steps": pd.concat([step_rows(life) for life in lives], ignore_index=True),
        "biography_onsets": when.onsets,
        "biography_order": when.order,
        "biography_curves": when.curves,
        "biography_head_onsets": pd.concat([head_onsets(one, rule) for one in told], ignore_index=True),
        "biography_profiles": pd.concat([profile_rows(life, life_rule) for life in lives], ignore_index=True),
        "biography_lives": pd.concat([life_rows(life, life_rule) for life in lives], ignore_index=True),
    }
    if section.match_texts:
        roles = {life.biography.seed: life.roles(life_rule) for life in lives}
        matches, partners = kinship.tables(roles, told[0].heads)
        tables |= {"biography_matches": matches, "biography_partners": partners}
    return tables


@dataclass(frozen=True)
class Followed:
    """One training that was read."""

    biography: Biography
    profiles: Profiles
    checkpoints: list[Checkpoint]
    behaviour: list[float]

    def roles(self, rule: LifeRule) -> dict[int, list[str]]:
        """Step -> main role of every head, empty for none."""
        main = self.profiles.main(rule)
        names = [*(f"{probe}: {label}" for probe, label in self.profiles.roles), ""]
        return {step: [names[role] for role in row] for step, row in zip(self.biography.steps, main, strict=True)}


def step_rows(life: Followed) -> pd.DataFrame:
    """Return loss and behaviour, one row a checkpoint."""
    return pd.DataFrame(
        {
            "seed": life.biography.seed,
            "step": life.biography.steps,
            "tokens": life.biography.tokens,
            "loss": [one.loss for one in life.checkpoints],
            "evaluation_loss": [one.evaluation_loss for one in life.checkpoints],
            "behaviour": life.behaviour,
        }
    )


def _heads(biography: Biography) -> dict[str, object]:
    """Return the columns that name all heads of a training."""
    return {"seed": biography.seed, **named_heads((biography.layers, biography.heads))}


def profile_rows(life: Followed, rule: LifeRule) -> pd.DataFrame:
    """Return effective roles, main role and its margin, one row a checkpoint and head."""
    effective, roles = life.profiles.effective(rule), life.roles(rule)
    margins = life.profiles.margins
    top = margins.max(2) if margins.shape[2] else np.full(margins.shape[:2], np.nan)
    rows = {"effective": effective, "margin": top}
    return pd.concat(
        [
            pd.DataFrame(
                _heads(life.biography)
                | {"step": step, "role": roles[step]}
                | {name: values[place] for name, values in rows.items()}
            )
            for place, step in enumerate(life.biography.steps)
        ],
        ignore_index=True,
    )


def life_rows(life: Followed, rule: LifeRule) -> pd.DataFrame:
    """Return what became of every head, one row each."""
    effective, main = life.profiles.effective(rule), life.profiles.main(rule)
    told = [life_of(main[:, head].tolist(), effective[:, head].tolist(), rule) for head in range(main.shape[1])]
    names = [*(f"{probe}: {label}" for probe, label in life.profiles.roles), ""]
    steps = life.biography.steps
    return pd.DataFrame(
        _heads(life.biography)
        | {
            "life": [one.life for one in told],
            "narrows": [one.narrows for one in told],
            "first_role": [names[one.first] for one in told],
            "last_role": [names[one.last] for one in told],
            "since": pd.array([None if one.since < 0 else steps[one.since] for one in told], dtype="Int64"),
            "widest": [float(np.nanmax(column)) if np.isfinite(column).any() else math.nan for column in effective.T],
            "last_effective": effective[-1],
        }
    )
