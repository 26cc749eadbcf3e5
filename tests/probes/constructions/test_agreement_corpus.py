from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mha.batches import Batch
from mha.causal.interventions import Attend
from mha.planted.heads import word_model
from probes import CorpusError
from probes.constructions.agreement_corpus import agreement_sentences
from probes.corpora.corpus import Corpus
from probes.evidence.planted import Knows, Planted, planted_changes
from probes.evidence.question import Effort
from probes.evidence.results import Split, add_verdicts, pooled_sums, score_table
from probes.evidence.statistics import VerdictRule
from probes.records import Document
from probes.scoring.score import Settings, learn_baselines, score_corpus
from probes.syntax.agreement import SubjectVerbAgreement

ANY, KNOWING = "attractor=any", (1, 2)


def test_an_unknown_set_and_one_that_is_not_there_are_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match="unknown set of agreement 'gramar'; did you mean 'grammar'"):
        list(agreement_sentences(["gramar"]))
    for name, folder in (("marvin-linzen", "marvin_linzen"), ("opensesame", "opensesame")):
        with pytest.raises(CorpusError, match=rf"'{name}' are not at .*; set HEADSCOPE_DATA to the folder .* {folder}"):
            list(agreement_sentences(["grammar", name], documents=1))


def test_sets_come_in_the_order_in_which_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    (tmp_path / "opensesame").mkdir()
    lines = "the ship can sink\t2\t0 1\t\nthe boat can sink\t2\t0 1\t\n"
    (tmp_path / "opensesame" / "agr.0.tsv").write_text(lines, "utf-8")
    found = [one.id for one in agreement_sentences(["opensesame", "grammar"], first=1, documents=1, seed=3)]
    assert found[0] == "open-sesame: simple: ship"
    assert all(name.startswith("grammar: ") for name in found[1:])
    assert found[1:] == [one.id for one in agreement_sentences(["grammar"], documents=1, seed=3)] != []


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Return the report rows of a model of which one head knows subjects, and rivals' answers, by label and head."""
    probe, question = SubjectVerbAgreement(), ("agreement", "verb->subject", "all")
    corpora = [Corpus.of(agreement_sentences(["grammar"], documents=30, seed=seed)) for seed in (1, 2)]
    words = {word for corpus in corpora for document in corpus.stream() for word in document.words}
    model = word_model(words, layers=2, heads=3, head_dim=8, positions=62, seed=0)
    baselines = learn_baselines(corpora[0].sentences(), [probe], (*probe.baselines, *probe.rules), lexical=False)
    planted: Planted = {KNOWING: Knows(question, 0.95)}

    def changes(documents: Sequence[Document], batch: Batch) -> Sequence[Attend]:
        return planted_changes(planted, documents, batch)

    outcomes = [
        score_corpus(model, corpus.sentences(), [probe], baselines, Settings(), changes=changes) for corpus in corpora
    ]
    splits = [Split(*pooled_sums(outcome, [probe])) for outcome in outcomes]
    scores = add_verdicts(score_table(*splits, shape=(2, 3), effort=Effort(20, 1999)), VerdictRule())
    scores = scores[(scores.split == "report") & (scores.variant == "verb->subject")]
    for name, of_questions in splits[1].baselines.items():
        right = {key[1:]: float(sums.hits.sum() / sums.n.sum()) for key, sums in of_questions.items()}
        scores[name] = [right.get(key, np.nan) for key in zip(scores.variant, scores.label, strict=True)]
    return scores.set_index(["label", "layer", "head"])


def test_the_head_that_knows_subjects_is_the_best_over_attractors_of_all_constructions(rows: pd.DataFrame) -> None:
    of_any = rows.loc[ANY]
    assert of_any.accuracy.idxmax() == KNOWING
    assert of_any.accuracy[KNOWING] > 0.88
    assert of_any.grade[of_any.grade > 0].index.tolist() == [KNOWING]


def test_neither_the_first_noun_nor_the_nearest_one_is_always_right_over_all_attractors(rows: pd.DataFrame) -> None:
    for rule in ("first noun or pronoun", "nearest noun or pronoun"):
        assert rows.loc[ANY][rule].between(0.2, 0.8).all()


def test_the_items_of_all_constructions_together_are_all_items(rows: pd.DataFrame) -> None:
    counts = rows.xs(KNOWING, level=("layer", "head")).n
    assert counts[counts.index.str.startswith("construction=")].sum() == counts["all"]
    assert counts["attractor=before"] + counts[["attractors=1", "attractors>=2"]].sum() >= counts[ANY]
    assert counts[ANY] > counts["attractor=before"]


@pytest.mark.usefixtures("data_folder")
def test_the_real_sets_have_a_thousand_items_with_attractors_of_at_least_five_constructions() -> None:
    probe, found = SubjectVerbAgreement(), Counter[str]()
    for document in agreement_sentences(["marvin-linzen", "opensesame"], first=150):
        (label,) = probe.targets(document)["verb->subject"].label
        if ANY in probe.pool(label):
            found[document.sentences[0].kind] += 1
    assert found.total() >= 1000
    assert len([kind for kind, count in found.items() if count >= 100]) >= 5
