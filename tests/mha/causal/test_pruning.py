import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hub
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from mha.attention import AttentionError, MultiHeadAttention
from mha.causal.pruning import PruningError, even, smaller, zeroed
from mha.encoder.encoder import Encoder
from mha.encoder.families import FAMILIES
from mha.encoder.weights import WeightsError, export_encoder, load_encoder, read_config
from mha.hooks import record, watch
from mha.models.circuits import scores_between
from mha.models.packages import ModelError
from mha.planted.heads import word_model
from tests.mha.tiny.models import save

HEADS, HEAD_DIM, MODEL = 4, 8, 32
GATES = torch.tensor([[0, 1, 0.37, 1], [0, 0, 0, 0], [1, 0, 0.37, 0]])
"Whole, scaled and taken out, and a layer of which nothing is left."
SWITCHES = (GATES > 0).float()
ASKED = ("bert", "roberta", "distilbert", "modernbert", "deberta-v2")
OPENED = (*ASKED, "electra", "mpnet", "nomic_bert", "llama", "gpt2")


@contextmanager
def gated(model: nn.Module, gates: Tensor) -> Iterator[None]:
    """Multiply what heads give to W_O by their gates: the oracle, which changes no weight."""
    with watch(model, lambda seen: seen.tensor * gates[seen.layer][:, None, None], ["head_output"]):
        yield


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def opened(kind: str, folder: Path) -> Any:
    """Return a tiny model of an architecture, as `transformers` opens it."""
    return hub.AutoModel.from_pretrained(save(kind, folder), dtype=torch.float32).eval()


@pytest.mark.parametrize("change", [lambda encoder, gates: smaller(zeroed(encoder, gates)), zeroed])
@pytest.mark.parametrize("family", FAMILIES)
def test_both_give_the_outputs_of_the_gated_model(
    family: str, change: Callable[..., Encoder], build: Callable[..., Encoder], pieces: Tensor, mask: Tensor
) -> None:
    encoder = build(family, layers=3)
    with gated(encoder, GATES):
        expected = encoder(pieces, mask)
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    assert not torch.allclose(encoder(pieces, mask), expected, atol=1e-2)
    pruned = change(encoder, GATES)
    close(pruned(pieces, mask), expected)
    assert pruned.lm_head is not None
    assert pruned.lm_head.decoder.weight is pruned.pieces.weight
    assert encoder.config.pruned == ()
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.state_dict().items())


def test_packed_rows_and_chosen_pieces_are_those_of_the_gated_model(encoder: Encoder, pieces: Tensor) -> None:
    blocks = torch.tensor([[0] * 4 + [1] * 5, [0] * 6 + [-1] * 3, [0] * 2 + [1] * 2 + [-1] * 5])
    places = torch.tensor([[*range(4), *range(5)], [*range(6), 0, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0, 0]])
    chosen = torch.tensor([0, 5, 10, 20])
    for gates in (GATES, GATES.flip(0), GATES[[0, 2, 1]]):  # the last layer is the one that knows of chosen pieces
        small = smaller(zeroed(encoder, gates))
        with gated(encoder, gates):
            expected = encoder(pieces, places=places, blocks=blocks)
            some = encoder(pieces, places=places, blocks=blocks, selected=chosen)
        close(small(pieces, places=places, blocks=blocks), expected)
        close(small(pieces, places=places, blocks=blocks, selected=chosen), some)
        close(some, expected.flatten(0, 1)[chosen])


def test_hooks_see_all_heads_under_their_own_numbers(encoder: Encoder, pieces: Tensor, mask: Tensor) -> None:
    small, sites = smaller(zeroed(encoder, SWITCHES)), ["pattern", "value", "head_output", "head_write"]
    with gated(encoder, SWITCHES), record(encoder, sites) as full:
        encoder(pieces, mask)
    with record(small, sites) as seen:
        watched = small(pieces, mask)
    close(watched, small(pieces, mask))
    uniform = (mask / mask.sum(1, keepdim=True))[:, None].expand(-1, 9, -1)
    for layer, left in enumerate(SWITCHES.bool().tolist()):
        for head, there in enumerate(left):
            for site in sites:
                shown, whole = seen[site][layer][:, head], full[site][layer][:, head]
                gone = uniform if site == "pattern" else torch.zeros_like(whole)
                if site in ("pattern", "value"):
                    close(shown[mask], (whole if there else gone)[mask])
                else:
                    close(shown[mask], whole[mask])
                    assert there or bool((shown == 0).all())
    with record(small, ["head_output"], layers=[1]) as seen:
        small(pieces, mask)
    assert seen["head_output"][0].shape == (3, HEADS, 9, HEAD_DIM)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_smaller_encoder_comes_back_from_disk(
    family: str, build: Callable[..., Encoder], tmp_path: Path, pieces: Tensor, mask: Tensor
) -> None:
    encoder = build(family, layers=3)
    small = smaller(zeroed(encoder, GATES))
    export_encoder(small, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["pruned_heads"] == {"0": [0], "1": [0, 1, 2, 3], "2": [1, 3]}
    assert config[FAMILIES[family].settings["heads"]] == HEADS
    again = load_encoder(tmp_path)
    assert again.config == small.config
    assert torch.equal(again(pieces, mask), small(pieces, mask))
    export_encoder(encoder, tmp_path)
    assert "pruned_heads" not in json.loads((tmp_path / "config.json").read_text())


@pytest.mark.parametrize("kind", OPENED)
def test_a_zeroed_folder_opens_in_transformers_with_the_outputs_of_the_gated_model(
    kind: str, tmp_path: Path, pieces: Tensor
) -> None:
    model = opened(kind, tmp_path / "whole")
    before = deepcopy(model.state_dict())
    with torch.no_grad(), gated(model, GATES):
        expected = model(pieces)[0]
    pruned = zeroed(model, GATES)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    changed = [name for name, tensor in pruned.state_dict().items() if not torch.equal(tensor, before[name])]
    assert len(changed) == 3, "W_O of each layer, and nothing else"
    pruned.save_pretrained(tmp_path / "pruned")
    again = hub.AutoModel.from_pretrained(tmp_path / "pruned").eval()
    with torch.no_grad():
        close(again(pieces)[0], expected)
        assert not torch.allclose(model(pieces)[0], expected, atol=1e-2)


@pytest.mark.parametrize("kind", ASKED)
def test_heads_that_write_nothing_are_taken_out_of_the_projections_but_one_of_a_layer(
    kind: str, tmp_path: Path, pieces: Tensor, mask: Tensor
) -> None:
    full = zeroed(opened(kind, tmp_path), GATES)
    small = smaller(full)
    with torch.no_grad():
        close(*(one(pieces, attention_mask=mask.long())[0][mask] for one in (small, full)))
    sizes = [sum(weight.numel() for weight in one.parameters()) for one in (full, small)]
    bias = 0 if kind == "modernbert" else 3
    assert sizes[0] - sizes[1] == (1 + 3 + 2) * HEAD_DIM * (4 * MODEL + bias)


def test_a_head_with_a_task_keeps_it(tmp_path: Path, pieces: Tensor) -> None:
    save("bert", tmp_path)
    model = hub.AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    with torch.no_grad(), gated(model, GATES):
        expected = model(pieces).logits
    with torch.no_grad():
        close(smaller(zeroed(model, GATES))(pieces).logits, expected)


@pytest.mark.parametrize("kind", ["mpnet", "gpt2"])
def test_heads_that_lie_in_another_way_are_not_taken_out(kind: str, tmp_path: Path) -> None:
    with pytest.raises(PruningError, match="cannot be taken out: how they lie in it is not known"):
        smaller(zeroed(opened(kind, tmp_path), GATES))


def test_as_many_heads_of_every_layer_make_projections_that_transformers_opens(tmp_path: Path, pieces: Tensor) -> None:
    gates = torch.tensor([[0, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 0.0]])
    full = zeroed(opened("nomic_bert", tmp_path / "whole"), gates)
    small = even(full)
    assert small is not None
    small.save_pretrained(tmp_path / "small")
    again = hub.AutoModel.from_pretrained(tmp_path / "small").eval()
    assert (again.config.num_attention_heads, again.config.head_dim) == (3, HEAD_DIM)
    assert sum(one.numel() for one in full.parameters()) - sum(one.numel() for one in again.parameters()) == 3 * 1024
    with torch.no_grad():
        close(again(pieces)[0], full(pieces)[0])
    gates[2] = 1
    assert even(zeroed(opened("nomic_bert", tmp_path / "whole"), gates)) is None, "a layer needs all its heads"


@pytest.mark.parametrize("kind", ASKED)
def test_a_config_without_a_size_of_heads_takes_no_fewer(kind: str, tmp_path: Path) -> None:
    assert even(zeroed(opened(kind, tmp_path), torch.tensor([[0, 0, 1, 1.0]] * 3))) is None


def test_layers_that_share_their_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PruningError, match="layers of AlbertModel share one W_O"):
        zeroed(opened("albert", tmp_path), GATES)


def legacy_folder(folder: Path, pruned: dict[int, list[int]]) -> Any:
    """Write a BERT as `transformers` 4 left it after `prune_heads`; return the full one with rows of W_O zeroed."""
    model = opened("bert", folder)
    tensors = load_file(folder / "model.safetensors")
    for layer, heads in pruned.items():
        stay = [at for at in range(MODEL) if at // HEAD_DIM not in heads]
        before = f"encoder.layer.{layer}.attention"
        for name in ("query", "key", "value"):
            for kind in ("weight", "bias"):
                tensors[f"{before}.self.{name}.{kind}"] = tensors[f"{before}.self.{name}.{kind}"][stay].contiguous()
        tensors[f"{before}.output.dense.weight"] = tensors[f"{before}.output.dense.weight"][:, stay].contiguous()
        for head in heads:
            weight = model.encoder.layer[layer].attention.output.dense.weight
            weight.data[:, head * HEAD_DIM : (head + 1) * HEAD_DIM] = 0
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((folder / "config.json").read_text()) | {"pruned_heads": pruned}
    (folder / "config.json").write_text(json.dumps(settings))
    return model


@pytest.mark.parametrize("pruned", [{0: [2], 2: [3, 0, 1]}, {1: [0, 1, 2, 3]}])
def test_a_model_that_an_older_transformers_pruned_is_loaded(
    pruned: dict[int, list[int]], tmp_path: Path, pieces: Tensor, mask: Tensor
) -> None:
    theirs = legacy_folder(tmp_path, pruned)
    ours = load_encoder(tmp_path)
    assert ours.config.pruned == tuple((layer, head) for layer in pruned for head in sorted(pruned[layer]))
    with torch.no_grad():
        expected = theirs(pieces, attention_mask=mask.long())[0]
        close(ours(pieces, mask)[mask], expected[mask])


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"1": [7]}, "head index 7 of layer index 1 cannot be taken out of 3 layers of 4 heads"),
        ([0, 1], r"pruned_heads is \[0, 1\], expected numbers of heads by layer, such as \{\"0\": \[2, 3\]\}"),
        ({"first": [0]}, "pruned_heads is {'first': .*expected numbers of heads by layer"),
        ({"0": ["1"]}, "pruned_heads names head '1', expected a number"),
    ],
)
def test_heads_that_cannot_have_been_taken_out_are_refused(
    found: object, message: str, encoder: Encoder, tmp_path: Path
) -> None:
    export_encoder(encoder, tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pruned_heads": found}))
    with pytest.raises(WeightsError, match=message) as caught:
        read_config(tmp_path)
    assert str(path) in str(caught.value)


def test_views_of_weights_refuse_gaps_and_a_head_goes_once() -> None:
    attention = MultiHeadAttention(MODEL, HEADS)
    attention.prune([])
    assert attention.W_Q.shape == (HEADS, MODEL, HEAD_DIM)
    attention.prune([2])
    with pytest.raises(AttentionError, match=r"of 4 heads 1 were taken out, .*mha\.causal\.pruning\.zeroed"):
        attention.W_Q  # noqa: B018  # a view that would number the heads anew
    with pytest.raises(AttentionError, match="1 were taken out"):
        scores_between(attention, torch.zeros(2, MODEL, dtype=torch.float64))
    with pytest.raises(AttentionError, match="head index 2 is not there to be taken out; heads left: 0, 1, 3"):
        attention.prune([1, 2])
    assert attention.left.tolist() == [0, 1, 3]


def test_a_model_to_be_scored_has_all_its_heads() -> None:
    model = word_model(["ship"], layers=2, heads=3, head_dim=4, positions=8, seed=0)
    assert isinstance(model.module, Encoder)
    small = smaller(zeroed(model.module, torch.tensor([[0, 1, 1], [1, 0, 1.0]])))
    with pytest.raises(ModelError, match=r"planted-0: 2 of its 6 heads were taken out, .*mha\.causal\.pruning\.zeroed"):
        replace(model, module=small)
    replace(model, module=zeroed(small, torch.ones(2, 3)))
