"""The model of RXNMapper: an ALBERT of reaction SMILES, whose package needs an older `transformers` than headscope.

None of the package's code is run (Schwaller et al. 2021, Science Advances 7, eabe4166): its pickle is read with
`weights_only=True`, and its tokenizer, a regular expression and a vocabulary, is written as tokenizer.json.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from mha.models.packages import ModelError, Package, converted

PACKAGE = Package(
    name="rxnmapper",
    module="rxnmapper",
    distribution="rxnmapper",
    install="pip install --no-deps rxnmapper==0.4.3 (its dependencies are of an older transformers; none is needed)",
    folder="models/transformers/albert_heads_8_uspto_all_1310k",
    sha256={
        "pytorch_model.bin": "8541f3f500dae71abe678d546bd035ca946e2d1c819f6b2cf41a97faedd7e6a2",
        "vocab.txt": "399868a653e85549ce150af4a1f6cd2776240c6a3d951ced2120565f00f027fd",
        "config.json": "ea0f3144af1d13a5d5928cff01abd8e7c14ab831ff7b6d73a14d4162864a876f",
    },
)

TOKEN = (
    r"\[[^\]]+\]|Br|Cl|[BCNOPSFIbcnosp]|%[0-9]{2}|[0-9]|>>?"
    r"|[().=#\-+\\/:~@?*$]"
)
"One token of SMILES: an atom, bracketed or of the organic subset, a bond, a branch, a ring closure, a dot or an arrow."

_TIED = {
    "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
    "predictions.decoder.bias": "predictions.bias",
}
"Second names that the pickle has for a tensor."


def find() -> Path:
    """Return the folder of the converted model; raises ModelError with what to do."""
    return converted(PACKAGE, convert, version=2)


def convert(source: Path, folder: Path) -> None:
    """Write the model and the tokenizer of `source` to `folder`; raises ModelError for weights that are not as tied."""
    import torch
    from safetensors.torch import save_file

    weights = torch.load(source / "pytorch_model.bin", map_location="cpu", weights_only=True)
    for second, first in _TIED.items():
        if not torch.equal(weights.pop(second), weights[first]):
            raise ModelError(f"{source / 'pytorch_model.bin'}: {second!r} is not {first!r}, to which it is tied")
    save_file(
        {name: tensor.contiguous() for name, tensor in weights.items()},
        str(folder / "model.safetensors"),
        metadata={"format": "pt"},
    )
    shutil.copyfile(source / "config.json", folder / "config.json")
    smiles_tokenizer((source / "vocab.txt").read_text(encoding="utf-8").splitlines()).save(
        str(folder / "tokenizer.json")
    )
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": "[MASK]", "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(kind, indent=2) + "\n", encoding="utf-8")


def smiles_tokenizer(vocabulary: list[str]) -> Any:
    """Return a `tokenizers.Tokenizer` that cuts SMILES into tokens, each a piece of the vocabulary or [UNK]."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    ids = {token: number for number, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Replace(" ", "")  # a reaction has none: they part the words of a corpus
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(TOKEN), "isolated")
    tokenizer.add_special_tokens([token for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if token in ids])
    ends = [(token, ids[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer
