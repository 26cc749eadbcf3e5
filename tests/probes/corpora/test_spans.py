from pathlib import Path

import pytest

from probes.corpora.conllu import read_conllu
from probes.corpora.spans import head_of, word_spans


def words(text: str, *borders: int) -> list[str]:
    return [text[begin:end] for begin, end in word_spans(text, borders)]


def test_clitics_punctuation_and_words_are_parted_and_hyphens_and_names_kept() -> None:
    assert words("Bo's half-sunk boats don't float, O'Hara’s can’t.") == [
        *("Bo", "'s", "half-sunk", "boats", "do", "n't", "float", ",", "O'Hara", "’s", "ca", "n’t", ".")
    ]
    assert words("we'll wasn't (n't)") == ["we", "'ll", "was", "n't", "(", "n't", ")"]
    assert words("") == words(" \n") == []


def test_no_word_goes_across_a_border() -> None:
    assert words("Ann-Marie sank", 3) == ["Ann", "-Marie", "sank"]
    assert words("Ann sank", 0, 3, 4, 8) == ["Ann", "sank"], "borders at the ends of words change nothing"


@pytest.mark.parametrize(
    ("phrase", "head"),
    [
        ("the old keys to the cabinet", "keys"),
        ("Ada 's youngest brother", "brother"),
        ("Ada 's", "Ada"),
        ("Mrs. Ada Byron , a writer ,", "Byron"),
        ("the boats that sank", "boats"),
        ("Ada and Bo", "Ada"),
        ("of the sea", "sea"),
        ('" Storm "', "Storm"),
        ("she", "she"),
        (",", ","),
    ],
)
def test_the_head_of_a_phrase_is_the_last_word_before_what_can_only_follow_it(phrase: str, head: str) -> None:
    assert phrase.split()[head_of(phrase.split())] == head


def test_the_rule_finds_most_heads_that_a_treebank_gives(data_folder: Path) -> None:
    """92.3 % of the mentions of GUM dev without a gap, 85.7 % of those of several words (names: there the first)."""
    found: dict[bool, list[bool]] = {False: [], True: []}
    for document in read_conllu(data_folder / "ud_english_gum/en_gum-ud-dev.conllu"):
        for mention in document.mentions:
            if mention.words[-1] - mention.words[0] + 1 == len(mention.words):
                place = head_of([document.words[word] for word in mention.words])
                found[len(mention.words) > 1].append(mention.words[place] == mention.head)
    assert (len(found[False]), len(found[True])) == (3626, 4271)
    assert all(found[False])
    assert sum(found[True]) == 3661
