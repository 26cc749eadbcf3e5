"""The one attention function, and multi-head attention; `plain_attention` is the formula that everybody knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mha.dropout import dropout as drop
from mha.watches import Call, call_of, is_watched


def plain_attention(
    attention: MultiHeadAttention,
    query: Float[Tensor, "batch query model"],
    key: Float[Tensor, "batch key model"],
    value: Float[Tensor, "batch key model"],
    allowed: Bool[Tensor, "batch query key"],
) -> Float[Tensor, "batch query model"]:
    """MultiHead(Q, K, V) as Vaswani et al. 2017 print it (section 3.2), a head at a time: to be read, not to be run.

    `attend` computes the same for all heads at once, faster, and shows it to hooks. Every query has a key that is
    allowed.
    """
    heads = []
    for i in range(attention.heads):
        Q = query @ attention.W_Q[i] + attention.bias(0)[i]
        K = key @ attention.W_K[i] + attention.bias(1)[i]
        V = value @ attention.W_V[i] + attention.bias(2)[i]
        scores = Q @ K.transpose(1, 2) * attention.scaling
        weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
        heads.append(weights @ V)
    W_O = torch.cat([*attention.W_O])
    output: Tensor = torch.cat(heads, dim=-1) @ W_O + attention.output.bias
    return output


SILENT = frozenset(
    {"is_causal", "sliding_window", "deterministic", "layer_idx", "position_ids", "cache_position", "use_cache"}
    | {"output_attentions", "output_hidden_states", "return_dict", "position_embeddings", "num_items_in_batch"}
)
"Arguments that change nothing in explicit attention: the mask already says which keys a query may see."


class AttentionError(ValueError):
    """What attention cannot do: an argument that `attend` does not implement, or a head that was taken out."""


def attend(
    module: nn.Module,
    query: Float[Tensor, "batch head query head_dim"],
    key: Float[Tensor, "batch group key head_dim"],
    value: Float[Tensor, "batch group key head_dim"],
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    dropout: float = 0.0,
    crossed: bool = False,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **others: Any,
) -> tuple[Float[Tensor, "batch query head head_dim"], Float[Tensor, "batch head query key"] | None]:
    """Scaled dot-product attention of all heads, open to whoever watches `module` (Vaswani et al. 2017, equation 1).

    `attention_mask` is added to the scores and broadcasts to [batch, head, query, key], and so is `position_bias` (T5;
    Raffel et al. 2020, section 2.1). With `softcap` (Gemma 2) scores are softcap * tanh(scores / softcap) before both
    are added. `s_aux` (gpt-oss) is a number for each head, a sink: softmax gives it a share as if it were the score of
    one more key, which has no value, so rows of the pattern sum to less than 1. Keys and values may have fewer heads
    than queries (grouped). `crossed` says that keys are other pieces than queries, as differing numbers do. Where
    nobody watches scores or pattern and there is neither soft cap nor sink, the fused kernel runs if it is faster, and
    the second result is None. The signature is that of the attention interface of `transformers`; an argument that
    would change the result and is not implemented raises AttentionError.
    """
    _refuse_unknown(module, others)
    if attention_mask is not None and not attention_mask.is_floating_point():
        raise AttentionError("attention_mask is added to scores: turn a boolean one into numbers with `additive`")
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    call = call_of(module, crossed or query.shape[2] != key.shape[2])
    with in_float32(query.device.type, bool(call.watches)) as cast:
        mask, bias = (None if added is None else cast(added) for added in (attention_mask, position_bias))
        added = mask if bias is None else bias if mask is None else bias + mask
        scored = _Scores(cast(query), cast(key), added, scaling, softcap, None if s_aux is None else cast(s_aux))
        output, pattern = _attend(call, scored, cast(value), mask, dropout)
    return output.transpose(1, 2).contiguous(), pattern


class _Scores(NamedTuple):
    """What scores are made of: scaling times query times key, within the soft cap, plus mask and position bias."""

    query: Tensor
    key: Tensor
    added: Tensor | None
    scaling: float
    softcap: float | None
    sinks: Tensor | None

    def explicit(self) -> Tensor:
        """Return the scores [batch, head, query, key]."""
        scores = torch.matmul(self.query, self.key.transpose(2, 3)).mul_(self.scaling)
        if self.softcap is not None:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        return scores if self.added is None else scores.add_(self.added)

    def pattern(self, scores: Tensor) -> Tensor:
        """Return the softmax of scores, or of scores and sinks; in half precision too the kernel sums in float32."""
        if self.sinks is None:
            return F.softmax(scores, dim=-1)
        sinks = self.sinks.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)
        everything = torch.cat([scores, sinks], dim=-1)
        return F.softmax(everything - everything.max(dim=-1, keepdim=True).values, dim=-1)[..., :-1]


def _attend(
    call: Call, scored: _Scores, value: Tensor, mask: Tensor | None, dropout: float
) -> tuple[Tensor, Tensor | None]:
    """Return the head outputs [batch, head, query, head_dim], and the pattern where a hook watches it or the scores."""
    value = call.show("value", value, mask)
    pattern, watched = None, call.wants("scores", "pattern")
    if watched or scored.softcap is not None or scored.sinks is not None or _explicit_is_faster(scored.query, dropout):
        scores = call.show("scores", scored.explicit(), mask)
        pattern = call.show("pattern", scored.pattern(scores), mask)
        output = torch.matmul(drop(pattern, dropout), value)
    else:
        output = F.scaled_dot_product_attention(
            scored.query, scored.key, value, scored.added, dropout, scale=scored.scaling
        )
    return show_output(call, output, mask, value), pattern if watched else None


def show_output(call: Call, output: Tensor, mask: Tensor | None, value: Tensor) -> Tensor:
    """Show head outputs [batch, head, query, head_dim] and what they write; return what hooks make of them."""
    output = call.show("head_output", output, mask, value)
    if call.wants("head_write"):
        write = torch.einsum("bhqd,hdm->bhqm", output, call.output_weights())
        if call.show("head_write", write, mask) is not write:
            raise AttentionError("head_write can be seen but not changed: change head_output instead")
    return output


@contextmanager
def in_float32(device: str, watched: bool = True) -> Iterator[Callable[[Tensor], Tensor]]:
    """Let what is watched be computed in float32, also where products are made in bfloat16; yield a cast."""
    if watched and torch.is_autocast_enabled(device):
        with torch.autocast(device, enabled=False):
            yield Tensor.float
    else:
        yield lambda tensor: tensor


def _explicit_is_faster(query: Tensor, dropout: float) -> bool:
    """Return whether the fused kernel is the slower way: on a CPU with dropout, and backward in half precision."""
    if query.device.type != "cpu":
        return False
    return dropout > 0 or (query.itemsize == 2 and query.requires_grad and torch.is_grad_enabled())


def _refuse_unknown(module: nn.Module, others: dict[str, Any]) -> None:
    for name, argument in others.items():
        if argument is not None and argument is not False and name not in SILENT:
            raise AttentionError(
                f"{type(module).__name__} passes {name!r} to its attention, which headscope does not implement"
            )


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1 .. head_h) W_O, head_i = Attention(Q W_Q_i, K W_K_i, V W_V_i).

    Vaswani et al. 2017, section 3.2.2, with biases as in BERT. The projections of all heads lie in one matrix, so that
    self-attention costs one product; `W_Q`, `W_K`, `W_V` and `W_O` are views of it, a slice a head.

    `prune` takes heads out, and those that are left keep their numbers. Hooks see [batch, head, ...] with all heads
    even then: one that was taken out shows what zero matrices give, scores and values of 0 (so a uniform pattern), and
    what a hook makes of it is read by nobody. While anybody watches, attention costs what it cost before. The views and
    `bias` have no place for heads that were taken out and raise AttentionError.
    """

    left: Int[Tensor, " left"]
    "Numbers of the heads that are left, ascending."

    def __init__(
        self, model: int, heads: int, *, head_dim: int | None = None, dropout: float = 0.0, scale: bool = True
    ) -> None:
        """Create attention of `heads` heads over vectors of size `model`; `head_dim` is model / heads unless given.

        `scale=False` leaves out the division by sqrt(head_dim). Raises ValueError where heads do not divide model.
        """
        super().__init__()
        if head_dim is None and model % heads:
            raise ValueError(f"{heads} heads do not divide a model of size {model}; give head_dim")
        self.heads, self.head_dim = heads, head_dim or model // heads
        self.scaling = self.head_dim**-0.5 if scale else 1.0
        self.dropout = dropout
        self.project = nn.Linear(model, 3 * heads * self.head_dim)
        self.output = nn.Linear(heads * self.head_dim, model)
        self.register_buffer("left", torch.arange(heads), persistent=False)

    def prune(self, heads: Collection[int]) -> None:
        """Take heads out, by their numbers; the bias of W_O stays, and is all that is written where no head is left.

        Raises AttentionError for a head that is not there.
        """
        if not heads:
            return
        left = self.left.tolist()
        if missing := set(heads) - set(left):
            known = ", ".join(map(str, left)) or "none"
            raise AttentionError(f"head index {min(missing)} is not there to be taken out; heads left: {known}")
        kept = torch.tensor([at for at, head in enumerate(left) if head not in heads], dtype=torch.long)
        kept = kept.to(self.left.device)
        self._resize(self.left[kept], lambda part, axis: part.index_select(axis, kept))

    def restore(self) -> None:
        """Give the heads that were taken out their places back, with zero matrices: no output changes."""
        self._resize(torch.arange(self.heads, device=self.left.device), self.spread)

    def _resize(self, left: Tensor, change: Callable[[Tensor, int], Tensor]) -> None:
        """Put `change(part, axis of the heads)` in the place of every part of the projections that belongs to heads."""
        project, output, count = self.project, self.output, len(self.left)
        with torch.no_grad():
            weight = change(project.weight.view(3, count, self.head_dim, project.in_features), 1).flatten(0, 2)
            bias = change(project.bias.view(3, count, self.head_dim), 1).flatten()
            back = change(output.weight.view(output.out_features, count, self.head_dim), 1).flatten(1)
        project.weight = nn.Parameter(weight, project.weight.requires_grad)
        project.bias = nn.Parameter(bias, project.bias.requires_grad)
        output.weight = nn.Parameter(back, output.weight.requires_grad)
        project.out_features, output.in_features, self.left = len(weight), back.shape[1], left

    def spread(self, parts: Tensor, axis: int) -> Tensor:
        """Return `parts` of the heads that are left, which lie along `axis`, among zeros for those taken out."""
        shape = (*parts.shape[:axis], self.heads, *parts.shape[axis + 1 :])
        return parts.new_zeros(shape).index_copy(axis, self.left, parts)

    def output_weights(self) -> Float[Tensor, "head head_dim model"]:
        """Return W_O of all heads: the view where none was taken out, else a copy with zeros for those that were."""
        return self.W_O if self._whole else self.spread(self._rows_of_output(), 0)

    @property
    def _whole(self) -> bool:
        return len(self.left) == self.heads

    def _rows_of_output(self) -> Tensor:
        return self.output.weight.T.view(len(self.left), self.head_dim, self.output.out_features)

    def _refuse_gaps(self) -> None:
        if not self._whole:
            raise AttentionError(
                f"of {self.heads} heads {self.heads - len(self.left)} were taken out, and views of weights have no "
                "place for them: read those of the full-size model (mha.causal.pruning.zeroed)"
            )

    @property
    def W_Q(self) -> Float[Tensor, "head model head_dim"]:
        """The query projection of every head, a view."""
        return self._view(0)

    @property
    def W_K(self) -> Float[Tensor, "head model head_dim"]:
        """The key projection of every head, a view."""
        return self._view(1)

    @property
    def W_V(self) -> Float[Tensor, "head model head_dim"]:
        """The value projection of every head, a view."""
        return self._view(2)

    @property
    def W_O(self) -> Float[Tensor, "head head_dim model"]:
        """The rows of the output projection that each head meets after Concat, a view."""
        self._refuse_gaps()
        return self._rows_of_output()

    def bias(self, which: int) -> Float[Tensor, "head head_dim"]:
        """Return the biases of the query (0), key (1) or value (2) projection, a view."""
        self._refuse_gaps()
        return self.project.bias.view(3, self.heads, self.head_dim)[which]

    def _view(self, which: int) -> Tensor:
        self._refuse_gaps()
        return self.project.weight.view(3, self.heads, self.head_dim, -1)[which].transpose(1, 2)

    def forward(
        self,
        query: Float[Tensor, "batch query model"],
        key: Float[Tensor, "batch key model"] | None = None,
        value: Float[Tensor, "batch key model"] | None = None,
        mask: Bool[Tensor, "batch key"] | Bool[Tensor, "batch query key"] | None = None,
    ) -> Float[Tensor, "batch query model"]:
        """Attend from `query` to `key` and mix `value`; key defaults to query and value to key.

        `mask` is True where a key may be attended to, for all queries [batch, key] or for each [batch, query, key].
        """
        if key is None and value is None:
            projected = self.divide(self.project(query))
        else:
            key = query if key is None else key
            inputs = (query, key, key if value is None else value)
            projected = [self._project_one(which, x) for which, x in enumerate(inputs)]
        crossed = key is not None and key is not query
        mixed: Tensor = self.output(self.concat(projected, additive(mask, query.dtype), crossed))
        return mixed

    def divide(self, projected: Float[Tensor, "batch token projected"]) -> list[Tensor]:
        """Return queries, keys and values [batch, head, token, head_dim] of what `project` made of the same tokens."""
        parts = projected.view(*projected.shape[:2], 3, len(self.left), self.head_dim)
        return [part.transpose(1, 2) for part in parts.unbind(2)]

    def _project_one(self, which: int, x: Tensor) -> Tensor:
        weight, bias = self.project.weight.chunk(3)[which], self.project.bias.chunk(3)[which]
        return F.linear(x, weight, bias).view(*x.shape[:2], len(self.left), self.head_dim).transpose(1, 2)

    def concat(self, projected: Any, bias: Tensor | None, crossed: bool = False) -> Float[Tensor, "batch query concat"]:
        """Return Concat(head_1 .. head_h) for projected queries, keys and values [batch, head, token, head_dim]."""
        query, key, value = projected
        gaps = not self._whole and is_watched(self)
        if gaps:
            query, key, value = (self.spread(part, 1) for part in (query, key, value))
        elif not len(self.left):
            nothing: Tensor = query.transpose(1, 2).flatten(2)
            return nothing
        dropout = self.dropout if self.training else 0.0
        heads, _ = attend(self, query, key, value, bias, scaling=self.scaling, dropout=dropout, crossed=crossed)
        heads = heads.index_select(2, self.left) if gaps else heads
        return heads.flatten(2)


def additive(
    mask: Bool[Tensor, "batch *query key"] | None, dtype: torch.dtype
) -> Float[Tensor, "batch 1 _ key"] | None:
    """Return the mask as numbers to add to scores: 0 where a key may be attended to, else the lowest number."""
    if mask is None:
        return None
    bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, torch.finfo(dtype).min)
    return bias[:, None, None] if bias.ndim == 2 else bias[:, None]
