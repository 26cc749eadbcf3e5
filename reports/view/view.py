"""An interactive page of every head on texts of the user's own."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reports.heads.card_parts import ROLE_COLUMNS, CardSource, main_roles, of_language, roles
from reports.heads.role_marks import RoleName, role_marks
from reports.progress import Step, each, silent
from reports.run.folder import RunFolder
from reports.run.replacing import replace_text
from reports.scores.plain_names import role_name
from reports.templates.environment import assets, environment

LONG: Final = 128
"Words or pieces, beyond which weights that round to less than 3 of 255 steps are left out of a file."

LEFT_OUT: Final = f"Of texts of more than {LONG} words or pieces, weights under 1 % are left out of this file."

SCRIPTS = ("unpack", "view_maps", "view_panel", "view")
"Scripts of the page, in the order in which they are read."


@dataclass(frozen=True)
class MapSide:
    """What stands on one side of a map, in its order: words or word-pieces."""

    tokens: Sequence[str]
    special: Sequence[int] = ()
    "Indices of special tokens, [CLS] for example."
    second: int = 0
    "Where the second text of a pair begins; 0 where there is one text."


@dataclass(frozen=True)
class Level:
    """The maps of all heads at words or at pieces."""

    maps: npt.NDArray[np.floating]
    "[layer, head, query, key], entries in [0, 1]; rows of special tokens included."
    queries: MapSide
    keys: MapSide


@dataclass(frozen=True)
class TextAttention:
    """One kind of attention on one text, all heads."""

    title: str
    "By which the page's chooser knows it."
    text: str
    words: Level
    pieces: Level
    crossed: bool = False
    "Whether the keys are those of another text than the queries."
    known: bool = True
    "Whether the panel's roles are those of these heads: a run knows an encoder, not what reads it."


@dataclass(frozen=True)
class KnownRole:
    """What a run says of one head."""

    main: RoleName | None
    "In which it is most surely above its rivals; None where it has a grade in nothing."
    text: str
    "Its surest numbers, in one sentence."
    rows: tuple[tuple[str, ...], ...]
    "Its roles, the surest first: what `reports.heads.card_parts.ROLE_COLUMNS` says."
    language: RoleName | None = None
    "Its main role among those of language."


@dataclass(frozen=True)
class Panel:
    """What one model shows, beside other panels."""

    model: str
    views: Sequence[TextAttention]
    "Shown one at a time; all panels of a page have the same titles in the same order."
    roles: Mapping[str, KnownRole] = field(default_factory=dict)
    "By name of a head, the one that a page opens on first; empty where no run is known of the model."


def write_view(path: Path, panels: Sequence[Panel], notes: Sequence[str] = (), step: Step = silent) -> Path:
    """Write one self-contained HTML page that shows `panels` side by side, head by head, and return its path.

    Weights are kept in 255 steps, so the page shows whole percents; those under 1 % are left out of LONG texts, which
    the page says. Where a head's attention goes is summed before. A main role has one letter and one colour in all
    panels; where the roles are those of one run, they are those of its report. `step` is told of every text that is
    packed. Raises ValueError where maps and tokens do not fit each other, or panels have different choices; an older
    page at `path` then stays as it was.
    """
    path = Path(path)
    titles = [[view.title for view in panel.views] for panel in panels]
    if not titles or not titles[0] or any(other != titles[0] for other in titles):
        raise ValueError(f"{path}: expected panels with the same views, got {titles}")
    known = [role for panel in panels for role in panel.roles.values()]
    mains = [role.main for role in known if role.main]
    marked = role_marks((role.language for role in known if role.language), mains)
    marks = {role: mark for role, mark in marked.items() if role in mains}
    every = [view for panel in panels for view in panel.views]
    packed = [_view(view, path) for view in each("texts packed", every, step)]
    of_panels = [packed[start : start + len(titles[0])] for start in range(0, len(packed), len(titles[0]))]
    first = next((name for panel in panels for name in panel.roles), "")
    data = {
        "panels": [_panel(panel, views, [*marks]) for panel, views in zip(panels, of_panels, strict=True)],
        "marks": [{"probe": role[0], "label": role_name(*role)} | asdict(mark) for role, mark in marks.items()],
        "columns": ROLE_COLUMNS,
        "first": first or _steadiest([panel.views[0] for panel in panels]),
    }
    models = list(dict.fromkeys(panel.model for panel in panels))
    left_out = any(_long(level.maps) for panel in panels for view in panel.views for level in (view.words, view.pieces))
    page = (
        environment()
        .get_template("view.html.j2")
        .render(
            models=models,
            titles=titles[0],
            notes=[*notes, LEFT_OUT] if left_out else notes,
            data=data,
            style=assets(("role_marks", "view"), ".css"),
            script=assets(SCRIPTS, ".js"),
        )
    )
    return replace_text(path, page)


def _panel(panel: Panel, views: Sequence[Any], marked: Sequence[RoleName]) -> dict[str, Any]:
    """Return what the script reads of a panel with its packed views; a head's main role is its place in `marked`."""
    roles = {
        name: [marked.index(role.main) if role.main else None, role.text, role.rows]
        for name, role in panel.roles.items()
    }
    return {"model": panel.model, "views": views, "roles": roles}


def _view(view: TextAttention, path: Path) -> dict[str, Any]:
    words, pieces = _checked(view.words, path), _checked(view.pieces, path)
    layers, heads = words.shape[:2]
    same = np.array_equal(words, pieces)
    return {
        "text": view.text,
        "layers": layers,
        "heads": heads,
        "known": view.known,
        "where": _where(words, view),
        "words": _side(view.words) | {"weights": _packed(words)},
        "pieces": _side(view.pieces) | ({} if same else {"weights": _packed(pieces)}),
    }


def _steadiest(views: Sequence[TextAttention]) -> str:
    """Return the head with the least entropy in the first view, on average over its words, of those that all have."""
    layers, heads = np.min([view.words.maps.shape[:2] for view in views], axis=0)
    maps = np.asarray(views[0].words.maps, np.float64)[:layers, :heads].clip(1e-9, 1)
    entropy = -(maps * np.log(maps)).sum(-1).mean(-1)
    layer, head = np.unravel_index(entropy.argmin(), entropy.shape)
    return f"{layer + 1}-{head + 1}"


def _side(level: Level) -> dict[str, Any]:
    sides = (("queries", level.queries), ("keys", level.keys))
    of_sides = {name: {"tokens": list(side.tokens), "special": list(side.special)} for name, side in sides}
    return {name: of_sides[name] | ({"second": side.second} if side.second else {}) for name, side in sides}


def _packed(maps: npt.NDArray[np.floating]) -> str:
    """Return maps in 255 steps, a byte each, compressed; long texts are mostly zeros then."""
    steps = np.round(maps * 255).astype(np.uint8)
    if _long(maps):
        steps[steps < 3] = 0
    return base64.b64encode(gzip.compress(steps.tobytes(), 6, mtime=0)).decode("ascii")


def _long(maps: npt.NDArray[np.floating]) -> bool:
    return bool(max(maps.shape[-2:]) > LONG)


def _where(maps: npt.NDArray[np.floating], view: TextAttention) -> dict[str, list[float]]:
    """Return where the attention of words goes: by kind of key, the share of it, a head each (layer by layer)."""
    queries = np.setdiff1d(np.arange(maps.shape[2]), np.array(view.words.queries.special, int))
    keys = np.arange(maps.shape[3])
    special = np.broadcast_to(np.isin(keys, view.words.keys.special), (len(queries), len(keys)))
    away = keys - queries[:, None]
    near = {} if view.crossed else {"itself": 0, "previous word": -1, "next word": 1}
    kinds = {"special tokens": special} | {name: (away == step) & ~special for name, step in near.items()}
    if (second := view.words.queries.second) and not view.crossed:
        apart = (queries[:, None] >= second) != (keys >= second)
        kinds["words of the other text"] = apart & ~np.logical_or.reduce(list(kinds.values()))
    kinds["other words" if near else "words"] = ~np.logical_or.reduce(list(kinds.values()))
    asked = maps[:, :, queries]
    total = np.maximum(asked.sum((2, 3)), 1e-9)
    shares = {name: np.einsum("lhqk,qk->lh", asked, mask) / total for name, mask in kinds.items() if mask.any()}
    return {name: np.round(share, 4).ravel().tolist() for name, share in shares.items()}


def _checked(level: Level, path: Path) -> npt.NDArray[np.floating]:
    """Return the maps clipped to [0, 1], or say what is wrong with them."""
    maps, expected = np.asarray(level.maps), (len(level.queries.tokens), len(level.keys.tokens))
    if maps.ndim != 4 or 0 in maps.shape or maps.shape[2:] != expected:
        raise ValueError(
            f"{path}: expected maps [layer, head, query, key] of {expected[0]} queries and {expected[1]} keys, "
            f"got shape {tuple(maps.shape)}; special tokens count as words"
        )
    if not np.isfinite(maps).all() or maps.min() < -1e-3 or maps.max() > 1 + 1e-3:
        raise ValueError(
            f"{path}: expected attention in [0, 1], got {maps.min():.3g} to {maps.max():.3g}; "
            "pass patterns after softmax"
        )
    return np.asarray(maps.clip(0, 1))


def known_roles(run: RunFolder) -> dict[str, KnownRole]:
    """Return what a run says of every head that it scored, by name: the head of its first finding first."""
    source = CardSource(run)
    first = source.finding.name if source.finding else ""
    main, language = main_roles(source.rows), main_roles(of_language(source.rows))
    found = {}
    for name in sorted(source.rows["name"].unique(), key=lambda name: name != first):
        if (part := roles(source, name)) is not None:
            found[name] = KnownRole(main.get(name), _role_text(part.rows[0]), part.rows, language.get(name))
    return found


def _role_text(row: tuple[str, ...]) -> str:
    does, accuracy, interval, baseline, significant, *_ = row
    found = {"yes": "significant", "no": "not significant"}.get(significant, "not tested")
    return f"{does}: accuracy {accuracy} % {interval}".rstrip() + f"; strongest baseline {baseline}; {found}"
