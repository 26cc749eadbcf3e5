"""The sandbox: what the statistics of headscope find where the truth is known."""

from experiments.sandbox.study import FULL, QUICK, Scale, run_study

__all__ = ["FULL", "QUICK", "Scale", "run_study"]
