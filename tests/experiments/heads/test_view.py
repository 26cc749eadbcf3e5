import io
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hub
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from experiments.heads import view
from experiments.heads.sentence import attention
from experiments.heads.typed_text import TypedError, typed_words
from experiments.heads.view import KINDS, ViewError, read_texts, write_text_view
from mha import Encoder, align, export_encoder, load_encoder, load_model, record
from mha.reading.cross_attention import cross_maps, decoder_input
from reports import Run
from reports.view.view import Panel, TextAttention, known_roles
from tests.mha.decoders import BART, SIZES, save_model


@dataclass
class Shown:
    """What a page was asked to show."""

    panels: list[Panel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def only(self) -> TextAttention:
        """The one view of the one panel."""
        ((one,),) = [panel.views for panel in self.panels]
        return one

    @property
    def words(self) -> list[str]:
        return [*self.only.words.queries.tokens]

    @property
    def maps(self) -> np.ndarray:
        return np.asarray(self.only.words.maps)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Return what the latest page was made from."""
    seen = Shown()
    write = view.write_view

    def keep(path: Path, panels: list[Panel], notes: list[str], step: Any) -> Path:
        seen.panels, seen.notes = panels, notes
        return write(path, panels, notes, step)

    monkeypatch.setattr(view, "write_view", keep)
    return seen


@pytest.fixture
def page(tiny: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return the function that writes the page of texts, of the tiny model unless others are named."""

    def write(*texts: str, **options: Any) -> Path:
        return write_text_view(tmp_path / "page.html", texts, **{"models": [str(tiny)], **options})

    return write


@pytest.fixture(scope="module")
def other(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a model like the tiny one, with other weights."""
    folder = tmp_path_factory.mktemp("other")
    export_encoder(Encoder(load_encoder(tiny).config), folder)
    (folder / "tokenizer.json").write_bytes((tiny / "tokenizer.json").read_bytes())
    return str(folder)


def recorded(folder: Path, words: list[str]) -> np.ndarray:
    """Return the maps of pieces [layer, head, query, key], as hooks see them."""
    model = load_model(str(folder))
    pieces = align(model.tokenizer, [words])[0]
    with torch.inference_mode(), record(model.module) as maps:
        model.run(torch.tensor(np.asarray(pieces.ids))[None], None)
    return torch.stack(maps["pattern"])[:, 0].numpy()


def test_a_text_has_the_pieces_that_transformers_gives_it(
    page: Callable[..., Path], tmp_path: Path, shown: Shown
) -> None:
    text = "Don't stop (here), <s> now."
    byte_level = Tokenizer(BPE(unk_token="<unk>"))
    byte_level.pre_tokenizer = ByteLevel(add_prefix_space=False)
    special = ["<s>", "<unk>", "<pad>"]
    trainer = BpeTrainer(special_tokens=special, initial_alphabet=ByteLevel.alphabet(), show_progress=False)
    byte_level.train_from_iterator([text.replace("<s>", "")] * 9, trainer)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
    vocabulary = {"vocab_size": byte_level.get_vocab_size(), "pad_token_id": 2, "max_position_embeddings": 64}
    folder = save_model(tmp_path / "bytes", hub.RobertaConfig(**sizes, **vocabulary))
    tokenizer = hub.PreTrainedTokenizerFast(
        tokenizer_object=byte_level, bos_token="<s>", unk_token="<unk>", pad_token="<pad>"
    )
    tokenizer.save_pretrained(folder)
    page(text, models=[folder])
    expected = tokenizer.convert_ids_to_tokens(tokenizer(text, split_special_tokens=True)["input_ids"])
    assert [*shown.only.pieces.queries.tokens] == expected
    assert ")," in shown.words  # of which one piece covers both
    assert "".join(shown.words) == text.replace(" ", "")
    read = attention(load_model(folder), "Don't stop\n(here)")
    assert read.notes == (f"White space is read as one blank between words, which {folder} would tell apart.",)
    assert str(read).endswith(read.notes[0])


def test_other_maps_are_shown_as_shares_and_named(page: Callable[..., Path], shown: Shown) -> None:
    found = {}
    for kind in ("weights", "norms", "rollout"):
        written = page("the dog sleeps", maps=kind)
        found[kind] = shown.maps
        np.testing.assert_allclose(shown.maps.sum(-1), 1, atol=1e-5)
        np.testing.assert_allclose(shown.only.pieces.maps.sum(-1), 1, atol=1e-5)
        assert (f"maps: {kind}" in written.read_text(encoding="utf-8")) == (kind != "weights")
    assert np.abs(found["norms"] - found["weights"]).max() > 0.01
    np.testing.assert_allclose(found["rollout"][0], found["weights"][0], atol=1e-6)
    assert np.abs(found["rollout"][1] - found["weights"][1]).max() > 0.01
    with pytest.raises(TypedError, match="unknown maps 'norm'; did you mean 'norms'"):
        page("the dog", maps="norm")


def test_pieces_of_a_word_are_summed_to_and_averaged_from_and_shown_by_themselves(
    page: Callable[..., Path], tiny: Path, known: list[str], shown: Shown
) -> None:
    words = [known[0], "qzx", known[1]]
    page(" ".join(words))
    raw = recorded(tiny, words)
    assert raw.shape[-1] == 7, "[CLS], a word, three pieces, a word, [SEP]"
    summed = np.concatenate([raw[..., :2], raw[..., 2:5].sum(-1, keepdims=True), raw[..., 5:]], -1)
    merged = np.concatenate([summed[..., :2, :], summed[..., 2:5, :].mean(-2, keepdims=True), summed[..., 5:, :]], -2)
    np.testing.assert_allclose(shown.maps, merged, atol=1e-6)
    pieces = shown.only.pieces
    np.testing.assert_allclose(pieces.maps, raw, atol=1e-6)
    assert [*pieces.queries.tokens] == ["[CLS]", known[0], "q", "##z", "##x", known[1], "[SEP]"]
    assert [*pieces.keys.special] == [0, 6]


def test_a_run_gives_its_model_and_the_roles_of_its_heads(
    page: Callable[..., Path], shown: Shown, whole: Path, tiny: Path, other: str
) -> None:
    page("the dog", models=[], runs=[whole])
    roles = known_roles(Run.open(whole))
    assert shown.panels[0].model == tiny.name
    assert dict(shown.panels[0].roles) == roles != {}
    assert "Roles are those of the run whole." in shown.notes
    page("the dog", models=[other, str(tiny)], runs=[whole])
    assert [dict(panel.roles) for panel in shown.panels] == [{}, roles]
    with pytest.raises(
        ViewError, match=r"is a run of .*tiny with other weights than .*other0?; without --model its own is shown"
    ):
        page("the dog", models=[other], runs=[whole])


def test_a_decoder_attends_to_no_later_word_and_says_so(
    page: Callable[..., Path], shown: Shown, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sizes = {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 24}
    folder = save_model(tmp_path_factory.mktemp("gpt2"), hub.GPT2Config(**SIZES, **sizes), ends=False)
    page("the unsinkable ship", models=[folder])
    assert shown.words == ["the", "unsinkable", "ship"]
    assert [*shown.only.words.keys.special] == []
    assert shown.maps.shape == (3, 4, 3, 3)
    assert np.triu(shown.maps, 1).max() == 0
    assert f"{Path(folder).name} is a decoder: no word attends to a later one." in shown.notes


def test_of_an_encoder_decoder_all_three_kinds_are_shown_where_it_has_results_a_target(
    page: Callable[..., Path], shown: Shown, tmp_path: Path
) -> None:
    bart = save_model(tmp_path / "bart", hub.BartConfig(**SIZES, **BART))
    page("the unsinkable ship", models=[bart], target="das schiff")
    views = {one.title: one for one in shown.panels[0].views}
    assert [*views] == [*KINDS.values()]
    encoder, decoder, cross = views.values()
    assert [*cross.words.queries.tokens] == [*decoder.words.keys.tokens] == ["</s>", "<s>", "das", "schiff"]
    assert [*cross.words.keys.tokens] == [*encoder.words.queries.tokens] == ["<s>", "the", "unsinkable", "ship", "</s>"]
    assert [[*side.special] for side in (cross.words.queries, cross.words.keys)] == [[0, 1], [0, 4]]
    assert [one.words.maps.shape[:2] for one in views.values()] == [(2, 4), (3, 2), (3, 2)]
    assert [(one.crossed, one.known) for one in views.values()] == [(False, True), (False, False), (True, False)]
    model = load_model(bart, whole=True)
    source, target = align(model.tokenizer, [["the", "unsinkable", "ship"], ["das", "schiff"]])
    raw = torch.cat(cross_maps(model, source, decoder_input(model, target))["cross"]).numpy()
    np.testing.assert_allclose(cross.pieces.maps, raw, atol=1e-6)
    np.testing.assert_allclose(cross.words.maps[..., 2], raw[..., 2:5].sum(-1), atol=1e-6)
    page("the unsinkable ship", models=[load_model(bart)], target="das schiff")
    assert [one.title for one in shown.panels[0].views] == [*views]
    page("the ship", models=[bart])
    assert shown.maps.shape == (2, 4, 4, 4)
    assert any("the encoder is shown; --target TEXT shows its decoder too" in note for note in shown.notes)


def test_texts_are_read_from_a_file_or_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "text"
    file.write_text("\n\nthe\ndog\n \nsleeps\n\n", encoding="utf-8")
    assert read_texts(str(file)) == ["the dog", "sleeps"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\ufeffa dog\n"))
    assert read_texts("-") == ["a dog"]
    for text, message in (("# newdoc\n1\tdog" + "\t_" * 8 + "\n", "annotated text"), ("\n\n", "no text in it")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ViewError, match=f"text: {message}"):
            read_texts(str(file))


def test_the_texts_of_a_file_are_offered_one_at_a_time(
    headscope: Callable[..., Any], shown: Shown, tiny: Path, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("".join(f"the dog sleeps {i}.\n" for i in range(20)), encoding="utf-8")
    headscope("view", "--file", tmp_path / "text", "--model", tiny, "--out", tmp_path / "page.html")
    (panel,) = shown.panels
    assert len(panel.views) == 20
    assert panel.views[19].title == "20: the dog sleeps 19."
    assert [*panel.views[19].words.queries.tokens] == ["[CLS]", "the", "dog", "sleeps", "19", ".", "[SEP]"]
    with pytest.raises(ViewError, match="51 texts, and a page shows at most 50"):
        write_text_view(tmp_path / "page.html", ["x"] * 51, models=[str(tiny)], together=True)


def test_punctuation_is_no_part_of_a_word_and_a_special_token_is_read_as_text(
    page: Callable[..., Path], shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    page("The [SEP] sank.")
    assert shown.words[1:-1] == ["The", "[", "SEP", "]", "sank", "."]
    assert any(note.startswith("Words are split by the English rules of spaCy 3") for note in shown.notes)
    assert any(note.startswith("Read as ordinary text") and note.endswith(": [SEP].") for note in shown.notes)
    monkeypatch.setattr("experiments.heads.typed_text.spacy_version", lambda: None)
    page("She can't.")
    assert shown.words[1:-1] == ["She", "ca", "n't", "."]
    assert any("has better rules" in note for note in shown.notes)
    assert typed_words("She can't.") == (["She", "ca", "n't", "."], [True, False, False, True])


def test_folders_with_the_same_last_part_are_told_apart(
    page: Callable[..., Path], shown: Shown, tiny: Path, tmp_path: Path
) -> None:
    folders = [shutil.copytree(tiny, tmp_path / name / "best") for name in ("one", "two")]
    page("the dog", models=[*map(str, folders)])
    assert [panel.model for panel in shown.panels] == ["one/best", "two/best"]
    assert {note.partition(":")[0] for note in shown.notes if " layers x " in note} == {"one/best", "two/best"}


def test_the_command_takes_texts_models_runs_and_a_file(
    headscope: Callable[..., Any], shown: Shown, tiny: Path, other: str, whole: Path, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("the cat ran", encoding="utf-8")
    places = ("--file", tmp_path / "text", "--out", tmp_path / "page.html")
    said = headscope("view", "the dog", "--model", tiny, "--model", other, "--run", whole, "--maps", "norms", *places)
    assert (said.code, said.out, said.err) == (0, f"page: {tmp_path / 'page.html'}\n", "")
    assert [panel.views[0].text for panel in shown.panels] == ["the dog", "the cat ran"] * 2
    assert [panel.model for panel in shown.panels] == [tiny.name] * 2 + [Path(other).name] * 2
    assert [bool(panel.roles) for panel in shown.panels] == [True, True, False, False]
    assert "maps: norms, each row as shares" in shown.notes


def test_a_pair_is_read_together_and_its_second_text_begins_where_it_stands(
    page: Callable[..., Path], tiny: Path, known: list[str], shown: Shown
) -> None:
    first, second = " ".join(known[:2]), " ".join([*known[2:], "unsinkable"])
    written = page((first, second)).read_text(encoding="utf-8")
    model = load_model(str(tiny))
    (pieces,) = align(model.tokenizer, [f"{first} {second}".split()], None, [2])
    with torch.inference_mode(), record(model.module) as maps:
        model.run(torch.from_numpy(pieces.ids)[None], None)
    np.testing.assert_allclose(shown.only.pieces.maps, torch.stack(maps["pattern"])[:, 0].numpy(), atol=1e-5)
    for level in (shown.only.words, shown.only.pieces):
        (begin,) = {level.queries.second, level.keys.second}
        assert level.queries.tokens[begin] == known[2]
        assert level.queries.tokens[begin - 1] == known[1] or begin - 1 in level.queries.special
    assert shown.only.text == f"{first} ‖ {second}"
    assert "words of the second text are underlined" in written
    page(f"{first} {second}")
    assert (shown.only.words.queries.second, shown.only.pieces.queries.second) == (0, 0)
    with pytest.raises(TypedError, match="the text has no words"):
        page((first, " "))
