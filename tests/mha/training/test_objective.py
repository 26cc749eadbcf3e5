import pytest
import torch
from torch import Tensor

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss
from mha.hooks import record, watch
from mha.training.objective import ArcBatch, MaskedLMObjective
from mha.watches import Seen

LENGTH = 6


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(3)
    shape = EncoderConfig(vocab=20, layers=2, heads=2, model=8, feed_forward=16, positions=LENGTH, dropout=0.0)
    return Encoder(shape, lm_head=True).eval()


@pytest.fixture
def batch() -> MaskedBatch:
    """Return a row of two texts with a place of padding, and a row of one."""
    pieces = torch.tensor([[2, 7, 3, 2, 3, 0], [2, 8, 9, 10, 11, 3]])
    places = torch.tensor([[0, 1, 2, 0, 1, 0], [0, 1, 2, 3, 4, 5]])
    blocks = torch.tensor([[0, 0, 0, 1, 1, -1], [0, 0, 0, 0, 0, 0]])
    return MaskedBatch(pieces, places, blocks, torch.tensor([1, 8]), torch.tensor([5, 6]))


def arcs_of(*cells: tuple[int, int, int, float]) -> ArcBatch:
    index = torch.tensor([(row * LENGTH + query) * LENGTH + key for row, query, key, _ in cells])
    return ArcBatch(index, torch.tensor([share for *_, share in cells]))


ARCS = arcs_of((0, 1, 2, 0.25), (1, 2, 3, 0.25), (1, 2, 1, 0.25), (1, 3, 2, 0.5))


def test_attention_on_arcs_is_the_weighted_mean_over_heads_and_layers(encoder: Encoder, batch: MaskedBatch) -> None:
    with record(encoder) as maps:
        loss, found = MaskedLMObjective(encoder)(batch, ARCS)
    patterns = torch.stack(maps["pattern"]).double()
    cells = torch.zeros(2, LENGTH, LENGTH, dtype=torch.float64)
    cells[0, 1, 2] = cells[1, 2, 3] = cells[1, 2, 1] = 0.25
    cells[1, 3, 2] = 0.5
    expected = torch.einsum("lbhqk,bqk->", patterns, cells) / (2 * 2)
    assert found.item() == pytest.approx(float(expected), rel=1e-6)
    assert loss.item() == pytest.approx(masked_lm_loss(encoder, batch).item(), rel=1e-6)


def test_without_arcs_the_loss_is_that_of_the_masked_lm_bit_for_bit(encoder: Encoder, batch: MaskedBatch) -> None:
    loss, found = MaskedLMObjective(encoder)(batch)
    assert torch.equal(loss, masked_lm_loss(encoder, batch))
    assert not found


@pytest.mark.parametrize(("on_arc", "expected"), [(True, 1.0), (False, 0.0)])
def test_planted_heads_that_attend_along_arcs_have_all_of_it(
    encoder: Encoder, batch: MaskedBatch, on_arc: bool, expected: float
) -> None:
    arcs = arcs_of((1, 2, 3, 0.5), (1, 3, 2, 0.5))

    def plant(seen: Seen) -> Tensor:
        keys = torch.arange(LENGTH)
        keys[2], keys[3] = (3, 2) if on_arc else (4, 4)
        return torch.nn.functional.one_hot(keys, LENGTH).float().expand_as(seen.tensor)

    with watch(encoder, plant):
        _, found = MaskedLMObjective(encoder)(batch, arcs)
    assert found.item() == pytest.approx(expected)


def test_a_step_along_the_gradient_of_the_attention_raises_it(encoder: Encoder, batch: MaskedBatch) -> None:
    objective = MaskedLMObjective(encoder)
    _, before = objective(batch, ARCS)
    before.backward()
    with torch.no_grad():
        for parameter in encoder.parameters():
            if parameter.grad is not None:
                parameter.add_(parameter.grad, alpha=0.5)
    _, after = objective(batch, ARCS)
    assert after > before
    (lowest,) = (one for name, one in encoder.named_parameters() if name == "layers.0.attention.project.weight")
    assert lowest.grad is not None
    assert lowest.grad.abs().sum() > 0


def test_no_watch_stays_behind(encoder: Encoder, batch: MaskedBatch) -> None:
    with pytest.raises(IndexError):
        MaskedLMObjective(encoder)(batch, ArcBatch(torch.tensor([10**6]), torch.ones(1)))
    found: list[int] = []
    with watch(encoder, lambda seen: found.append(seen.layer)):
        MaskedLMObjective(encoder)(batch)
    assert found == [0, 1]
