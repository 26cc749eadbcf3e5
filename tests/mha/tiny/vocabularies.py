"""Small tokenizers of the kinds that real models ship, made without training: the same pieces each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import transformers as hub
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

CHUNKS = ("the", "key", "keys", "cab", "in", "is", "are", "her", "Mi", "see", "to", "old", "caf", "ing")
"What is in every vocabulary beside letters, at the beginning of a word and within one."

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?'’\"-()éëß"
NAMES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<pad>", "<unk>", "<s>", "</s>", "<mask>", "<cls>", "<sep>"]
NAMES += ["<bos>", "<eos>", "<mask_1>", "<mask_2>"]
NAMES += ["<|endoftext|>", "<|padding|>", "<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>"]
NAMES += ["<|END_OF_TURN_TOKEN|>", "[QUESTION]"]
"What the classes of `transformers` call their special pieces."

LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
CASES = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}]*[\p{Ll}]+(?i:'s|'t|'re)?|[^\r\n\p{L}\p{N}]?[\p{Lu}]+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BLOOM = r" ?[^(\s|[.,!?…])]+"
"Where Llama 3, gpt-oss (o200k) and BLOOM cut before they look at bytes."

PAIRS = {
    **dict.fromkeys(("modernbert", "modernbert-decoder"), ("bytes", "[CLS]", "[SEP]")),
    **dict.fromkeys(("granite", "stablelm"), ("bytes", "", "")),
    **dict.fromkeys(("eurobert", "llama", "smollm3"), ("split Llama 3", "<bos>", "")),
    **dict.fromkeys(("ministral3", "olmo2", "glm", "gpt_oss"), ("split o200k", "", "")),
    "bloom": ("split BLOOM", "", ""),
    "falcon": ("digits and bytes", "", ""),
    "phi3": ("marks by normalizer", "<s>", ""),
    "mistral": ("Metaspace first", "<s>", ""),
    "nemotron": ("Metaspace never", "<s>", ""),
    **dict.fromkeys(("xlm-roberta-xl", "nystromformer", "bert-generation"), ("Unigram always", "<s>", "</s>")),
    **dict.fromkeys(("umt5", "marian", "m2m_100"), ("Unigram always", "", "</s>")),
    **dict.fromkeys(("roc_bert", "tapas", "roformer", "canine"), ("WordPiece uncased", "[CLS]", "[SEP]")),
    "esm": ("WordPiece cased", "<cls>", "<eos>"),
    **dict.fromkeys(("xlm", "flaubert"), ("BPE with ends of words", "<s>", "</s>")),
    **dict.fromkeys(("biogpt", "blenderbot-small"), ("BPE with ends of words", "</s>", "")),
}
"`model_type` -> what its tokenizer is, and the special pieces around a text, where no class with offsets makes it."

CASED = ("splinter", "megatron-bert")
PREFIXED = ("blenderbot",)


def class_of(kind: str) -> str:
    """Return the class of tokenizer that `transformers` has for a `model_type`, "" where it is made of its parts."""
    name = TOKENIZER_MAPPING_NAMES.get(kind)
    return "" if kind in PAIRS else str(name)


def describe(kind: str) -> str:
    """Return what the tokenizer of a `model_type` is called on the page, with a star in the place of a class."""
    star = r"\*" if TOKENIZER_MAPPING_NAMES.get(kind, "TokenizersBackend") not in ("TokenizersBackend", None) else ""
    return f"{PAIRS[kind][0]}{star}" if kind in PAIRS else class_of(kind)


def make(kind: str) -> Any:
    """Return a tokenizer of `transformers` of the kind that a `model_type` has."""
    name = class_of(kind)
    if not name:
        pipeline, first, last = PAIRS[kind]
        pad, mask = ("[PAD]", "[MASK]") if first == "[CLS]" else ("<pad>", "<mask>")
        made = _framed(_generic(pipeline), first, last)
        return hub.PreTrainedTokenizerFast(tokenizer_object=made, pad_token=pad, mask_token=mask)
    made_of: Any = getattr(hub, name)
    if name in ("RobertaTokenizer", "DebertaTokenizer", "GPT2Tokenizer", "GPTNeoXTokenizer", "Qwen2Tokenizer"):
        return made_of(**_bytes(), add_prefix_space=kind in PREFIXED)
    if name in ("CohereTokenizer", "BlenderbotTokenizer"):
        return made_of(**_bytes())
    if name == "LukeTokenizer":
        return made_of(**_bytes(), entity_vocab={"[PAD]": 0, "[UNK]": 1, "[MASK]": 2, "[MASK2]": 3})
    if name == "OpenAIGPTTokenizer":
        return made_of(**_ended())
    if name == "GemmaTokenizer":
        return made_of(**_marked())
    if "Bert" in name and name not in ("RemBertTokenizer", "CamembertTokenizer", "XLMRobertaTokenizer"):
        return made_of(vocab=_wordpiece(), do_lower_case=kind not in CASED)
    if name in ("MPNetTokenizer", "SplinterTokenizer", "RoFormerTokenizer"):
        return made_of(vocab=_wordpiece(), do_lower_case=kind not in CASED)
    return made_of(vocab=_unigram())


def _numbered(pieces: Sequence[str]) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def _wordpiece() -> dict[str, int]:
    inner = [f"##{piece}" for piece in (*LETTERS, *CHUNKS)]
    return _numbered([*NAMES, *LETTERS, *inner, *CHUNKS])


def _unigram() -> list[tuple[str, float]]:
    marked = [f"▁{piece}" for piece in (*LETTERS, *CHUNKS)]
    pieces = [piece for piece in _numbered([*LETTERS, *CHUNKS, "▁", *marked])]
    return [*((name, 0.0) for name in NAMES), *((piece, -5.0 - 1 / len(piece)) for piece in pieces)]


def _joined(chunks: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs that make every chunk, letter after letter."""
    pairs = [(chunk[:at], chunk[at]) for chunk in chunks for at in range(1, len(chunk))]
    return [*dict.fromkeys(pairs)]


def _bytes() -> dict[str, Any]:
    pairs = _joined([*(f"Ġ{chunk}" for chunk in CHUNKS), *CHUNKS])
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    return {"vocab": _numbered([*NAMES, *alphabet, *map("".join, pairs)]), "merges": pairs}


def _marked() -> dict[str, Any]:
    pairs = _joined([*(f"▁{chunk}" for chunk in CHUNKS), *CHUNKS])
    of_bytes = [f"<0x{number:02X}>" for number in range(256)]
    return {"vocab": _numbered([*NAMES, *of_bytes, "▁", *LETTERS, *map("".join, pairs)]), "merges": pairs}


def _ended() -> dict[str, Any]:
    ends = [*LETTERS, *[f"{letter}</w>" for letter in LETTERS]]
    pairs = [*_joined(CHUNKS), *((chunk[:-1], f"{chunk[-1]}</w>") for chunk in CHUNKS)]
    return {"vocab": _numbered([*NAMES, *ends, *map("".join, pairs)]), "merges": pairs}


def _generic(pipeline: str) -> Tokenizer:
    """Return a tokenizer as folders have it that name no class for it."""
    if pipeline == "Unigram always":
        made = Tokenizer(models.Unigram(_unigram(), unk_id=NAMES.index("<unk>")))
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    elif pipeline.startswith("WordPiece"):
        made = Tokenizer(models.WordPiece(_wordpiece(), unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer(lowercase=pipeline.endswith("uncased"))
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif pipeline == "BPE with ends of words":
        made = Tokenizer(models.BPE(**_ended(), unk_token="<unk>", end_of_word_suffix="</w>"))
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif pipeline.startswith(("Metaspace", "marks")):
        made = Tokenizer(models.BPE(**_marked(), unk_token="<unk>", byte_fallback=True, fuse_unk=True))
        if pipeline.startswith("marks"):
            made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        else:
            made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=pipeline.split()[1], split=False)
    else:
        made = Tokenizer(models.BPE(**_bytes()))
        made.pre_tokenizer = _cut_then_bytes(pipeline)
    return made


def _cut_then_bytes(pipeline: str) -> Any:
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inside = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    if pipeline == "bytes":
        return whole
    if pipeline == "digits and bytes":
        marks, digits = pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits(individual_digits=False)
        return pre_tokenizers.Sequence([marks, whole, digits])
    regex = {"split Llama 3": LLAMA, "split o200k": CASES, "split BLOOM": BLOOM}[pipeline]
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), "isolated"), inside])


def _framed(made: Tokenizer, first: str, last: str) -> Tokenizer:
    made.add_special_tokens([name for name in NAMES if name in (first, last, "<pad>", "[PAD]", "<mask>", "[MASK]")])
    frame = [(name, made.token_to_id(name)) for name in (first, last) if name]
    text = " ".join(part for part in (first, "$A", last) if part)
    if frame:
        made.post_processor = processors.TemplateProcessing(single=text, special_tokens=frame)
    return made
