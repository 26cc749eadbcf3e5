import pytest
import torch
from torch import Tensor

from mha.encoder.cross_entropy import ROWS, cross_entropy


def given(rows: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(rows, 31, generator=generator, dtype=torch.float64) * 4
    return logits.to(dtype).requires_grad_(), torch.randint(31, (rows,), generator=generator)


@pytest.mark.parametrize("rows", [1, ROWS, ROWS + 3])
@pytest.mark.parametrize(
    ("dtype", "close"), [(torch.float64, 1e-12), (torch.float32, 1e-6), (torch.bfloat16, 8e-3), (torch.float16, 1e-3)]
)
def test_loss_and_gradient_equal_the_formula_in_double_precision(rows: int, dtype: torch.dtype, close: float) -> None:
    logits, gold = given(rows, dtype)
    exact = logits.detach().double().requires_grad_()
    expected = (exact.exp().sum(1).log() - exact[torch.arange(rows), gold]).mean()
    loss = cross_entropy(logits, gold)
    (3 * expected).backward()
    (3 * loss).backward()
    assert loss.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert float(loss.detach()) == pytest.approx(
        float(expected.detach()), rel=1e-12 if dtype == torch.float64 else 1e-6
    )
    assert logits.grad is not None
    assert exact.grad is not None
    assert logits.grad.dtype == dtype
    torch.testing.assert_close(logits.grad.double(), exact.grad, rtol=close, atol=close / 1000)
