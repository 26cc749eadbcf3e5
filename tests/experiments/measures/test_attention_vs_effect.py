"""What heads look at beside what they cost, as a part of a run."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from experiments.measures.attention_vs_effect import HEADS_COMPARED, AttentionVsEffectMeasure
from reports import Run
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts
from reports.tables.effects import ATTENTION_VERDICTS
from tests.experiments.measures.conftest import told
from tests.experiments.measures.pages import ONE_RUN, of_heads

ASKED = ('probes.names=["position"]', 'ablation.behaviours=["embedding"]', "ablation.items=20")


def test_costs_and_scores_of_the_run_stand_beside_each_other(scored: Callable[..., Run]) -> None:
    linked = scored(*ASKED, 'importance.behaviours=["embedding"]', "importance.items=20")
    table = linked.tables["attention_vs_effect"].set_index("name")
    assert set(table.behaviour) == {"sentence embedding"}
    assert set(table.variant) == {"other words"}
    assert len(table) == linked.layers * linked.heads
    ablations = linked.tables["ablations"]
    single = ablations[(ablations.kind == "head") & (ablations.measure == "value")].set_index("name")
    pd.testing.assert_series_equal(table.cost, single.cost.loc[table.index], check_names=False)
    scores = linked.scores
    own = scores[(scores.split == "report") & (scores.probe == "position") & (scores.label == "previous")].set_index(
        "name"
    )
    pd.testing.assert_series_equal(table.accuracy, own.accuracy.loc[table.index], check_names=False)
    assert (table.attends == (own.grade.loc[table.index] > 0)).all()
    importance = linked.tables["importance"].set_index("name").importance
    pd.testing.assert_series_equal(table.importance, importance.loc[table.index], check_names=False)
    assert (table.write_norm > 0).all()
    assert set(table.verdict) <= set(ATTENTION_VERDICTS)
    assert table.patching.isna().all()


ROLE = {**ONE_RUN, "behaviour": "pairs", "probe": "agreement", "label": "all", "variant": "verb->subject"}


def rows() -> pd.DataFrame:
    """One head a verdict; the later, the costlier."""
    verdicts = pd.Series([*(ATTENTION_VERDICTS[place] for place in (1, 0, 2, 3, 4)), ""])
    cost = np.arange(6) / 10 - 0.1
    told = {"n": 50, "accuracy": 0.5, "cost": cost, "cost_low": cost - 0.1, "cost_high": cost + 0.1}
    told |= {"transfer": 0.5, "transfer_low": 0.25, "transfer_high": 1.0, "patching": -0.005}
    attends, effect = verdicts.str.startswith("attends"), verdicts.isin([ATTENTION_VERDICTS[0], ATTENTION_VERDICTS[2]])
    return of_heads(HEADS_COMPARED, 3, 2, **ROLE, **told, verdict=verdicts, attends=attends, has_effect=effect)[:5]


def correlations() -> pd.DataFrame:
    pairs = {"one": ["accuracy", "mass", "accuracy"], "other": ["cost", "write_norm", "importance"]}
    numbers = {"rho": [0.4, 0.1, -0.2], "low": [0.1, -0.3, np.nan], "high": [0.6, 0.4, np.nan]}
    return pd.DataFrame({**pairs, **numbers}).assign(heads=5, **ROLE)


def test_heads_that_attend_stand_before_those_with_an_effect_and_these_before_the_rest(
    measured: Callable[..., Run],
) -> None:
    run = measured(attention_vs_effect=rows(), attention_vs_effect_correlations=correlations())
    text = told(AttentionVsEffectMeasure, run)
    assert [line[2:5] for line in text.splitlines() if line[:3] in ("| 1", "| 2", "| 3")][:5] == [
        *("1-2", "1-1", "2-1", "3-1", "2-2")
    ]
    assert "| 1-2 | 1-1 | 2-1 | 1, and 1 not known |" in text
    assert "[0.250, 1.00]" in text
    (said,) = AttentionVsEffectMeasure.effects(run, Verdicts(RunThresholds(), ()))
    assert said == (
        "Over 1 role (a label and direction with its behaviour; a head counts once for each) heads attend in 2 "
        "head–role pairs; in 1 of these ablating the head has a significant effect. In 1 pair it has one although the "
        "head does not attend."
    )
    (charts,) = (block.charts for block in AttentionVsEffectMeasure.page(run) if hasattr(block, "charts"))
    assert len(charts[0].spec["data"]["values"]) == len(ATTENTION_VERDICTS)


def test_correlations_with_cost_are_told_and_those_of_attention_alone_are_not(measured: Callable[..., Run]) -> None:
    early, late = (correlations().assign(step=step, rho=rho) for step, rho in ((100, 0.9), (200, 0.3)))
    both = {
        "attention_vs_effect": [rows().assign(step=100), rows().assign(step=200)],
        "attention_vs_effect_correlations": [early, late],
    }
    text = told(AttentionVsEffectMeasure, measured(**{name: pd.concat(parts) for name, parts in both.items()}))
    assert "ccuracy in the role and cost of ablation |" in text
    assert "| 0.30 [0.10, 0.60] | 0.30 |" in text, "of the last step"
    assert "ttention to the correct word" not in text
    assert "Agreement of measures" not in told(
        AttentionVsEffectMeasure, measured(attention_vs_effect=rows(), attention_vs_effect_correlations=early.iloc[:0])
    )
