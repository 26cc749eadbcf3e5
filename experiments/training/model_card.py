"""The card of a trained encoder, in the form of the hub: beside the weights, so that whoever gets them knows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.config.train_config import TextsSection
from experiments.record.provenance import version
from mha.training.checkpoints import read_record
from reports.formats import count, decimal3, escaped
from reports.page.dataset_card import yaml_lines
from reports.run.replacing import replace_text

CARD = "README.md"

USE = """## How to open it

    from transformers import AutoTokenizer, BertForMaskedLM
    model = BertForMaskedLM.from_pretrained(folder, attn_implementation="eager")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = tokenizer("a sentence", return_tensors="pt")
    maps = model(**texts, output_attentions=True).attentions

`maps` are what bertviz draws (`bertviz.head_view(maps, tokens)`). TransformerLens 4 opens the folder with
`TransformerBridge.boot_transformers(folder)`. headscope opens it as `load(folder)`, or as the model of a run:
`headscope run CONFIG --set model.name=FOLDER`.
"""

PRE_NORM = """## How to open it

    from transformers import AutoModelForMaskedLM, AutoTokenizer
    model = AutoModelForMaskedLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)

headscope opens the folder as `load(folder)`, or as the model of a run: `headscope run CONFIG --set model.name=FOLDER`.
"""

CAUSAL = """## How to open it

    from transformers import AutoTokenizer, BertLMHeadModel
    model = BertLMHeadModel.from_pretrained(folder, attn_implementation="eager")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = tokenizer("a sentence", return_tensors="pt")
    maps = model(**texts, output_attentions=True).attentions

To predict what follows a text, leave out the [SEP] that the tokenizer ends it with. headscope opens the folder as
`load(folder)`, or as the model of a run: `headscope run CONFIG --set model.name=FOLDER`.
"""

LIMITS = """## What it is for

It is small and was trained for study: to see what its attention heads do, and when they come to do it. It was not
made for use on anybody's text, and its training texts were not filtered.
"""


def write_model_card(checkpoint: Path, name: str, data: TextsSection) -> Path:
    """Write README.md into the folder of a checkpoint from what it records of itself and what it was trained on."""
    return replace_text(checkpoint / CARD, model_card(read_record(checkpoint), name, data))


def model_card(record: dict[str, Any], name: str, data: TextsSection) -> str:
    """Return the card of a checkpoint with that training.json, in Markdown with front matter in YAML."""
    shape, settings = record["encoder"], record["settings"]
    causal = shape["causal"]
    tags = ["attention-heads", "interpretability", "headscope"]
    task = {} if causal else {"pipeline_tag": "fill-mask"}  # its tokenizer ends a text, after which it learnt nothing
    front = {"library_name": "transformers", **task, "model_name": name, "tags": tags}
    facts = (
        ("layers x heads", f"{shape['layers']} x {shape['heads']}"),
        ("d_model, feed-forward", f"{shape['model']}, {shape['feed_forward']}"),
        ("vocabulary", f"{count(shape['vocab'])} pieces"),
        ("longest input", f"{count(shape['positions'])} pieces"),
        ("norm", shape["norm"]),
        ("trained on", trained_on(data)),
        ("task", "next pieces" if causal else f"masked words, {100 * settings['masking']['rate']:g} % of pieces"),
        ("step", f"{count(record['step'])} of {count(settings['steps'])}"),
        ("pieces read", count(record["tokens"])),
        ("training loss", _nats(record["loss"])),
        ("evaluation loss", _nats(record["evaluation_loss"])),
        ("seed", str(settings["seed"])),
        (
            "begun from",
            f"weights with sha256 {record['start']['sha256']}" if "start" in record else "randomly initialised weights",
        ),
        ("tokenizer sha256", record["tokenizer"]),
        ("headscope", version()),
    )
    table = ["| | |", "|---|---|", *(f"| {term} | {escaped(said)} |" for term, said in facts)]
    kind = "decoder without cross-attention" if causal else "encoder"
    said = f"A small {kind} of the BERT family, trained by headscope ({escaped(name)}, step {count(record['step'])})."
    use = CAUSAL if causal else USE if shape["norm"] == "post" else PRE_NORM
    return "\n".join(
        ["---", *yaml_lines(front), "---", "", f"# {escaped(name)}", "", said, "", *table, "", use, LIMITS]
    )


def trained_on(data: TextsSection) -> str:
    """Say what texts a training read, without the folders of the machine that it ran on."""
    if data.path is not None:
        return ", ".join(path.name for path in data.path)
    if data.dataset is not None:
        named = data.dataset if not Path(data.dataset).is_dir() else Path(data.dataset).name
        parts = [named, data.subset, data.split, data.revision]
        return ", ".join(part for part in parts if part)
    if data.name == "grammar":
        return f"the embedded grammar, {count(data.documents)} documents of seed {data.seed}"
    return str(data.name)


def _nats(loss: float | None) -> str:
    return "not measured" if loss is None else f"{decimal3(loss)} nats"
