"""The benchmark of smaller encoders: what its contestants are, and that what it prints follows from its times."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from experiments.bench import prune as bench_prune
from experiments.bench.prune import BATCHES, SHARES, pruned_encoders, summary, time_all
from mha import Encoder, EncoderConfig, export_encoder

TINY = EncoderConfig(vocab=50, layers=2, heads=4, model=16, feed_forward=32, positions=8)


def test_the_heads_of_a_smaller_share_are_among_those_of_a_larger() -> None:
    encoders = pruned_encoders(Encoder(TINY).eval(), seed=0)
    out = [{*encoder.config.pruned} for encoder in encoders.values()]
    assert [len(heads) for heads in out] == [0, 2, 4, 6]
    assert all(fewer < more for fewer, more in pairwise(out))
    other = pruned_encoders(Encoder(TINY).eval(), seed=1)
    assert other[25].config.pruned != encoders[25].config.pruned


@pytest.mark.slow
def test_every_round_times_all_texts_with_every_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    encoders = {share: Encoder(TINY).eval() for share in SHARES}
    read: list[int] = []
    for encoder in encoders.values():
        encoder.register_forward_hook(lambda _, inputs, __: read.append(len(inputs[0])))
    seconds = time_all(encoders, torch.zeros(70, 3, dtype=torch.long), rounds=2)
    assert {size: {share: len(times) for share, times in by.items()} for size, by in seconds.items()} == {
        size: dict.fromkeys(SHARES, 2) for size in BATCHES
    }
    assert sum(read) == 3 * len(BATCHES) * len(SHARES) * 70
    assert (max(read), read.count(1)) == (64, 3 * len(SHARES) * 70)


def test_what_is_printed_follows_from_the_times() -> None:
    encoders = pruned_encoders(Encoder(TINY).eval(), seed=0)
    times = {100: [2.0, 4.0, 3.0], 75: [2.0, 2.0, 2.0], 50: [1.0, 4.0, 1.0], 25: [4.0, 8.0, 6.0]}
    table = summary(encoders, {size: times for size in BATCHES}, texts=64)
    assert [line.split()[0] for line in table] == ["heads", "8", "6", "4", "2", "texts"]
    assert table[1].split()[-8:] == ["21.3", "(+0.0%)"] * 4
    assert table[2].split()[-2:] == ["32.0", "(+50.0%)"]
    assert table[3].split()[-2:] == ["64.0", "(+100.0%)"]
    assert table[4].split()[-2:] == ["10.7", "(-50.0%)"]


@pytest.mark.slow
def test_the_command_keeps_raw_times_and_prints_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    export_encoder(Encoder(TINY).eval(), tmp_path / "model")
    out, threads = tmp_path / "deep" / "times.json", torch.get_num_threads()
    arguments = ["--model", str(tmp_path / "model"), "--rounds", "2", "--texts", "66", "--pieces", "5", "--seed", "3"]
    monkeypatch.setattr(sys, "argv", ["bench_prune", *arguments, "--out", str(out)])
    monkeypatch.setattr(bench_prune.os, "cpu_count", lambda: 1)
    bench_prune.main()
    torch.set_num_threads(threads)
    record = json.loads(out.read_text())
    assert (record["texts"], record["pieces"], record["seed"], record["threads"]) == (66, 5, 3, 1)
    assert {size: {share: len(times) for share, times in by.items()} for size, by in record["seconds"].items()} == {
        str(size): {str(share): 2 for share in SHARES} for size in BATCHES
    }
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[1:5]] == ["8", "6", "4", "2"]
    assert printed[-1] == f"raw times: {out}"


def test_a_model_that_is_not_there_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench_prune", "--model", str(tmp_path / "none")])
    with pytest.raises(SystemExit) as ended:
        bench_prune.main()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"bench: unknown model '{tmp_path / 'none'}'")
