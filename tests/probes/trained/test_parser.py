import numpy as np
import pytest
import torch

from probes.trained.parser import PADDING, PENALTY, AttentionParser, Treebank


def bank(seed: int, *, lengths: tuple[int, ...] = (5, 3), maps: int = 4, size: int = 2) -> Treebank:
    """Random maps and vectors, and random heads."""
    random, width = np.random.default_rng(seed), max(lengths)
    gold = np.full((len(lengths), width), PADDING)
    for row, n in enumerate(lengths):
        for j in range(n):
            gold[row, j] = random.choice([i for i in range(n + 1) if i != j])
    shapes = [(len(lengths), width, width, maps), (len(lengths), width, 2 * maps), (len(lengths), width, size)]
    pairs, ends, vectors = (torch.from_numpy(random.random(shape)).float() for shape in shapes)
    return Treebank(pairs, ends, vectors, torch.from_numpy(gold))


def random_parser(one: Treebank, seed: int = 0) -> AttentionParser:
    generator = torch.Generator().manual_seed(seed)
    blank = AttentionParser.blank([one])
    pairs, root = (torch.randn(part.shape, generator=generator) for part in (blank.pairs, blank.root))
    return AttentionParser(pairs, root, blank.scale, blank.end_scale)


def by_loops(parser: AttentionParser, one: Treebank, sentence: int) -> np.ndarray:
    """[dependent, candidate] log p of one sentence by the formula, word by word, in double precision."""
    maps, ends, vectors = (part[sentence].double().numpy() for part in (one.maps, one.ends, one.vectors))
    n, size = int(one.real[sentence].sum()), vectors.shape[1]
    there, back = parser.pairs.double().numpy()[:, : 1 + 2 * size], parser.pairs.double().numpy()[:, 1 + 2 * size :]
    scores = np.full((n, n + 1), -np.inf)
    for j in range(n):
        for i in range(n):
            if i != j:
                x = np.concatenate([[1], vectors[j], vectors[i]])
                terms = [maps[j, i, k] * (there[k] @ x) + maps[i, j, k] * (back[k] @ x) for k in range(maps.shape[2])]
                scores[j, i] = sum(term / float(parser.scale[k]) for k, term in enumerate(terms))
        own = np.concatenate([[1], vectors[j]])
        given = np.concatenate([ends[j] / parser.end_scale.double().numpy(), [1]])
        scores[j, n] = given @ parser.root.double().numpy() @ own
    logs: np.ndarray = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    return logs


@pytest.mark.parametrize("size", [0, 2])
def test_the_loss_is_that_of_a_direct_softmax(size: int) -> None:
    one = bank(0, size=size)
    parser = random_parser(one)
    expected = 0.0
    for sentence in range(2):
        logs = by_loops(parser, one, sentence)
        gold = one.gold[sentence, : len(logs)].numpy()
        expected -= logs[np.arange(len(logs)), gold].sum()
        heads = parser.heads(one)[sentence, : len(logs)]
        assert heads.tolist() == logs.argmax(1).tolist()
    assert float(parser.loss(one)) == pytest.approx(expected, rel=1e-5)


def test_padding_changes_nothing() -> None:
    alone, beside = bank(1, lengths=(3,)), bank(2, lengths=(6, 3))
    parser = random_parser(alone)
    for name in ("maps", "ends", "vectors"):
        getattr(beside, name)[1] = 9.0  # what stands at padding must not matter
    beside.maps[1, :3, :3], beside.ends[1, :3], beside.vectors[1, :3] = alone.maps[0], alone.ends[0], alone.vectors[0]
    np.testing.assert_allclose(parser.scores(beside)[1, :3, :3], parser.scores(alone)[0, :, :3], rtol=1e-5)
    assert parser.heads(beside)[1, :3].tolist() == parser.heads(alone)[0].tolist()


def planted(seed: int, role: str) -> Treebank:
    """Maps of three noisy heads and one with a role: it attends to gold, or is attended to from gold."""
    one = bank(seed, lengths=(8, 7, 6, 8) * 6, maps=4)
    rows, words = one.real.nonzero().T
    length = one.real.sum(1)[rows]
    gold = one.gold[rows, words]
    inner = gold < length
    if role == "there":
        one.maps[rows[inner], words[inner], gold[inner], 3] += 2
    else:
        one.maps[rows[inner], gold[inner], words[inner], 3] += 2
    one.ends[rows[~inner], words[~inner], 0] += 2
    return one


@pytest.mark.parametrize("role", ["there", "back"])
def test_planted_arcs_are_recovered_from_either_direction(role: str) -> None:
    parser = AttentionParser.fit([planted(0, role)])
    unseen = planted(1, role)
    right = (parser.heads(unseen) == unseen.gold)[unseen.real].double().mean()
    assert right > 0.97
    size = unseen.vectors.shape[2]
    there, back = parser.pairs[:, 0].abs(), parser.pairs[:, 1 + 2 * size].abs()
    assert int((there if role == "there" else back).argmax()) == 3


def test_the_fit_is_a_minimum_and_the_order_of_batches_hardly_moves_it() -> None:
    banks = [planted(0, "there"), bank(3)]
    one, other = AttentionParser.fit(banks), AttentionParser.fit(banks[::-1])
    np.testing.assert_array_equal(one.pairs, AttentionParser.fit(banks).pairs)
    np.testing.assert_allclose(one.scale, other.scale, rtol=1e-6)
    words = sum(int(part.real.sum()) for part in banks)

    def loss(parser: AttentionParser) -> float:
        penalty = PENALTY / 2 * float(parser.pairs.square().sum() + parser.root.square().sum())
        return float(sum((parser.loss(part) for part in banks), torch.zeros(()))) / words + penalty

    least = loss(one)
    assert loss(other) == pytest.approx(least, abs=1e-3)
    assert least < loss(AttentionParser.blank(banks)) / 3
    random = torch.Generator().manual_seed(0)
    for _ in range(5):
        moved = one.pairs + 0.05 * torch.randn(one.pairs.shape, generator=random)
        assert loss(AttentionParser(moved, one.root, one.scale, one.end_scale)) > least
