"""Who is whose: heads matched across the checkpoints of a training, and across trainings with other seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from probes.maps.matching import Match, Matched, SeenMaps, match_models, same_roles
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
    mine, theirs = (_numbered(roles[seed][step], roles) for seed, step in (one, other))
    seen, chance = same_roles(match.partner, mine, theirs)
    return {
        **{"what": what, "seed": one[0], "step": one[1], "other_seed": other[0], "other_step": other[1]},
        **{"heads": len(match.partner), "distance": match.distance.mean(), "null": found.null},
        **{"chance": match.chance, "itself": (match.partner == np.arange(len(match.partner))).mean()},
        **{"same_role": seen, "same_role_chance": chance},
    }


def _numbered(names: Sequence[str], roles: Roles) -> list[int]:
    """Return a number for every role, the same for all models; -1 for none."""
    known = sorted({name for steps in roles.values() for heads in steps.values() for name in heads if name})
    return [known.index(name) if name else -1 for name in names]


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
