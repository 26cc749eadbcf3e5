"""The record of what workers gain, and the sentence that is made of it."""

from experiments.bench.workers import gain, sentence


def test_the_throughput_is_the_ratio_of_the_seconds() -> None:
    record = {
        "cores": 2,
        "processor": "X",
        "bf16 instructions": None,
        "runs": 4,
        "seconds by workers": {"1": 190.0, "2": 100.0},
    }
    record["quickstart by workers"] = {"0": 90.0, "2": 80.0}
    assert gain(record) == 1.9
    assert (
        "(4 runs), takes 190 seconds with one worker and 100 with two (1.90 times the throughput; goal 1.7). The"
        in (sentence(record))
    )
    assert "takes 90 seconds in one process with a thread a core, and 80 where two workers" in sentence(record)
