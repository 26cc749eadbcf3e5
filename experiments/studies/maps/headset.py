"""The heads of a run's model as a set: how far they are from each other, and in which groups and subspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha import Model
from probes import Document
from probes.corpora.corpus import MemoryTexts, Texts
from probes.maps.distances import Distances, text_key
from probes.maps.groups import group_heads, lay_out, layer_contrast
from probes.records import IntArray
from probes.scoring.aligned import sample_texts
from probes.scoring.score import score_corpus
from probes.scoring.tally import Numbers
from probes.weights.subspaces import SubspaceError, head_weights, output_similarity, subspace_overlap
from reports.run.study_facts import HeadSetFacts

OWN, RANDOM = "own", "random"
"Whose heads: those of the run's model, or of one of the same architecture with randomly initialised weights."

MAPS, OUTPUTS = "maps", "outputs"
"What is compared of two heads beside W_V and W_O: the distance of their maps, and linear CKA of their outputs."


class HeadsSection(StudySection):
    """What is said of the relations between heads: how far they are from each other, and what several do together."""

    table = "heads"
    texts: int = Field(default=400, ge=0)
    """Texts of the report split on which all heads are compared, by the maps and the outputs that they have there; 0
    for no comparison."""
    groups: int = Field(default=0, ge=0)
    "Groups that heads are divided into; 0 for as many as have the highest mean silhouette."
    permutations: int = Field(default=9999, ge=19)
    "Times that heads are dealt out to layers anew, for the test of within-layer against between-layer pairs."
    relations: int = Field(default=24, ge=0)
    "Labels, those with the most items, for which ensembles are sought; 0 for no ensembles."
    largest: int = Field(default=4, ge=2, le=8)
    "Heads of the largest ensemble."
    choice_texts: int = Field(default=1000, ge=1)
    "Texts of the selection split, at the most, on which ensembles are chosen."
    words: int = Field(default=20_000, ge=1)
    "Words, at the most, of the texts on which heads are compared, and of those on which ensembles are chosen."


Compared = Mapping[str, Mapping[str, Numbers]]
"What is compared -> column -> [head, head]."


@dataclass(frozen=True)
class HeadSetStudy(Study[HeadsSection]):
    """What is measured of all heads while they are scored, and of them as a set."""

    name = "relations between heads"
    reads = HeadsSection

    @classmethod
    def open(cls, run: RunContext, section: HeadsSection) -> Self | None:
        """Return the study where it is asked for."""
        return cls(run, section) if section.texts else None

    @cached_property
    def sample(self) -> list[Document]:
        """Texts of the report split on which heads are compared: of the scope that is read first."""
        texts = self.run.texts(self.run.scopes[0])[1]
        return sample_texts(texts, self.section.texts, self.section.words)

    def observers(self, scope: str, split: str, texts: Texts) -> Sequence[Distances]:
        """Return what compares heads on the sample."""
        return [self._on_sample()] if split == "report" and scope == self.run.scopes[0] else []

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the tables of `reports.studies.headset` on pairs and places; nothing where no text can be compared."""
        seed = self.run.config.seed
        (distances,) = read.parts[0].observed(Distances, "report")
        distance = distances.means()
        if distance is None:
            self.run.note("heads are not compared as a set: no text of the sample can be read whole")
            return Result({})
        found = {OWN: {MAPS: {"distance": distance}} | self._subspaces(self.run.model), RANDOM: self._fresh()}
        plane, groups = lay_out(distance, seed=seed), group_heads(distance, self.section.groups)
        left_out = len(self.sample) - distances.texts
        numbers = {"stress": plane.stress, "silhouette": groups.silhouette}
        known = {name: number for name, number in numbers.items() if np.isfinite(number)}
        self.run.journal.heads = HeadSetFacts(distances.texts, distances.words, left_out, **known)
        return Result(
            {
                "distances": self._pairs({"distance": distance}),
                "subspaces": self._overlaps(found),
                "contrasts": self._contrasts(found),
                "places": self._places(distance, plane.places, groups.group),
            }
        )

    def _on_sample(self) -> Distances:
        return Distances([text_key(text) for text in self.sample])

    def _subspaces(self, model: Model) -> dict[str, dict[str, Numbers]]:
        """Return overlap and nearest cosine of what heads read and write, and the likeness of their outputs."""
        found: dict[str, dict[str, Numbers]] = {}
        try:
            for what, spans in head_weights(model).items():
                found[what] = dict(zip(("overlap", "nearest"), subspace_overlap(spans), strict=True))
        except SubspaceError as error:
            self.run.note(str(error))
        found[OUTPUTS] = {"overlap": output_similarity(model, self.sample, self.run.settings)[0]}
        return found

    def _fresh(self) -> dict[str, dict[str, Numbers]]:
        """Return the same of the same architecture with randomly initialised weights, on the same texts."""
        fresh = self.run.random_model()
        observer = self._on_sample()
        score_corpus(fresh, MemoryTexts(self.sample), [], {}, self.run.settings, observers=[observer])
        distance = observer.means()
        assert distance is not None
        return {MAPS: {"distance": distance}} | self._subspaces(fresh)

    def _overlaps(self, found: Mapping[str, Compared]) -> pd.DataFrame:
        frames = [
            self._pairs({"nearest": np.full_like(next(iter(columns.values())), np.nan), **columns}).assign(
                what=what, weights=weights
            )
            for weights, compared in found.items()
            for what, columns in compared.items()
            if what != MAPS
        ]
        return pd.concat(frames, ignore_index=True)

    def _contrasts(self, found: Mapping[str, Compared]) -> pd.DataFrame:
        permutations, seed = self.section.permutations, self.run.config.seed
        rows = []
        for weights, compared in found.items():
            for what, columns in compared.items():
                values = columns["distance" if what == MAPS else "overlap"]
                contrast = layer_contrast(values, self._layer, permutations=permutations, seed=seed)
                rows.append({"what": what, "weights": weights, **vars(contrast)})
        return pd.DataFrame(rows)

    def _pairs(self, columns: Mapping[str, Numbers]) -> pd.DataFrame:
        """Return one row for every two heads, the lower one first."""
        one, other = np.triu_indices(self.run.model.layers * self.run.model.heads, 1)
        second = {f"other_{key}": value for key, value in _named(other, self.run.model.heads).items()}
        numbers = {name: values[one, other] for name, values in columns.items()}
        pairs = pd.DataFrame({**_named(one, self.run.model.heads), **second, **numbers})
        return pairs.rename(columns={"other_name": "other"})

    def _places(self, distance: Numbers, places: Numbers, group: IntArray) -> pd.DataFrame:
        """Return one row a head: where it lies on the plane, its group, and the head that is nearest to it."""
        heads, alone = pd.DataFrame(_named(np.arange(len(distance)), self.run.model.heads)), len(distance) == 1
        others = distance + np.diag(np.full(len(distance), np.inf))
        return heads.assign(
            x=places[:, 0],
            y=places[:, 1],
            group=group + 1,
            nearest="" if alone else heads["name"].to_numpy()[others.argmin(1)],
            distance=np.nan if alone else others.min(1),
        )

    @property
    def _layer(self) -> IntArray:
        return np.arange(self.run.model.layers * self.run.model.heads) // self.run.model.heads


def _named(flat: IntArray, heads: int) -> dict[str, IntArray | list[str]]:
    """Return layer, head and name of heads by their flat index."""
    layer, head = np.divmod(flat, heads)
    names = [f"{one + 1}-{other + 1}" for one, other in zip(layer.tolist(), head.tolist(), strict=True)]
    return {"layer": layer, "head": head, "name": names}
