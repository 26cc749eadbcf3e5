"""The heads of a run's model as a set: how far they are from each other, and in which groups and subspaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pandas as pd

from experiments.studies.study import Study, Surroundings
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

OWN, RANDOM = "own", "random"
"Whose heads: those of the run's model, or of one of the same architecture with fresh weights."

MAPS, OUTPUTS = "maps", "outputs"
"What is compared of two heads beside W_V and W_O: the distance of their maps, and linear CKA of their outputs."

Compared = Mapping[str, Mapping[str, Numbers]]
"What is compared -> column -> [head, head]."


@dataclass
class HeadSet(Study):
    """What is noted of all heads while they are scored, and told of them as a set."""

    name = "heads as a set"
    run: Surroundings
    sample: list[Document] = field(default_factory=list)
    "Texts of the report split on which heads are compared: of the scope that is read first."
    distances: Distances | None = None

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where it is not switched off."""
        return cls(run) if run.config.heads.texts else None

    def observer(self, scope: str, split: str, texts: Texts) -> Distances | None:
        """Return what compares heads on the sample, which is of the first texts of the report split."""
        if split != "report" or self.distances is not None:
            return None
        section = self.run.config.heads
        self.sample = sample_texts(texts, section.texts, section.words)
        self.distances = self._on_sample()
        return self.distances

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables of `reports.studies.headset` on pairs and places; nothing where no text can be compared."""
        config, record = self.run.config, self.run.journal.record
        distance = None if self.distances is None else self.distances.means()
        if self.distances is None or distance is None:
            record["notes"].append("heads are not compared as a set: no text of the sample can be read whole")
            return {}
        found = {OWN: {MAPS: {"distance": distance}} | self._subspaces(self.run.model), RANDOM: self._fresh()}
        plane, groups = lay_out(distance, seed=config.seed), group_heads(distance, config.heads.groups)
        counts = {"texts": self.distances.texts, "words": self.distances.words}
        counts["left_out"] = len(self.sample) - self.distances.texts
        numbers = {"stress": plane.stress, "silhouette": groups.silhouette}
        record["heads"] = counts | {name: value for name, value in numbers.items() if np.isfinite(value)}
        return {
            "distances": self._pairs({"distance": distance}),
            "subspaces": self._overlaps(found),
            "contrasts": self._contrasts(found),
            "places": self._places(distance, plane.places, groups.group),
        }

    def _on_sample(self) -> Distances:
        return Distances([text_key(text) for text in self.sample])

    def _subspaces(self, model: Model) -> dict[str, dict[str, Numbers]]:
        """Return overlap and nearest cosine of what heads read and write, and the likeness of their outputs."""
        found: dict[str, dict[str, Numbers]] = {}
        try:
            for what, spans in head_weights(model).items():
                found[what] = dict(zip(("overlap", "nearest"), subspace_overlap(spans), strict=True))
        except SubspaceError as error:
            notes = self.run.journal.record["notes"]
            notes += [str(error)] * (str(error) not in notes)
        found[OUTPUTS] = {"overlap": output_similarity(model, self.sample, self.run.settings)[0]}
        return found

    def _fresh(self) -> dict[str, dict[str, Numbers]]:
        """Return the same of the same architecture with fresh weights, on the same texts."""
        fresh = self.run.fresh()
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
        config = self.run.config
        permutations, seed = config.heads.permutations, config.seed
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
