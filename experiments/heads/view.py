"""Every head on texts of one's own, of one model or several side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from torch import Tensor

from experiments.heads.typed_text import as_read, check_maps, check_one, cut, word_rules, written
from experiments.run.folder import reopened
from mha import CLS, HookError, Model, collate, load_model, merge
from mha.models.maps import stream_maps
from mha.models.model import UNTRAINED, refuse_other_weights
from mha.pieces import Pieces
from mha.reading.cross_attention import cross_maps, has_decoder
from probes.corpora.readers import reader_by_content
from probes.plain.raw_text import RawText, is_raw_text, texts_in
from probes.plain.text_tables import Entry
from probes.scoring.scorer import TINY
from reports import Run, write_view
from reports.formats import model_title, names_apart
from reports.progress import Progress, counter, each, silent
from reports.view.view import KnownRole, Level, MapSide, Panel, TextAttention, known_roles

MOST: Final = 4
"Panels that stand side by side on a page."

MOST_TEXTS: Final = 50
"Texts that one panel offers."

TEXTBOOK: Final = (
    ("a pronoun with two candidates: the boat", "The boat could not pass under the bridge because it was too tall ."),
    ("a pronoun with two candidates: the bridge", "The boat could not pass under the bridge because it was too low ."),
    ("a bank with a loan", "The bank refused the loan because the farm had no income ."),
    ("a bank of a river", "We tied the boat to a tree on the bank of the river ."),
    ("a verb with attractors", "The list of the names on the old doors hangs in the hall ."),
)
"Titles and sentences that are shown where no text is given: what textbooks explain attention with, in our own words."

KINDS: Final = {
    "encoder": "encoder: the text attends to itself",
    "decoder": "decoder: the target attends to itself",
    "cross": "cross-attention: the target attends to the text",
}


class ViewError(ValueError):
    """Models, runs and texts that no page can show together."""


def write_text_view(
    path: Path,
    texts: Sequence[Entry] = (),
    *,
    models: Sequence[Model | str] = (),
    runs: Sequence[Path | Run] = (),
    target: str = "",
    maps: str = "weights",
    together: bool = False,
    progress: Progress = silent,
) -> Path:
    """Write the interactive page of every head on `texts` to `path`, a panel a model and text; TEXTBOOK without texts.

    A pair is a text whose two parts are told apart. With `together` the panel of a model offers all texts. Special
    tokens are shown as words. Without `models`, those of `runs` are shown, or minilm. Roles of heads are those that a
    run of the same weights found. `target` is what the decoder of an encoder-decoder is told. `maps` is one of
    `mha.models.maps.MAPS`; rows of norms are shown as shares. Raises TypedError for a text that a model cannot read,
    ViewError for more than MOST panels or MOST_TEXTS texts and what does not go together.
    """
    check_maps(maps)
    for text in texts:
        check_one(text)
    if target and (len(texts) != 1 or (runs and not models)):
        raise ViewError("a target goes with one TEXT and a --model, whose encoder reads the text")
    if together and len(texts) > MOST_TEXTS:
        raise ViewError(f"{len(texts)} texts, and a page shows at most {MOST_TEXTS}: `headscope run` reads whole files")
    sources, side_by_side = max(len(models) or len(runs), 1), 1 if together else max(len(texts), 1)
    if (count := sources * side_by_side) > MOST:
        raise ViewError(
            f"{sources} models on {side_by_side} texts are {count} panels, and at most {MOST} stand side by side"
        )
    panels, notes = [], []
    opened = _models(
        models, [run if isinstance(run, Run) else Run.open(run) for run in runs], progress, whole=bool(target)
    )
    shown: list[list[tuple[str, Entry]]]
    shown = [_numbered_texts(texts)] if together else [[("", text)] for text in texts] or [list(TEXTBOOK)]
    read = counter(progress, "texts read", len(opened) * sum(map(len, shown)))
    for title, (model, roles, told) in zip(_titles([one.name for one, *_ in opened]), opened, strict=True):
        of_model = [Panel(title, [*_views(model, named, target, maps, read)], roles) for named in shown]
        panels += of_model
        read_otherwise = as_read(model, [target, *(written(text) for named in shown for _, text in named)])
        notes += [*_notes(title, model, of_model[0].views, target), *told, *read_otherwise]
    if any(not isinstance(text, str) for text in texts):
        notes.append("Of a pair, the words of the second text are underlined.")
    notes.append(word_rules())
    notes.append("A word of several word pieces: attention to them is summed, attention from them averaged.")
    if maps != "weights":
        notes.append(f"maps: {maps}, each row as shares")
    return write_view(path, panels, list(dict.fromkeys(notes)), progress)


def read_texts(path: str) -> list[Entry]:
    """Return the texts of a file in UTF-8 (`RawText`), or of standard input for "-" (`texts_in`).

    Raises ViewError for a file without texts, and for annotated text.
    """
    texts: list[Entry]
    if path == "-":
        typed = _standard_input()
        texts = [text for _, text in texts_in(lambda: typed)]
    elif not is_raw_text(file := Path(path)) and reader_by_content(file) is not None:
        raise ViewError(f"{path}: annotated text, expected plain text or a table of texts; `headscope run` reads it")
    else:
        texts = [text for _, text, _ in RawText(file).texts()]
    if not texts:
        raise ViewError(f"{path}: no text in it, expected words")
    return texts


def _standard_input() -> list[tuple[int, str]]:
    try:
        return [*enumerate(sys.stdin.read().removeprefix("\ufeff").split("\n"), start=1)]
    except UnicodeDecodeError as error:
        raise ViewError(f"standard input: not UTF-8 ({error.reason} at byte {error.start})") from error


def _numbered_texts(texts: Sequence[Entry]) -> list[tuple[str, Entry]]:
    """Return the title of each text in a chooser, and the text."""
    titles = [shorten(written(text), 60, placeholder=" …") for text in texts]
    return [(f"{number}: {title}", text) for number, (title, text) in enumerate(zip(titles, texts, strict=True), 1)]


def _models(
    names: Sequence[Model | str], runs: Sequence[Run], progress: Progress, *, whole: bool
) -> list[tuple[Model, Mapping[str, KnownRole], list[str]]]:
    """Return each model with the roles of its heads, and where these come from."""
    if runs and not names:
        opened = each("models opened", runs, progress)
        return [(reopened(run).model, known_roles(run), [_source(run)]) for run in opened]
    given = each("models opened", names or ["minilm"], progress)
    loaded = [_loaded(one, whole) for one in given]
    weights = [(model.sha256, model.source, model.seed) for model in loaded]
    for run in runs:
        if _weights(run) not in weights:
            raise ViewError(
                f"{run.folder} is a run of {run.record.model.name} with other weights than "
                f"{' or '.join(one.name for one in loaded)}; "
                "without --model its own is shown"
            )
    found = [next((run for run in runs if _weights(run) == own), None) for own in weights]
    return [
        (model, known_roles(known), [_source(known)]) if known else (model, {}, [])
        for model, known in zip(loaded, found, strict=True)
    ]


def _loaded(model: Model | str, whole: bool) -> Model:
    """Return a model, with `whole` its decoder too: what `load_model` has loaded without it is read again."""
    if not isinstance(model, Model):
        return load_model(model, whole=whole)
    if not whole:
        return model
    again = load_model(model.name, model.source, model.seed, device=model.device.type, whole=True)
    refuse_other_weights(model, again.sha256)
    return again


def _weights(run: Run) -> tuple[str | None, str | None, int | None]:
    model = run.record.model
    return model.sha256, model.source, run.record.seed if model.source in UNTRAINED else 0


def _source(run: Run) -> str:
    return f"Roles are those of the run {run.name}."


def _titles(names: Sequence[str]) -> list[str]:
    """Return what models are called: of folders with the same last part, as much of both as tells them apart."""
    titles = [model_title(name) for name in names]
    return titles if len({*titles}) == len({*names}) else names_apart(names)


def _notes(name: str, model: Model, views: Sequence[TextAttention], target: str) -> list[str]:
    """Say what model is shown, by its name, and how its attention is bound."""
    sentences = [f"{name}: {model.layers} layers x {model.heads} heads"]
    if target:
        sentences.append(
            "The decoder reads its start token and then the target; in the row of a word it predicts the next."
        )
    elif has_decoder(model):
        sentences.append(f"Of {name} the encoder is shown; --target TEXT shows its decoder too.")
    elif not any(np.triu(view.words.maps, 1).any() for view in views):
        sentences.append(f"{name} is a decoder: no word attends to a later one.")
    return sentences


@dataclass(frozen=True)
class _Read:
    """A text as a model reads it."""

    pieces: Pieces
    numbered: Pieces
    "The same, special tokens numbered as words of their own, in their places."
    words: MapSide
    raw: MapSide
    "The pieces, as the vocabulary writes them."


def _views(
    model: Model, texts: Sequence[tuple[str, Entry]], target: str, maps: str, step: Callable[[], None]
) -> Iterator[TextAttention]:
    """Yield what the chooser of a panel offers: the texts, or the three kinds of attention of an encoder-decoder.

    `step` is told of every text that was read.
    """
    try:
        for title, text in texts:
            read = _read(model, text)
            if not target:
                yield TextAttention(title, written(text), *_levels(_piece_maps(model, read, maps), read, read, maps))
                step()
                continue
            told = _read(model, target, is_target=True)
            found = cross_maps(model, read.pieces, told.pieces, maps=maps)
            ends = {"encoder": (read, read, written(text)), "decoder": (told, told, target)}
            ends["cross"] = (told, read, f"{target} → {written(text)}")
            for kind, (queries, keys, shown) in ends.items():
                levels = _levels(found[kind], queries, keys, maps)
                yield TextAttention(KINDS[kind], shown, *levels, crossed=kind == "cross", known=kind == "encoder")
            step()
    except HookError as error:
        raise ViewError(f"{model.name}: {error}") from error


def _read(model: Model, text: Entry, *, is_target: bool = False) -> _Read:
    """Cut a text into pieces; `is_target` says that it is what a decoder is given."""
    words, pieces = cut(model, text, is_target=is_target)
    names, special = [_name(model, piece) for piece in pieces.ids.tolist()], np.flatnonzero(pieces.word <= CLS)
    raw = MapSide(names, special.tolist(), _begin(pieces.word, pieces.second))
    return _Read(pieces, *_numbered(pieces, words, raw), raw)


def _begin(word: npt.NDArray[np.int32], second: int) -> int:
    """Return where the second text of a pair begins among tokens of these words; 0 where there is none."""
    return int(np.flatnonzero(word == second)[0]) if second else 0


def _name(model: Model, piece: int) -> str:
    tokenizer: Any = model.tokenizer
    return str(tokenizer.id_to_token(piece))


def _numbered(pieces: Pieces, words: Sequence[str], raw: MapSide) -> tuple[Pieces, MapSide]:
    """Number special tokens as words of their own, in their places."""
    tokens: list[str] = []
    special: list[int] = []
    word = np.empty_like(pieces.word)
    before = None
    for place, owner in enumerate(pieces.word.tolist()):
        if owner <= CLS:
            special.append(len(tokens))
            tokens.append(raw.tokens[place])
        elif owner != before:
            tokens.append(words[owner])
        word[place] = len(tokens) - 1
        before = owner
    second = int(word[_begin(pieces.word, pieces.second)]) if pieces.second else 0
    return replace(pieces, word=word, words=len(tokens), second=second), MapSide(tokens, special, second)


def _piece_maps(model: Model, read: _Read, maps: str) -> list[Tensor]:
    """Return the maps of pieces, a layer each: [1, head, query, key]."""
    count = len(read.pieces)
    each = collate([Pieces(read.pieces.ids, np.arange(count, dtype=np.int32), count)], padding=model.padding)
    layers: list[Tensor] = []
    stream_maps(model, each, lambda _, layer: layers.append(layer[..., :count].cpu()), maps=maps)
    return layers


def _levels(layers: Sequence[Tensor], queries: _Read, keys: _Read, maps: str) -> tuple[Level, Level]:
    """Return maps of words and of pieces."""
    from_words, to_words = collate([queries.numbered]), collate([keys.numbered])
    merged = [merge(layer, from_words, to_words)[..., : keys.numbered.words] for layer in layers]
    words = Level(_shares(merged, maps), queries.words, keys.words)
    return words, Level(_shares(layers, maps), queries.raw, keys.raw)


def _shares(layers: Sequence[Tensor], maps: str) -> npt.NDArray[np.float32]:
    """Return [layer, head, query, key]; rows of norms are divided by their sums."""
    whole: npt.NDArray[np.float32] = np.concatenate([layer.numpy() for layer in layers])
    return whole / np.maximum(whole.sum(-1, keepdims=True), TINY) if maps == "norms" else whole
