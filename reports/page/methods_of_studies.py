"""What was measured beside scores, in words for an appendix: the studies of a run with the settings of its config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from reports.run.folder import RunFolder

STUDIES: Final[Mapping[str, tuple[str, str, str]]] = {
    "shapes": (
        "The shape of maps",
        "shapes",
        "Entropy, attention by distance and kind of token, sieves and classes of every map were measured in the pass "
        "in which heads are scored. A head has the bias of a sieve whose score is surely above {threshold} (Pande et "
        "al. 2021).",
    ),
    "confusion": (
        "Agreement among distractors",
        "",
        "How surely attention from a verb or reflexive picks the right one of several noun groups was measured in "
        "bits (Lin et al. 2019, section 4).",
    ),
    "relatedness": (
        "Related words",
        "relatedness",
        "Attention between words was held against ratings of how related they are ({ratings}), with {permutations} "
        "permutations of the ratings.",
    ),
    "circuits": (
        "Weights alone",
        "circuits",
        "The query-key and output-value circuits of heads were computed from the weights for {words} words of the "
        "vocabulary (Elhage et al. 2021) and held against {sentences} sentences of the report split.",
    ),
    "classifiers": (
        "Classifiers",
        "classifiers",
        "For the tasks {tasks}, classifiers were trained on what every head gives to words, on {examples} examples a "
        "task and split at the most, beside control tasks (Hewitt and Liang 2019) and with minimum description length "
        "(Voita and Titov 2020); on heads of a model with fresh weights: {random}.",
    ),
    "codes": (
        "Codes, drawn anew",
        "classifiers",
        "Labels of the selection split (tasks: {coded}) were coded {codes} times more, each time of other examples, in "
        "another order of documents and beside another control task, to say what of a compression is chance.",
    ),
    "parser": (
        "Parsers",
        "classifiers",
        "Parsers were trained on the attention of all heads at once, on {sentences} sentences a split at the most.",
    ),
    "distances": (
        "Heads as a set",
        "heads",
        "All heads were compared by their maps and outputs on {texts} texts of the report split ({words} words at the "
        "most); that heads of one layer are alike was tested with {permutations} permutations of heads.",
    ),
    "ensembles": (
        "Ensembles",
        "heads",
        "For the {relations} labels with the most items, mean maps of up to {largest} heads were chosen on "
        "{choice_texts} texts of the selection split at the most, and told on the report split.",
    ),
    "ablations": (
        "Ablation",
        "ablation",
        "Every head was switched off (by: {ways}), and whole layers: {layers}. What the model loses was measured on at "
        "most {items} items of each behaviour: {behaviours}; tests by document are corrected over all sets of a kind.",
    ),
    "ablation_contrasts": (
        "Chosen heads against random heads",
        "ablation",
        "The heads of a label (labels: {labels}; heads a label: {top}, where 0 stands for the specialised ones) were "
        "switched off together and held against {draws} sets of as many random heads of the same layers.",
    ),
    "importance": (
        "Gradient importance",
        "importance",
        "The mean absolute derivative of a behaviour with respect to a gate on each head (Michel et al. 2019) was "
        "taken over at most {items} items of each behaviour: {behaviours}; embeddings were followed in {directions} "
        "random directions.",
    ),
    "slopes": (
        "Single attention weights",
        "slopes",
        "The derivative of a behaviour with respect to single attention weights was taken over at most {items} items "
        "of each behaviour: {behaviours} (Clark et al. 2019).",
    ),
    "pruning": (
        "Pruning",
        "pruning",
        "Heads were taken out by importance, by their own cost, and in {draws} random orders, a share of {step} of all "
        "heads at a time; orders were made on one half of at most {items} items of each behaviour ({behaviours}) and "
        "told on the other half.",
    ),
    "migration": (
        "Roles after pruning",
        "pruning",
        "With the {left} of heads left that matter most, all heads were scored once more.",
    ),
    "gates": (
        "Learned gates",
        "gates",
        "Gates that pay for being open (Louizos et al. 2018; Voita et al. 2019) were learned for {behaviours} on one "
        "half of at most {items} items, in {steps} steps at a rate of {rate}, at prices of {prices}; weights trained "
        "along: {weights}.",
    ),
    "patching": (
        "Activation patching",
        "patching",
        "On at most {items} sentences of the grammar (seed {seed}), what a head gives in the sentence was put into the "
        "same sentence with its subject in the other number (Vig et al. 2020).",
    ),
    "link": (
        "Looking and mattering",
        "ablation",
        "What heads look at was held against what a behaviour loses without them, by Spearman’s correlation over "
        "heads.",
    ),
    "answers": (
        "Answers",
        "answers",
        "The model was asked {questions} held-out texts of its training at the most, each to be answered in one of two "
        "words.",
    ),
    "flows": (
        "Attention, rollout and flow",
        "answers",
        "For {texts} of the questions, of {shortest} to {longest} words, attention, rollout and flow from the answer "
        "to the words were held against blanking each word out and against gradients (Abnar and Zuidema 2020).",
    ),
    "one_head": (
        "One head a layer",
        "answers",
        "{one_head} of the questions were asked again with one head of a layer left, each in turn (Michel et al. "
        "2019).",
    ),
    "drift": (
        "What training moved",
        "drift",
        "The maps of the first checkpoint and of the model were compared by cosine on {texts} sentences of the report "
        "split at the most (Kovaleva et al. 2019).",
    ),
}
"""Table of a study -> heading, table of the config, sentences with its keys. Tables that belong to another one, such as
taylor and gate_paths, are told with it."""

WITHIN: Final = frozenset(
    {
        *("circuit_kernels", "circuit_relations", "circuit_links", "layers", "subspaces", "contrasts", "places"),
        *("taylor", "pruning_areas", "gate_paths", "link_correlations", "counts"),
    }
)
"Tables that are told with another one."


def of_studies(run: RunFolder, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield heading and sentences of what the run measured beside scores."""
    if run.behaviour is not None:
        yield _told("Minimal pairs", config.get("behaviour", {}), BEHAVIOUR)
    for name, (title, section, sentences) in STUDIES.items():
        if name in run.studies:
            yield _told(title, config.get(section, {}), sentences)
    if run.biographies is not None:
        yield _told("Biographies", config.get("biographies", {}), LIVES)


BEHAVIOUR: Final = (
    "Of two sentences that differ in one point the model had to prefer the right one (corpora: {corpora}; method: "
    "{method}; seed of the grammar’s pairs: {seed})."
)

LIVES: Final = (
    "Heads were scored at every checkpoint of the training (steps: {steps}; labels: {labels}) with {replicates} "
    "resamples of clusters and seeds; the maps of heads of all seeds were matched on {match_texts} sentences."
)


class _Settings(dict[str, Any]):
    """The keys of a table as they are written in a sentence; one that an older config does not have is said to be."""

    def __missing__(self, key: str) -> str:
        return "as is the default"

    def __getitem__(self, key: str) -> str:
        return written(super().__getitem__(key))


def _told(title: str, settings: Mapping[str, Any], sentences: str) -> tuple[str, str]:
    return title, sentences.format_map(_Settings(settings))


def written(value: Any) -> str:
    """Write a value of a config in a sentence.

    >>> written(True), written(9999), written(["zero", "mean"]), written([]), written(0.1)
    ('yes', '9,999', 'zero, mean', 'those of the default', '0.1')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(written, value)) or "those of the default"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
