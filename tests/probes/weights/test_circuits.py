from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from mha import Encoder, Model, align, collate, record
from mha.models.circuits import CircuitError, layer_inputs, readouts
from mha.pieces import whole_words
from mha.planted.heads import plant_weights, word_model
from probes import Corpus
from probes.records import Document
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.weights.circuit_texts import TextMeasures, measure_texts
from probes.weights.circuits import LINKS, CircuitSettings, rank_correlation, read_circuits
from probes.weights.relations import FEWEST, Known, map_relations, read_relations
from tests.probes.text_pairs import text_pair

WORDS = [f"{one}{other}" for one in "bdfgklmnprst" for other in "aeiou"]
PAIRS = {"next": list(zip(WORDS[::5], WORDS[1::5], strict=True))}


def texts_of(sentences: list[list[str]]) -> list[Document]:
    return [text_pair(words, [], str(i)) for i, words in enumerate(sentences)]


def measured_by_loops(model: Model, texts: list[Document], reach: int) -> dict[str, np.ndarray]:
    """The measures of every head by their definitions, text by text and in double precision."""
    encoder = model.module
    assert isinstance(encoder, Encoder)
    shape = (model.layers, model.heads)
    embeddings = encoder.pieces.weight.detach().double().numpy()
    embeddings = embeddings - embeddings.mean(0)
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    offsets: dict[tuple[int, ...], list[float]] = {}
    same, related, norms = (np.empty((*shape, 0)) for _ in range(3))
    writes, mixtures = [np.zeros((*shape, 0, embeddings.shape[1]))], [np.zeros((*shape, 0, embeddings.shape[1]))]
    directions = [embeddings @ matrix.numpy() for matrix in readouts(encoder)]
    for text in texts:
        cut = align(model.tokenizer, [text.words])[0]
        with torch.no_grad(), record(encoder, ["pattern", "head_write"]) as seen:
            encoder(collate([cut]).ids)
        pattern, write = (np.stack([layer[0].double().numpy() for layer in seen[s]]) for s in seen.sites)
        inside, ids = np.flatnonzero(cut.word >= 0), cut.ids
        for q in inside:
            others = [k for k in inside if k != q]
            for offset in range(-reach, reach + 1):
                if q + offset in inside:
                    offsets.setdefault((offset,), []).append(pattern[:, :, q, q + offset])
            repeats = [k for k in others if ids[k] == ids[q]]
            fresh = [k for k in others if ids[k] != ids[q]]
            if repeats and fresh:
                share = pattern[:, :, q, repeats].sum(-1) / pattern[:, :, q, others].sum(-1)
                same = np.concatenate([same, (share - len(repeats) / len(others))[..., None]], 2)
            if len(fresh) > 1:
                cosine = unit[ids[fresh]] @ unit[ids[q]]
                weights = pattern[:, :, q, fresh]
                near = (weights * cosine).sum(-1) / weights.sum(-1) - cosine.mean()
                related = np.concatenate([related, near[..., None]], 2)
            norms = np.concatenate([norms, np.linalg.norm(write[:, :, q], axis=-1)[..., None]], 2)
            writes.append(write[:, :, [q]])
            mixtures.append(
                np.stack([pattern[i][:, [q]][:, :, inside] @ d[ids[inside]] for i, d in enumerate(directions)])
            )
    write, mixed = np.concatenate(writes, 2), np.concatenate(mixtures, 2)
    write, mixed = write - write.mean(2, keepdims=True), mixed - mixed.mean(2, keepdims=True)
    spread = np.sqrt((write**2).sum((2, 3)) * (mixed**2).sum((2, 3)))
    return {
        "offsets": np.stack([np.mean(offsets[o,], axis=0) for o in range(-reach, reach + 1)], 2),
        "same_word": same.mean(2),
        "related": related.mean(2),
        "copying": (write * mixed).sum((2, 3)) / spread,
        "write_norm": norms.mean(2),
    }


SENTENCES = [
    ["the", "unsinkable", "ship", "sank", "the", "old", "ship"],
    ["she", "saw", "the", "harbours"],
    ["walking", "dog", "and", "dog", "and", "walking", "dog", "saw", "it", "."],
]


def measures(model: Model, pieces: int, workers: int = 1) -> TextMeasures:
    texts = Corpus.of(texts_of(SENTENCES)).sentences()
    return measure_texts(model, Aligned.of(model, texts), 2, Settings(pieces, workers=workers))


def test_what_heads_do_on_text_follows_its_definitions(model: Model) -> None:
    found, expected = measures(model, 4096), measured_by_loops(model, texts_of(SENTENCES), 2)
    for name, values in expected.items():
        np.testing.assert_allclose(getattr(found, name), values, rtol=1e-4, atol=1e-5, err_msg=name)
    assert found.pieces == sum(int((cut.word >= 0).sum()) for cut in align(model.tokenizer, SENTENCES))
    assert float(found.copying.abs().max()) > 0.05


@pytest.fixture(scope="module")
def planted() -> Model:
    model = word_model(WORDS, layers=2, heads=2, head_dim=24, positions=20, seed=0)
    plant_weights(model, {(0, 0): "previous", (1, 1): "next"})
    return model


def circuits_of(model: Model, **options: int) -> dict[str, pd.DataFrame]:
    random = np.random.default_rng(0)
    texts = texts_of([random.choice(WORDS, 12).tolist() for _ in range(20)])
    aligned = Aligned.of(model, Corpus.of(texts).sentences())
    settings = CircuitSettings(**{"words": 40, "places": 12, "reach": 3, "replicates": 50, **options})
    return read_circuits(model, aligned, PAIRS, settings, Settings(workers=1)).tables


def test_planted_heads_do_on_text_what_their_weights_say(planted: Model) -> None:
    tables = circuits_of(planted)
    heads = tables["circuits"].set_index("name")
    assert heads.loc[["1-1", "2-2"], "kernel_offset"].tolist() == [-1, 1]
    assert heads.loc[["1-1", "2-2"], "text_offset"].tolist() == [-1, 1]
    assert heads.loc[["1-1", "2-2"], ["kernel_attention", "text_at_kernel"]].min().min() > 0.9
    assert heads.loc[["1-2", "2-1"], "kernel_attention"].max() < 0.9
    kernels = tables["circuit_kernels"]
    assert len(kernels) == 4 * 7
    best = kernels.loc[kernels[kernels["name"] == "2-2"]["score"].idxmax()]
    assert (best["offset"], best["attention"]) == (1, heads.loc["2-2", "kernel_attention"])
    links = tables["circuit_links"]
    assert [*zip(links["weights"], links["text"], strict=True)] == [*LINKS, ("static", "dynamic")]
    assert (links["heads"] == 4).all()
    assert links["rho"][0] > 0.5


def mapping_model() -> Model:
    """One head that writes for each source of PAIRS its target, and for other words nothing."""
    model = word_model(WORDS, layers=1, heads=1, head_dim=72, positions=12, seed=0)
    encoder = model.module
    assert isinstance(encoder, Encoder)
    place = whole_words(model.tokenizer)
    with torch.no_grad():
        for parameter in encoder.parameters():
            if parameter.ndim == 2:
                parameter.zero_()
        for number, word in enumerate(WORDS):
            encoder.pieces.weight[place[word], number] = 1
        attention = encoder.layers[0].attention
        attention.W_V.copy_(torch.eye(72))
        for one, other in PAIRS["next"]:
            attention.W_O[0, WORDS.index(one), WORDS.index(other)] = 1
    return model


def test_a_head_that_maps_sources_to_targets_has_scores_of_one_and_its_negative_lowers_them() -> None:
    model = mapping_model()
    for sign, expected in ((1, (1, 0, 1)), (-1, (0, 1, 0))):
        encoder = model.module
        assert isinstance(encoder, Encoder)
        if sign < 0:
            with torch.no_grad():
                encoder.layers[0].attention.W_O.neg_()
        vocabulary = whole_words(model.tokenizer)
        known = Known.of(PAIRS, vocabulary)
        embeddings = encoder.pieces.weight.detach()[list(vocabulary.values())]
        inputs = layer_inputs(encoder, known.source, 4)
        mapped = map_relations(model, known, inputs, embeddings - embeddings.mean(0))
        found = (mapped.static, mapped.suppressed, mapped.dynamic)
        assert tuple(float(score[0, 0, 0]) for score in found) == expected
    assert known.sizes().tolist() == [12]


def test_pairs_that_the_vocabulary_does_not_have_whole_are_counted() -> None:
    known = Known.of(
        {"few": PAIRS["next"][:7], "next": [*PAIRS["next"], ("ba", "unknown")]},
        {word.capitalize() if word == "ba" else word: number + 5 for number, word in enumerate(WORDS)},
    )
    assert known.names == ("next",)
    assert known.words[0] == "Ba"
    assert known.source[0] == 5
    assert known.target[0] == WORDS.index("be")
    assert known.dropped.counts == {
        "pair with a word that the vocabulary does not have whole": 1,
        f"relation with fewer than {FEWEST} pairs left": 1,
    }


def test_relations_are_read_from_a_file_and_wrong_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("young\tdog\tpuppy\n\nyoung\tcat\tkitten\nold\tcub\tbear\n")
    assert read_relations(path) == {"young": [("dog", "puppy"), ("cat", "kitten")], "old": [("cub", "bear")]}
    for wrong in ("young\tdog\tbig puppy\n", "young\t\tpuppy\n"):
        path.write_text("young\tcat\tkitten\n" + wrong)
        with pytest.raises(CircuitError, match=r"pairs\.tsv:2: expected a relation and two words"):
            read_relations(path)


def test_rank_correlation_is_spearmans_with_an_interval_over_heads() -> None:
    from scipy.stats import spearmanr

    settings = CircuitSettings(replicates=500)
    random = np.random.default_rng(0)
    one, noise = random.normal(size=60), random.normal(size=60)
    assert rank_correlation(one, np.exp(one), settings) == pytest.approx((1, 1, 1))
    rho, low, high = rank_correlation(one, one + noise, settings)
    assert rho == pytest.approx(spearmanr(one, one + noise).statistic)
    assert low < rho < high
    assert 0.1 < high - low < 0.6
    none = rank_correlation(one, noise, settings)
    assert none[1] < 0 < none[2]
    for missing in (np.zeros(60), np.where(one > 1, np.nan, one)):
        assert np.isnan(rank_correlation(one, missing, settings)).all()
