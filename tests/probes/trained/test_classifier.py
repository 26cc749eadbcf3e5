from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor, nn

import probes.trained.classifier as classifier
from mha import Batch, Model
from probes import Document, Sentence, Settings, get_probe
from probes.corpora.corpus import MemoryTexts
from probes.scoring import score
from probes.trained.classifier import HeadClassifiers, fit_classifiers, logistic_regressions

MODELS = 5


def examples(count: int, apart: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    right = (random.random(count) < 0.3).astype(float)
    features = random.standard_normal((MODELS, 2, count)) * 10.0 ** random.integers(-2, 3, (MODELS, 2, 1))
    features[:, 0] += apart * right
    return features, right


@pytest.mark.parametrize(("count", "apart"), [(4, 0), (40, 0), (400, 1), (400, 10)])
def test_slopes_and_intercepts_are_those_of_scikit_learn(count: int, apart: float) -> None:
    features, right = examples(count, apart)
    right[:2] = 0, 1
    slopes, intercepts = logistic_regressions(features, right)
    for one, slope, intercept in zip(features, slopes, intercepts, strict=True):
        theirs = LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(one.T, right)
        assert slope == pytest.approx(theirs.coef_[0], rel=1e-4, abs=1e-6)
        assert intercept == pytest.approx(theirs.intercept_[0], rel=1e-4, abs=1e-5)


DEPENDENCY, COREFERENCE = get_probe("dependency"), get_probe("coreference")
LENGTH, LETTERS = 12, "abcdefghijklmnopqrstuvwxyz"
GOLD, UNIFORM, PREVIOUS, BACKWARDS = range(4)
"The planted heads."


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Model:
    """A model whose words say where their syntactic head is ("k7"), and whose heads have known roles."""
    forms = ["[CLS]", "[SEP]", *(f"{letter}{head}" for head in range(LENGTH) for letter in LETTERS)]
    tokenizer = Tokenizer(models.WordLevel({form: i for i, form in enumerate(forms)}, unk_token="[SEP]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
    )

    def stream(model: Model, batch: Batch, see: Callable[[int, Tensor], None], *, maps: str) -> None:
        head = (batch.ids[:, 1:-1] - 2) // len(LETTERS)
        planted = torch.full((len(head), 4, LENGTH, LENGTH + 2), 1 / (LENGTH + 2))
        words = torch.arange(LENGTH)
        planted[:, [GOLD, PREVIOUS, BACKWARDS]] = 0
        planted[:, GOLD].scatter_(2, head[..., None], 1.0)
        planted[:, PREVIOUS, words, (words - 1).clip(min=0)] = 1
        planted[:, BACKWARDS, :, :LENGTH] = planted[:, GOLD, :, :LENGTH].transpose(1, 2)
        see(0, planted)

    monkeypatch.setattr(score, "stream_maps", stream)
    return Model("planted", "pretrained", "none", nn.Identity(), tokenizer, 1, 4, 64, 0, "")


def toy(seed: int, documents: int = 15) -> MemoryTexts:
    """Texts of 12 words, each with a random head that its form names; they need not be trees."""
    random = np.random.default_rng(seed)
    texts = []
    for number in range(documents):
        heads = (np.arange(LENGTH) + random.integers(1, LENGTH, LENGTH)) % LENGTH
        words = tuple(f"{random.choice(list(LETTERS))}{head}" for head in heads)
        labels = tuple(str(label) for label in random.choice(["obj", "nsubj", "nsubj:pass"], LENGTH))
        texts.append(Document(f"d{number}", (Sentence(f"s{number}", words, heads, labels),)))
    return MemoryTexts(texts)


def fit(model: Model, select: MemoryTexts, report: MemoryTexts, **changes: Any) -> pd.DataFrame:
    options: dict[str, Any] = {"pairs": 500, "replicates": 50, "seed": 0, **changes}
    probes = options.pop("probes", [DEPENDENCY])
    return fit_classifiers(model, select, report, probes, Settings(), **options)


def row(scores: pd.DataFrame, label: str, head: int, split: str = "report") -> Any:
    (found,) = scores[(scores.label == label) & (scores["head"] == head) & (scores.split == split)].itertuples()
    return found


def test_a_head_that_attends_to_gold_is_always_right_and_selective(planted: Model) -> None:
    scores = fit(planted, toy(0), toy(1))
    for head in (GOLD, BACKWARDS):
        found = row(scores, "all", head)
        assert (found.accuracy, found.ci_low, found.ci_high) == (1, 1, 1)
        assert 0.4 < found.baseline_accuracy < 0.7
        assert found.margin == found.accuracy - found.baseline_accuracy > 0.3
        assert found.margin_low < found.margin < found.margin_high
    assert scores[scores.selected & (scores.label == "all")]["head"].tolist() == [GOLD, GOLD]


def test_a_head_that_knows_only_distance_is_not_selective(planted: Model) -> None:
    """Where all gold keys are the previous word, so are those of the control task."""
    random = np.random.default_rng(0)
    heads, labels = np.maximum(np.arange(LENGTH) - 1, -1), ("root", *("obj",) * (LENGTH - 1))
    texts = []
    for number in range(10):
        words = tuple(f"{random.choice(list(LETTERS))}{max(head, 0)}" for head in heads)
        texts.append(Document(f"d{number}", (Sentence("s", words, heads, labels),)))
    found = row(fit(planted, MemoryTexts(texts), MemoryTexts(texts)), "obj", PREVIOUS)
    assert (found.accuracy, found.baseline_accuracy, found.margin) == (1, 1, 0)


def test_a_label_with_few_arcs_on_either_split_is_missing(planted: Model) -> None:
    scores = fit(planted, toy(0), toy(1, documents=3))
    counts = {label: sum(text.deprels.count(label) for text in toy(1, 3).take(range(3))) for label in ("obj", "nsubj")}
    assert max(counts.values()) < classifier.FEWEST < 3 * LENGTH
    assert set(scores[scores.label == "obj"].n) == {0}
    assert scores[scores.label == "obj"].accuracy.isna().all()
    assert not scores[scores.label == "obj"].selected.any()
    assert row(scores, "all", GOLD).n == 2 * 3 * LENGTH


def test_order_of_sentences_changes_nothing(model: Model, random_documents: Callable[..., list[Document]]) -> None:
    corpora = [random_documents(30, seed=seed) for seed in (0, 1)]
    sides = [[text for document in corpus for text in document.split_sentences()] for corpus in corpora]
    sides = [texts + texts[:9] for texts in sides]
    shuffled = [[texts[i] for i in np.random.default_rng(2).permutation(len(texts))] for texts in sides]
    options = {"pairs": 40, "probes": [DEPENDENCY, COREFERENCE]}
    scores = fit(model, MemoryTexts(sides[0]), MemoryTexts(sides[1]), **options)
    pd.testing.assert_frame_equal(
        scores, fit(model, MemoryTexts(shuffled[0]), MemoryTexts(shuffled[1]), **options), check_exact=True
    )


def test_nothing_of_the_report_split_is_used_in_fitting(planted: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[Any] = []
    real = HeadClassifiers.fit
    monkeypatch.setattr(HeadClassifiers, "fit", lambda values: fitted.append(values) or real(values))
    scores, other = (fit(planted, toy(0), toy(seed), pairs=100) for seed in (1, 2))
    half = len(fitted) // 2
    for one, same in zip(fitted[:half], fitted[half:], strict=True):
        np.testing.assert_array_equal(one, same)
    selected = [frame[frame.split == "select"].reset_index(drop=True) for frame in (scores, other)]
    pd.testing.assert_frame_equal(selected[0], selected[1], check_exact=True)
    assert not scores.equals(other)


def test_classifiers_are_scikit_learns() -> None:
    random = np.random.default_rng(0)
    related = np.tile([True, False], 150)
    values = random.exponential(size=(300, 3, 2)) * 0.02 * (1 + related[:, None, None] * [[0.5, 1], [0, 2], [1, 0]])
    ours, unseen = HeadClassifiers.fit(values), random.exponential(size=(200, 3, 2)) * 0.03
    called = ours.predict(unseen)
    for head in range(3):
        regression = LogisticRegression(solver="newton-cholesky", tol=1e-10)
        theirs = make_pipeline(StandardScaler(), regression).fit(values[:, head], related)
        np.testing.assert_allclose(ours.slope[head], regression.coef_[0], rtol=1e-6)
        np.testing.assert_array_equal(called[:, head], theirs.predict(unseen[:, head]))


def test_pairs_are_coded_online_where_that_is_asked(planted: Model) -> None:
    plain, coded = fit(planted, toy(0), toy(1)), fit(planted, toy(0), toy(1), codelength=True)
    assert list(coded.columns) == [*plain.columns, *classifier.CODING]
    pd.testing.assert_frame_equal(coded[plain.columns], plain, check_exact=True)
    gold, uniform = (row(coded, "all", head) for head in (GOLD, UNIFORM))
    assert gold.compression > 2 > gold.control_compression
    assert uniform.compression == pytest.approx(1, abs=1e-6), "without any information each answer costs its bit"
    for found in (gold, uniform):
        assert found.codelength == pytest.approx(2 * 15 * LENGTH / found.compression)


def test_the_bits_of_pairs_are_those_of_classifiers_fitted_block_by_block() -> None:
    random = np.random.default_rng(0)
    values = random.random((12, 2, 3, 2)) + np.array([0.3, 0.0])[:, None, None]
    bits = classifier._bits(values, [4, 12])
    for head in range(3):
        learned = values[:4, :, head].reshape(-1, 2)
        theirs = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-10))
        p = theirs.fit(learned, np.tile([1, 0], 4)).predict_proba(values[4:, :, head].reshape(-1, 2))
        right = (8 * p[np.arange(16), np.tile([1, 0], 8)] + 1 / 2) / 9
        assert bits[head] == pytest.approx(8 - np.log2(right).sum(), rel=1e-5)
