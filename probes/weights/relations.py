"""Relations between words as pairs, and how far heads map the one word of a pair to the other, with text and without.

The map of a head's value-output product through the vocabulary, in the manner of MAPS (Elhelo and Geva 2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from mha.batches import collate
from mha.hooks import watch
from mha.models.circuits import CircuitError, LayerInput, encoder_of, layers_of, readouts
from mha.models.model import Model
from mha.pieces import align
from mha.watches import Seen
from probes.corpora.line_reader import CorpusError, filled_lines
from probes.records import IntArray
from probes.scoring.aligned import Dropped
from probes.scoring.tally import Numbers

Pairs = Mapping[str, Sequence[tuple[str, str]]]
"Relation -> pairs of a source and its target."

FEWEST = 8
"A relation of which the vocabulary has fewer pairs, both words whole, is left out."

TOP = 10
"A target is found if it is among so many words with the highest logits."

TEMPLATES = (("they", "talked", "about", "{}", "again", "."), ("the", "word", "{}", "was", "on", "the", "page", "."))
"Sentences in which a head's value of the source is read, for the dynamic score."

_WRITTEN = {
    "plural": "dog dogs, car cars, house houses, tree trees, book books, river rivers, king kings, hand hands, "
    "friend friends, boat boats, school schools, bird birds, letter letters, war wars, song songs, stone stones",
    "past": "walk walked, call called, want wanted, play played, turn turned, open opened, look looked, ask asked, "
    "help helped, move moved, start started, use used, live lived, love loved, kill killed, need needed",
    "irregular past": "go went, see saw, take took, give gave, come came, know knew, find found, make made, say said, "
    "tell told, think thought, leave left, run ran, write wrote, begin began, speak spoke",
    "comparative": "big bigger, small smaller, long longer, short shorter, high higher, low lower, old older, "
    "young younger, strong stronger, fast faster, late later, large larger, great greater, deep deeper",
    "opposite": "hot cold, big small, old young, good bad, high low, day night, black white, left right, open closed, "
    "early late, first last, north south, east west, strong weak, rich poor, long short",
    "capital": "france paris, germany berlin, italy rome, spain madrid, russia moscow, japan tokyo, china beijing, "
    "egypt cairo, austria vienna, greece athens, ireland dublin, poland warsaw, cuba havana, portugal lisbon",
    "nationality": "france french, germany german, italy italian, spain spanish, russia russian, japan japanese, "
    "china chinese, ireland irish, poland polish, greece greek, england english, sweden swedish, turkey turkish",
    "female": "king queen, man woman, boy girl, father mother, son daughter, brother sister, husband wife, "
    "uncle aunt, prince princess, actor actress, he she, him her, lord lady, god goddess",
    "next number": "one two, two three, three four, four five, five six, six seven, seven eight, eight nine, "
    "nine ten, ten eleven, eleven twelve",
}

RELATIONS: Pairs = {
    name: tuple((one.split()[0], one.split()[1]) for one in pairs.split(", ")) for name, pairs in _WRITTEN.items()
}
"The relations that are looked at where a config names no others."


def read_relations(path: Path) -> Pairs:
    """Read pairs from a file with three columns, relation, source and target, divided by tabs.

    Raises CircuitError, with file and line, for a line that is not so, and for a file without pairs.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for number, line in _lines(path):
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) != 3 or not all(parts) or any(" " in part for part in parts[1:]):
            raise CircuitError(f"{path}:{number}: expected a relation and two words, divided by tabs, got {line!r}")
        found.setdefault(parts[0], []).append((parts[1], parts[2]))
    if not found:
        raise CircuitError(f"{path}: no pairs; expected lines of a relation and two words, divided by tabs")
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        yield from filled_lines(path)
    except CorpusError as error:
        raise CircuitError(error) from None


@dataclass(frozen=True)
class Known:
    """The pairs whose words the vocabulary has whole."""

    names: tuple[str, ...]
    relation: IntArray
    "[pair] Index into `names`."
    source: Int[Tensor, " pair"]
    "Piece of each source."
    target: Int[Tensor, " pair"]
    "Index of each target among the words of the vocabulary."
    words: tuple[str, ...]
    "[pair] The source as the vocabulary writes it."
    dropped: Dropped = field(default_factory=Dropped)

    @classmethod
    def of(cls, relations: Pairs, vocabulary: Mapping[str, int]) -> Known:
        """Look pairs up in `vocabulary`, word -> piece; a word may also be capitalised there. Others are counted."""
        place = {word: number for number, word in enumerate(vocabulary)}
        names: list[str] = []
        rows: list[tuple[int, str, int]] = []
        dropped = Dropped()
        for name, pairs in relations.items():
            both = [(_written(one, place), _written(other, place)) for one, other in pairs]
            found = [(one, other) for one, other in both if one and other]
            if missing := len(pairs) - len(found):
                dropped.add("pair with a word that the vocabulary does not have whole", name, missing)
            if len(found) < FEWEST:
                dropped.add(f"relation with fewer than {FEWEST} pairs left", name)
                continue
            rows += [(len(names), one, place[other]) for one, other in found]
            names.append(name)
        words = tuple(word for _, word, _ in rows)
        source = torch.tensor([vocabulary[word] for word in words], dtype=torch.long)
        target = torch.tensor([number for *_, number in rows], dtype=torch.long)
        return cls(tuple(names), np.array([row[0] for row in rows], np.int64), source, target, words, dropped)

    def mean(self, hits: Numbers) -> Numbers:
        """[relation, ...] Return the mean over the pairs of each relation of numbers [pair, ...]."""
        return np.stack([hits[self.relation == number].mean(0) for number in range(len(self.names))])

    def sizes(self) -> IntArray:
        """Return the number of pairs of each relation."""
        return np.bincount(self.relation, minlength=len(self.names))


def _written(word: str, place: Mapping[str, int]) -> str:
    return next((one for one in (word, word.capitalize()) if one in place), "")


@dataclass(frozen=True)
class Mapped:
    """How often heads map sources to targets, in [0, 1]; chance is TOP divided by the number of words."""

    static: Numbers
    "[relation, layer, head] Share of pairs whose target is among the TOP words that W_V W_O gives the source alone."
    suppressed: Numbers
    "[relation, layer, head] The same for the TOP words that it lowers most."
    dynamic: Numbers
    """[relation, layer, head] As static, for the source's value in TEMPLATES, mean over those that the model can read;
    NaN where it can read none."""


@torch.inference_mode()
def map_relations(
    model: Model, known: Known, inputs: Sequence[LayerInput], embeddings: Float[Tensor, "word size"]
) -> Mapped:
    """Return how far every head maps sources to targets.

    `inputs` are those of each layer for the sources, pair by pair, `embeddings` those of all words of the vocabulary,
    less their mean. What all sources share is taken off what a head reads: else, as without taking the mean word off
    what it writes to, most sources would be mapped to the same few words.
    """
    encoder = encoder_of(model)
    matrices, words = readouts(encoder), embeddings.T.contiguous()
    read = (_values(model, known, template) for template in TEMPLATES)
    dynamic = [values for values in read if values is not None]
    hits: list[Tensor] = []
    for number, layer in enumerate(layers_of(encoder)):
        attention, given = layer.attention, inputs[number].words
        centred = (given - given.mean(0)).float()
        static = torch.einsum("pm,hmd->phd", centred, attention.W_V)
        values = torch.cat([static, *(part[number] for part in dynamic)])
        reach = torch.einsum("hdm,sm->hds", attention.W_O, matrices[number].float())
        found = _found(values, reach, words, known.target.repeat(1 + len(dynamic)))
        hits.append(found.view(2, 1 + len(dynamic), len(known.target), -1))
    every = torch.stack(hits, 3).double().numpy()
    on_text = every[0, 1:].mean(0) if dynamic else np.full_like(every[0, 0], np.nan)
    return Mapped(known.mean(every[0, 0]), known.mean(every[1, 0]), known.mean(on_text))


def _found(
    values: Float[Tensor, "item head head_dim"],
    reach: Float[Tensor, "head head_dim size"],
    words: Float[Tensor, "size word"],
    answer: Int[Tensor, " item"],
) -> Float[Tensor, "2 item head"]:
    """Return whether each item's answer is among the TOP words that a head raises, and lowers, most; ties are not."""
    found = []
    for value, of_head in zip(values.unbind(1), reach, strict=True):
        logits = value @ (of_head @ words)
        own = logits.gather(1, answer[:, None])
        before = torch.stack([(logits >= own).sum(1), (logits <= own).sum(1)])
        found.append((before <= TOP).float())
    return torch.stack(found, 2)


def _values(model: Model, known: Known, template: Sequence[str]) -> list[Float[Tensor, "pair head head_dim"]] | None:
    """Return each layer's values of the sources within a template, what all sources share taken off.

    None where the template is too long for the model.
    """
    place = template.index("{}")
    texts = [[*template[:place], word, *template[place + 1 :]] for word in known.words]
    cut = align(model.tokenizer, texts)
    if max(map(len, cut)) > model.max_pieces:
        return None
    at = torch.tensor([int(np.flatnonzero(pieces.word == place)[0]) for pieces in cut])
    batch, values = collate(cut, padding=model.padding), list[Tensor]()

    def look(seen: Seen) -> None:
        own = seen.tensor[torch.arange(len(at)), :, at]
        values.append(own - own.mean(0))

    with watch(model.module, look, ["value"]):
        model.run(batch.ids, batch.mask)
    return values
