"""Which heads a behaviour is worth: gates that are learned on its items, and what the model does with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from mha.causal.gates import GateSettings, Learned, learn_gates
from mha.causal.interventions import gated
from mha.encoder.encoder import Encoder
from mha.models.masked_prediction import MaskedLM
from probes.causal.ablation_table import measures
from probes.causal.behaviours import BATCH_PIECES, Behaviour, BehaviourError, Embedding
from probes.evidence.question import Effort
from probes.evidence.results import named_heads


@dataclass(frozen=True)
class Gated:
    """What was learned, and the behaviour of the model that it was learned with."""

    learned: Learned
    behaviour: Behaviour
    "Of the model as it was, or of a copy whose weights were trained along."

    def values(self, behaviour: Behaviour) -> Float[Tensor, " item"]:
        """Return the values of the items of a behaviour of the same model, with the gates as they are used."""
        return gated_values(replace(behaviour, reader=self.behaviour.reader), self.learned.gates)


def gate_heads(
    behaviour: Behaviour,
    shape: tuple[int, int],
    price: float,
    settings: GateSettings,
    *,
    weights: bool = False,
    step: Callable[[int], None] = lambda steps: None,
) -> Gated:
    """Learn gates for heads of `shape` (layers, heads) that give up the less of a behaviour the better.

    What is made small is the mean value of an item with its sign turned, plus `price`, in the unit of the value, for
    each open head (`mha.causal.gates.learn_gates`): a head stays open where it is worth its price. For sentence
    embeddings it is 1 - cosine with the intact embedding. The weights stay as they are; with `weights` a copy of our
    Encoder is trained along with the gates (Voita et al. 2019, section 6), on the predictions of its masked-LM head.
    Raises BehaviourError where it cannot be.
    """
    used = _with_copy(behaviour) if weights else behaviour
    batches = used.batches(BATCH_PIECES)
    trained = used.reader.module.parameters() if weights else ()
    learned = learn_gates(partial(_loss, used), batches, len, shape, price, settings, weights=trained, step=step)
    return Gated(learned, used)


def _loss(behaviour: Behaviour, batch: Sequence[int], gates: Tensor) -> Tensor:
    """Return what a batch loses for each item, its share of all items' texts told for all."""
    texts_of_item = len(behaviour.prompts) / len(behaviour.clusters)
    return -_numbers(behaviour, gates, batch)[0].sum() * (texts_of_item / len(batch))


def gated_values(
    behaviour: Behaviour, gates: Float[Tensor, "layer head"], *, batch_pieces: int = BATCH_PIECES
) -> Float[Tensor, " item"]:
    """Return the value of every item with the output of each head multiplied by its gate, in double precision.

    What is measured `beside` the value follows, as in `probes.causal.ablation.measure`.
    """
    work = torch.no_grad()(partial(_numbers, behaviour, gates))
    return behaviour.measured(work, 1 + len(behaviour.beside), batch_pieces).flatten()


def _numbers(behaviour: Behaviour, gates: Tensor, batch: Sequence[int]) -> Float[Tensor, "measure text"]:
    texts = behaviour.texts(batch)
    with gated(behaviour.reader.module, gates):
        output = behaviour.reader.read(texts.ids, texts.real, texts.selected)
    intact = output
    if isinstance(behaviour, Embedding):
        with torch.no_grad():
            intact = behaviour.reader.read(texts.ids, texts.real, texts.selected)
    return behaviour.numbers(batch, texts, output[None], intact)[0].cpu()


def _with_copy(behaviour: Behaviour) -> Behaviour:
    lm = behaviour.reader
    if not (isinstance(lm, MaskedLM) and isinstance(lm.module, Encoder)):
        raise BehaviourError(
            f"{behaviour.name}: weights are trained along with gates only of our Encoder with a masked-LM head; leave "
            "them as they are (weights = false)"
        )
    copy = deepcopy(lm.module).requires_grad_(True)
    return replace(behaviour, reader=replace(lm, model=replace(lm.model, module=copy), module=copy))


def gate_table(result: Gated, behaviour: Behaviour) -> pd.DataFrame:
    """Return a row a head: its gate, and the probability that it is open."""
    learned = {"gate": result.learned.gates.flatten().numpy(), "open": result.learned.open.flatten().numpy()}
    layers, heads = result.learned.gates.shape
    return pd.DataFrame(named_heads((layers, heads)) | learned).assign(behaviour=behaviour.name, unit=behaviour.unit)


def path_table(result: Gated, behaviour: Behaviour, effort: Effort) -> pd.DataFrame:
    """Return what the behaviour is with the gates, on items that they were not learned on; a row a measure."""
    intact = gated_values(behaviour, result.learned.gates.new_ones(result.learned.gates.shape))
    values = np.stack([intact.numpy(), result.values(behaviour).numpy()])
    counts = {"left": len(result.learned.survivors), "heads": result.learned.gates.numel()}
    frames = []
    for measured in measures(behaviour, values):
        told = {"measure": measured.name, **measured.about, **counts}
        told |= {"intact": measured.values[0].mean(), "value": measured.values[1].mean()}
        frames.append(pd.DataFrame(told | measured.estimate(measured.cost, effort, "cost")))
    return pd.concat(frames, ignore_index=True)
