import pytest
import torch

from mha.dropout import dropout, dropout_noise


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.003, 0.999])
def test_the_rate_is_met_within_four_standard_errors(rate: float) -> None:
    """The limit of a byte is drawn a row, so with rates between two bytes rows differ: their spread counts too."""
    torch.manual_seed(0)
    dropped = (dropout_noise((20_000, 64), rate, torch.float32) == 0).double().mean(1)
    assert abs(dropped.mean() - rate) < 4 * dropped.std() / 20_000**0.5


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_what_is_kept_is_scaled_so_that_the_mean_stays(dtype: torch.dtype) -> None:
    noise = dropout_noise((300, 7), 0.2, dtype)
    assert noise.dtype == dtype
    assert noise.shape == (300, 7)
    assert torch.equal(noise.unique(), torch.tensor([0, 1 / 0.8], dtype=dtype))


def test_places_are_dropped_independently() -> None:
    torch.manual_seed(0)
    kept = (dropout_noise((40_000, 5), 0.4, torch.float32) > 0).double()
    correlation = torch.corrcoef(kept.T) - torch.eye(5)
    assert correlation.abs().max() < 4 / 40_000**0.5


def test_the_gradient_passes_where_the_number_passed() -> None:
    x = torch.randn(50, 20, requires_grad=True)
    noisy = dropout(x, 0.3)
    noisy.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, (noisy != 0) / 0.7)
    torch.testing.assert_close(noisy, x * x.grad)
