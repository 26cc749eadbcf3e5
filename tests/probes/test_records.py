import pytest

from probes.records import Document, Mention, Sentence, frozen_ints


def sentence(words: str, heads: list[int], name: str = "s", mentions: tuple[Mention, ...] = ()) -> Sentence:
    forms = tuple(words.split())
    deprels = tuple("root" if head < 0 else "dep" for head in heads)
    return Sentence(name, forms, frozen_ints(heads), deprels, mentions=mentions)


@pytest.fixture
def document() -> Document:
    first = sentence("the ship sank", [1, 2, -1], "one", (Mention((0, 1), 1, "ship"),))
    second = sentence("it was old", [2, 2, -1], "two", (Mention((0,), 0, "ship"),))
    return Document("d", (first, second))


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match=r"^sentence s: 2 words, but columns of \[1, 2\] entries$"):
        Sentence("s", ("a", "b"), frozen_ints([-1]), ("root", "dep"))


def test_heads_cannot_be_changed(document: Document):
    for heads in (document.heads, document.sentences[0].heads, document.starts):
        with pytest.raises(ValueError, match="read-only"):
            heads[0] = 3


def test_a_document_counts_words_across_its_sentences(document: Document):
    assert document.words == ("the", "ship", "sank", "it", "was", "old")
    assert len(document) == 6
    assert document.starts.tolist() == [0, 3]
    assert document.heads.tolist() == [1, 2, -1, 5, 5, -1]
    assert document.deprels == ("dep", "dep", "root", "dep", "dep", "root")


def test_mentions_of_a_document_have_indices_in_the_document(document: Document):
    assert document.mentions == (Mention((0, 1), 1, "ship"), Mention((3,), 3, "ship"))


def test_arcs_are_found_by_their_relation_and_include_subtypes_but_no_root():
    first = Sentence("s", ("ships", "sank"), frozen_ints([1, -1]), ("nsubj:pass", "root"))
    second = Sentence("t", ("a", "ship", "sank"), frozen_ints([1, 2, -1]), ("det", "nsubj", "root"))
    document = Document("d", (first, second))
    assert document.arcs("nsubj") == [(0, 1), (3, 4)]
    assert list(document.arcs("det", "nsubj")) == [(2, 3), (0, 1), (3, 4)]
    assert not document.arcs("root")
    assert not document.arcs("obj", "iobj")
