"""Small valid files of every format, invented, that fuzzing begins with; and what formats have special words for."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from probes.corpora.gap import HEADER
from probes.corpora.winogender import FILLED
from probes.pairs.readers import TABLE_KEYS
from reports.statements.claim_record import MEANS
from reports.tables.files import replace_file

PUBLISHED = Path(__file__).parents[2] / "reports" / "published"

CONLLU = b"""# newdoc id = sea
# global.Entity = GRP-etype-infstat-minspan-link-identity
# sent_id = sea-1
# text = The ships don't sink.
1\tThe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t2\tdet\t_\tEntity=(1-object-new-2-coref
2\tships\tship\tNOUN\tNNS\tNumber=Plur\t5\tnsubj\t5:nsubj\tEntity=1)
3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdo\tdo\tAUX\tVBP\t_\t5\taux\t_\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_
5\tsink\tsink\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5.1\tsink\tsink\tVERB\tVB\t_\t_\t_\t_\t_
6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_

# sent_id = sea-2
1\tThey\tthey\tPRON\tPRP\tNumber=Plur\t2\tnsubj\t_\tEntity=(1-object-giv-1-ana)
2\tfloat\tfloat\tVERB\tVBP\t_\t0\troot\t_\t_

"""


def _conll(number: int, form: str, entity: str) -> str:
    return "\t".join(["sea", "0", str(number), form, "NN", "*", "-", "-", "-", "-", "*", entity]) + "\n"


CONLL = (
    "#begin document (sea); part 0\n"
    + _conll(0, "Ada", "(1")
    + _conll(1, "Byron", "1)")
    + _conll(2, "slept", "_")
    + "\n"
    + _conll(0, "She", "(1)|(2)")
    + "#end document\n"
).encode()

_TEXT = "Ada Byron met Lucy-Ann's aunt, but she didn't wave."
_PASSAGE = [
    "dev-1",
    _TEXT,
    "she",
    str(_TEXT.index("she")),
    "Ada Byron",
    "0",
    "TRUE",
    "Lucy",
    "14",
    "FALSE",
    "http://a/b",
]
GAP = ("\t".join(HEADER) + "\n" + "\t".join(_PASSAGE) + "\n").encode()

WINOGENDER = (
    "\t".join(FILLED)
    + "\nnurse.someone.0.male.txt\tThe nurse told someone that he could go.\n"
    + "nurse.someone.1.male.txt\tThe nurse told someone that he could stay.\n"
).encode()
TEMPLATES = (
    b"occupation(0)\tother-participant(1)\tanswer\tsentence\n"
    b"nurse\tpatient\t0\tThe $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN could go.\n"
)
OPEN_SESAME = b"the ship near the boats can sink\t2\t0 1\t3 4\nthe boat can sink\t2\t0 1\t\n"
WINOBIAS = b"1 [The baker] said [he] sang.\n2 The cook met [the guard] and [she] left.\n"
RATINGS = b"sea ship 9.5\nship boat 8\nsea stone 2.25\n"

_PAIR = {
    **{"sentence_good": "ships sink", "sentence_bad": "ships sinks", "field": "syntax"},
    **{"linguistics_term": "agreement", "UID": "sea", "pairID": "1"},
}
BLIMP = "".join(json.dumps(_PAIR | {"pairID": str(number)}) + "\n" for number in range(3)).encode()
MULTIBLIMP = (
    b"sen\twrong_sen\tphenomenon\tlang\tgrammatical_feature\tungrammatical_feature\two\n"
    b"Das Schiff sinkt.\tDas Schiff sinken.\tSV-#\tdeu\tSG\tPL\tSV\n"
    b'"Dort ""sinke"" ich."\t"Dort ""sinkst"" ich."\tSV-P\tdeu\t1\t2\tVS\n'
)
GOLD = b"the ship sinks <eos>\nships near <unk> sink <eos>\n=====\n2\tsinks\tsink\t0\n3\tsink\tsinks\t1\n"
TRUE_FALSE = b"True\tships sink\nFalse\tships sinks\nTrue\ta ship sinks\nFalse\ta ship sink\n"
_NONCE = {
    **{"pattern": "sea", "constr_id": "1", "correct_number": "sing", "form": "sinks", "class": "correct"},
    **{"type": "generated", "n_attr": "1", "len_prefix": "2", "sent": "the ship sinks here <eos>"},
}
TABLE = "".join(
    "\t".join(row) + "\n"
    for row in (TABLE_KEYS, [*_NONCE.values()], [*(_NONCE | {"form": "sink", "class": "wrong"}).values()])
).encode()

TEXTS = b"One line of text.\n\nAnother, with \xc3\xa9 and \xe2\x80\x94.\n"
CARD = (
    b"---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n"
    b"    path: [a.jsonl, 'b/*.jsonl']\n---\n# A card\n"
)
RELATIONS = b"capital\tfrance\tparis\ncapital\titaly\trome\n\nplural\tship\tships\n"
COUNTS = b"the 900\nship 20\nsank 3\n"

CONFIG = b"""name = "sea"
seed = 3
[model]
name = "minilm"
[corpus]
select = { name = "grammar", documents = 6 }
report = { name = "grammar", documents = 6, seed = 1 }
[probes]
names = ["position", "dependency"]
trained = false
[scoring]
replicates = 10
[controls]
random = 2
orders = 2
[ablation]
behaviours = ["embedding"]
items = 50
[page]
examples = 2
[train]
data = { name = "grammar", documents = 40 }
steps = 4
tokenizer = { size = 300, kind = "wordpiece" }
encoder = { layers = 1, heads = 2, model = 8, norm = "pre" }
masking = { rate = 0.2, whole_word = true }
checkpoints = { per_doubling = 1, every = 2 }
"""
CHANGE = b"train.steps=4"
RECORD = json.dumps(
    {
        **{"name": "sea", "headscope": "0.1.0", "started": "2026-01-01T00:00:00Z", "wall_seconds": 1.5, "seed": 0},
        **{"peak_memory_mb": 300, "versions": {"torch": "2"}, "python": "3.11", "platform": "Linux x86_64", "cores": 2},
        **{"git_commit": None, "threads": 1, "device": "cpu", "model": {"name": "minilm", "layers": 6, "heads": 12}},
        "corpora": {"select": {"name": "grammar-0", "documents": 6}, "report": {"name": "grammar-1"}},
        "dropped": [{"split": "report", "scope": "sentence", "reason": "long", "count": 1, "examples": ["a"]}],
    },
).encode()


def trimmed(found: Any) -> Any:
    """Return a record with one entry of each list."""
    if isinstance(found, dict):
        return {key: trimmed(value) for key, value in found.items()}
    return [trimmed(one) for one in found[:1]] if isinstance(found, list) else found


def published(name: str) -> bytes:
    """Return a published record, trimmed."""
    return json.dumps(trimmed(json.loads((PUBLISHED / name).read_text("utf-8")))).encode()


def table(suffix: str) -> bytes:
    """Return a table as a file with this suffix."""
    rows = {"measure": ["loss", "=time"], "condition": ["one", "NA"], "at": [1.0, None], "value": [0.5, 2.0]}
    frame = pd.DataFrame(rows | {"low": [0.4, None], "high": [0.6, None], "n": [3, 1]})
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"means{suffix}"
        return replace_file(MEANS.validated(frame, path), path).read_bytes()


_NUMBER = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 3}
CLAIM = json.dumps(
    {
        **{"name": "heads", "claim": "More heads help.", "source": "Sea 2020", "limits": ["small"], "headscope": "0.1"},
        "noticed": [],
        "statements": [
            {
                **{"text": "It helps.", "number": "difference", "rule": "above 0", "verdict": "holds", "kind": "claim"},
                **{"why": "", "unit": "nats", **_NUMBER},
            }
        ],
        "measures": [
            {
                **{"name": "loss", "unit": "nats", "repeat": "seed", "axis": "heads"},
                "cells": [{"condition": "one", "at": 1.0, **_NUMBER}],
                "rows": [{"condition": "one", "at": 1.0, "value": 0.5, "repeat": 0}],
            }
        ],
    }
).encode()

MODEL_CONFIG = json.dumps(
    {
        **{"model_type": "bert", "vocab_size": 12, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2},
        **{"intermediate_size": 8, "max_position_embeddings": 8, "type_vocab_size": 2, "layer_norm_eps": 1e-12},
        **{"hidden_act": "gelu", "pad_token_id": 0, "pruned_heads": {"0": [1]}},
    }
).encode()
CHECKPOINT = json.dumps(
    {"step": 2, "files": {"training.json": 9, "a/b": 1}, "state_bytes": 4, "tokenizer": "f0"}
).encode()
LOG = b'{"event": "step", "step": 1, "loss": 5.5}\n{"event": "evaluation", "step": 2, "loss": 5.0}\n{"event": "st'
TYPED = b"1-1 the ship near the boats doesn't sink ."

MARKS = rb"""\t \n \r\n _ 0 -1 1-2 1.1 ( ) | [ ] { } " ' , : # = [[ ]] &a *a ../ / <eos> <unk> null true NaN Infinity
1e999 \u0000 \ud800 newdoc id sent_id global.Entity Entity= GRP begin document part end True False $OCCUPATION
configs: data_files: hf:// !!python/object:os.system train. name \x00 \x85 \x1c \xff\xfe \xed\xa0\x80 \xef\xbb\xbf
\xe2\x80\xa8 \xf0\x90\x8d\x88"""
"As in the literals of Python."


def _byte(mark: bytes) -> bytes:
    return mark.decode("unicode-escape").encode("latin-1")


TOKENS = (
    *(mark if mark[:1] != b"\\" or mark[1:2] == b"u" else _byte(mark) for mark in MARKS.split()),
    *(b"9" * 30, b"9" * 5000, b"(" * 500, b"[" * 2000, b'{"a":' * 1500, b"--- \n"),
)
"What formats give a meaning to, and what breaks careless readers."
