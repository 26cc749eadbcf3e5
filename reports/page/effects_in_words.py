"""Whether heads have causal effects, in sentences: what a run measured by ablation, or that it did not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reports.measures.registry import measures
from reports.run.folder import RunFolder
from reports.scores.verdicts import Verdicts
from reports.studies.ablation.costs import LEVEL, Costs
from reports.studies.ablation.section import Ablations, Contrast
from reports.studies.gating.section import Gating
from reports.studies.link.section import Linked
from reports.studies.patching.section import Patched

SHOWN: Final = 3
"Comparisons with random heads that the first screen tells in full."

UNMEASURED: Final = (
    "This run did not measure causal effects. A head that attends to the correct word need not be used by the model; "
    "testing that needs an intervention, such as ablation. To ablate heads, set [ablation] behaviours in the config: "
    '["embedding"] for any model, ["loss", "grammar"] for one that predicts masked words.'
)


def mattering(run: RunFolder, contents: Mapping[str, Any], verdicts: Verdicts, heads: int) -> Iterator[str]:
    """Yield what sections found of the consequences of heads, so many of which there are; or that nothing was asked."""
    ablation, gating, link = contents.get("ablation"), contents.get("gating"), contents.get("link")
    sentences = [*_contrasts(ablation), *_linked(link), *_important(gating, verdicts, heads)]
    sentences += _patched(contents.get("patching"))
    sentences += [one for measure in measures() for one in measure.effects(run, verdicts)]
    yield from sentences or (_single(ablation) if ablation else [UNMEASURED])


def lost_without(name: str, run: RunFolder, contents: Mapping[str, Any]) -> str:
    """Say what the first behaviour of an ablation loses without a head; "" where that was not measured."""
    if told := next((told for measure in measures() if (told := measure.without(run, name))), ""):
        return told
    ablation: Ablations | None = contents.get("ablation")
    if ablation is None:
        return ""
    costs = ablation.behaviours[0].first
    rows = costs.heads[costs.heads["name"] == name]
    if rows.empty:
        return ""
    return f"Ablated alone, it {_effect(costs, rows.iloc[0])}."


def _effect(costs: Costs, row: Any) -> str:
    """Say what one head costs, and whether surely."""
    told, sure = f"{costs.with_interval(row)} {costs.scale.unit}", row["p_adjusted"] < LEVEL
    if costs.distance:
        more = (
            "significantly more than the median head does"
            if sure
            else "not significantly more than the median head does"
        )
        return f"moves the {costs.title} by {told}, {more}"
    if not sure:
        return f"does not significantly change the result on {costs.title} (cost {told})"
    return f"significantly {'worsens' if row['cost'] > 0 else 'improves'} the result on {costs.title} (cost {told})"


def _contrasts(ablation: Ablations | None) -> Iterator[str]:
    """Yield how often chosen heads cost more than random ones, and the first such comparisons."""
    held = [] if ablation is None else [one for one in ablation.contrasts if one.costs.way == ablation.every[0].way]
    if not held:
        return
    more = sum(one.more for one in held)
    several = "; several may be measures of one ablation" * (len(held) > 1)
    yield (
        "Ablated together, the heads of a label cost significantly more than as many random heads of the same layers "
        f"in {more} of {len(held)} comparison{'s' * (len(held) > 1)} (p < 0.05, not corrected{several})."
    )
    for one in held[:SHOWN]:
        yield _contrast(one)
    if len(held) > SHOWN:
        yield f"The other {len(held) - SHOWN} comparisons are in the section Ablation."


def _contrast(one: Contrast) -> str:
    costs, row = one.costs, one.row
    heads = len(row["heads"].split())
    return (
        f"{costs.title}: ablating {'the head' if heads == 1 else f'the {heads} heads'} of {row['name']} "
        f"{'moves it by' if costs.distance else 'costs'} {costs.scale.cost(row['cost'])} {costs.scale.unit}, random "
        f"heads {costs.scale.cost(row['random_cost'])}; difference {one.cells[2]}."
    )


def _single(ablation: Ablations) -> Iterator[str]:
    """Yield how many single heads cost something, where no chosen heads were held against random ones."""
    for one in ablation.behaviours:
        yield f"{one.first.title}: {one.summary}"


def _linked(link: Linked | None) -> Iterator[str]:
    if link is not None:
        yield link.summary


def _important(gating: Gating | None, verdicts: Verdicts, heads: int) -> Iterator[str]:
    """Yield how many of the heads with the largest gradient importance are specialised in a role of language."""
    ranked = [(one.behaviour, [name for name, *_ in one.heads]) for one in gating.importance] if gating else []
    specialised = verdicts.specialised
    if ranked and not verdicts.tests_language:
        yield "Gradient importance was measured; no role of language was tested, so no head can be specialised in one."
    elif ranked:
        known = [f"{sum(name in specialised for name in top)} of {len(top)} ({behaviour})" for behaviour, top in ranked]
        yield (
            "Heads with the largest gradient importance that are specialised in a role of language: "
            f"{', '.join(known)}; of all heads {len(specialised)} of {heads}."
        )


def _patched(patching: Patched | None) -> Iterator[str]:
    """Yield how many heads bring an answer back that a corrupted sentence has lost."""
    if patching is None:
        return
    cells = [cell for row in patching.cells for cell in row]
    gains = sum(cell.significant and cell.share > 0 for cell in cells)
    yield (
        f"Patched from a sentence whose subject has the other number, {gains} of {len(cells)} heads, each alone, "
        "restore a significant part of the preference for the correct verb form."
    )
