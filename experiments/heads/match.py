"""Which head of one model is which of another: two models, or the models of two runs, over the same sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.inputs.corpora import open_corpus
from experiments.run.folder import reopened
from mha import Model, load_model
from probes.maps.matching import Match, compared_rows, match_models, readable, same_roles, see_maps
from probes.scoring.aligned import sample_texts
from reports import Run
from reports.heads.card_parts import CardSource
from reports.progress import Progress, counter, each, silent

COLUMNS = ("layer", "head", "name", "partner", "distance", "role", "partner_role")
"One row a head of the first model; `partner` is empty, and the distance NaN, where the other has too few heads."


class MatchError(ValueError):
    """Two models whose heads cannot be matched."""


@dataclass(frozen=True)
class HeadMatch:
    """The heads of two models, matched by the distance of their maps."""

    table: pd.DataFrame
    "In COLUMNS."
    drawn: int
    "Sentences that were drawn."
    sentences: int
    "Of these, that both models can read whole."
    distance: float
    "Mean over matched heads, in nats."
    null: float
    "The same where the other model reads other sentences of the same lengths; NaN where none are equally long."
    chance: float
    "Mean of random pairs."
    same_role: float
    "Share of heads with a main role whose partner has the same; NaN where models, and not runs, are matched."
    same_role_chance: float


def match_heads_of(
    left: str,
    right: str,
    *,
    corpus: str = "grammar",
    sentences: int = 100,
    within_layers: bool = False,
    progress: Progress = silent,
) -> HeadMatch:
    """Match the heads of two models, each a run folder, a short name, a model folder or "hub:owner/name".

    They read the same `sentences` of `corpus`. Roles are compared where both are runs.
    Raises MatchError for models of different depth `within_layers`, and where there is no sentence that both can read.
    """
    (first, roles), (second, other_roles) = map(_opened, each("models opened", (left, right), progress))
    if within_layers and first.layers != second.layers:
        raise MatchError(f"{left} has {first.layers} layers and {right} {second.layers}: match over all layers instead")
    drawn = sample_texts(open_corpus(corpus).sentences(), sentences)
    both = set(readable(first, drawn)) & set(readable(second, drawn))
    chosen = [drawn[place] for place in sorted(both)]
    read = counter(progress, "layers read", first.layers + second.layers)
    seen, others = see_maps(first, chosen, read), see_maps(second, chosen, read)
    if seen is None or others is None:
        raise MatchError(f"there is no sentence of {corpus} that both {left} and {right} can read")
    compared = counter(progress, "rows of maps compared", compared_rows(seen))
    found = match_models(seen, others, within_layers=within_layers, step=compared)
    table = _table(found.match, first, second, roles or {}, other_roles or {})
    same, chance = float("nan"), float("nan")
    if roles is not None and other_roles is not None:
        of_models = ((first, roles), (second, other_roles))
        mine, theirs = ([of.get(name, "") for name in _names(model)] for model, of in of_models)
        same, chance = same_roles(found.match.partner, mine, theirs)
    distance = float(np.nanmean(found.match.distance))
    return HeadMatch(table, len(drawn), len(chosen), distance, found.null, found.match.chance, same, chance)


def _table(
    match: Match, first: Model, second: Model, roles: Mapping[str, str], other_roles: Mapping[str, str]
) -> pd.DataFrame:
    """Return the rows of a match, in COLUMNS."""
    names, others = _names(first), _names(second)
    partner = [others[place] if place >= 0 else "" for place in match.partner]
    layer, head = np.divmod(np.arange(len(names)), first.heads)
    columns = (
        *(layer, head, names, partner, match.distance),
        *([roles.get(name, "") for name in names], [other_roles.get(name, "") for name in partner]),
    )
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def _opened(name: str) -> tuple[Model, Mapping[str, str] | None]:
    """Return a model and, of a run's, the main roles of its heads."""
    folder = Path(name)
    if not (folder / "scores.parquet").is_file():
        return load_model(name), None
    run = Run.open(folder)
    return reopened(run).model, CardSource(run).main_roles


def _names(model: Model) -> list[str]:
    return [f"{layer + 1}-{head + 1}" for layer in range(model.layers) for head in range(model.heads)]


def print_match(match: HeadMatch, first: str, second: str) -> None:
    """Print the matched heads, and how near they are beside what chance gives."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for column in (first, second, "distance, nats", "role", "its role"):
        table.add_column(Text(column))
    for row in match.table.to_dict("records"):
        cells = (row["name"], row["partner"] or "–", f"{row['distance']:.3f}", row["role"], row["partner_role"])
        table.add_row(*(Text(str(cell)) for cell in cells))
    console.print(table)
    sentences = [
        f"{int(match.table.partner.ne('').sum())} heads were matched on {match.sentences} of {match.drawn} texts, "
        f"those that both models can read whole.",
        f"Matched heads are {match.distance:.3f} nats apart on average, random pairs {match.chance:.3f}. Where "
        f"{second} reads other sentences of the same lengths, so that heads can be alike only in what they do with "
        f"positions, matched heads are {_number(match.null)} apart.",
    ]
    if match.same_role == match.same_role:
        sentences.append(
            f"{100 * match.same_role:.0f} % of the heads with a main role have a partner with the same one "
            f"({100 * match.same_role_chance:.0f} % by chance)."
        )
    for sentence in sentences:
        console.print(Text(sentence))


def _number(value: float) -> str:
    return "not measured" if value != value else f"{value:.3f}"
