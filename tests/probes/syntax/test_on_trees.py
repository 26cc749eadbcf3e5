"""What probes ask on trees annotated by hand: query, right answers and label of every item of a variant."""

from collections.abc import Callable

import numpy as np
import pytest

from probes import get_probe
from probes.records import Document, Sentence
from probes.targets import OTHERS, Targets

Item = tuple[int, list[int], str]

SHIPS = "Old ADJ 3 amod _; red ADJ 3 amod _; ships NOUN 5 nsubj _; , PUNCT 5 punct _; sank VERB 0 root _"
ARCS = [(0, [2], "amod"), (1, [2], "amod"), (2, [4], "nsubj"), (3, [4], "punct"), (5, [4], "punct")]
SAID = "She PRON 2 nsubj _; said VERB 0 root _; that SCONJ 5 mark _; ships NOUN 5 nsubj _; sank VERB 2 ccomp _"
TRAINS = "Ships NOUN 6 nsubj _; , PUNCT 3 punct _; boats NOUN 1 conj _; and CCONJ 5 cc _; trains NOUN 1 conj _"
MONDAY = "from ADP 4 case _; banks NOUN 1 obl _; on ADP 6 case _; Monday PROPN 1 obl _"
KINGS = "Ships NOUN 6 nsubj _; of ADP 3 case _; kings NOUN 1 nmod _; from ADP 5 case _; Rome PROPN 1 nmod _"
NEGATED = "She PRON 4 nsubj _; did AUX 4 aux _; n't PART 4 advmod Polarity=Neg; cross VERB 0 root _; yet ADV 4 advmod _"
SANK = "Ships NOUN 2 nsubj _; sank VERB 0 root _; "
TODAY = (
    "news NOUN 4 nsubj _; of ADP 1 prep _; today NOUN 2 pobj _; came VERB 0 root _; in ADP 4 prep _; 2004 NUM 5 pobj _"
)

CASES: list[tuple[str, str, dict[str, list[Item]]]] = [
    (
        "dependency",
        f"{SHIPS}; . PUNCT 5 punct _",
        {
            **{"dependent->head": ARCS, "head<-dependent": ARCS},
            "head->dependent": [(2, [0, 1], "amod"), (4, [2], "nsubj"), (4, [3, 5], "punct")],
        },
    ),
    (
        "range",
        f"{SHIPS}; here ADV 5 advmod _",
        {
            "dependent->head": [(0, [2], "2-3"), (1, [2], "1"), (2, [4], "2-3"), (5, [4], "1")],
            "head->dependent": [(2, [0], "2-3"), (2, [1], "1"), (4, [2], "2-3"), (4, [5], "1")],
        },
    ),
    (
        "range",
        "Old ADJ 4 amod _; red ADJ 4 amod _; big ADJ 4 amod _; ships NOUN 0 root _; here ADV 4 advmod _",
        {"head->dependent": [(3, [0, 1], "2-3"), (3, [2, 4], "1")]},
    ),
    (
        "clause",  # ships that I think sank: the pronoun is one of the clause inside
        "Ships NOUN 0 root _; that PRON 5 nsubj PronType=Rel; I PRON 4 nsubj PronType=Prs; think VERB 1 acl:relcl _; "
        "sank VERB 4 ccomp _",
        {
            "relative pronoun->noun": [(1, [0], "subject")],
            **{"matrix->embedded": [(3, [4], "bare")], "embedded->matrix": [(4, [3], "bare")]},
        },
    ),
    *(
        (
            "clause",
            f"Ships NOUN 4 nsubj _; that PRON 3 {relation} {feats}; sank VERB 1 acl:relcl _; burned VERB 0 root _",
            {"relative pronoun->noun": [(1, [0], label)], "noun->relative pronoun": [(0, [1], label)]},
        )
        for relation, feats, label in (
            *(("nsubj:pass", "PronType=Rel", "subject"), ("obj", "_", "object"), ("obl", "_", "other")),
        )
    ),
    *(
        ("clause", text, {"relative pronoun->noun": []})  # free relatives, whole clauses, other pronouns
        for text in (
            "What PRON 4 nsubj PronType=Rel; she PRON 3 nsubj _; saw VERB 1 acl:relcl _; sank VERB 0 root _",
            f"{SANK}which PRON 4 nsubj PronType=Rel; hurt VERB 2 advcl:relcl _",
            "Ships NOUN 4 nsubj _; that SCONJ 3 mark _; sank VERB 1 acl _; burned VERB 0 root _",
            "That PRON 2 nsubj PronType=Dem; sank VERB 0 root _",
        )
    ),
    (
        "clause",
        f"{SAID}; because SCONJ 8 mark _; it PRON 8 nsubj _; rained VERB 5 advcl _",
        {
            "marker->matrix": [(2, [1], "ccomp"), (5, [4], "advcl")],
            "matrix->marker": [(1, [2], "ccomp"), (4, [5], "advcl")],
            "matrix->embedded": [(1, [4], "marked"), (4, [7], "marked")],
            "embedded->matrix": [(4, [1], "marked"), (7, [4], "marked")],
        },
    ),
    (
        "co-arguments",  # times are no arguments
        f"Borrow VERB 0 root _; loans NOUN 1 obj _; {MONDAY}",
        {"object->second argument": [(1, [3], "oblique")], "second argument->object": [(3, [1], "oblique")]},
    ),
    (
        "co-arguments",
        "Give VERB 0 root _; her PRON 1 iobj _; coins NOUN 1 obj _; to ADP 5 case _; kings NOUN 1 obl _",
        {"object->second argument": [(2, [1], "indirect"), (2, [4], "oblique")]},
    ),
    (
        "co-arguments",  # in the labels of spaCy
        "gave VERB 0 root _; coins NOUN 1 obj _; to ADP 1 dative _; Ann PROPN 3 pobj _; in ADP 1 prep _; "
        "2004 NUM 5 pobj _",
        {"object->second argument": [(1, [3], "oblique")]},
    ),
    *(
        ("co-arguments", text, {"object->second argument": [], "second argument->object": []})
        for text in (
            "Run VERB 0 root _; miles NOUN 1 obl:unmarked _; races NOUN 1 obj _",
            "Run VERB 0 root _; to ADP 3 case _; banks NOUN 1 obl _",
            "Run VERB 0 root _; races NOUN 1 obj _; for ADP 4 case _; banks NOUN 2 nmod _",
        )
    ),
    (
        "coordination",  # the tree attaches trains to ships
        f"{TRAINS}; sank VERB 0 root _",
        {
            "conjunct->conjunct before": [(2, [0], "noun"), (4, [2], "noun later")],
            "conjunct->conjunct after": [(0, [2], "noun"), (2, [4], "noun later")],
            "verb->shared subject": [],
        },
    ),
    (
        "coordination",
        f"{SANK}burned VERB 2 conj _; fell VERB 2 conj _",
        {"verb->shared subject": [(2, [0], "all"), (3, [0], "all")], "subject->conjoined verb": [(0, [2, 3], "all")]},
    ),
    *(
        (
            "coordination",
            f"{SANK}{own}; fell VERB 2 conj _",
            {"verb->shared subject": [], "conjunct->conjunct before": [(3, [1], "verb")]},
        )
        for own in ("it PRON 4 nsubj _", "there PRON 4 expl _", "this PRON 4 csubj _")
    ),
    (
        "negation",
        NEGATED,
        {
            "negated->negation": [(3, [2], "verb n't")],
            "negation->negated": [(2, [3], "verb n't")],
            "auxiliary->predicate": [(1, [3], "negated")],
            "predicate->auxiliary": [(3, [1], "negated")],
        },
    ),
    (
        "negation",
        "It PRON 4 nsubj:pass _; has AUX 4 aux _; been AUX 4 aux:pass _; sunk VERB 0 root _",
        {
            "predicate->auxiliary": [(3, [1, 2], "plain")],
            "auxiliary->predicate": [(1, [3], "plain"), (2, [3], "plain")],
            "negated->negation": [],
        },
    ),
    *(
        ("negation", text, {"negated->negation": [item]})
        for text, item in (
            ("Ships NOUN 4 nsubj _; are AUX 4 cop _; not PART 4 advmod _; old ADJ 0 root _", (3, [2], "predicate not")),
            ("No DET 2 det PronType=Neg; ships NOUN 3 nsubj _; sank VERB 0 root _", (1, [0], "phrase no")),
            ("Never ADV 3 advmod _; never ADV 3 advmod _; sink VERB 0 root _", (2, [0, 1], "verb never")),
            ("Kein DET 2 det PronType=Neg; Schiff NOUN 3 nsubj _; sank VERB 0 root _", (1, [0], "phrase another")),
        )
    ),
    (
        "negation",
        "No INTJ 3 discourse Polarity=Neg; nothing PRON 3 nsubj PronType=Neg; sank VERB 0 root _",
        {"negated->negation": []},
    ),
    (
        "preposition",
        f"{KINGS}; afraid ADJ 0 root _; of ADP 8 case _; rain NOUN 6 obl _",
        {
            "governor->preposition": [(0, [1, 3], "noun"), (5, [6], "other")],
            "preposition->governor": [(1, [0], "noun"), (3, [0], "noun"), (6, [5], "other")],
            "preposition->object": [(1, [2], "noun"), (3, [4], "noun"), (6, [7], "other")],
            "object->preposition": [(2, [1], "noun"), (4, [3], "noun"), (7, [6], "other")],
        },
    ),
    (
        "preposition",  # in the labels of spaCy
        f"{SANK}on ADP 2 prep _; streets NOUN 3 pobj _; of ADP 4 prep _; X PROPN 5 pobj _",
        {
            "preposition->object": [(2, [3], "verb"), (4, [5], "noun")],
            "preposition->governor": [(2, [1], "verb"), (4, [3], "noun")],
        },
    ),
    (
        "preposition",  # neither a possessive 's nor the preposition of a predicate
        "Mary PROPN 3 nmod:poss _; 's PART 1 case _; ship NOUN 5 nsubj _; in ADP 5 case _; port NOUN 0 root _",
        {"preposition->object": [], "governor->preposition": []},
    ),
    *(
        ("temporal", SANK + time, {"predicate->time": [(1, [2], label)], "time->predicate": [(2, [1], label)]})
        for time, label in (
            *(("yesterday NOUN 2 obl:unmarked _", "bare"), ("Michaelmas PROPN 2 obl:tmod _", "bare")),
            *(("harvest NOUN 2 nmod:tmod _", "bare"), ("Soon ADV 2 advmod _", "adverb"), ("1999 NUM 2 obl _", "bare")),
        )
    ),
    (
        "temporal",
        f"{SANK}in ADP 4 case _; June PROPN 2 obl _; again ADV 2 advmod _",
        {"predicate->time": [(1, [3], "prepositional"), (1, [4], "adverb")]},
    ),
    *(
        ("temporal", SANK + other, {"predicate->time": [], "time->predicate": []})
        for other in (
            *("port NOUN 2 obl _", "slowly ADV 2 advmod _", "years NOUN 2 obj _", "days NOUN 1 nmod _"),
            *("2100 NUM 2 obl _", "1499 NUM 2 obl _"),
        )
    ),
    (
        "temporal",  # in the labels of spaCy
        f"{TODAY}; yesterday NOUN 4 npadvmod _",
        {"predicate->time": [(3, [6], "bare"), (3, [5], "prepositional")]},
    ),
]


@pytest.mark.parametrize(("probe", "text", "expected"), CASES, ids=[f"{name}: {text[:30]}" for name, text, _ in CASES])
def test_the_items_are_those_that_a_reader_of_the_tree_expects(
    probe: str,
    text: str,
    expected: dict[str, list[Item]],
    tree: Callable[..., Sentence],
    asked: Callable[[Targets], list[Item]],
) -> None:
    found = get_probe(probe).targets(Document("d", (tree(text.replace("; ", "\n")),)))
    assert {variant: asked(found[variant]) for variant in expected} == expected
    assert {(part.candidates, part.by_column) for variant, part in found.items() if "<-" not in variant} == {
        (OTHERS, False)
    }


@pytest.mark.parametrize(
    ("distance", "band"),
    [(1, "1"), (2, "2-3"), (3, "2-3"), (4, "4-7"), (7, "4-7"), (8, "8-15"), (15, "8-15"), (16, "16+"), (40, "16+")],
)
def test_bands_of_range_begin_and_end_where_they_say(
    distance: int, band: str, asked: Callable[[Targets], list[Item]]
) -> None:
    heads = np.full(distance + 1, -1)
    heads[distance] = 0
    text = Document("d", (Sentence("s", ("w",) * len(heads), heads, ("dep",) * len(heads)),))
    assert asked(get_probe("range").targets(text)["dependent->head"]) == [(distance, [0], band)]


@pytest.mark.parametrize(
    ("probe", "label", "pool"),
    [
        ("dependency", "nsubj:pass", ["nsubj:pass", "nsubj:*", "all"]),
        ("dependency", "", ["all"]),
        ("coordination", "verb later", ["verb", "later", "all"]),
        ("coordination", "all", ["all"]),
        ("negation", "verb n't", ["verb", "n't", "all"]),
    ],
)
def test_an_item_counts_by_the_parts_of_its_label_and_among_all(probe: str, label: str, pool: list[str]) -> None:
    assert list(get_probe(probe).pool(label)) == pool
