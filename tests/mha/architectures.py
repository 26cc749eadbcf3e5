"""Tiny models of many architectures of `transformers`, and docs/architectures.md, made from them.

python -m tests.mha.architectures
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers as hub
from torch import Tensor, nn
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from mha.hooks import HookError, record, watch
from mha.projections import OUTPUT_PROJECTIONS
from mha.watches import Seen
from tests.mha.conftest import randomise_weights

PAGE = Path(__file__).parents[2] / "docs" / "architectures.md"

PLAIN: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 24,
}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
SIZES = PLAIN | SPECIAL
DISTIL = {"vocab_size": 40, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 24}
GROUPED = SIZES | {"num_key_value_heads": 2}
"Two heads share their keys and values."
GEMMA = GROUPED | {"head_dim": 8, "sliding_window": 4}
LOCAL = SIZES | {"local_attention": 4, "global_attn_every_n_layers": 3, "cls_token_id": 2, "sep_token_id": 3}
"One layer of three has global attention, the others attend to two pieces on either side."
XLM = {"vocab_size": 40, "emb_dim": 32, "n_layers": 3, "n_heads": 4, "max_position_embeddings": 24}
T5 = {"vocab_size": 40, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 3, "num_heads": 4}
GPT2 = {"vocab_size": 40, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 24}
BART = {
    **{"vocab_size": 40, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "max_position_embeddings": 24},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48},
    **{"decoder_start_token_id": 3, "forced_eos_token_id": 3, **SPECIAL},
}

ARCHITECTURES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "ernie", "roc_bert"), SIZES),
    **dict.fromkeys(("data2vec-text", "roberta-prelayernorm", "bert-generation", "splinter", "layoutlm"), SIZES),
    **dict.fromkeys(("electra", "albert"), SIZES | {"embedding_size": 16}),
    "distilbert": DISTIL,
    "mobilebert": SIZES | {"embedding_size": 16, "true_hidden_size": 16, "intra_bottleneck_size": 16},
    "xmod": SIZES | {"languages": ["en_XX"], "default_language": "en_XX"},
    "esm": SIZES | {"mask_token_id": 4, "token_dropout": False},
    "modernbert": LOCAL,
    **dict.fromkeys(("eurobert", "nomic_bert", "jina_embeddings_v3"), SIZES),
    **dict.fromkeys(("megatron-bert", "roformer", "ibert", "mpnet", "deberta", "deberta-v2", "canine", "lilt"), SIZES),
    **dict.fromkeys(("rembert", "tapas", "big_bird"), SIZES),
    "squeezebert": SIZES | {"embedding_size": 32},
    "convbert": SIZES | {"embedding_size": 32},
    "nystromformer": SIZES | {"segment_means_seq_len": 16, "num_landmarks": 4},
    "longformer": SIZES | {"attention_window": 4},
    "luke": SIZES | {"entity_vocab_size": 10, "entity_emb_size": 16},
    "fnet": SIZES,
    "xlnet": {"vocab_size": 40, "d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48},
    **dict.fromkeys(("xlm", "flaubert"), XLM),
    **dict.fromkeys(("bart", "mbart", "pegasus", "marian", "blenderbot", "blenderbot-small", "m2m_100"), BART),
    **dict.fromkeys(("t5", "mt5", "umt5"), T5),
    "gpt2": GPT2 | SPECIAL,
    "gptj": GPT2 | {"rotary_dim": 4},
    **dict.fromkeys(("gpt_neox", "phi", "phi3", "olmo", "olmo2", "biogpt", "granite", "falcon"), SIZES),
    **dict.fromkeys(
        ("llama", "qwen2", "starcoder2", "smollm3", "stablelm", "cohere", "nemotron", "glm", "ministral3"), GROUPED
    ),
    **dict.fromkeys(("qwen3", "gemma"), GROUPED | {"head_dim": 8}),
    "mistral": GROUPED | {"sliding_window": 4},
    **dict.fromkeys(("gemma2", "gemma3_text"), GEMMA),
    "modernbert-decoder": LOCAL,
    "opt": SIZES | {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "bloom": {"vocab_size": 40, "hidden_size": 32, "n_layer": 3, "n_head": 4},
    "gpt_oss": GEMMA | {"num_local_experts": 2},
}
"`model_type` -> what its config is made with."


def config(kind: str) -> hub.PreTrainedConfig:
    """Return the config of a tiny model: 4 heads of 8 dimensions, of MobileBERT 4."""
    made = CONFIG_MAPPING[kind](**ARCHITECTURES[kind])
    assert isinstance(made, hub.PreTrainedConfig)
    return made


@dataclass(frozen=True)
class Outcome:
    """What came of an architecture."""

    kind: str
    family: str
    "encoder, decoder, or encoder of an encoder-decoder"
    refused: str = ""
    "why it is refused; empty where it is supported"
    off: float = 0.0
    "largest difference of a map or of the output from the model's own eager attention"
    written: float | None = None
    "largest difference of what all heads write from the output of W_O; None where the place of W_O is not known"
    local: str = ""
    "how many layers attend to a window alone"
    masked: bool = False
    "whether `transformers` has a masked-LM head for it"


def try_out(kind: str, change: Callable[[nn.Module], None] = lambda model: None) -> Outcome:
    """Record every layer of a randomised tiny model on padded texts and compare with its own eager attention.

    `change` is done to our model alone, for tests that a difference is seen.
    """
    made = config(kind)
    model = hub.AutoModel.from_config(made)
    randomise_weights(model)
    model = (model.get_encoder() if made.is_encoder_decoder else model).eval()
    own = deepcopy(model)
    change(model)
    inputs = _inputs()
    causal = kind in hub.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    masked = kind in hub.models.auto.modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    family = "encoder of an encoder-decoder" if made.is_encoder_decoder else "encoder"
    family = "decoder" if causal and not masked and family == "encoder" and kind != "bert-generation" else family
    try:
        with torch.no_grad(), record(model) as maps:
            output = model(**inputs)[0]
    except (HookError, ValueError) as error:
        return Outcome(kind, family, str(error), masked=masked)
    own.set_attn_implementation("eager")
    with torch.no_grad():
        expected = own(**inputs, output_attentions=True)
    pairs = [*zip(maps["pattern"], expected.attentions, strict=True), (output, expected[0])]
    off = _farthest(pairs)
    return Outcome(kind, family, "", off, _written(model, inputs), _local(maps["pattern"]), masked)


def _inputs() -> dict[str, Tensor]:
    real = torch.arange(9) < torch.tensor([9, 6, 4])[:, None]
    ids = torch.randint(5, 40, real.shape, generator=torch.Generator().manual_seed(1))
    return {"input_ids": ids.where(real, 0), "attention_mask": real.long()}


def _written(model: Any, inputs: dict[str, Tensor]) -> float | None:
    """Return how far what the heads write together, with the bias, is from what the module of W_O returns."""
    if model.config.model_type not in OUTPUT_PROJECTIONS:
        return None
    found: list[Tensor] = []
    summed: list[Tensor] = []
    suffix = OUTPUT_PROJECTIONS[model.config.model_type].removeprefix("../")

    def see(seen: Seen) -> None:
        summed.append(seen.tensor.sum(1))

    handles = []
    for name, module in model.named_modules():
        if name.endswith(f".{suffix}") and re.search("attention|attn", name.lower()):
            bias = 0 if module.bias is None else module.bias
            handles.append(module.register_forward_hook(lambda _, __, out, bias=bias: found.append(out - bias)))
    with torch.no_grad(), watch(model, see, ["head_write"]):
        model(**inputs)
    for handle in handles:
        handle.remove()
    return _farthest([(a.view_as(b), b) for a, b in zip(found, summed, strict=True)])


def _farthest(pairs: list[tuple[Tensor, Tensor]]) -> float:
    """Return the largest difference of tensors of the same shapes; NaN where one has a NaN."""
    assert all(ours.shape == theirs.shape for ours, theirs in pairs)
    return float(torch.stack([(ours - theirs).abs().max() for ours, theirs in pairs]).max())


def _local(maps: list[Tensor]) -> str:
    """Return how many layers give nothing to some pieces of the first text, whose pieces all are real."""
    local = 0
    for pattern in maps:
        first = pattern[0, 0]
        seen = first if bool((first.triu(1) > 0).any()) else first + first.T  # of a decoder what lies before
        local += bool((seen == 0).any())
    return f"{local} of {len(maps)}" if local else ""


ABOUT = f"""# Which architectures can be read

Tests record every layer of a tiny model with random weights on padded texts, and compare maps and output with the
model's own eager attention; `python -m tests.mha.architectures` writes this page from the same function. What is
refused is refused by name, with the reason, before anything is scored. Of an encoder-decoder the encoder is read. Other
architectures of `transformers` were not tried; one with attention code of its own, or with an unknown argument for its
attention, is refused in the same way. An architecture whose code lies in the model's folder (NeoBERT) is refused: code
from a folder is never run.

- **maps and output**: *identical* is bit for bit with the eager attention of transformers {hub.__version__}.
- **local layers**: layers in which a piece attends to a window alone; the tiny models have windows of 4 or 5 pieces.
- **W_O**: whether the place of the output projection is known and what all heads write adds up to its output (within
  1e-5): without it there are no norms, no ablation by changed weights and no circuits.
- **masked-LM head**: whether `transformers` has one, as behaviour by masked words needs.
"""


def row(outcome: Outcome) -> str:
    """Return the row of the page."""
    if outcome.refused:
        return f"| {outcome.kind} | {outcome.refused} |"
    same = "identical" if outcome.off == 0 else f"within {outcome.off:.0e}"
    known = "no" if outcome.written is None else "yes" if outcome.written < 1e-5 else f"off by {outcome.written:.0e}"
    cells = [outcome.kind, outcome.family, same, outcome.local or "none", known, "yes" if outcome.masked else "no"]
    return f"| {' | '.join(cells)} |"


def page(outcomes: list[Outcome]) -> str:
    """Return docs/architectures.md."""
    read, refused = ([o for o in outcomes if bool(o.refused) is bad] for bad in (False, True))
    head = (
        "| architecture | read is | maps and output | local layers | W_O | masked-LM head |\n|---|---|---|---|---|---|"
    )
    parts = [ABOUT, f"## Read: {len(read)}", "", head, *map(row, read), "", f"## Refused: {len(refused)}", ""]
    return "\n".join([*parts, "| architecture | reason |\n|---|---|", *map(row, refused), ""])


if __name__ == "__main__":
    hub.logging.set_verbosity_error()
    PAGE.write_text(page([try_out(kind) for kind in ARCHITECTURES]), encoding="utf-8")
