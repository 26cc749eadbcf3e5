"""Write the golden runs anew: `python -m tests.hardness.golden`, only where a change of numbers is meant.

Two models made by seed, ours and one of `transformers`, on the embedded grammar: nothing from outside the repository.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import torch

from experiments.run.config import load_config
from experiments.run.run import run
from reports import Run
from tests.hardness.small import RUN, small_model

GOLDEN = Path(__file__).parents[1] / "golden" / "grammar"

KEY = ["probe", "label", "variant", "split", "layer", "head"]
NUMBERS = ["n", "accuracy", "ci_low", "ci_high", "mass"]

FIRST = 60
"Rows of each probe and split that are kept."


def bert(folder: Path) -> Path:
    """Write a BERT of `transformers` with weights by seed and the tokenizer of the small model."""
    from transformers import BertConfig, BertModel

    small_model(folder)
    sizes = json.loads((folder / "config.json").read_text("utf-8"))
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = BertModel(BertConfig(**{**sizes, "num_attention_heads": 4, "initializer_range": 0.3}))
    model.save_pretrained(folder)
    return folder


MODELS = {"encoder": small_model, "bert": bert}


def scores(name: str, folder: Path) -> pd.DataFrame:
    """Do the run of a model; return the first rows of every probe and split."""
    config = folder / "run.toml"
    config.write_text(RUN.format(model=MODELS[name](folder / "model")), encoding="utf-8")
    found = Run.open(run(load_config(config), folder / "out", page=False)).scores
    ordered = found.sort_values(KEY).groupby(["probe", "split"]).head(FIRST)
    return ordered[[*KEY, *NUMBERS]].reset_index(drop=True)


def here() -> dict[str, str]:
    """Return what numbers may depend on in their last digits: matrix products choose their kernels by the processor."""
    capability = torch.backends.cpu.get_cpu_capability()
    return {
        "platform": f"{platform.system()} {platform.machine()} {capability}",
        "processor": processor(),
        "torch": torch.__version__,
    }


def processor(info: Path = Path("/proc/cpuinfo")) -> str:
    """Return vendor, family, model and stepping of the processor, where the system tells."""
    if not info.is_file():
        return platform.processor()
    keys = dict(line.split(":", 1) for line in info.read_text("utf-8").split("\n\n")[0].splitlines() if ":" in line)
    named = {key.strip(): value.strip() for key, value in keys.items()}
    return " ".join(named.get(key, "?") for key in ("vendor_id", "cpu family", "model", "stepping"))


def main() -> None:
    """Write scores and platform."""
    GOLDEN.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    for name in MODELS:
        with TemporaryDirectory() as folder:
            scores(name, Path(folder)).to_csv(GOLDEN / f"{name}.csv", index=False)
    (GOLDEN / "platform.json").write_text(json.dumps(here(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
