"""Deciles are those of a plain computation, whatever the batches."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import torch

from mha.batches import Batch
from probes.grammar import generate
from probes.maps.deciles import FARTHEST, RELATIONS, TAGS, UNRELATED, Deciles, LinkedWords, kind_name
from probes.records import Document, Sentence, frozen_ints

ONE, SHARE = torch.ones(1, 1, dtype=torch.int64), torch.ones(1, 1, 1)
NO_BATCH = Batch(ONE, None, SHARE, SHARE, ONE[0])
"Not looked at: pairs are laid out from the texts alone."


def random_maps(texts: Sequence[Document], layers: int, heads: int, seed: int) -> list[list[torch.Tensor]]:
    """Return [text][layer] maps [head, query, key] over words, [SEP] and [CLS], over many powers of ten."""
    generator = torch.Generator().manual_seed(seed)
    return [
        [
            (4 * torch.randn(heads, len(text), len(text) + 2, generator=generator)).softmax(-1) * (1 - 0.3 * layer)
            for layer in range(layers)
        ]
        for text in texts
    ]


def observed(texts: Sequence[Document], maps: list[list[torch.Tensor]], size: int) -> Deciles:
    layers, heads = len(maps[0]), len(maps[0][0])
    found = Deciles(layers, heads)
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        longest = max(map(len, part))
        look = found.observe(part, NO_BATCH)
        for layer in range(layers):
            padded = torch.zeros(len(part), heads, longest, longest + 2)
            for place, text in enumerate(part):
                one, n = maps[start + place][layer], len(text)
                padded[place, :, :n, :n] = one[:, :, :n]
                padded[place, :, :n, longest:] = one[:, :, n:]
            look.see(layer, padded, padded)
        found.add(look)
    return found


@pytest.fixture(scope="module")
def texts() -> list[Document]:
    """Return 200 sentences."""
    return [text for document in generate(200, 5) for text in document.split_sentences()][:200]


@pytest.fixture(scope="module")
def maps(texts: list[Document]) -> list[list[torch.Tensor]]:
    return random_maps(texts, 2, 3, seed=1)


@pytest.fixture(scope="module")
def table(texts: list[Document], maps: list[list[torch.Tensor]]) -> pd.DataFrame:
    return observed(texts, maps, 7).table()


def plain(texts: Sequence[Document], maps: list[list[torch.Tensor]], layer: int, head: int) -> pd.DataFrame:
    """Return every pair of different words with what it links, by a loop."""
    rows = []
    for text, of_layers in zip(texts, maps, strict=True):
        weights = of_layers[layer][head].double().numpy()
        for query in range(len(text)):
            for key in range(len(text)):
                if query != key:
                    linked = text.heads[query] == key or text.heads[key] == query
                    tags = f"{text.upos[query]}→{text.upos[key]}"
                    rows.append((weights[query, key], linked, tags, key - query))
    return pd.DataFrame(rows, columns=["weight", "arc", "tags", "offset"]).sort_values("weight")


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (1, 2)])
def test_deciles_agree_with_a_plain_computation_on_200_sentences(
    layer: int, head: int, texts: list[Document], maps: list[list[torch.Tensor]], table: pd.DataFrame
) -> None:
    rows = table[(table["layer"] == layer) & (table["head"] == head)]
    every = plain(texts, maps, layer, head)
    limits = np.quantile(every["weight"], np.arange(1, 10) / 10)
    assert rows["high"].to_numpy()[:-1] == pytest.approx(limits, rel=1 / 8, abs=2**-20)
    assert rows["low"].to_numpy()[1:].tolist() == rows["high"].to_numpy()[:-1].tolist()
    assert rows["n"].sum() == pytest.approx(len(every), abs=10)
    for row, part in zip(rows.to_dict("records"), np.array_split(np.arange(len(every)), 10), strict=True):
        inside = every.iloc[part]
        assert row["arcs"] == pytest.approx(inside["arc"].mean(), abs=0.02)
        assert row["before"] == pytest.approx((inside["offset"] < 0).mean(), abs=0.02)
        assert row["distance"] == pytest.approx(inside["offset"].abs().clip(upper=FARTHEST).mean(), abs=0.1)
        shares = inside["tags"].value_counts(normalize=True)
        for named in row["tags"].split(", "):
            tags, share, _ = named.split(" ")
            assert float(share) / 100 == pytest.approx(shares.get(tags, 0), abs=0.02)


def test_the_strongest_pairs_are_exact_and_the_random_one_lies_in_its_decile(
    texts: list[Document], maps: list[list[torch.Tensor]], table: pd.DataFrame
) -> None:
    rows = table[(table["layer"] == 0) & (table["head"] == 1)]
    top = plain(texts, maps, 0, 1)["weight"].to_numpy()[::-1][:3]
    told = [float(one.rpartition("(")[2].split(" ")[0]) for one in rows["strongest"].iloc[-1].split("; ")]
    assert told == pytest.approx((100 * top).tolist(), abs=0.051)
    for row in rows.to_dict("records"):
        weight = float(row["random"].rpartition("(")[2].split(" ")[0]) / 100
        assert 7 / 8 * row["low"] - 0.0006 <= weight <= 9 / 8 * row["high"] + 0.0006


def test_kinds_of_pairs_are_those_of_the_tree() -> None:
    upos = ("DET", "NOUN", "VERB", "ODD")
    text = Document(
        "d",
        (Sentence("s", ("a", "b", "c", "d"), frozen_ints([1, 2, -1, 2]), ("det", "nsubj:pass", "root", "odd"), upos),),
    )
    pairs = LinkedWords.of([text])
    told = {
        (int(query), int(key)): (kind_name("tags", int(tags)), kind_name("relations", int(relation)))
        for query, key, tags, relation in zip(
            pairs.query, pairs.key, pairs.kinds["tags"], pairs.kinds["relations"], strict=True
        )
    }
    assert told[0, 1] == ("DET→NOUN", "det: dependent→head")
    assert told[2, 1] == ("VERB→NOUN", "nsubj: head→dependent")
    assert told[3, 2] == ("other→VERB", "other: dependent→head")
    assert told[0, 2] == ("DET→VERB", "no arc")
    assert len(told) == 12
    assert 2 * len(RELATIONS) == UNRELATED
    assert len(set(TAGS)) == 18
