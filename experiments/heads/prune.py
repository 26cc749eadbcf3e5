"""The model of a run without its least important heads, written for `transformers`, with what that costs and saves."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from experiments.config.config import Config
from experiments.config.section import EMBEDDING, LOSS
from experiments.heads.typed_text import find_head
from experiments.inputs.corpora import open_corpora
from experiments.record.run_record import Journal
from experiments.run.behaviours import Behaviours
from experiments.run.context import RunContext
from experiments.run.folder import reopened
from mha import Ablate, Model, ModelError, intervene
from mha.causal.pruning import PruningError, encoder_in, even, smaller, zeroed
from mha.causal.sweep import TextBatch
from mha.files import tensor_files
from mha.models.folders import copy_modules, find_model, outer_folder, read_model_config
from mha.models.hub import POOLER, load_hub_class
from mha.models.model import typed
from mha.models.tokenizer import SENTENCES
from probes.causal.ablation import SELECTED, ZERO, Heads, HeadSet, head_name, measure
from probes.causal.ablation_table import ablation_table
from probes.causal.behaviours import BATCH_PIECES, Behaviour
from probes.causal.pruning import ranked, taken
from probes.scoring.tally import Numbers
from reports import Run
from reports.formats import percent
from reports.progress import Progress, counter, silent
from reports.scores.effects import behaviour_text, cost_text, deciding, scale_of

ORDERS: Final = {
    "ablation": ("ablation", "ablations", "cost"),
    "gradient": ("importance", "importance", "importance"),
    "gates": ("gates", "gates", "gate"),
}
"What heads are ordered by -> the measure of the run, its table, and the column that is lowest where a head goes first."

PASSES: Final = 11
"Forward passes of a model that are timed, after one that is not; reported is the median."


class PruneError(ValueError):
    """Heads that a run does not choose, and a model that cannot be written without them."""


@dataclass(frozen=True)
class Pruned:
    """What was written, what it costs and what it saves."""

    folder: str
    "That `transformers` opens: of sentence-transformers that of its Transformer."
    run: str
    by: str
    "What chose the heads."
    heads: Sequence[str]
    "Names of those that are gone."
    of: int
    opens_as: str
    "Class of `transformers`."
    difference: float
    "Largest difference of a vector of the folder, opened by `transformers`, from the ablated model's."
    behaviours: Sequence[dict[Hashable, Any]]
    "One a measure, on `items`, which had no part in the choice but where that is said."
    weights: Sequence[int | None]
    "Of the model before, of the folder, and of what `smaller` makes of it; None where that does not know how."
    milliseconds: Sequence[float | None]
    "Median of a forward pass of the same, in this process."


def prune_run(
    folder: Path, heads: str, by: str | None, out: Path, progress: Progress = silent, on: str | None = None
) -> Pruned:
    """Write the model of a run without some heads, its tokenizer and pruned.json to the folder `out`.

    `heads` is a share such as "30%", a number, or names such as "3-4,5-1"; without names those go first that are least
    by the first behaviour of the run's measure `by` (ORDERS). What that costs is measured on `on`, a behaviour such as
    a file of labelled rows; without it on those of the run, of items that did not choose where there are any. Raises
    PruneError for what the run did not measure, and PruningError for an architecture whose heads
    cannot be told apart in its weights.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PruneError(f"{out} is there already: choose another --out")
    run = Run.open(folder)
    opened = reopened(run)
    model, config = opened.model, opened.config
    if model.source not in ("pretrained", "checkpoint"):
        raise PruneError(f"{folder} is a run of {model.source} weights: nothing to use")
    chosen, why = _choose(run, model, heads, by)
    around = RunContext(config, opened, open_corpora(config)[::-1], Journal(), progress)
    names, items = _section(config, by)
    behaviours = [*_held_out(around, names, items, on)]
    costs = [row for one, items in behaviours for row in _costs(around, one, items, chosen)]
    source = find_model(config.model.reference)
    before, pruned = _without(source, model, chosen)
    place = copy_modules(outer_folder(config.model.reference), out)
    _save(pruned, source, place)
    after = type(before).from_pretrained(place, dtype=torch.float32, local_files_only=True).eval()
    models = [before, after, _smaller(after)]
    first = behaviours[0][0]
    texts = first.texts(max(first.batches(BATCH_PIECES), key=len))
    difference = _difference(model, models[1], chosen, texts)
    names, total, kind = [head_name(head) for head in chosen], model.layers * model.heads, type(models[0]).__name__
    weights = [one and sum(weight.numel() for weight in one.parameters()) for one in models]
    result = Pruned(
        str(place), run.name, why, names, total, kind, difference, costs, weights, _milliseconds(models, texts)
    )
    (out / "pruned.json").write_text(json.dumps(asdict(result), indent=1) + "\n", "utf-8")
    return result


def print_pruned(result: Pruned) -> Iterator[str]:
    """Yield in lines which heads are gone, what that costs, and what it saves."""
    yield f"{len(result.heads)} of {result.of} heads pruned, by {result.by}: {', '.join(result.heads)}"
    for row in result.behaviours:
        before, after = (scale_of(row).value(row[name]) for name in ("intact", "ablated"))
        what = f"{behaviour_text(row)}, in {scale_of(row).unit}: {before} before, {after} after"
        yield f"{what}, cost {cost_text(row)} ({row['n']} {row['items']})"
    whole, *less = [one or 0 for one in result.weights]
    saved = [f"{percent(1 - one / whole)} % of the weights" for one in less]
    before, after, taken_out = [f"{one or 0:.1f} ms" for one in result.milliseconds]
    size = f"smaller by {saved[0]}" if less[0] < whole else "of full size, pruned heads are zero"
    yield (
        f"{result.folder}: {size}; transformers opens it as {result.opens_as}, at most {result.difference:.0e} from "
        f"the ablated model; forward pass {before} before, {after} after"
    )
    how = "in memory, mha.causal.pruning.smaller"
    takes = f"takes the heads out: smaller by {saved[1]}, forward pass {taken_out}"
    yield f"{how} {takes if less[1] else f'knows no way to take heads out of a {result.opens_as}'}"


def _choose(run: Run, model: Model, heads: str, by: str | None) -> tuple[Heads, str]:
    """Return which heads go, and by what."""
    count, total = re.fullmatch(r"(\d+(?:\.\d+)?) ?(%?)", heads.strip()), model.layers * model.heads
    if count is None:
        if by is not None:
            raise PruneError(f"--heads {heads} names the heads, which takes no --by")
        names = [name.strip() for name in heads.split(",")]
        return tuple(sorted({find_head(name, model.name, model.layers, model.heads) for name in names})), "name"
    number = round(float(count[1]) * total / 100) if count[2] else float(count[1])
    if not 0 < number < total or number % 1:
        raise PruneError(f"--heads {heads}: expected 1 to {total - 1} heads, or a share of {total}")
    effects, behaviour = _effects(run, by or "ablation", (model.layers, model.heads))
    order, number = ranked(by or "ablation", effects).heads, int(number)
    last, stays = (effects[head] for head in order[number - 1 : number + 1])
    tied = f"; {(effects == last).sum()} heads have the effect of the last that goes, of these the first go"
    return tuple(sorted(order[:number])), f"{by or 'ablation'} ({behaviour}{tied if last == stays else ''})"


def _effects(run: Run, by: str, shape: tuple[int, int]) -> tuple[Numbers, str]:
    """Return what orders heads [layer, head], and the behaviour that decides."""
    if by not in ORDERS:
        raise PruneError(f"--by {by}: expected {', '.join(ORDERS)}")
    section, table, column = ORDERS[by]
    rows = run.last(table)
    if "kind" in rows:
        rows = rows[(rows["kind"] == "head") & (rows["way"] == rows["way"].iloc[0])]
    for behaviour, own in rows.groupby("behaviour", sort=False) if len(rows) else ():
        told = deciding(own) if "measure" in own else own
        scores = told.groupby(["layer", "head"])[column].mean()  # of gates over all prices
        if len(scores) == shape[0] * shape[1]:
            return scores.to_numpy(float).reshape(shape), str(behaviour)
    there = [name for name, (_, other, _) in ORDERS.items() if len(run.last(other))]
    instead = f", or --by {' or '.join(there)}, which it has" if there else ""
    raise PruneError(
        f"{run.folder} has no effect of every head by {by}: run again with --set "
        f"""'{section}.behaviours=["{LOSS}"]' ("{EMBEDDING}" without a masked-LM head){instead}"""
    )


def _section(config: Config, by: str | None) -> tuple[Sequence[str], int]:
    """Return the behaviours of the measure that chose the heads, and how many items of each it read."""
    sections = [getattr(config, ORDERS[name][0]) for name in ([by] if by else ORDERS)]
    return next(((one.behaviours, one.items) for one in sections if one and one.behaviours), ((), 500))


def _held_out(run: RunContext, names: Sequence[str], items: int, on: str | None) -> Iterator[tuple[Behaviour, str]]:
    """Yield each behaviour on items that had no part in the choice of heads, and what they are.

    Effects are of sentences of the report split, so here those of the selection split are read; of minimal pairs those
    that come after the pairs of the effects, and so of labelled rows. `on` is read in the place of `names`.
    """
    chose = {Path(name).resolve() for name in names}
    for name in [on] if on else names or [_default(run)]:
        (behaviour,) = Behaviours.of(run, [name], items)
        what = "pairs" if behaviour.kinds else "rows"
        if name in (LOSS, EMBEDDING):
            yield behaviour, "sentences of the selection split"
        elif Path(name).resolve() not in chose:
            yield behaviour, f"{what} of {name}"
        else:
            (more,) = Behaviours.of(run, [name], 2 * items)
            unseen = np.arange(len(behaviour.clusters), len(more.clusters))
            seen = (behaviour, f"{what} that chose the heads, which favours the choice: --on FILE measures others")
            yield (taken(more, unseen), f"other {what}") if len(unseen) else seen


def _default(run: RunContext) -> str:
    try:
        run.lm  # noqa: B018  # raises where there is no masked-LM head
    except ModelError:
        return EMBEDDING
    return LOSS


def _costs(run: RunContext, behaviour: Behaviour, items: str, heads: Heads) -> list[dict[Hashable, Any]]:
    """Return a row a measure of the behaviour, with all heads and without some."""
    step = counter(run.progress, f"{behaviour.name}, before and after", len(behaviour.prompts))
    values = measure(behaviour, [(), heads], step=step).numpy()
    table = ablation_table(behaviour, ZERO, [HeadSet(SELECTED, "pruned", heads)], values, run.effort)
    columns = ["behaviour", "measure", "unit", "n", "intact", "ablated", "cost", "ci_low", "ci_high"]
    return table[columns].assign(items=items).to_dict("records")


def _without(source: Path, model: Model, heads: Heads) -> tuple[Any, Any]:
    """Return the model of a folder, and it without heads; raises PruningError."""
    before = _open(source)
    gates = torch.ones(model.layers, model.heads)
    gates[tuple(np.array(heads).T)] = 0
    pruned = zeroed(before, gates)
    return before, even(pruned) or pruned


def _open(folder: Path) -> Any:
    """Return the model of a folder with the head of its task, or without where the folder lacks its weights."""
    import transformers

    (name, *_) = read_model_config(folder).get("architectures") or ["AutoModel"]
    model, lacks = load_hub_class(getattr(transformers, name, transformers.AutoModel), str(folder))
    return load_hub_class(transformers.AutoModel, str(folder))[0] if lacks else model


def _save(model: Any, source: Path, out: Path) -> None:
    """Save a model, in the precision of its source, and the tokenizer of its source."""
    from transformers import AutoTokenizer

    before = read_model_config(source)
    dtype = getattr(torch, str(before.get("dtype") or before.get("torch_dtype")), torch.float32)
    weights = model.to(dtype).state_dict()
    if not any(POOLER.search(name) for name in tensor_files(source)):  # else `transformers` writes a random one
        weights = {name: one for name, one in weights.items() if not POOLER.search(name)}
    model.save_pretrained(out, state_dict=weights)
    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=True)
    tokenizer.save_pretrained(out)
    again = AutoTokenizer.from_pretrained(out, local_files_only=True)
    for text in map(" ".join, SENTENCES):
        if again(text)["input_ids"] != tokenizer(text)["input_ids"]:
            raise PruneError(f"{out}: AutoTokenizer cuts {text!r} in another way than that of {source}: copy its files")


def _smaller(model: nn.Module) -> nn.Module | None:
    try:
        return smaller(model)
    except PruningError:
        return None


@torch.inference_mode()
def _difference(model: Model, after: nn.Module, heads: Heads, texts: TextBatch) -> float:
    """Return the largest difference of what a written model gives from what the run's gives without the heads."""
    with intervene(model.module, *(Ablate(*head) for head in heads)):
        expected = model.run(texts.ids, texts.real)
    off = (_vectors(after, texts, typed(model.types(texts.ids, texts.real))) - expected).abs()
    return float((off if texts.real is None else off[texts.real]).max())


def _vectors(model: nn.Module, texts: TextBatch, types: Mapping[str, torch.Tensor]) -> torch.Tensor:
    real = torch.ones_like(texts.ids) if texts.real is None else texts.real.long()
    vectors: torch.Tensor = encoder_in(model)(input_ids=texts.ids, attention_mask=real, **types)[0]
    return vectors


@torch.inference_mode()
def _milliseconds(models: Sequence[nn.Module | None], texts: TextBatch) -> list[float | None]:
    """Return the median of each model's forward passes, which are done in turn."""
    spent: list[list[float]] = [[] for _ in models]
    for _ in range(1 + PASSES):
        for model, times in zip(models, spent, strict=True):
            if model is not None:
                started = time.perf_counter()
                _vectors(model, texts, {})
                times.append(1000 * (time.perf_counter() - started))
    return [float(np.median(times[1:])) if times else None for times in spent]
