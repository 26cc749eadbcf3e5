"""Where W_O of an architecture lies, and its part that belongs to each head."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor, nn

OUTPUT_PROJECTIONS = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "electra"), "../output.dense"),
    **dict.fromkeys(("ernie", "roc_bert", "mobilebert", "xmod", "data2vec-text", "esm"), "../output.dense"),
    **dict.fromkeys(("roberta-prelayernorm", "bert-generation", "splinter", "layoutlm"), "../output.dense"),
    **dict.fromkeys(("deberta", "deberta-v2", "megatron-bert", "roformer", "rembert", "ibert"), "../output.dense"),
    **dict.fromkeys(("luke", "lilt", "tapas", "big_bird"), "../output.dense"),
    **dict.fromkeys(("distilbert", "xlm", "flaubert"), "out_lin"),
    **dict.fromkeys(("albert", "gpt_neox", "phi", "bloom", "falcon"), "dense"),
    **dict.fromkeys(("modernbert", "modernbert-decoder"), "Wo"),
    "gpt2": "c_proj",
    **dict.fromkeys(("eurobert", "nomic_bert", "jina_embeddings_v3", "llama", "mistral", "ministral3"), "o_proj"),
    **dict.fromkeys(
        ("qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3", "olmo", "olmo2", "starcoder2"), "o_proj"
    ),
    **dict.fromkeys(("smollm3", "stablelm", "cohere", "nemotron", "glm", "granite", "gpt_oss"), "o_proj"),
    **dict.fromkeys(("bart", "mbart", "pegasus", "marian", "blenderbot", "blenderbot-small", "m2m_100"), "out_proj"),
    **dict.fromkeys(("opt", "biogpt", "gptj"), "out_proj"),
    **dict.fromkeys(("t5", "mt5", "umt5", "mpnet"), "o"),
}
"Where W_O lies, seen from the module that calls attention: an entry an architecture (`config.model_type`)."


class HookError(RuntimeError):
    """A model whose heads cannot be seen, or a hook that asks for something that does not exist."""


@runtime_checkable
class OwnAttention(Protocol):
    """An attention module that says itself what W_O is, as `mha.attention.MultiHeadAttention` does."""

    def output_weights(self) -> Tensor:
        """Return W_O [head, head_dim, model]."""
        ...


def output_projection(model: nn.Module, name: str) -> nn.Module:
    """Return the module W_O of the attention module of `transformers` whose path in `model` is `name`.

    Raises HookError for an architecture that is not in OUTPUT_PROJECTIONS.
    """
    kind = getattr(getattr(model, "config", None), "model_type", type(model).__name__)
    if kind not in OUTPUT_PROJECTIONS:
        raise HookError(f"where W_O of {kind!r} lies is not known: add it to mha.projections.OUTPUT_PROJECTIONS")
    place = OUTPUT_PROJECTIONS[kind]
    if place.startswith("../"):
        name, place = name.rpartition(".")[0], place.removeprefix("../")
    return model.get_submodule(f"{name}.{place}" if name else place)


def output_weights(model: nn.Module, module: nn.Module, name: str) -> Tensor:
    """Return W_O of an attention module [head, head_dim, model], a view; `name` is its path in `model`.

    Raises HookError as `output_projection` does.
    """
    if isinstance(module, OwnAttention):
        return module.output_weights()
    projection = output_projection(model, name)
    if hasattr(projection, "base_layer"):
        raise HookError(f"{name}: its output projection has an adapter beside its weight; merge that first")
    weight = projection.weight
    assert isinstance(weight, Tensor)
    weight = weight if type(projection).__name__ == "Conv1D" else weight.T
    heads = _heads(module, model)
    return weight.view(heads, weight.shape[0] // heads, -1)


def _heads(module: nn.Module, model: nn.Module) -> int:
    for owner in (module, model.config):
        for name in ("num_attention_heads", "num_heads", "n_heads"):
            if isinstance(heads := getattr(owner, name, None), int):
                return heads
    raise HookError(f"the number of heads of {type(module).__name__} is not known")
