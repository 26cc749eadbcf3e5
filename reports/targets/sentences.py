"""What came out of the three targets, in sentences: doubts first, then a sentence for each model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pandas as pd

from reports.formats import interval, percent, signed
from reports.scales import NumberScale
from reports.scores.plain_names import GUESSES, guess, task
from reports.studies.ablation.costs import COSINE, LEVEL, VALUE
from reports.studies.behaviour.section import CHANCE
from reports.tables.grades import GRADES, answered, grade_name
from reports.targets.record import TargetRecord
from reports.targets.target import SPECIAL, TARGETS, RoleTarget

Row = Mapping[Any, Any]

HIGHEST: Final = len(GRADES) - 1
"The grade of a head that leads the rules of grammar too."


def spoken(record: TargetRecord) -> tuple[tuple[RoleTarget, tuple[str, ...]], ...]:
    """Return what the summary tells of each target, of those that any run has asked."""
    return tuple(
        (target, tuple(_sentences(target, rows, record)))
        for target in TARGETS
        if len(rows := record.answers[record.answers["target"] == target.name])
    )


def _sentences(target: RoleTarget, rows: pd.DataFrame, record: TargetRecord) -> Iterator[str]:
    doubts: dict[str, list[str]] = {}
    for model, own in rows.groupby("model", sort=False):
        for doubt in _doubt(target, own[own["place"] != SPECIAL]):
            doubts.setdefault(doubt, []).append(str(model))
    yield from (f"{', '.join(models)}: {doubt}" for doubt, models in doubts.items())
    for model, own in rows[rows["summary"]].groupby("model", sort=False):
        for label in own["label"].drop_duplicates():
            first, *others = own[own["label"] == label].to_dict("records")
            told = [words for words in dict.fromkeys(map(_briefly, others)) if words != _briefly(first)]
            also = f" Other runs: {'; '.join(told)}." if told else ""
            yield f"{model}: {_answer(first)} {effect_text(effect_of(record, first), target, record)}{also}"


def _doubt(target: RoleTarget, rows: pd.DataFrame) -> Iterator[str]:
    """Yield what a sceptic would say where no head of a model leads the rules of grammar."""
    ruled = rows[rows["rule_accuracy"].notna()]
    if ruled.empty:
        why = "" if target.of_language else " Attention to a neighbour needs no knowledge of language."
        yield f"no rule of grammar was a baseline here, so that no head can have grade {HIGHEST}.{why}"
    elif ruled["highest"].max() < HIGHEST:
        row = (ruled[ruled["summary"]] if ruled["summary"].any() else ruled).iloc[0]
        pairs, corpora = (len(ruled[keys].drop_duplicates()) for keys in (["probe", "label", "variant"], ["corpus"]))
        asked = f"{pairs} label–direction pair{'s' * (pairs > 1)}" + f" on {corpora} corpora" * (corpora > 1)
        yield (
            f"no head is shown to exceed the rules of grammar (grade {HIGHEST}; {asked}). The rule "
            f"“{row['rule']}”, which needs no attention, has {percent(row['rule_accuracy'])} % on {row['label']} "
            f"({row['variant']}, {row['corpus']}), the selected head {percent(row['accuracy'])} %."
        )


def _answer(row: Row) -> str:
    """Say which head answers a question, how well, beside which baseline, and with which grade."""
    does = task(row["probe"], row["label"], row["variant"])
    recall = f"{percent(row['accuracy'])} % {interval(row['ci_low'], row['ci_high'])}"
    which = f"head {row['name']} {does}" if row["grade"] else f"head {row['name']}, selected for “{does}”"
    return f"{which}: recall {recall} on {row['corpus']}{_beside(row)}; {graded(row)}."


def _beside(row: Row) -> str:
    if not row["strongest"]:
        return ", without a baseline"
    return (
        f", beside {percent(row['strongest_accuracy'])} % of {baseline_text(row)} (margin {signed(row['lead'])} points)"
    )


def baseline_text(row: Row) -> str:
    """Return what the strongest baseline of a row does, as a sentence has it."""
    if row["strongest"] == row["rule"]:
        return f"the rule “{row['strongest']}”"
    name = guess(row["strongest"])
    return name if name in GUESSES.values() else f"the {name}"


def graded(row: Row) -> str:
    """Return the grade of a head, and behind it the heads with a higher one, or else the verdict where it has none."""
    if math.isnan(row["p_adjusted"]):
        return "not tested"
    parts = [grade_name(row["grade"], row["probe"])]
    if row["highest"] > row["grade"]:
        parts.append(f"{row['highest_heads']} has {grade_name(row['highest'], row['probe'])}")
    elif not row["grade"]:
        parts.append(f"verdict {verdict(row)}")
    return "; ".join(parts)


def verdict(row: Row) -> str:
    """Return the question's verdict with the leads that are excluded."""
    return answered(row["verdict"], row["excluded"])


def _briefly(row: Row) -> str:
    beside = f" beside {percent(row['strongest_accuracy'])} %" if row["strongest"] else ""
    grade, _, _ = grade_name(row["grade"]).partition(":")
    return f"{row['name']} on {row['corpus']}, {percent(row['accuracy'])} %{beside}, {grade}"


def effect_of(record: TargetRecord, row: Row) -> Row | None:
    """Return the effect that a row's head is told by: of the first behaviour its most telling measure, or None.

    The behaviours of the target come first. Of minimal pairs that is accuracy, on those with attractors if there are.
    """
    found = record.effects
    same = (found["target"] == row["target"]) & (found["model"] == row["model"]) & (found["name"] == row["name"])
    rows = found[same]
    told: list[Row] = rows[rows["behaviour"] == rows["behaviour"].iloc[0]].to_dict("records") if len(rows) else []
    return told[-1] if told else None


def scale_of(effect: Row) -> NumberScale:
    """Return how the costs of an effect are written."""
    return NumberScale.of(effect["unit"], effect["measure"])


def costs(effect: Row) -> bool:
    """Whether the head's cost is significant; of an embedding, whether it exceeds that of the median head."""
    return significance(effect) == "significant"


def significance(effect: Row) -> str:
    """Say whether a cost is significant, or a significant gain, at adjusted p < 0.05."""
    if math.isnan(effect["p_adjusted"]):
        return "not tested"
    if effect["p_adjusted"] >= LEVEL:
        return "not significant"
    return "significant" if effect["cost"] > 0 else "a significant gain"


def more_than_median(effect: Row) -> bool:
    """Whether the whole interval of the cost lies above the cost of the median head."""
    return bool(effect["ci_low"] > effect["median_cost"])


def effect_text(effect: Row | None, target: RoleTarget, record: TargetRecord) -> str:
    """Say what the model loses without the head, or that no run has measured it."""
    if effect is None:
        return "No run measured what the model loses without it."
    scale = scale_of(effect)
    cost = f"{scale.with_interval(effect['cost'], effect['ci_low'], effect['ci_high'])} {scale.unit}"
    why = _why_not(target, record, effect["model"])
    aside = "" if effect["own"] else f" No run measured a behaviour of {target.name} itself{why}."
    if str(effect["unit"]).startswith(COSINE):
        than = {"significant": "significantly more than", "not significant": "not significantly more than"}
        found = f"{than.get(significance(effect), significance(effect) + ' beside')} the median head of each text"
        return f"Its ablation moves the {behaviour_text(effect)} by {cost}, {found}.{aside}"
    median = f"the median head costs {scale.cost(effect['median_cost'])}"
    found = f"Its ablation costs {cost} in {behaviour_text(effect)}, {significance(effect)}; {median}."
    return f"{found}{beyond_damage(effect)}{below_chance(effect)}{aside}"


def beyond_damage(effect: Row) -> str:
    """Say whether a significant effect exceeds that of heads which damage any text half as much; else ""."""
    if not effect["own"] or not effect["p_adjusted"] < LEVEL or math.isnan(effect["damage"]):
        return ""
    if math.isnan(effect["damaging_cost"]):
        return " Too few heads do half as much damage to any text to say whether that is more than damage."
    scale, low, high = scale_of(effect), effect["damaging_low"], effect["damaging_high"]
    outside = "more than" if effect["cost"] > high else "less than" if effect["cost"] < low else "no more than"
    between = scale.with_interval(effect["damaging_cost"], low, high)
    others = f"the {effect['damaging']} heads cost that damage any text at least half as much"
    return f" That is {outside} {others} ({between})."


def below_chance(effect: Row) -> str:
    """Say that the intact model itself is no better than chance, where it is; else ""."""
    if effect["measure"] == VALUE or effect["intact"] > CHANCE:
        return ""
    intact = percent(effect["intact"])
    return f" But the intact model is correct in {intact} %, which is no better than chance: the effect says little."


def behaviour_text(effect: Row) -> str:
    """Return the behaviour, and the measure where it is not its value."""
    return str(effect["behaviour"]) if effect["measure"] == VALUE else f"{effect['behaviour']}, {effect['measure']}"


def not_measured(target: RoleTarget, record: TargetRecord, model: str) -> str:
    """Say which behaviours of a target no run of the model has measured."""
    known = ", ".join(record.behaviours.get(target.name, ()))
    why = _why_not(target, record, model)
    return f"no run measured a behaviour of {target.name}{f' ({known})' * bool(known)}{why}."


def _why_not(target: RoleTarget, record: TargetRecord, model: str) -> str:
    """Return what a model lacks for a behaviour of a role of language; "" where nothing, as far as is known."""
    if not target.of_language or model not in record.headless:
        return ""
    return f": that takes a masked-LM head, which {model} does not have"
