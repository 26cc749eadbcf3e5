"""What is refused of every input, each as something that provokes it: docs/inputs.md shows the messages."""

from __future__ import annotations

import json
import os
import pickle
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import headscope
from experiments.api import score
from experiments.config.config import CorpusPart
from experiments.config.sections import ClusterSection
from experiments.config.train_config import TextsSection
from experiments.heads.typed_text import cut, find_head, find_word
from experiments.inputs.corpora import open_corpora, open_part
from experiments.record.job import Job
from experiments.record.provenance import installed
from experiments.reproduce.reproduce import rejudge
from experiments.run import cluster, shards
from experiments.run.config import corpus_part, load_config, load_training
from experiments.run.folder import made_for
from experiments.training.texts import open_texts, open_vocabulary
from mha import Encoder, export_encoder, load_model
from mha.models.masked_prediction import with_head
from mha.planted.heads import word_model
from mha.training.checkpoints import checkpoint_path, find_checkpoint, read_record, read_state, write_checkpoint
from mha.training.vocabulary import save_tokenizer
from probes import registry
from probes.causal.labelled_rows import labelled_rows
from probes.corpora.corpus import corpus_path
from probes.corpora.readers import read_documents
from probes.pairs.corpora import open_pairs
from probes.pairs.readers import read_pairs
from probes.plain.raw_text import RawText
from probes.plain.spacy_pipeline import annotate
from probes.plain.text_tables import DatasetTexts
from probes.training.texts import TextFiles, texts_path
from probes.weights.relations import read_relations
from probes.words.own import own_probe
from probes.words.rare import word_counts
from reports import Run
from reports.run.lock import locked
from reports.run.record import RunRecord
from reports.run.record import read_record as read_run
from reports.statements.claim_record import read_claim
from reports.statements.finding_record import read_findings
from reports.statements.sandbox_record import read_record as read_sandbox
from tests.fuzz import seeds

Provoke = Callable[[Path], object]
"Does, in an empty folder, what is refused."

ENDLESS = b"7" * 5000


def read_plain(path: Path) -> object:
    """Open plain text as a config does."""
    return open_part(CorpusPart(path=path))


PAIR = b"text,text_pair\nship,boat\n"
ALIGNED = b'{"text": ["ship", "sinks"], "text_pair": ["boat"], "alignment": [[0, 3]]}\n'


def pairs(content: bytes, name: str = "a.csv", pair: str | None = None) -> Provoke:
    """Read a file of pairs as a config does."""
    return file(name, content, lambda path: [*open_part(CorpusPart(path=path, pair=pair)).stream()])


def one_premise(folder: Path) -> object:
    """Divide a table with one first text."""
    (folder / "a.csv").write_bytes(PAIR + b"ship,sea\n")
    (folder / "my.toml").write_text('name = "x"\ncorpus.select.path = "a.csv"\n')
    return open_corpora(load_config(folder / "my.toml"))


def aligned(path: Path) -> object:
    """Ask the alignments of a table of each of its own pairs."""
    probe = own_probe("sea", path, "here")
    try:
        return [probe.targets(text) for text in open_part(CorpusPart(path=path)).stream()]
    finally:
        registry._registry.pop("sea")


def file(name: str, content: bytes, read: Callable[[Path], object]) -> Provoke:
    """Write a file and read it, all of it."""

    def provoke(folder: Path) -> object:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        found = read(folder / name)
        return list(found) if hasattr(found, "__next__") else found

    return provoke


def changed(name: str, content: bytes, old: bytes, new: bytes, read: Callable[[Path], object]) -> Provoke:
    """Write a valid file with one place changed, and read it."""
    assert old in content
    return file(name, content.replace(old, new, 1), read)


def corpus(name: str, content: bytes, old: bytes, new: bytes) -> Provoke:
    """Change one place of a corpus."""
    return changed(name, content, old, new, read_documents)


def config(old: bytes, new: bytes) -> Provoke:
    """Change one place of a config."""
    return changed("my.toml", seeds.CONFIG, old, new, load_config)


def setting(change: str) -> Provoke:
    """Give one --set to a config."""
    return file("my.toml", seeds.CONFIG, lambda path: load_config(path, [change]))


def tiny(folder: Path) -> Path:
    """Write the folder of a model."""
    model = word_model(["ship", "sinks"], layers=1, heads=2, head_dim=4, positions=16, seed=0)
    assert isinstance(model.module, Encoder)
    export_encoder(model.module, folder / "model")
    save_tokenizer(model.tokenizer, folder / "model", 512)
    return folder / "model"


def model_config(change: Mapping[str, Any]) -> Provoke:
    """Load a model with another config.json; None takes a key out."""

    def provoke(folder: Path) -> object:
        path = tiny(folder) / "config.json"
        found = json.loads(path.read_text()) | change
        path.write_text(json.dumps({key: value for key, value in found.items() if value is not None}))
        return load_model(str(path.parent))

    return provoke


def weights(change: Callable[[dict[str, Any]], object]) -> Provoke:
    """Load a model with other weights."""

    def provoke(folder: Path) -> object:
        path = tiny(folder) / "model.safetensors"
        found = load_file(path)
        change(found)
        save_file(found, path)
        return load_model(str(path.parent))

    return provoke


def model_file(name: str, content: bytes | None) -> Provoke:
    """Load a model with other content of a file, or without it."""

    def provoke(folder: Path) -> object:
        path = tiny(folder) / name
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        return load_model(str(path.parent))

    return provoke


def larger_tokenizer(folder: Path) -> object:
    """Load a model whose tokenizer has more pieces than it."""
    path = tiny(folder) / "tokenizer.json"
    found = json.loads(path.read_text())
    found["model"]["vocab"]["whale"] = 400
    path.write_text(json.dumps(found))
    return load_model(str(path.parent))


def changed_weights(folder: Path) -> object:
    """Load a model, and once more with a head when its weights are others."""
    path = tiny(folder) / "model.safetensors"
    model = load_model(str(path.parent))
    save_file({name: one + 1 for name, one in load_file(path).items()}, path)
    return with_head(model, "MaskedLM")


def query(found: dict[str, Any]) -> str:
    return next(key for key in found if key.endswith("query.weight"))


def another_shape(found: dict[str, Any]) -> None:
    found[query(found)] = torch.zeros(3, 3)


def not_a_number(found: dict[str, Any]) -> None:
    found[query(found)][0, 0] = torch.nan


def checkpoint(read: Callable[[Path], object], damage: Callable[[Path], object] = lambda path: None) -> Provoke:
    """Write a checkpoint of step 1, damage it, and read the training."""

    def provoke(folder: Path) -> object:
        def fill(to: Path) -> None:
            (to / "model.bin").write_bytes(b"weights")

        write_checkpoint(folder / "seed-0", 1, fill, {"model.x": torch.ones(1)}, {"step": 1})
        damage(checkpoint_path(folder / "seed-0", 1))
        return read(folder / "seed-0")

    return provoke


def variable(name: str, value: str, read: Callable[[], object]) -> Provoke:
    """Set an environment variable to a path in the folder, and do what reads it."""

    def provoke(folder: Path) -> object:
        before = os.environ.get(name)
        os.environ[name] = str(folder / value)
        try:
            return read()
        finally:
            os.environ.pop(name) if before is None else os.environ.update({name: before})

    return provoke


def twice_locked(folder: Path) -> object:
    with locked(folder / "run"), locked(folder / "run"):
        return None


def interrupted(folder: Path, damaged: str = "") -> object:
    """Go on from what a run of another seed has kept."""

    def open_kept(seed: int, *, resume: bool) -> Job:
        change = [f"seed={seed}"]
        (folder / "my.toml").write_bytes(seeds.CONFIG)
        config = load_config(folder / "my.toml", change)
        return Job.open(folder / "run", made_for(config, RunRecord()), resume=resume)

    open_kept(1, resume=False).part("permutations", lambda: [1])
    if damaged:
        (folder / ".run-kept" / "made_for.json").write_text(damaged)
    return open_kept(2, resume=True)


def no_scheduler(folder: Path) -> object:
    """Open a cluster where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "WAIT_SECONDS", 1)
        with cluster.open_cluster(ClusterSection(address=address)):
            return None


def other_worker(folder: Path) -> object:
    """Ask a worker of an older version for a shard."""
    return shards.read_control(pickle.dumps((installed() | {"headscope": "0.2"}, b"")), "sentence", "random weights")


def card(folder: Path) -> object:
    (folder / "set").mkdir()
    (folder / "set" / "README.md").write_bytes(seeds.CARD.replace(b"a.jsonl", b"'hf://datasets/a/b/c.jsonl'"))
    return DatasetTexts(str(folder / "set")).open()


def typed(text: str) -> Provoke:
    """Give a text to a model."""
    model = word_model(["ship", "sinks"], layers=1, heads=2, head_dim=4, positions=8, seed=0)
    return lambda folder: cut(model, text)


def run_folder(folder: Path) -> object:
    (folder / "run").mkdir()
    (folder / "run" / "run.json").write_text("{}")
    return Run.open(folder / "run")


def tokenizer(content: bytes | None) -> Provoke:
    """Give a training a tokenizer."""

    def provoke(folder: Path) -> object:
        (folder / "my.toml").write_bytes(seeds.CONFIG.replace(b'size = 300, kind = "wordpiece"', b'folder = "words"'))
        if content is not None:
            (folder / "words").mkdir()
            (folder / "words" / "tokenizer.json").write_bytes(content)
        train = load_training(folder / "my.toml").train
        return open_vocabulary(train, None)  # type: ignore[arg-type]  # no text is read

    return provoke


CONLLU, NEXT = "a.conllu", seeds.CONLLU
ROOT_LINE = b"5\tsink\tsink\tVERB\tVB\t_\t0\troot"

REFUSED: dict[str, dict[str, Provoke]] = {
    "Configs and arguments": {
        "no such config": lambda folder: load_config(folder / "my.toml"),
        "a file that is not TOML": file("my.toml", b"name = [", load_config),
        "a file that is not text": file("my.toml", b"\xff\xfe", load_config),
        "tables nested without end": file("my.toml", b"a = " + b"[" * 5000, load_config),
        "an unknown key": config(b"seed = 3", b"sead = 3"),
        "a value of another type": config(b"seed = 3", b'seed = "three"'),
        "a value out of bounds": config(b"documents = 6 }", b"documents = 0 }"),
        "a name that contains a path": config(b'name = "sea"', b'name = "../sea"'),
        "an unknown table": config(b"report = ", b"[x]\nreport = "),
        "`--set` without a value": setting("seed"),
        "`--set` of a key inside a value": setting("name.first=1"),
        "`--cluster` or `[cluster]` with an address that is none": setting("cluster.address=local:0"),
        "`--cluster` or `[cluster]`: no scheduler there": no_scheduler,
        "`--cluster` or `[cluster]`: a worker with another version, model or corpus": other_worker,
        "an unknown probe": setting('probes.names=["dependancy"]'),
        "an unknown corpus": lambda folder: corpus_path("ewt-def"),
        "a text in the place of a corpus": lambda folder: headscope.corpus("The ship sinks. " * 20),
        "a file of rows that is not there": lambda folder: labelled_rows(folder / "rows.csv"),
        "an untrained model with another seed than that of its weights": lambda folder: score(
            load_model(str(tiny(folder)), "random", 3), seed=1
        ),
        "an unknown model": lambda folder: load_model("minilm-l12"),
    },
    "Corpora": {
        "a missing file": lambda folder: read_documents(folder / "a.conllu"),
        "a folder without a corpus": lambda folder: read_documents(folder),
        "an empty file": file(CONLLU, b"", read_documents),
        "bytes that are not UTF-8": file(CONLLU, b"\xff\n", read_documents),
        "a NUL byte": corpus(CONLLU, NEXT, b"\tfloat\tfloat", b"\tflo\0at\tfloat"),
        "CoNLL-U: a line without ten columns": corpus(CONLLU, NEXT, b"\troot\t_\tSpaceAfter=No", b"\troot"),
        "CoNLL-U: a word id that is not a number": corpus(CONLLU, NEXT, b"\n6\t.", b"\nsix\t."),
        "CoNLL-U: a missing word": corpus(CONLLU, NEXT, b"\n6\t.", b"\n7\t."),
        "CoNLL-U: a head that is not a number": corpus(CONLLU, NEXT, b"_\t0\troot", b"_\tzero\troot"),
        "CoNLL-U: a head outside the sentence": corpus(CONLLU, NEXT, b"_\t0\troot", b"_\t12\troot"),
        "CoNLL-U: no root": corpus(CONLLU, NEXT, ROOT_LINE, ROOT_LINE.replace(b"0\troot", b"2\troot")),
        "CoNLL-U: heads that form a cycle": corpus(CONLLU, NEXT, b"\t5\tnsubj\t5:nsubj", b"\t1\tnsubj\t_"),
        "CoNLL-U: a mention that is not closed": corpus(CONLLU, NEXT, b"Entity=1)", b"_"),
        "CoNLL-U: two sentences with one id": corpus(CONLLU, NEXT, b"sea-2", b"sea-1"),
        "CoNLL-2012: no `#begin document`": corpus("a.conll", seeds.CONLL, b"#begin", b"#start"),
        "CoNLL-2012: a mention that is not closed": corpus("a.conll", seeds.CONLL, b"1)\n", b"_\n"),
        "GAP: an offset at which the name does not stand": corpus("gap.tsv", seeds.GAP, b"\t14\t", b"\t15\t"),
        "GAP: an offset of thousands of digits": corpus("gap.tsv", seeds.GAP, b"\t14\t", b"\t" + ENDLESS + b"\t"),
        "Winogender: a malformed id": corpus("w.tsv", seeds.WINOGENDER, b"nurse.someone.0.male", b"nurse"),
        "open-sesame: a word index that is not a number": corpus(
            "agr.tsv", seeds.OPEN_SESAME, b"\t2\t0 1", b"\ttwo\t0 1"
        ),
        "WinoBias: not exactly two spans": corpus("wino.txt", seeds.WINOBIAS, b"[she]", b"she"),
        "word pairs: a line without a rating": corpus("men.txt", seeds.RATINGS, b"ship boat 8", b"ship boat"),
        "plain text: no column of texts": file("a.csv", b"id,review\n1,x\n", read_plain),
        "plain text: a row of another length": file("a.csv", b"id,text\n1,x\n2,x,y\n", read_plain),
        "plain text: True and False before sentences": file("a.txt", b"True\tshe sinks\n", read_plain),
        "plain text: no text": file("a.txt", b"\n \n", read_plain),
        "plain text: no such pipeline": lambda folder: annotate(RawText(("x",)), "spacy:en_core_web_ms"),
    },
    "Pairs of texts": {
        "no such column of second texts": pairs(PAIR, pair="claim"),
        "`pair` that names the column of first texts": pairs(PAIR, pair="text"),
        "two columns of second texts": pairs(b"text,text_pair,text_pair\nship,boat,sea\n"),
        "a row without the column of first texts": pairs(b'{"text": "ship"}\n{"text_pair": "boat"}\n', "a.jsonl"),
        "a number as a text": pairs(b'{"text": "ship", "text_pair": 5}\n', "a.jsonl"),
        "NaN as a text": pairs(b'{"text": "ship", "text_pair": NaN}\n', "a.jsonl"),
        "a list with what is no word": pairs(b'{"text": ["ship", 1], "text_pair": ["boat"]}\n', "a.jsonl"),
        "a word of white space": pairs(b'{"text": ["ship", " "], "text_pair": ["boat"]}\n', "a.jsonl"),
        "a text beside a list of words": pairs(b'{"text": "ship", "text_pair": ["boat"]}\n', "a.jsonl"),
        "a pair as a list in a file": pairs(b'["ship", "boat"]\n', "a.jsonl"),
        "a quote that is not closed": pairs(b'text,text_pair\n"ship,boat\n'),
        "`pair` where there is no table": pairs(b"ship\n", "a.txt", pair="text_pair"),
        "`annotate` of pairs": file("a.csv", PAIR, lambda path: annotate(RawText(path), "spacy:en_core_web_sm")),
        "pairs in Python: what is no pair": lambda folder: corpus_part([("ship", "boat"), ("ship", 5)]),
        "one first text in all rows, and no second corpus": one_premise,
        "an alignment that is none": file("a.jsonl", ALIGNED.replace(b"[[0, 3]]", b'"0:1"'), aligned),
        "an alignment without a second text": file("a.jsonl", ALIGNED.replace(b"text_pair", b"pair"), aligned),
        "an alignment outside the texts": file("a.jsonl", ALIGNED, aligned),
        "labelled rows: a second text that would not be read": file(
            "a.jsonl", b'{"text": "ship", "text_pair": 5, "label": 0}\n', labelled_rows
        ),
    },
    "Minimal pairs": {
        "unknown pairs": lambda folder: open_pairs("blim"),
        "a data set of the hub without a file": lambda folder: open_pairs("hub:jumelet/multiblimp"),
        "an unknown file suffix": file("a.md", b"", read_pairs),
        "BLiMP: a line that is not JSON": file("a.jsonl", b"{\n", read_pairs),
        "BLiMP: a missing key": changed("a.jsonl", seeds.BLIMP, b'"UID"', b'"uid"', read_pairs),
        "BLiMP: two pairs with one id": changed("a.jsonl", seeds.BLIMP, b'"pairID": "1"', b'"pairID": "0"', read_pairs),
        "MultiBLiMP: a column is missing": changed("a.tsv", seeds.MULTIBLIMP, b"wrong_sen", b"bad", read_pairs),
        "no `.gold` beside the sentences": file("a.text", b"ships sink\n", read_pairs),
        "True and False that do not alternate": file("a.txt", b"False\tships sinks\n", read_pairs),
        "nonce table: a column is missing": changed("a.tab", seeds.TABLE, b"len_prefix", b"prefix", read_pairs),
    },
    "Texts to train on": {
        "a missing file": lambda folder: TextFiles((folder / "a.txt",)),
        "a folder without texts": lambda folder: TextFiles((folder,)),
        "a NUL byte": file("a.txt", b"one\ntw\0o\n", lambda path: iter(TextFiles((path,)))),
        "bytes that are not UTF-8": file("a.txt", b"\xff\n", lambda path: iter(TextFiles((path,)))),
        "unknown texts": lambda folder: texts_path("wikitext3"),
        "a data set that is no folder, without `hub:`": lambda folder: DatasetTexts("wikitext").open(),
        "a data set whose files are elsewhere": card,
        "a data set of pairs of texts, no column named": file(
            "set/a.csv", PAIR, lambda path: iter(open_texts(TextsSection(dataset=str(path.parent))))
        ),
        "no tokenizer in `train.tokenizer.folder`": tokenizer(None),
        "a malformed tokenizer": tokenizer(b"{"),
    },
    "Lists": {
        "relations: not exactly three columns": file("r.tsv", b"capital\tfrance\n", read_relations),
        "relations: no pairs": file("r.tsv", b"\n", read_relations),
        "word counts: a line without a count": file("counts.txt", b"the 9\nship\n", word_counts),
    },
    "Model folders": {
        "no config.json": lambda folder: load_model(str(folder)),
        "a config that is not JSON": model_file("config.json", b"{"),
        "a missing size": model_config({"hidden_size": None}),
        "a size that is not a number": model_config({"num_hidden_layers": "two"}),
        "heads that do not divide the model": model_config({"num_attention_heads": 3}),
        "a feature that the encoder does not support": model_config({"position_embedding_type": "relative_key"}),
        "no weights": model_file("model.safetensors", None),
        "weights that are not safetensors": model_file("model.safetensors", b"a pickle"),
        "a missing weight": weights(lambda found: found.pop(query(found))),
        "an unexpected weight": weights(lambda found: found.update({"encoder.layer.7.x": torch.ones(1)})),
        "a weight of another shape": weights(another_shape),
        "a weight that is not finite": weights(not_a_number),
        "weights that changed after the model was loaded, where its folder is read again": changed_weights,
        "no tokenizer": model_file("tokenizer.json", None),
        "a malformed tokenizer": model_file("tokenizer.json", b"{}"),
        "a tokenizer larger than the embeddings": larger_tokenizer,
    },
    "Checkpoints": {
        "a folder without checkpoints": lambda folder: find_checkpoint(folder),
        "a step without a checkpoint": checkpoint(lambda training: find_checkpoint(training, 2)),
        "a truncated checkpoint": checkpoint(find_checkpoint, lambda path: (path / "model.bin").write_text("w")),
        "no training.json": lambda folder: read_record(folder),
        "a state that is not safetensors": checkpoint(
            lambda training: read_state(checkpoint_path(training, 1)),
            lambda path: (path / "state.safetensors").write_bytes(b"x"),
        ),
    },
    "Run folders and other records": {
        "no such folder": lambda folder: Run.open(folder / "run"),
        "an unfinished run": run_folder,
        "run.json: not JSON": file("run.json", b"{", read_run),
        "run.json: a value of another type": file("run.json", b'{"seed": "three"}', read_run),
        "a malformed claim.json": file("claim.json", b"[]", read_claim),
        "`--rejudge` of a folder without a record": lambda folder: rejudge(folder / "OUT"),
        "a malformed findings.json": file("findings.json", b"{}", lambda path: read_findings(path.parent)),
        "a malformed sandbox.json": file("sandbox.json", b"[]", lambda path: read_sandbox(path.parent, str)),
        "a damaged Parquet file": file("a.parquet", b"PAR1", seeds.MEANS.read),
        "a CSV file without its columns": file("a.csv", b"measure\nloss\n", seeds.MEANS.read),
        "a folder that another process is writing": twice_locked,
        "`--resume` of a run with another config": interrupted,
        "`--resume`: a damaged file": lambda folder: interrupted(folder, damaged="{"),
    },
    "Texts that are typed": {
        "no words": typed(" "),
        "more pieces than the model reads": typed("ship " * 9),
        "no such head": lambda folder: find_head("3-1", "minilm", 2, 2),
        "no such word": lambda folder: find_word(["the", "ship"], "shop"),
        "a word that occurs twice": lambda folder: find_word(["the", "ship", "the"], "the"),
    },
    "Environment variables": {
        "`HEADSCOPE_DATA`: the corpus is not there": variable("HEADSCOPE_DATA", "data", lambda: corpus_path("ewt-dev")),
        "`HEADSCOPE_DATA`: the texts are not there": variable("HEADSCOPE_DATA", "d", lambda: texts_path("wikitext2")),
    },
}
"Input -> what is refused of it -> what provokes that."
