import math
from dataclasses import replace

from tests.experiments.findings.planted import claimed, measured, planted_run, scored


def _claim(name: str, told: dict[str, tuple[float, float]]):
    loss = measured("evaluation loss", ("d_model 128", 1.0), ("d_model 128", 8.0), value=2.0)
    return claimed(f"claim-{name}", told, loss)


def _heads(loss: float, agreement: float, specialised: float):
    return _claim(
        "heads",
        {
            "Encoders with 8 heads a layer reach a lower loss than with 1 head": (loss, 0.05),
            "Encoders with 8 heads a layer are better at agreement with attractors than with 1 head": (agreement, 0.05),
            "With more heads, a larger share of them is specialised": (specialised, 0.5),
        },
    )


def _averaging(more: float):
    sets = (*((width, "1 item") for width in (8, 16, 32, 64)), (64, "2 items"), (64, "4 items"))
    opening = "Two heads tell more than one of their size, width"
    return _claim("averaging", {f"{opening} {width} and {items} in a set": (more, 0.01) for width, items in sets})


def _compute(operations: float, time: float):
    both = "8 heads of 64 and one head of 512 take"
    times = {f"{both} similar time, sequences of {length}": (time, 0.01) for length in (64, 256, 1024)}
    return _claim("compute", {f"{both} equally many operations of matrix products": (operations, 0.0)} | times)


def _division(variance: float, gradient: float):
    product = "The product of a random query and key of d_k components has variance d_k"
    smaller = "Without the division a larger d_k leaves a smaller gradient"
    return _claim("scaling", {product: (variance, 0.01), smaller: (gradient, 0.01)})


def _undivided(gradient: float, loss: float):
    trained = "Encoders trained without the division end with"
    numbers = {
        f"{trained} smaller gradients for their scores": (gradient, 0.01),
        f"{trained} a higher loss": (loss, 0.01),
    }
    return _claim("scaling", numbers)


def _recurrence(ratio: float, past: float):
    faster = "Self-attention of width 512 is faster than an LSTM of that width, sequences of"
    (record,) = _claim("recurrence", {f"{faster} {length}": (ratio, 0.01) for length in (16, 64, 256)}).values()
    past_the_width = measured("ratio of times", ("LSTM / self-attention", 1024.0), value=past)
    return {"claim-recurrence": replace(record, measures=(past_the_width,))}


def _relations(heads: int, each: int):
    """Of ten heads the first `heads` are specialised in `each` relations."""
    labels = ("nsubj", "obj", "amod", "det")
    rows = [
        scored("dependency", label, head=head, specialised=head < heads and number < each)
        for head in range(10)
        for number, label in enumerate(labels)
    ]
    pools = [scored("dependency", label, specialised=True) for label in ("all", "nsubj:*")]
    return {"trees": planted_run([*rows, *pools])}


PLANTED = {
    "vaswani-several-heads": (_heads(-0.2, 0.2, math.nan), _heads(0.2, -0.2, math.nan)),
    "vaswani-roles": (_heads(-0.2, 0.2, 8.0), _heads(-0.2, 0.2, -8.0)),
    "vaswani-averaging": (_averaging(0.1), _averaging(-0.1)),
    "vaswani-compute": (_compute(1.0, 1.05), _compute(2.0, 3.0)),
    "vaswani-scaling": (_division(1.0, 0.3), _division(2.0, 1.5)),
    "vaswani-scaling-trained": (_undivided(0.5, 0.05), _undivided(1.5, -0.05)),
    "vaswani-recurrence": (_recurrence(1.5, 0.8), _recurrence(0.7, 1.5)),
    "vaswani-one-relation": (_relations(10, 1), _relations(2, 3)),
}
