"""The sandbox: what the statistics of headscope find where the truth is known."""

from experiments.sandbox.folder import run_study
from experiments.sandbox.study import FULL, QUICK, Scale

__all__ = ["FULL", "QUICK", "Scale", "run_study"]
