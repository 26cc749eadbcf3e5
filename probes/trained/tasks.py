"""What a classifier is asked about one word or a pair of words, and the control task beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mha.messages import nearest_name
from probes.records import Document, basic
from probes.scoring.aligned import CHUNK, Aligned, name_of
from probes.scoring.arcs import content_of, pick
from probes.scoring.hashed_random import draws
from probes.syntax.agreement import AMONG_NOUNS, SubjectVerbAgreement, morphology, number_verbs
from probes.targets import Targets
from probes.words.coreference import PRECEDING, Coreference, anaphors, mention_heads

BAND, BANDS = 4, 6
"Words a band of absolute positions, and how many bands there are before the open one."

REACH = 4
"Words to either side at which relative positions are asked."

RIGHT, WRONG = "right pair", "wrong pair"
"Labels of a task about pairs that are related or not."

WordsAndLabel = tuple[tuple[int, ...], str]
"The word, or the two words, of an example, and its label."

Draw = Callable[[object], int]
"Gives a random number in [0, 2**64) that is a function of the text and of what it is drawn for."


@dataclass(frozen=True)
class ProbingTask:
    """A question that a classifier answers from what heads give to words."""

    name: str
    what: str
    "For a page: what is told from what."
    scope: str
    '"sentence" or "window", as of a probe.'
    needs: str
    'What a corpus must have: "words", "trees" or "mentions".'
    examples: Callable[[Document, Draw], Iterator[WordsAndLabel]]
    "Yields the examples of one text."
    matched: bool = False
    "Whether the sample has as many wrong pairs as right ones at every signed distance."


@dataclass(frozen=True, slots=True)
class LabelledExample:
    """A word, or a pair of words, with its label."""

    text: tuple[str, int]
    "As in `probes.scoring.arcs.Arc`."
    number: int
    "Index of the text among those that the model can read."
    words: tuple[int, ...]
    label: str
    form: str
    "Form of the first word, lower-cased: what the label of the control task is drawn for."
    rank: int
    "Random number; the examples with the lowest ones are sampled. That of a word is the same in all tasks."


@dataclass(frozen=True)
class Sample:
    """The examples of one task on one split."""

    examples: tuple[LabelledExample, ...]
    available: int
    "Examples that the split has, of which these are a sample."


def _labels(labels: Sequence[str]) -> Iterator[WordsAndLabel]:
    return (((i,), label) for i, label in enumerate(labels) if label not in ("", "_"))


def _numbers(document: Document, draw: Draw) -> Iterator[WordsAndLabel]:
    """Yield verbs that have one subject, of known number, and whose own form does not show it."""
    subjects: dict[int, list[int]] = {}
    for subject, verb in document.arcs("nsubj"):
        subjects.setdefault(verb, []).append(subject)
    shown = {*number_verbs(document)}
    for verb, (subject, *others) in sorted(subjects.items()):
        number = morphology(document.feats[subject]).get("Number")
        verbal = document.upos[verb] in ("VERB", "AUX")
        if verbal and verb not in shown and not others and number in ("Sing", "Plur"):
            yield (verb,), "singular" if number == "Sing" else "plural"


def _places(document: Document, draw: Draw) -> Iterator[WordsAndLabel]:
    for i in range(len(document)):
        band = min(i // BAND, BANDS)
        last = "" if band == BANDS else f"-{band * BAND + BAND}"
        yield (i,), f"{band * BAND + 1}{last or ' and on'}"


def _offsets(document: Document, draw: Draw) -> Iterator[WordsAndLabel]:
    for i in range(len(document)):
        near = [j for j in range(i - REACH, i + REACH + 1) if 0 <= j < len(document) and j != i]
        if near:
            other = pick(near, draw(("relative position", i)))
            yield (i, other), f"{other - i:+d}"


def _entities(document: Document, draw: Draw) -> Iterator[WordsAndLabel]:
    """Yield each anaphor with one of its antecedents, and with a mention before it that is none."""
    heads = mention_heads(document)
    corefer: dict[int, set[int]] = {}
    for head, before in anaphors(document):
        corefer.setdefault(head, set()).update(before)
    for head, antecedents in sorted(corefer.items()):
        others = [other for other in heads if other < head and other not in antecedents]
        if others:
            yield (head, pick(sorted(antecedents), draw(("antecedent", head)))), "same entity"
            yield (head, pick(others, draw(("other entity", head)))), "other entity"


TASKS = {
    task.name: task
    for task in (
        ProbingTask(
            "part of speech", "a word's part of speech (UPOS)", "sentence", "trees", lambda text, _: _labels(text.upos)
        ),
        ProbingTask(
            "dependency label",
            "a word's relation to its head, without subtypes",
            "sentence",
            "trees",
            lambda text, _: _labels([basic(relation) for relation in text.deprels]),
        ),
        ProbingTask(
            "subject number",
            "at a verb whose form does not show number, whether its subject is singular or plural",
            "sentence",
            "trees",
            _numbers,
        ),
        ProbingTask(
            "absolute position",
            f"where a word stands in its sentence, in bands of {BAND}",
            "sentence",
            "words",
            _places,
        ),
        ProbingTask(
            "relative position",
            f"of two words no more than {REACH} apart, how far the second is from the first",
            "sentence",
            "words",
            _offsets,
        ),
        ProbingTask(
            "coreference",
            "of the head words of two mentions, whether both are of one entity; half of the pairs are",
            "window",
            "mentions",
            _entities,
        ),
    )
}
"Every task by its name."


def _pairs(targets: Targets) -> Iterator[WordsAndLabel]:
    """Yield every query with each gold key as a right pair, and with each other candidate as a wrong one."""
    right: dict[int, set[int]] = {}
    among: dict[int, set[int]] = {}
    assert not isinstance(targets.candidates, str), "words are to be told from some others, not from all"
    for keys, found in ((targets.gold, right), (targets.candidates, among)):
        for key, item in zip(keys[0].tolist(), keys[1].tolist(), strict=True):
            found.setdefault(int(targets.query[item]), set()).add(key)
    for query, gold in sorted(right.items()):
        yield from (((query, key), RIGHT) for key in sorted(gold))
        yield from (((query, key), WRONG) for key in sorted(among.get(query, set()) - gold - {query}))


def _next_words(document: Document, draw: Draw) -> Iterator[WordsAndLabel]:
    """Yield each word with the next one, and with another one that is no more than REACH away."""
    for i in range(len(document) - 1):
        others = [j for j in range(i - REACH, i + REACH + 1) if 0 <= j < len(document) and j not in (i, i + 1)]
        if others:
            yield (i, i + 1), RIGHT
            yield (i, pick(others, draw(("other place", i)))), WRONG


PAIR_TASKS = (
    ProbingTask(
        "agreement",
        "of a verb that shows number and a noun, whether the noun is its subject",
        "sentence",
        "trees",
        lambda text, _: _pairs(SubjectVerbAgreement().targets(text)[AMONG_NOUNS]),
        matched=True,
    ),
    ProbingTask("next word", "of two words, whether the second follows the first", "sentence", "words", _next_words),
    ProbingTask(
        "antecedent",
        "of a mention and one before it, whether both are of one entity",
        "window",
        "mentions",
        lambda text, _: _pairs(Coreference().targets(text)[PRECEDING]),
        matched=True,
    ),
)
"Tasks about pairs of words. Distance solves the next word, which stands for position, and neither of the others."


def get_task(name: str) -> ProbingTask:
    """Return the task of that name; raises ValueError with the nearest one."""
    if name not in TASKS:
        raise ValueError(f"unknown task {name!r}; {nearest_name(name, TASKS)}")
    return TASKS[name]


def sample_examples(aligned: Aligned, tasks: Sequence[ProbingTask], *, most: int, seed: int) -> dict[str, Sample]:
    """Return at most `most` examples a task, by random rank: a function of the set of texts, not of their order.

    A word has the same rank in every task, so that tasks about single words ask about the same ones. Examples about
    words that the tokenizer turned into nothing are left out, and counted in `aligned.dropped`.
    """
    kept: dict[str, list[LabelledExample]] = {task.name: [] for task in tasks}
    available: Counter[str] = Counter()
    copies: Counter[str] = Counter()
    for start in range(0, len(aligned.kept), CHUNK):
        numbers = range(start, min(start + CHUNK, len(aligned.kept)))
        for number, document in zip(numbers, aligned.texts.take([aligned.kept[i] for i in numbers]), strict=True):
            content = content_of(document)
            for task in tasks:
                found = list(_examples(task, document, (content, copies[content]), number, aligned, seed))
                available[task.name] += len(found)
                kept[task.name] += found
            copies[content] += 1
        kept = {task.name: _lowest(task, kept[task.name], most) for task in tasks}
    kept |= {task.name: matched_in_distance(kept[task.name], most) for task in tasks if task.matched}
    return {name: Sample(tuple(found), available[name]) for name, found in kept.items()}


def _lowest(task: ProbingTask, found: Sequence[LabelledExample], most: int) -> list[LabelledExample]:
    """Return those examples that a sample may have, by rank: `most`, or as many of each label and signed distance."""
    if task.matched:
        return [one for group in _by_distance(found).values() for one in group[:most]]
    return sorted(found, key=lambda one: one.rank)[:most]


def _by_distance(found: Sequence[LabelledExample]) -> dict[tuple[int, str], list[LabelledExample]]:
    """Return the examples of each signed distance and label, by rank."""
    groups: dict[tuple[int, str], list[LabelledExample]] = {}
    for one in sorted(found, key=lambda one: (one.rank, one.words)):
        groups.setdefault((one.words[1] - one.words[0], one.label), []).append(one)
    return groups


def matched_in_distance(examples: Sequence[LabelledExample], most: int) -> list[LabelledExample]:
    """Return at most `most` examples of a task about pairs, as many wrong as right ones at every signed distance.

    So that nothing can be told from where words stand to each other. A right pair whose distance no wrong pair of
    the split is left for is not asked, nor the reverse.
    """
    groups = _by_distance(examples)
    couples = [
        couple
        for (distance, label), group in groups.items()
        if label == RIGHT
        for couple in zip(group, groups.get((distance, WRONG), ()), strict=False)
    ]
    lowest = sorted(couples, key=lambda couple: (couple[0].rank, couple[0].words))[: most // 2]
    return [one for couple in lowest for one in couple]


def _examples(
    task: ProbingTask, document: Document, text: tuple[str, int], number: int, aligned: Aligned, seed: int
) -> Iterator[LabelledExample]:
    gone = set(aligned.pieces[number].missing())
    for words, label in task.examples(document, lambda what: draws(seed, text, what)[0]):
        if not gone.isdisjoint(words):
            aligned.dropped.add(f"{task.name}: word that the tokenizer turns into nothing", name_of(document))
            continue
        rank = draws(seed, "probing", text, words[0])[0]
        yield LabelledExample(text, number, words, label, document.words[words[0]].lower(), rank)
