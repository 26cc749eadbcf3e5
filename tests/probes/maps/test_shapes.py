"""The shape of maps: against loops in double precision, and as a table from sums that are known."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import torch

from mha import Model, align
from mha.batches import Batch, collate
from mha.hooks import record
from mha.models.maps import merge
from mha.pieces import CLS, SEP, Pieces
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.evidence.question import Effort
from probes.maps.cells import OFFSETS
from probes.maps.shapes import MEASURES, PAIRED, Shapes, add_adjusted, shape_table
from probes.records import Document, Sentence
from probes.scoring.aligned import cut_texts
from probes.scoring.score import Settings, score_corpus
from tests.probes.text_pairs import reordered, text_pair

ROWS = "the DET 2 det _\nship NOUN 3 nsubj _\nsank VERB 0 root _\n. PUNCT 3 punct _"

Shape = dict[tuple[str, str], float]

LOCAL = MEASURES.index(("sieve", "local"))
EFFORT = Effort(replicates=200, seed=0)


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]], tree: Callable[..., Sentence]) -> Texts:
    """Windows of one to three sentences, with words of up to three pieces, and a text with punctuation."""
    marked = Document("marked", (tree(ROWS, name="marked-1"),))
    alone = [one for document in random_documents(4, seed=3, longest=10) for one in document.split_sentences()]
    return Corpus.of([*random_documents(8), *alone, marked, *reordered(3, seed=0)]).windows(14)


def observed(model: Model, texts: Texts, **settings: int) -> Shapes:
    shapes = Shapes(model, texts.ids())
    score_corpus(model, texts, [get_probe("dependency")], {}, Settings(**settings), observers=[shapes])
    return shapes


def measured(pattern: np.ndarray, cut: Pieces, document: Document, signs: set[int]) -> Shape:
    """Everything but the classes of one text and head by loops, straight from the definitions."""
    size, owner = len(cut), cut.word.tolist()
    tokens, words = range(size), [place for place in range(size) if owner[place] >= 0]
    ends, count = [place for place in range(size) if owner[place] == SEP], len(document)
    start = [place for place in range(size) if owner[place] == CLS]
    smooth = 0.9999 * pattern + 0.0001 / size
    entropy = -(smooth * np.log(smooth)).sum(1)

    def given(rows: Sequence[int], keys: Sequence[int]) -> float:
        return float(np.mean([sum(pattern[row, key] for key in keys) for row in rows]))

    def word_to_word(query: int, key: int) -> float:
        pieces = [place for place in tokens if owner[place] == query]
        return float(np.mean([sum(pattern[row, k] for k in tokens if owner[k] == key) for row in pieces]))

    def sieve(rows: Sequence[int], keys: Callable[[int], list[int]], weight: Callable[[int], float] = lambda _: 1.0):
        scores = [size * weight(row) * np.mean([pattern[row, key] for key in keys(row)]) for row in rows if keys(row)]
        return float(np.mean(scores)) if scores else math.nan

    found: Shape = {
        ("entropy", "all tokens"): float(entropy.mean()),
        ("entropy", "[CLS]"): float(entropy[0]),
        ("confidence", "without [SEP]"): float(
            np.mean([max(pattern[r, k] for k in tokens if k not in ends) for r in words])
        ),
        ("attention", "[CLS]"): given(tokens, start),
        ("attention", "[SEP]"): given(tokens, ends),
        ("attention", "[SEP] from [SEP]"): given(ends, ends),
        ("attention", "[SEP] from others"): given([place for place in tokens if place not in ends], ends),
        ("attention", "period or comma"): given(tokens, [place for place in tokens if int(cut.ids[place]) in signs]),
        ("attention", "punctuation"): given(tokens, [k for k in words if document.upos[owner[k]] == "PUNCT"]),
    }
    if not any(document.upos):
        del found["attention", "punctuation"]
    maps = np.array([[word_to_word(i, j) for j in range(count)] for i in range(count)])
    for name in OFFSETS:
        reach = {"before -8": range(-99, -8), "beyond +8": range(9, 99)}.get(name) or [int(name)]
        rows = [
            sum(maps[i, i + k] for k in reach if 0 <= i + k < count)
            for i in range(count)
            if any(0 <= i + k < count for k in reach)
        ]
        found["offset", name] = float(np.mean(rows)) if rows else math.nan
    far = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    found["distance", "words"] = float((maps * far).sum() / maps.sum()) if count > 1 else math.nan
    found["sieve", "local"] = sieve(tokens, lambda row: [k for k in tokens if abs(k - row) <= 2])
    found["sieve", "delimiter"] = sieve(tokens, lambda row: start + ends)
    near = {(i, int(h)) for i, h in enumerate(document.heads) if h >= 0}
    near |= {(j, i) for i, j in near}
    found["sieve", "syntactic"] = sieve(words, lambda row: [k for k in words if (owner[row], owner[k]) in near])
    number = [i for i, sentence in enumerate(document.sentences) for _ in sentence.words]
    several = len(set(number)) > 1
    own = lambda row: [k for k in words if several and number[owner[k]] == number[owner[row]]]  # noqa: E731
    found["sieve", "block"] = sieve(words, own, lambda row: float(entropy[row]) / math.log(size))
    parts = {text: [k for k in words if (owner[k] >= document.second) == (text == "B")] for text in "AB"}
    for text, rows in parts.items() if document.second else ():
        found["entropy", f"words of {text}"] = float(entropy[rows].mean())
        highest = [max(pattern[row, key] for key in tokens if key not in ends) for row in rows]
        found["confidence", f"words of {text}"] = float(np.mean(highest))
        for end, keys in (*parts.items(), ("[CLS]", start), ("[SEP]", ends)):
            of_words = [
                given([row for row in rows if owner[row] == word], keys) for word in {owner[row] for row in rows}
            ]
            found["pair", f"{text} to {end}"] = float(np.mean(of_words))
    return {measure: value for measure, value in found.items() if value == value}


def test_sums_are_those_of_loops_over_recorded_patterns(model: Model, texts: Texts) -> None:
    shapes = observed(model, texts, batch_pieces=100)
    known = [model.tokenizer.token_to_id(sign) for sign in (".", ",")]
    signs = {number for number in known if number is not None}
    expected: dict[tuple[str, str], list[np.ndarray]] = {}
    for document in texts.take(range(len(texts))):
        (cut,) = cut_texts(model, [document])
        with torch.no_grad(), record(model.module) as maps:
            model.run(torch.from_numpy(cut.ids)[None].long(), None)
        patterns = torch.cat(maps["pattern"], 1)[0].double().numpy()
        of_heads = [measured(pattern, cut, document, signs) for pattern in patterns]
        for measure in of_heads[0]:
            expected.setdefault(measure, []).append(np.array([one[measure] for one in of_heads]))
    for place, measure in enumerate(MEASURES):
        if measure[0] == "class":
            continue
        assert int(shapes.n[:, place].sum()) == len(expected[measure]), measure
        values = shapes.sums[:, place].sum(0) / len(expected[measure])
        np.testing.assert_allclose(values, np.mean(expected[measure], 0), rtol=2e-5, atol=2e-6, err_msg=str(measure))


def test_a_table_has_rows_of_pairs_only_where_there_are_pairs(model: Model) -> None:
    for document, known in ((text_pair("abc", "de"), set(PAIRED)), (text_pair("abc", ""), set())):
        shapes = observed(model, Corpus.of([document]).sentences())
        table = shape_table(shapes, shapes, EFFORT, 3.0)
        assert {*zip(table["kind"], table["measure"], strict=True)} & set(PAIRED) == known
        sums = table[(table["kind"] == "pair") & (table["split"] == "report")].groupby(["name", "kind"])["value"].sum()
        np.testing.assert_allclose(sums, 2, rtol=1e-5)  # each text gives all of its attention to one of the four ends


def test_what_a_text_does_not_have_is_not_measured(model: Model) -> None:
    """One word, no tree, no tags, no other sentence."""
    document = Document("d", (Sentence("s", ("ship",), np.array([-1]), ("",)),))
    shapes = observed(model, Corpus.of([document]).sentences())
    missing = {measure for place, measure in enumerate(MEASURES) if not shapes.n[:, place].any()}
    assert ("attention", "period or comma") not in missing, "0 is a number: nothing went to what is not there"
    assert missing == {
        ("attention", "punctuation"),
        ("distance", "words"),
        ("sieve", "syntactic"),
        ("sieve", "block"),
        *(("offset", name) for name in OFFSETS if name != "0"),
        *(measure for measure in MEASURES if measure[0] == "class"),
        *PAIRED,
    }


def sums(model: Model, seed: int, **heads: float) -> Shapes:
    """40 clusters of two texts; the score of the sieve "local" of heads h0, h1 and so on, with noise."""
    shapes = Shapes(model, [f"d{i}" for i in range(40)])
    random = np.random.default_rng(seed)
    shapes.n[:40, LOCAL] = 2
    for name, score in heads.items():
        shapes.sums[:40, LOCAL, int(name[1:])] = 2 * (score + random.normal(0, 0.3, 40))
    shapes.even[:40, LOCAL] = 2
    return shapes


@pytest.fixture(scope="module")
def table(model: Model) -> pd.DataFrame:
    select, report = sums(model, 0, h0=5, h1=1), sums(model, 1, h0=3.5, h1=2.5, h2=3, h4=3.6)
    return shape_table(select, report, EFFORT, 3.0)


def test_values_are_means_over_texts_with_intervals_over_clusters(table: pd.DataFrame, model: Model) -> None:
    row = table[(table.split == "report") & (table.measure == "local") & (table.name == "1-1")].iloc[0]
    report = sums(model, 1, h0=3.5, h1=2.5, h2=3, h4=3.6)
    scores = report.sums[:40, LOCAL, 0] / 2
    assert (row.n, row.clusters, row.even) == (80, 40, 1.0)
    assert row.value == pytest.approx(scores.mean())
    error = scores.std() / np.sqrt(40)
    assert (row.ci_low, row.ci_high) == pytest.approx((row.value - 2.02 * error, row.value + 2.02 * error), abs=0.03)


def test_sieves_are_tested_against_the_threshold_on_the_report_split_alone(table: pd.DataFrame, model: Model) -> None:
    tested = table[table.p.notna()]
    assert set(zip(tested.split, tested.kind, tested.measure, strict=True)) == {("report", "sieve", "local")}
    assert set(tested.threshold) == {3.0}
    p = tested.set_index("name").p
    assert max(p["1-1"], p["2-2"]) < 1e-6
    assert p["1-2"] > 0.99
    scores = sums(model, 1, h0=3.5, h1=2.5, h2=3, h4=3.6).sums[:40, LOCAL, 2] / 2
    more = np.append(np.repeat(scores, 2), 0).mean() - 3, np.hypot(scores.std() / np.sqrt(39), scores.mean() / 81)
    assert p["1-3"] == pytest.approx(scipy.stats.t.sf(more[0] / more[1], 39), abs=0.02), "with one more text of 0"
    by_label = tested.set_index("name").p_label
    assert bool((by_label >= p).all())
    assert table.p_adjusted.isna().all()


def test_tests_are_corrected_for_all_sieves_and_scopes(table: pd.DataFrame) -> None:
    """Two scopes are two families: with one that finds nothing, the smallest p doubles."""
    other = table.assign(scope="window", p=1.0, p_label=np.where(table.p_label.notna(), 1.0, np.nan))
    alone = add_adjusted(table.assign(scope="sentence"))
    both = add_adjusted(pd.concat([table.assign(scope="sentence"), other], ignore_index=True))
    tested = alone.p_label.notna()
    np.testing.assert_allclose(alone.p_adjusted[tested], alone.p_label[tested])
    first = both[(both.scope == "sentence") & (both.name == "1-1") & both.p_label.notna()].iloc[0]
    assert first.p_adjusted == pytest.approx(2 * first.p_label)


def shown(model: Model, documents: Sequence[Document], batch: Batch, pattern: torch.Tensor) -> Shapes:
    """Return the shapes of a pattern [batch, head, piece, piece] that every layer has."""
    shapes = Shapes(model, [document.id for document in documents])
    look = shapes.observe(documents, batch)
    for layer in range(model.layers):
        look.see(layer, merge(pattern, batch), pattern)
    shapes.add(look)
    return shapes


def of_head(shapes: Shapes, head: int = 0) -> Shape:
    """Mean of every measure that some text has."""
    n, sums = shapes.n.sum(0), shapes.sums[:, :, head].sum(0)
    return {measure: sums[i] / n[i] for i, measure in enumerate(MEASURES) if n[i]}


def test_even_attention_has_the_numbers_of_even_attention(model: Model, texts: Texts) -> None:
    """Of sieves that is 1; the numbers beside all measures are those of a head that is even."""
    documents = texts.take(range(len(texts)))
    batch = collate(align(model.tokenizer, [document.words for document in documents]))
    tokens = batch.to_words.sum(2)
    rows = tokens / tokens.sum(1, keepdim=True)
    shapes = shown(model, documents, batch, rows[:, None, None].expand(-1, model.heads, rows.shape[1], -1).contiguous())
    n = shapes.n.sum(0)
    assert bool((n > 0).all()), "every measure is there"
    even = dict(zip(MEASURES, (shapes.even.sum(0) / n).tolist(), strict=True))
    assert of_head(shapes) == pytest.approx(even, abs=1e-5)
    lengths = tokens.sum(1).double()
    assert even["entropy", "all tokens"] == pytest.approx(float(lengths.log().mean()), abs=1e-5)
    assert even["attention", "[SEP]"] == pytest.approx(float((1 / lengths).mean()), abs=1e-6)
    for sieve in ("local", "delimiter", "syntactic", "block"):
        assert even["sieve", sieve] == pytest.approx(1, abs=1e-5)
    assert even["class", "heterogeneous"] == 1
