"""What roles explain in a run: the table of heads, and precision and lift in the scores of the report split."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.inputs.corpora import open_corpora
from experiments.measures.explained import ExplainedMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from mha import load_model
from probes import get_probe
from probes.evidence.results import add_verdicts
from probes.evidence.statistics import VerdictRule
from probes.maps.relation_attention import RelationAttention
from probes.scoring.score import Settings, score_corpus
from reports import Run
from reports.heads.card_parts import CardSource

pytestmark = pytest.mark.slow

ROLES = {
    "1-1": [("dependency", "dependent->head", "det", 2), ("position", "other words", "next", 3)],
    "1-2": [("dependency", "head<-dependent", "all", 1), ("dependency", "dependent->head", "det", 1)],
    "2-1": [("position", "all tokens", "[SEP]", 1)],
}
"Name of a head -> probe, variant and label of its roles, and the grade in each."


@pytest.fixture(scope="module")
def graded(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run whose heads have these roles, with one control of random weights."""
    grades = {(name, *role[:3]): role[3] for name, roles in ROLES.items() for role in roles}

    def add_grades(scores: pd.DataFrame, rule: VerdictRule) -> pd.DataFrame:
        scores = add_verdicts(scores, rule)
        asked = zip(*(scores[column] for column in ("name", "probe", "variant", "label")), strict=True)
        return scores.assign(grade=[grades.get(one, 0) for one in asked] * (scores["split"] == "report"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.run.context.add_verdicts", add_grades)
        config = load_config(base, ("controls.random=2",))
        return Run.open(run(config, tmp_path_factory.mktemp("graded"), page=False))


def test_roles_are_the_questions_in_which_a_head_has_a_grade(graded: Run) -> None:
    heads = graded.tables["heads"].set_index("name")
    assert heads["roles"].to_dict() == {"1-1": 2, "1-2": 1, "2-1": 1, "2-2": 0}, "all pools other labels"
    assert heads["grade"].to_dict() == {"1-1": 2, "1-2": 1, "2-1": 0, "2-2": 0}, "that of position does not count"
    assert set(heads["scope"]) == {"sentence"}


def test_roles_explain_attention_on_their_pairs_of_heads_and_of_random_weights(graded: Run) -> None:
    heads = graded.tables["heads"].set_index("name")
    for column in ("explained", "explained_random"):
        assert heads[column].between(0.01, 0.99).to_dict() == {"1-1": True, "1-2": True, "2-1": False, "2-2": False}
        assert (heads.loc[["2-1", "2-2"], column] == 0).all(), "no role, and one of a special token"
    assert not np.isclose(heads["explained"], heads["explained_random"])[:2].any()
    assert heads["between"].between(0.01, 0.99).all()
    np.testing.assert_allclose(np.ravel(next(ExplainedMeasure.maps(graded)).values), 100 * heads["explained"])
    cards = {name: ExplainedMeasure.card(CardSource(graded), name) for name in ("1-1", "2-2")}
    assert ["its roles explain" in card.sentences[0] for card in cards.values() if card] == [True, False]


def test_what_stands_beside_it_is_the_first_control_on_the_report_split(base: Path, graded: Run) -> None:
    config = load_config(base)
    probes, model = [get_probe(name) for name in config.probes.names], load_model(config.model.name, "random", 0)
    random = RelationAttention(model.layers, model.heads, probes)
    score_corpus(model, open_corpora(config)[1].sentences(), probes, {}, Settings(), observers=[random])
    roles = [[role[:3] for role in ROLES.get(name, [])] for name in ("1-1", "1-2", "2-1", "2-2")]
    np.testing.assert_allclose(graded.tables["heads"]["explained_random"], random.explained(roles), rtol=1e-6)


def test_scores_of_the_report_split_have_precision_and_lift(scored: Callable[..., Run]) -> None:
    scores = scored().scores
    select, report = (scores[scores["split"] == split] for split in ("select", "report"))
    assert select[["precision", "lift"]].isna().all(axis=None)
    words = report[(report["probe"] == "dependency") & (report["n"] > 0)]
    assert words["precision"].between(0, 1).all()
    assert (words["lift"] > 0).all()
    assert 0.2 < words["lift"].median() < 5
    special = report[report["label"].isin(["[CLS]", "[SEP]", "same", "broad"])]
    assert len(special)
    assert special[["precision", "lift"]].isna().all(axis=None)
