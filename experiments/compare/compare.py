"""Two or more runs side by side: which head has which role in each, what moved, and the uncertainty of differences.

As a page with its tables, on a terminal, and as JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.compare.answers import made_text, texts_text
from experiments.compare.differences import differences, head_changes, role_changes
from experiments.compare.sides import QUESTION, CompareError, Side, open_side
from experiments.statements.rule import CONTROLS
from reports import Run
from reports.compare.page import COMPARISON_PAGE, change_table
from reports.compare.record import COMPARED, Compared, Comparison, RunPair
from reports.formats import interval, names, names_apart, percent, shape_text
from reports.progress import Progress, each, silent
from reports.scores.effects import deciding, significant

READ_ALIKE = ("maps", "reduce", "window_words")
"Keys of [scoring] in which runs must agree: else they asked their heads something else."


@dataclass(frozen=True)
class Partners:
    """Which head of the other run each head of the one is held to be."""

    of: Mapping[str, str]
    distance: Mapping[str, float]
    "In nats; empty where heads are held to be those of the same name."
    text: str


def open_sides(runs: Sequence[str | Run], progress: Progress = silent) -> list[Side]:
    """Open runs, each a folder, or a checkpoint of one that has biographies: RUN@seed-2@step-500.

    Raises CompareError for fewer than two, and for runs that were not asked the same as the first.
    """
    if len(runs) < 2:
        raise CompareError(f"a comparison takes two runs or more, got {len(runs)}")
    sides = [open_side(run) for run in each("runs opened", runs, progress)]
    for other in sides[1:]:
        refuse_unlike(sides[0], other)
    return sides


def compare(
    sides: Sequence[Side], titles: Sequence[str], *, match: bool = False, progress: Progress = silent
) -> list[RunPair]:
    """Hold the first of several sides against each of the others; `titles` are their names on a page.

    Heads are those of the same name, or with `match` those with the nearest maps. Raises CompareError where names
    cannot be those of the same heads.
    """
    partners = [_matched(sides[0], other, progress) if match else _by_name(sides[0], other) for other in sides[1:]]
    tables = differences(sides, [found.of for found in partners], progress)
    return [
        _pair((sides[0], other), (titles[0], title), found, rows)
        for other, title, found, rows in zip(sides[1:], titles[1:], partners, tables, strict=True)
    ]


def refuse_unlike(first: Side, second: Side) -> None:
    """Raise CompareError where two sides cannot be compared with each other."""
    if first.checkpoint != second.checkpoint:
        whole, part = (second, first) if first.checkpoint else (first, second)
        raise CompareError(
            f"{whole.name} has scores and {part.name} biographies, with other baselines and without tests; name a "
            f"checkpoint of both, such as {whole.run.folder}@seed-1"
        )
    corpora = [side.run.record.corpus("report") for side in (first, second)]
    names, prints = [corpus.name for corpus in corpora], [corpus.fingerprint for corpus in corpora]
    for what, texts in (("name", names), ("fingerprint", prints)):
        if texts[0] != texts[1]:
            raise CompareError(
                f"{first.name} and {second.name} are evaluated on different texts: report corpus with {what} "
                f"{texts[0]} and {texts[1]}; run both with the same [corpus.report]"
            )
    asked = [side.run.record.questions or {} for side in (first, second)]
    for probe in asked[0].keys() & asked[1].keys():
        if asked[0][probe] != asked[1][probe]:
            raise CompareError(
                f"{first.name} and {second.name} have each a probe {probe} of their own, which asks other questions or "
                "has other answers; give it another name, or run both with the same"
            )
    for key in READ_ALIKE:
        read = [side.run.settings.get("scoring", {}).get(key) for side in (first, second)]
        if None not in read and read[0] != read[1]:
            raise CompareError(
                f"{first.name} and {second.name} read heads differently: scoring.{key} is {read[0]!r} and {read[1]!r}"
            )
    if not first.best.keys() & second.best.keys():
        raise CompareError(f"{first.name} and {second.name} have no label in common; run both with the same probes")


def _by_name(one: Side, other: Side) -> Partners:
    names = [side.heads["name"].tolist() for side in (one, other)]
    if names[0] != names[1]:
        raise CompareError(
            f"{one.name} has heads up to {names[0][-1]} and {other.name} up to {names[1][-1]}, so that a name is not "
            "the same head in both: match them by their maps with --match"
        )
    text = (
        "Heads are paired by name: 3-5 of one run with 3-5 of the other. That is meaningful only where one model was "
        "made from the other, or both from the same one; in training runs from different seeds heads share only the "
        "number, and --match pairs them by their maps instead."
    )
    return Partners(dict(zip(names[0], names[1], strict=True)), {}, text)


def _matched(one: Side, other: Side, progress: Progress) -> Partners:
    from experiments.heads.match import match_heads_of

    found = match_heads_of(one.model, other.model, progress=progress)
    table = found.table[found.table["partner"] != ""]
    text = (
        f"Heads are paired by their maps of {found.sentences} sentences of the embedded grammar, so that the distance "
        f"of paired heads is smallest in sum: {found.distance:.3f} nats on average, beside {found.chance:.3f} of "
        f"random pairs."
    )
    if not math.isnan(found.null):
        text += f" Where the other model reads other sentences of the same lengths it is {found.null:.3f}."
    names, partners = table["name"].tolist(), table["partner"].tolist()
    return Partners(
        dict(zip(names, partners, strict=True)), dict(zip(names, table["distance"].tolist(), strict=True)), text
    )


def _pair(sides: tuple[Side, Side], titles: tuple[str, str], partners: Partners, rows: pd.DataFrame) -> RunPair:
    named = dict(zip(("one", "other"), titles, strict=True))
    told = role_changes(rows).assign(**named)[[*COMPARED.names]]
    shapes = tuple((int(side.heads["layer"].max()) + 1, int(side.heads["head"].max()) + 1) for side in sides)
    heads = head_changes(*sides, partners.of, partners.distance).assign(**named)
    return RunPair(*titles, (shapes[0], shapes[1]), partners.text, notes(sides, titles), told, heads)


def notes(sides: tuple[Side, Side], titles: tuple[str, str]) -> tuple[str, ...]:
    """Say in what two sides differ beside their models, and what of them is not compared."""
    one, other = sides
    sentences = [f"{title}: {note}" for title, side in zip(titles, sides, strict=True) for note in side.notes]
    for title, side, beside in zip(titles, sides, sides[::-1], strict=True):
        sentences += _not_compared(title, side, beside)
    texts = [side.run.record.corpus("select").fingerprint for side in (one, other)]
    if texts[0] != texts[1]:
        sentences.append("The runs selected their heads on different texts.")
    if one.rule != other.rule:
        sentences.append("The runs grade heads by different rules ([verdict] of their configs).")
    configs = (one.run.settings, other.run.settings)
    rivals = [(config.get("controls"), config.get("probes", {}).get("baselines")) for config in configs]
    if rivals[0] != rivals[1] and not one.checkpoint:
        sentences.append("The runs have different controls or baselines, which a head with a grade must beat.")
    files, others = ({(Path(path).name, of) for path, of in (side.run.record.files or {}).items()} for side in sides)
    if changed := sorted({name for name, _ in files ^ others} & dict(files).keys() & dict(others).keys()):
        sentences.append(f"{' and '.join(changed)}: a file of this name has other content in the other run.")
    unequal = sum(
        one.best[question]["n"] != other.best[question]["n"] for question in one.best if question in other.best
    )
    if unequal:
        sentences.append(f"In {unequal} label–variant pairs the runs scored different numbers of words.")
    return (*sentences, *training_notes(sides, titles), *effect_notes(sides, titles))


def effect_notes(sides: tuple[Side, Side], titles: tuple[str, str]) -> Iterator[str]:
    """Yield for each behaviour of [ablation] which heads have an effect on it in one of two runs, or in both."""
    costs = [side.run.last("ablations") for side in sides]
    asked = dict.fromkeys(name for of in costs if len(of) for name in of["behaviour"])
    for behaviour in asked if not any(side.checkpoint for side in sides) else ():
        heads_alone = [of[(of["behaviour"] == behaviour) & (of["kind"] == "head")] if len(of) else of for of in costs]
        ways = [[*dict.fromkeys(of["way"])] if len(of) else [] for of in heads_alone]
        shared = [way for way in ways[0] if way in ways[1]]
        if all(ways) and not shared:
            yield f"{behaviour}: not compared, heads are ablated by {_beside(map(' and '.join, ways), titles)}."
            continue
        one, other = (
            _costly(of, behaviour, (shared or own)[0]) if own else None for of, own in zip(costs, ways, strict=True)
        )
        if one is None or other is None:
            title, heads = (titles[1], other) if one is None else (titles[0], one)
            yield f"{behaviour}: measured of {title} alone, where {_heads([*(heads or ())])} an effect."
            continue
        named = behaviour if shared[0] == ways[0][0] == ways[1][0] else f"{behaviour} ({shared[0]})"
        only = ([head for head in mine if head not in others] for mine, others in ((one, other), (other, one)))
        told = _beside(map(_heads, only), titles)
        units = (deciding(of[of["behaviour"] == behaviour])["unit"].iloc[0] for of in costs)
        largest = (max(heads.values(), default=0) for heads in (one, other))
        most = _beside((f"{cost:.2g} {unit}" for cost, unit in zip(largest, units, strict=True)), titles)
        both = _heads([head for head in one if head in other])
        yield f"{named}: {both} an effect in both; alone {told}. The largest costs {most}."


def _costly(costs: pd.DataFrame, behaviour: str, way: str) -> dict[str, float]:
    """Return the heads without which, ablated in that way, a behaviour is significantly worse, with costs."""
    rows = deciding(costs[(costs["behaviour"] == behaviour) & (costs["kind"] == "head") & (costs["way"] == way)])
    worse = significant(rows)[0]
    return dict(zip(worse["name"], worse["cost"], strict=True))


def _heads(heads: Sequence[str]) -> str:
    return f"{names(heads, 6)} {'has' if len(heads) == 1 else 'have'}" if heads else "no head has"


def training_notes(sides: tuple[Side, Side], titles: tuple[str, str]) -> Iterator[str]:
    """Yield what two runs show beside their heads: accuracy on the same minimal pairs, last losses, onsets of roles."""
    if any(side.checkpoint for side in sides):
        return
    found = [side.run.tables for side in sides]
    if all("behaviour" in tables for tables in found):
        rows = [tables["behaviour"].query("level == 'corpus'").set_index(["corpus", "method"]) for tables in found]
        alike = sides[0].run.settings.get("behaviour") == sides[1].run.settings.get("behaviour")
        if not alike:
            yield "Minimal pairs are not compared: [behaviour] of the configs differs, and so do the pairs."
        for pairs in rows[0].index.intersection(rows[1].index).unique() if alike else ():
            told = (one.loc[[pairs]].iloc[-1] for one in rows)
            correct = (f"{percent(one['accuracy'])} % {interval(one['ci_low'], one['ci_high'])}" for one in told)
            yield f"Minimal pairs, {pairs[0]}: {_beside(correct, titles)}."
    if all("biography_steps" in tables for tables in found):
        last = (tables["biography_steps"].sort_values("step").groupby("seed").tail(1) for tables in found)
        yield f"Held-out loss at the last checkpoint: {_beside(map(_losses, last), titles)}."
        onsets = [tables["biography_onsets"].set_index([*QUESTION])["onset"] for tables in found]
        both = pd.concat(onsets, axis=1, keys=("one", "other"), join="inner")
        have = both[np.isfinite(both).all(axis=1)]
        counts = (f"{int(np.isfinite(both[name]).sum())} of {len(both)}" for name in both)
        said = f"Label–direction pairs with an onset: {_beside(counts, titles)}"
        earlier = [int((have[a] < have[b]).sum()) for a, b in (("one", "other"), ("other", "one"))]
        more = (
            f"; of the {len(have)} in both it is earlier for {_beside(map(str, earlier), titles)}" if len(have) else ""
        )
        yield f"{said}{more}."


def _losses(steps: pd.DataFrame) -> str:
    """Return the losses of training runs of several seeds, as a mean."""
    return f"{steps['evaluation_loss'].mean():.3f}" + (f" (mean of {len(steps)} seeds)" if len(steps) > 1 else "")


def _beside(said: Iterable[str], titles: tuple[str, str]) -> str:
    return ", ".join(f"{one} in {title}" for one, title in zip(said, titles, strict=True))


def _not_compared(title: str, side: Side, beside: Side) -> list[str]:
    """Name the probes, and of probes of both the labels, in which only one side has a selected head."""
    asked = {probe for probe, _, _ in beside.best}
    lacking = [question for question in side.best if question not in beside.best]
    sentences = []
    if of_probes := [probe for probe, _, _ in lacking if probe not in asked]:
        told = ", ".join(dict.fromkeys(of_probes))
        sentences.append(
            f"Only {title} has selected heads of these probes: {told} ({len(of_probes)} label–direction pairs): not "
            "compared, and no role of a head."
        )
    if only := [f"{label} ({variant})" for probe, label, variant in lacking if probe in asked]:
        sentences.append(f"Only {title} has a selected head for {names(only, 5)}: not compared.")
    return sentences


def write_compared(
    names: Sequence[str], out: Path, *, match: bool = False, progress: Progress = silent
) -> tuple[Path, list[RunPair]]:
    """Compare runs and write the page and its tables into `out`; raises CompareError where `out` holds a run."""
    if (out / "scores.parquet").is_file():
        raise CompareError(f"{out} is a run folder; choose another --out")
    sides = open_sides(names, progress)
    pairs = compare(sides, names_apart(names), match=match, progress=progress)
    runs = [_compared(title, side) for title, side in zip(names_apart(names), sides, strict=True)]
    version = ", ".join(sorted({side.run.record.headscope or "" for side in sides}))
    return COMPARISON_PAGE.write(out, Comparison.of(version, runs, pairs)), pairs


def _compared(title: str, side: Side) -> Compared:
    record = side.run.record
    model = record.model
    layers, heads = (int(side.heads[column].max()) + 1 for column in ("layer", "head"))
    about = f"{model.title} ({model.weights}), {shape_text(layers, heads)}"
    # the hash is that of the weights of the run's model, as they are read
    known = not side.checkpoint and model.source not in CONTROLS
    return Compared(title, about, texts_text(record.corpus("report")), made_text(record, weights=known))


def print_pairs(pairs: Sequence[RunPair]) -> None:
    """Print what came out, the roles that are no longer the same head's, and every significant difference."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for pair in pairs:
        console.print(Text(f"{pair.one} → {pair.other}", style="bold"))
        for sentence in (*pair.sentences, *pair.notes):
            console.print(Text(sentence))
        if len(pair.changed):
            console.print(change_table(pair))
        console.print()


def as_record(page: Path, pairs: Sequence[RunPair]) -> str:
    """Return page and pairs as JSON; a number that was not measured is null."""
    told = [
        {
            **{"one": pair.one, "other": pair.other, "roles": pair.counts, "heads": pair.head_counts},
            **{"sentences": pair.sentences, "matched": pair.matched, "notes": pair.notes},
            "rows": json.loads(pair.rows.drop(columns=["one", "other"]).to_json(orient="records")),
        }
        for pair in pairs
    ]
    return json.dumps({"page": str(page), "pairs": told}, indent=2, ensure_ascii=False)
