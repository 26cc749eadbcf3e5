"""What to doubt in the answers to the three targets, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pandas as pd

from reports.compare.target_tables import TARGETS, RoleTarget, TargetRecord
from reports.formats import percent
from reports.scores.effects import is_distance, scale_of
from reports.scores.selected_head import SPECIALISED
from reports.tables.grades import (
    GRADES,
    POSITION,
    SPECIAL,
    answered,
    borderline_text,
    grade_name,
    is_of_language,
    shown,
)
from reports.tables.shared_columns import CHANCE, LEVEL, VALUE

Row = Mapping[Any, Any]

KEY: Final = ["target", "model", "name"]
"What tells the effects of one head apart from those of others."

HIGHEST: Final = len(GRADES) - 1
"The grade of a head that leads the rules of grammar too."


def spoken(record: TargetRecord) -> tuple[tuple[RoleTarget, tuple[str, ...]], ...]:
    """Return what a reader should doubt of each target, of those that any run has asked."""
    return tuple(
        (target, tuple(_sentences(target, rows, record)))
        for target in TARGETS
        if len(rows := target.of(record.answers))
    )


def _sentences(target: RoleTarget, rows: pd.DataFrame, record: TargetRecord) -> Iterator[str]:
    models_of: dict[str, list[str]] = {}
    for model, own in rows.groupby("model", sort=False):
        for doubt in _doubt(target, own):
            models_of.setdefault(doubt, []).append(str(model))
    for row in first_rows(target, record):
        for caution in cautions(effect_of(record, row), target, record):
            models_of.setdefault(caution, []).append(str(row["model"]))
    yield from (f"{', '.join(dict.fromkeys(models))}: {sentence}" for sentence, models in models_of.items())


def first_rows(target: RoleTarget, record: TargetRecord) -> list[Row]:
    """Return the row of each model and label that the summary shows: the first variant of the first run that asked."""
    rows = target.of(record.answers)
    return [*rows[rows["label"].isin(target.leads)].drop_duplicates(["model", "label"]).to_dict("records")]


def _doubt(target: RoleTarget, rows: pd.DataFrame) -> Iterator[str]:
    """Yield what a sceptic would say where no head of a model leads the rules of grammar."""
    ruled = rows[rows["rule_accuracy"].notna()]
    if ruled.empty:
        why = "" if target.of_language else " Attention to a neighbour needs no knowledge of language."
        yield f"no rule of grammar was a baseline here, so no head can have grade {HIGHEST}.{why}"
    elif ruled["highest"].max() < HIGHEST:
        row = ruled.iloc[0]
        pairs, corpora = (len(ruled[keys].drop_duplicates()) for keys in (["probe", "label", "variant"], ["corpus"]))
        asked = f"{pairs} label–direction pair{'s' * (pairs > 1)}" + f" on {corpora} corpora" * (corpora > 1)
        yield (
            f"no head has a stable grade {HIGHEST}, beyond rules of grammar ({asked}). For {row['label']} "
            f"({row['variant']}, {row['corpus']}) the rule “{row['rule']}” has {percent(row['rule_accuracy'])} %, the "
            f"selected head {percent(row['accuracy'])} %."
        )


def graded(row: Row) -> str:
    """Return the grade of a head, behind it the heads with a higher stable one, or else the verdict without a grade."""
    if math.isnan(row["p_adjusted"]):
        return "not tested"
    borderline = borderline_text(row)
    parts = [grade_name(row["grade"], row["probe"], controlled=True) + borderline]
    if row["highest"] > (0 if borderline else row["grade"]):
        parts.append(f"{row['highest_heads']} has {grade_name(row['highest'], row['probe'], controlled=True)}")
    elif not row["grade"]:
        parts.append(f"verdict {answered(row['verdict'], row['excluded'])}")
    return "; ".join(parts)


def specialised(row: Row) -> str:
    """Return whether a head is specialised, or significant in a position; where it is not, whether another one is."""
    return shown(row, row["highest_heads"], "significant" if row["probe"] == POSITION else "specialised")


CRITERION: Final = f"{SPECIALISED}The strongest rival can also be a table of words or a rule of grammar."


def answer(record: TargetRecord) -> str:
    """Say of each target how many models have a specialised head for it, or one with a stable grade in a position."""
    rows = record.answers[record.answers["highest"] > 0]
    said = {True: list[str](), False: list[str]()}
    for target in TARGETS:
        models = target.of(record.answers)["model"].nunique()
        having = target.of(rows[(is_of_language(rows) if target.of_language else ~rows["label"].isin(SPECIAL))])
        number = having["model"].nunique() or "none"
        said[target.of_language] += [f"{target.name} in {number} of {models}"] * bool(models)
    kinds = ((True, "specialised heads for"), (False, "heads with a stable grade for"))
    found = [f"There are {what} {', for '.join(said[kind])} models." for kind, what in kinds if said[kind]]
    return " ".join(found) or "No run asked for any target."


def effect_of(record: TargetRecord, row: Row) -> Row | None:
    """Return the effect that a row's head is told by: of the first behaviour its most telling measure, or None.

    The behaviours of the target come first. Of minimal pairs that is accuracy, on those with attractors if there are.
    """
    found = record.effects
    told = found[(found[KEY] == [row[name] for name in KEY]).all(axis=1)].to_dict("records")
    return [one for one in told if one["behaviour"] == told[0]["behaviour"]][-1] if told else None


def significance(effect: Row) -> str:
    """Say whether a cost is significant, or a significant gain, at adjusted p < 0.05."""
    if math.isnan(effect["p_adjusted"]):
        return "not tested"
    if effect["p_adjusted"] >= LEVEL:
        return "not significant"
    return "significant" if effect["cost"] > 0 else "a significant gain"


def above_median(effect: Row) -> str:
    """Say what a significant effect on an embedding is above: any ablation moves it."""
    return " (above the median head)" if significance(effect) == "significant" and is_distance(effect) else ""


def cautions(effect: Row | None, target: RoleTarget, record: TargetRecord) -> Iterator[str]:
    """Yield what to know of an effect: another behaviour, damage that any head does, a model that cannot do it."""
    if effect is None:
        return
    if not effect["own"]:
        yield f"no run measured a behaviour of {target.name} itself{_why_not(target, record, effect['model'])}."
    yield from filter(None, (beyond_damage(effect), below_chance(effect)))


def beyond_damage(effect: Row) -> str:
    """Say whether a significant effect exceeds that of heads which damage any text half as much; else ""."""
    if not effect["own"] or not effect["p_adjusted"] < LEVEL or math.isnan(effect["damage"]):
        return ""
    name = effect["name"]
    if math.isnan(effect["damaging_cost"]):
        return f"too few heads damage any text half as much as {name}, so its effect may be general damage."
    scale, low, high = scale_of(effect), effect["damaging_low"], effect["damaging_high"]
    outside = "more than" if effect["cost"] > high else "less than" if effect["cost"] < low else "no more than"
    between = scale.with_interval(effect["damaging_cost"], low, high)
    others = f"the other heads that damage any text at least half as much ({effect['damaging']} heads: {between})"
    return f"ablating {name} costs {outside} ablating {others}."


def below_chance(effect: Row) -> str:
    """Say that the intact model itself is no better than chance, where it is; else ""."""
    if effect["measure"] == VALUE or effect["intact"] > CHANCE:
        return ""
    intact = percent(effect["intact"])
    return (
        f"the intact model has {intact} % correct, no better than chance: the effect of {effect['name']} says little."
    )


def without_effect(record: TargetRecord, target: RoleTarget) -> tuple[str, ...]:
    """Return a sentence for each model of which no run has measured the behaviours that belong to the target."""
    own = {*record.effects.loc[(record.effects["target"] == target.name) & record.effects["own"], "model"]}
    known = ", ".join(record.behaviours.get(target.name, ()))
    return tuple(
        f"{model}: no run measured a behaviour of {target.name} ({known}){_why_not(target, record, model)}."
        for model in target.of(record.answers)["model"].drop_duplicates()
        if model not in own
    )


def _why_not(target: RoleTarget, record: TargetRecord, model: str) -> str:
    """Return what a model lacks for a behaviour of a linguistic role; "" where nothing, as far as is known."""
    if not target.of_language or model not in record.headless:
        return ""
    return f": that takes a masked-LM head, which {model} does not have"
