"""Agreement of Marvin and Linzen (2018), as CLAMS ships it: subject and verb stand where the construction says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from probes.constructions.template import Filled, Template
from probes.corpora.conllu import CorpusError
from probes.minimal_pairs import MinimalPair
from probes.pairs.readers import read_true_false
from probes.records import Document

_SUBJECT_RELATIVE = "R dep v, N obj v, v acl:relcl S"
_ACROSS = "N dep v, v acl:relcl S"
_IN = "N dep v, V acl:relcl N"

_TEMPLATES = {
    "simple_agrmt": Template("simple", "D S V *"),
    "sent_comp": Template("in a sentential complement", "D N past D S V *", "N dep past, V ccomp past"),
    "prep": Template("across a prepositional phrase", "D S P D N V *", "P case N, N nmod S"),
    "subj_rel": Template("across a subject relative", "D S R v D N V *", _SUBJECT_RELATIVE),
    "obj_rel_across": Template("across an object relative", "D S R D N v V *", f"R obj v, {_ACROSS}"),
    "obj_rel_no_comp_across": Template("across a reduced object relative", "D S D N v V *", _ACROSS),
    "obj_rel_within": Template("in an object relative", "D N R D S V v *", f"R obj V, {_IN}"),
    "obj_rel_no_comp_within": Template("in a reduced object relative", "D N D S V v *", _IN),
    "vp_coord": Template("VP coordination", "D S v * and V *", "V conj v"),
    "long_vp_coord": Template("long VP coordination", "D S v * and V *", "V conj v"),
}
"File, without the kind of its nouns -> its template; the other files are of reflexives and polarity items."

_BY_NOUNS = ("prep", "obj_rel_across", "obj_rel_no_comp_across", "obj_rel_within", "obj_rel_no_comp_within")
"Files of which there are two, with animate and with inanimate subjects."

TEMPLATES: Final[Mapping[str, Template]] = {
    f"{name}{nouns}": template
    for name, template in _TEMPLATES.items()
    for nouns in (("_anim", "_inanim") if name in _BY_NOUNS else ("",))
}
"Name of a file without its suffix -> the template of its sentences."


def read_marvin_linzen(folder: Path, first: int | None = None) -> Iterator[Document]:
    """Yield the right sentences of all files of agreement, with the verb in which they differ from the wrong ones.

    `first` takes that many pairs of each file. Raises CorpusError for a file that is not there, and for a sentence that
    is none of its file's template.
    """
    if missing := [f"{name}.txt" for name in TEMPLATES if not (folder / f"{name}.txt").is_file()]:
        raise CorpusError(f"{folder}: no {', '.join(missing)}; expected a file for each construction of agreement")
    for name, template in TEMPLATES.items():
        for number, pair in enumerate(islice(read_true_false(folder / f"{name}.txt"), first)):
            place = f"{name}:{2 * number + 1}"
            filled = _filled(pair, template, f"{folder}/{name}.txt:{2 * number + 1}")
            yield filled.document("Marvin-Linzen", place)


def _filled(pair: MinimalPair, template: Template, where: str) -> Filled:
    differ = [i for i, (one, other) in enumerate(zip(pair.good, pair.bad, strict=False)) if one != other]
    if len(differ) != 1 or len(pair.good) != len(pair.bad):
        raise CorpusError(f"{where}: expected two sentences that differ in the verb alone, got {differ} as its places")
    filled = template.fill(pair.good, differ[0])
    if filled is None or not filled.agrees:
        lacks = "in which subject and verb agree" if filled else f"of the slots {template.slots!r}"
        raise CorpusError(f"{where}: expected a sentence {lacks}, got {' '.join(pair.good)!r}")
    return filled
