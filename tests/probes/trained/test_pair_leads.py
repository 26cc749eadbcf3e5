"""A head whose attention marks the subject is found, and led by nothing that does not know it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from mha import Model, collate
from mha.models.maps import stream_maps
from probes import Document, Sentence, Settings
from probes.corpora.corpus import MemoryTexts
from probes.records import frozen_ints
from probes.scoring.aligned import Aligned
from probes.trained.pair_attention import attention_between
from probes.trained.pair_leads import Attention, PairProbing, pair_table
from probes.trained.probing import Probing
from probes.trained.tasks import PAIR_TASKS, RIGHT

pytestmark = pytest.mark.slow

AGREEMENT = [task for task in PAIR_TASKS if task.name == "agreement"]
PLANTED = 4
"A head of the second layer whose attention marks right pairs."


def clauses(seed: int, documents: int = 30) -> MemoryTexts:
    """Documents of clauses of five nouns and a verb; any noun may be the subject, whatever its form and place."""
    random, texts = np.random.default_rng(seed), []
    for number in range(8 * documents):
        verb, subject = random.choice(6, 2, replace=False)
        forms = tuple(str(form) for form in random.choice(["the", "old", "ship", "dog", "port", "saw"], 6))
        heads = frozen_ints([-1 if i == verb else verb for i in range(6)])
        labels = tuple("root" if i == verb else "nsubj" if i == subject else "obl" for i in range(6))
        tags = tuple("VERB" if i == verb else "NOUN" for i in range(6))
        feats = tuple("Number=Sing|Tense=Pres|VerbForm=Fin" if i == verb else "Number=Sing" for i in range(6))
        texts.append(Document(f"d{number // 8:02}", (Sentence(f"s{number}", forms, heads, labels, tags, feats),)))
    return MemoryTexts(texts)


@pytest.fixture
def pairs(model: Model) -> PairProbing:
    """Agreement, where one head's attention is higher between right pairs 9 times in 10, and all others are noise."""
    probing = Probing.of(model, (clauses(0), clauses(1)), AGREEMENT, Settings(), most=200, seed=0)
    return PairProbing(probing, {"agreement": (attention(probing, 0), attention(probing, 1))})


def attention(probing: Probing, split: int, rate: float = 0.9) -> Attention:
    """Return attention values of 6 heads, the planted one right as often as `rate`."""
    (posed,) = probing.posed
    side, random = (posed.select, posed.report)[split], np.random.default_rng(split)
    values = random.normal(size=(len(side.clusters), 6, 2)).astype(np.float32)
    right = side.labels[0] == posed.labels.index(RIGHT)
    values[:, PLANTED, 0] = right == (random.random(len(right)) < rate)
    return values


def table_of(pairs: PairProbing, fresh: PairProbing | None, model: Model) -> pd.DataFrame:
    """Return the table, with `features` and `head` as its index."""
    scores, others = (one and one.judge(1, lambda: None) for one in (pairs, fresh))
    assert scores is not None
    found = pair_table(pairs, scores, others, model=model, replicates=20, seed=0)
    return found.assign(number=found.groupby("features").cumcount()).set_index(["features", "number"])


def test_a_planted_head_leads_the_embedding_and_no_other_does(pairs: PairProbing, model: Model) -> None:
    table = table_of(pairs, None, model)
    planted, others = table.loc["attention", PLANTED], table.drop(("attention", PLANTED))
    assert (planted["name"], planted.selected, planted.n) == ("2-2", True, 200)
    assert 0.83 < planted.accuracy < 0.96
    assert planted.embedding_p < 1e-4
    assert planted.embedding_lead_low > 0.2
    assert (others.embedding_p > 0.05).all()
    assert not others.loc["attention"].selected.any()
    assert others.loc["outputs"].selected.sum() == 1
    assert table.random_p.isna().all()
    assert planted.margin_low > 0.2, "the control task goes by the verb's form"


def test_a_head_is_held_against_the_one_in_its_own_place(pairs: PairProbing, model: Model) -> None:
    """With random weights the planted head is at chance in its place, and what it knows stands in another place."""
    moved = {name: (one[:, ::-1], other[:, ::-1]) for name, (one, other) in pairs.attention.items()}
    table = table_of(pairs, replace(pairs, attention=moved), model).loc["attention"]
    assert table.random_p[PLANTED] < 1e-4
    np.testing.assert_allclose(table.random_accuracy, table.accuracy[::-1])
    np.testing.assert_allclose(table.random_lead, table.accuracy - table.random_accuracy)
    assert table.random_lead[5 - PLANTED] < -0.2
    assert table.random_p[5 - PLANTED] == 1
    assert (table.random_accuracy.max(), table.random_together_accuracy[0]) == pytest.approx(
        (table.accuracy[PLANTED], table.together_accuracy[0]), abs=0.02
    )
    same = table_of(pairs, pairs, model)
    assert (same.random_lead == 0).all()
    assert (same.random_p > 0.3).all()


def test_attention_between_words_is_that_of_each_text_read_alone(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    aligned = Aligned.of(model, MemoryTexts(random_documents(12)))
    random, cells = np.random.default_rng(0), []
    for number in random.integers(len(aligned.kept), size=30):
        cells.append([[number, word] for word in random.integers(aligned.pieces[number].words, size=2)])
    cells += cells[:3]
    found = attention_between(model, aligned, np.array(cells), Settings(batch_pieces=64))
    for values, ((number, first), (_, second)) in zip(found, cells, strict=True):
        maps: list[Tensor] = []
        stream_maps(model, collate([aligned.pieces[number]]), lambda layer, seen, kept=maps: kept.append(seen[0]))
        alone = torch.cat(maps)
        np.testing.assert_allclose(values[:, 0], alone[:, first, second], atol=1e-5)
        np.testing.assert_allclose(values[:, 1], alone[:, second, first], atol=1e-5)
