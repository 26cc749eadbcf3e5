"""Whether heads have causal effects, in sentences: what measures say of a run, or that it measured none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reports.measures.registry import measures
from reports.run.folder import RunFolder
from reports.scores.verdicts import Verdicts

UNMEASURED: Final = (
    "This run did not measure causal effects. A head that attends to the correct word need not be used by the model; "
    "testing that needs an intervention, such as ablation. To ablate heads, set [ablation] behaviours in the config: "
    '["embedding"] for any model, ["loss", "grammar"] for one that predicts masked words.'
)


def mattering(run: RunFolder, verdicts: Verdicts) -> Iterator[str]:
    """Yield what measures found of the consequences of heads; or that nothing was asked."""
    yield from [one for measure in measures() for one in measure.effects(run, verdicts)] or [UNMEASURED]


def lost_without(name: str, run: RunFolder) -> str:
    """Say what the model loses without a head, as the first measure says that knows; "" where none does."""
    return next((told for measure in measures() if (told := measure.without(run, name))), "")
