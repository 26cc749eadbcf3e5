"""What a classifier is asked about one word or a pair of words, and the control task beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mha.nearest_name import nearest_name
from probes.records import Document
from probes.scoring.aligned import CHUNK, Aligned, name_of
from probes.scoring.arcs import content_of, pick
from probes.scoring.hashed_random import draws
from probes.syntax.agreement import morphology, shows_number
from probes.words.coreference import anaphors, mention_heads

BAND, BANDS = 4, 6
"Words a band of absolute positions, and how many bands there are before the open one."

REACH = 4
"Words to either side at which relative positions are asked."

Asked = tuple[tuple[int, ...], str]
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
    examples: Callable[[Document, Draw], Iterator[Asked]]
    "Yields the examples of one text."


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


def _parts_of_speech(document: Document, draw: Draw) -> Iterator[Asked]:
    return (((i,), tag) for i, tag in enumerate(document.upos) if tag not in ("", "_"))


def _relations(document: Document, draw: Draw) -> Iterator[Asked]:
    return (((i,), deprel.partition(":")[0]) for i, deprel in enumerate(document.deprels) if deprel)


def _numbers(document: Document, draw: Draw) -> Iterator[Asked]:
    """Yield verbs that have one subject, of known number, and whose own form does not show it."""
    subjects: dict[int, list[int]] = {}
    for i, relation in enumerate(document.deprels):
        if relation.partition(":")[0] == "nsubj" and document.heads[i] >= 0:
            subjects.setdefault(int(document.heads[i]), []).append(i)
    for verb, (subject, *others) in sorted(subjects.items()):
        number = morphology(document.feats[subject]).get("Number")
        verbal = document.upos[verb] in ("VERB", "AUX")
        silent = not shows_number(document.words[verb], document.upos[verb], document.feats[verb])
        if verbal and silent and not others and number in ("Sing", "Plur"):
            yield (verb,), "singular" if number == "Sing" else "plural"


def _places(document: Document, draw: Draw) -> Iterator[Asked]:
    for i in range(len(document)):
        band = min(i // BAND, BANDS)
        last = "" if band == BANDS else f"-{band * BAND + BAND}"
        yield (i,), f"{band * BAND + 1}{last or ' and on'}"


def _offsets(document: Document, draw: Draw) -> Iterator[Asked]:
    for i in range(len(document)):
        near = [j for j in range(i - REACH, i + REACH + 1) if 0 <= j < len(document) and j != i]
        if near:
            other = pick(near, draw(("relative position", i)))
            yield (i, other), f"{other - i:+d}"


def _entities(document: Document, draw: Draw) -> Iterator[Asked]:
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
        ProbingTask("part of speech", "a word's part of speech (UPOS)", "sentence", "trees", _parts_of_speech),
        ProbingTask(
            "dependency label", "a word's relation to its head, without subtypes", "sentence", "trees", _relations
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
        kept = {name: sorted(found, key=lambda one: one.rank)[:most] for name, found in kept.items()}
    return {name: Sample(tuple(found), available[name]) for name, found in kept.items()}


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


def control_labels(select: Sequence[LabelledExample], examples: Sequence[LabelledExample], seed: int) -> list[str]:
    """Return the label of each of `examples` in the control task of the task that `select` is about.

    Every word form has one label, drawn at random from the labels of `select` as often as they occur there, so that
    only memory can solve it (Hewitt and Liang 2019, section 2). In a task about pairs it is the first word's form that
    decides, as in their control for dependency edges.
    """
    labels = sorted(example.label for example in select)
    drawn = {form: pick(labels, draws(seed, "control label", form)[0]) for form in {one.form for one in examples}}
    return [drawn[example.form] for example in examples]
